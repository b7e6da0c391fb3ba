"""What is done with a recipe: train it, load what was trained, evaluate it, export it."""

import hashlib
import json
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

import zoo.export
from zoo.data.batches import Batches, batches
from zoo.data.pairs import Pairs
from zoo.decoders import Greedy, Strategy
from zoo.metrics import signatures
from zoo.predictor import Predictor
from zoo.recipes import RECIPES, OwnFiles, Recipe, find, own_again
from zoo.tasks.task import Task
from zoo.tokenizers import Tokenizer, load_tokenizer
from zoo.training.checkpoint import read
from zoo.training.fit import fit
from zoo.training.machine import machine
from zoo.training.progress import ProgressLine
from zoo.training.resuming import Checkpoints
from zoo.training.settings import TrainingSettings
from zoo.training.stopping import Decoded, EarlyStopping

__all__ = [
    "RECORD",
    "Evaluation",
    "Run",
    "align",
    "evaluate",
    "export",
    "forget",
    "interrupted",
    "load",
    "recipe_of",
    "train",
]

RECORD = "run.json"
"""In the folder of a run: how it was trained."""

BATCH = 256
"""Texts that are decoded at once when a run is evaluated."""


class Run(NamedTuple):
    """A recipe that was trained."""

    recipe: Recipe
    predictor: Predictor
    record: Mapping[str, Any]
    """How it was trained: settings, seconds, versions, machine, what Keras recorded of each epoch."""


class Evaluation(NamedTuple):
    """Figures: `figures[split][system][metric]`, for every test split, search and baseline."""

    figures: Mapping[str, Mapping[str, Mapping[str, float]]]
    sizes: Mapping[str, int]
    """Number of pairs of each split."""
    answers: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({})
    """What was judged: `answers[split][system]`, one for each source of the split."""

    def flat(self) -> dict[str, float]:
        """The figures by a name such as `held_out_dates.beam.exact_match`."""
        return {
            f"{split}.{system}.{metric}": value
            for split, systems in self.figures.items()
            for system, metrics in systems.items()
            for metric, value in metrics.items()
        }


def train(
    recipe: Recipe,
    task: Task,
    folder: Path,
    *,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    minutes: float = 5.0,
) -> Run:
    """Train a recipe with Keras' `fit`, and save it; go on with a training of it that was interrupted.

    Args:
        recipe: what to train.
        task: what `recipe.task()` gave.
        folder: written whole or not at all; an earlier run in it is replaced. Until then the training is kept
            beside it, in `NAME.training`.
        callbacks: handed to `fit`.
        minutes: most minutes of training that an interruption costs, if epochs are longer than that.

    Raises:
        FileExistsError: the folder holds something else than a run.
        ValueError: an unfinished training is not of this recipe as it is now, or the task has no such metric
            as is to be watched.
    """
    _refuse_other_content(folder)
    settings = recipe.training
    keras.utils.set_random_seed(settings.seed)
    with _dtype_policy(settings.precision):
        model = recipe.model(task)
    predictor = _predictor(recipe, model, task.source, task.target)
    facts = {**recipe.facts(model), **_facts_of_pairs(recipe, task)}
    history, seconds = fit(
        model,
        _batches(recipe, task, "train", seed=settings.seed),
        _batches(recipe, task, "validation").epoch(0),
        settings,
        callbacks=[*_watching(settings, task, predictor), *callbacks, ProgressLine()],
        checkpoints=Checkpoints(_unfinished(folder), what=facts, minutes=minutes),
    )
    record = {
        **facts,
        "seconds": round(seconds, 1),
        "parameters": model.count_params(),
        "history": history,
        "signatures": signatures(task.metrics),
        **_circumstances(),
        **_own_files(recipe),
    }
    if model.distribute_strategy.extended.should_checkpoint:  # among workers, the first
        _save(predictor, record, folder)
        forget(folder)
    return Run(recipe, predictor, record)


def _facts_of_pairs(recipe: Recipe, task: Task) -> dict[str, Any]:
    """What tells a training from one on other pairs."""
    facts: dict[str, Any] = {
        "pairs": len(task.splits["train"].sources),
        "tests": _fingerprint(task.tests),
    }
    if recipe.files is not None:  # unlike those of a corpus with a checksum, these pairs may be changed
        facts["learned_from"] = _fingerprint({"train": task.splits["train"]})
    return facts


def _own_files(recipe: Recipe) -> dict[str, Any]:
    """What a record says of pairs of one's own, so that they are found again."""
    if recipe.files is None:
        return {}
    files, level, size = recipe.files
    return {"own": {"files": [str(file.resolve()) for file in files], "level": str(level), "size": str(size)}}


def recipe_of(name: str, folder: Path, files: Sequence[Path] = ()) -> Recipe:
    """The recipe of a run, by its name: a public one, or that of pairs of one's own as the run recorded it.

    Args:
        name: of the recipe.
        folder: of the run.
        files: where the pairs of one's own are now; if none, where they were.

    Raises:
        FileNotFoundError: there is neither a run with such pairs nor a recipe of that name.
        ValueError: files are given, but the run was not trained on pairs of one's own.
    """
    record = _record(folder) if (folder / RECORD).is_file() else {}
    if "own" in record:
        own = record["own"]
        again = OwnFiles(tuple(files) or tuple(map(Path, own["files"])), own["level"], own["size"])
        return own_again(name, again, epochs=record["settings"]["epochs"])
    if not record and (files or name not in RECIPES):
        raise FileNotFoundError(
            f"There is no run in {folder}. Train one first: zoo train {name} --data FILE for your own pairs; "
            "zoo list shows what else there is."
        )
    if files:
        raise ValueError(f"{folder} holds the run of a recipe with data of its own: leave --data out.")
    return find(name)


def forget(folder: Path) -> None:
    """Discard the unfinished training of a run's folder, if there is one."""
    if _unfinished(folder).exists():
        shutil.rmtree(_unfinished(folder))


def interrupted(folder: Path) -> Mapping[str, Any] | None:
    """What is known of the training of a run's folder that has not ended, as far as its checkpoint goes.

    That is `recipe`, `settings`, `model`, `pairs`, `seconds` and `history`, as in a run's record; None: there
    is none.
    """
    kept = read(_unfinished(folder) / "checkpoint.npz")
    return None if kept is None else {**kept.facts["what"], **kept.facts}


def load(recipe: Recipe, folder: Path) -> Run:
    """Load what `train` saved.

    Raises:
        FileNotFoundError: nothing was trained into that folder.
    """
    if not (folder / RECORD).is_file():
        raise FileNotFoundError(f"No trained {recipe.name} in {folder}. Train it first: {recipe.command}")
    model = keras.saving.load_model(folder / "model.keras", compile=False)
    source, target = load_tokenizer(folder / "source"), load_tokenizer(folder / "target")
    return Run(recipe, _predictor(recipe, model, source, target), _record(folder))


def evaluate(run: Run, task: Task) -> Evaluation:
    """Decode every test split with greedy and beam search, and let the task's baselines answer too.

    Raises:
        ValueError: the task's tests are not those that were kept from this run's training.
    """
    if run.record.get("tests") != _fingerprint(task.tests):
        raise ValueError(
            f"The test splits of {task.name} are not those that were kept from this training: the data or a "
            f"package that makes them has changed. Train again: {run.recipe.command}"
        )
    tests = task.tests
    searches: dict[str, Strategy] = {"greedy": Greedy(), "beam": run.recipe.beam}
    systems = {name: _answering(run.predictor, strategy) for name, strategy in searches.items()}
    systems.update(task.baselines)
    answers = {
        split: {system: answer(pairs.sources) for system, answer in systems.items()}
        for split, pairs in tests.items()
    }
    figures = {
        split: {system: _judge(task, found, tests[split]) for system, found in by_system.items()}
        for split, by_system in answers.items()
    }
    return Evaluation(figures, {name: len(pairs.sources) for name, pairs in tests.items()}, answers)


def export(run: Run, task: Task, folder: Path, *, figures: Mapping[str, float]) -> Path:
    """Export a run as the next version of `folder/NAME`, verified before it is published.

    Args:
        run: what was trained.
        task: its task; its examples become golden questions and warm-up requests.
        folder: where TensorFlow Serving looks for models, such as `saved_models`.
        figures: what an evaluation found, for the card of the export.

    Returns:
        The folder of the version.
    """
    card = zoo.export.Card(
        name=run.recipe.name,
        description=task.description,
        task=task.name,
        recipe=run.recipe.name,
        languages=tuple(task.languages),
        licence=task.licence,
        metrics=dict(figures),
        notes=tuple(task.notes),
        data=task.data,
    )
    return zoo.export.write(run.predictor, folder, card=card, questions=task.examples)


def align(run: Run, texts: Sequence[str]) -> list[tuple[list[str], list[str], np.ndarray]]:
    """Where a trained model looked in each text for each token of its greedy answer.

    Returns:
        For each text its source tokens (S,), target tokens (T,) and weights (T, S); padded, as the batch is.
    """
    found = run.predictor.align(tf.constant(texts), tf.constant([""] * len(texts)))
    source, target = (
        np.char.decode(tokens.numpy().astype(bytes), "utf-8").tolist()
        for tokens in (found.source_tokens, found.target_tokens)
    )
    return list(zip(source, target, found.alignment.numpy(), strict=True))


def _record(folder: Path) -> dict[str, Any]:
    return json.loads((folder / RECORD).read_text(encoding="utf-8"))


def _fingerprint(splits: Mapping[str, Pairs]) -> str:
    """What tells splits of a task from any others."""
    return hashlib.sha256(json.dumps(splits).encode()).hexdigest()


def _batches(recipe: Recipe, task: Task, split: str, seed: int | None = None) -> Batches:
    return batches(
        task.splits[split],
        task.source,
        task.target,
        batch_size=recipe.training.batch_size,
        batch_tokens=recipe.training.batch_tokens,
        max_source_length=recipe.max_source_length,
        max_length=recipe.max_length,
        seed=seed,
    )


def _circumstances() -> dict[str, Any]:
    """What trains here: `versions` of packages, and the kind of `machine`."""
    versions = {"tensorflow": tf.__version__, "keras": keras.__version__, "python": platform.python_version()}
    return {"versions": versions, "machine": machine()}


def _watching(settings: TrainingSettings, task: Task, predictor: Predictor) -> list[keras.callbacks.Callback]:
    """What decodes validation texts in each epoch, and ends the training when the answers get no better."""
    watch = settings.watch
    if watch is None:
        return []
    if watch.metric not in task.metrics:
        raise ValueError(
            f"{task.name} has no metric {watch.metric!r} to watch. There are: {', '.join(task.metrics)}."
        )
    sources, targets = (texts[: watch.texts] for texts in task.splits["validation"])
    metrics = {watch.metric: task.metrics[watch.metric]}
    return [
        Decoded(_answering(predictor, Greedy()), sources, targets, metrics),
        EarlyStopping(
            f"val_{watch.metric}",
            mode=watch.mode,
            patience=watch.patience,
            restore_best_weights=settings.average_last == 1,
        ),
    ]


@contextmanager
def _dtype_policy(name: str) -> Iterator[None]:
    """The policy of the layers that are made within."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def _predictor(recipe: Recipe, model: keras.Model, source: Tokenizer, target: Tokenizer) -> Predictor:
    return Predictor(
        model,
        source,
        target,
        beam=recipe.beam,
        max_source_length=recipe.max_source_length,
        max_length=recipe.max_length,
    )


def _unfinished(folder: Path) -> Path:
    """Where the training is kept that will end in a run's folder."""
    return folder.with_name(f"{folder.name}.training")


def _refuse_other_content(folder: Path) -> None:
    if folder.exists() and not (folder / RECORD).is_file() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} holds something else than a trained model, and is not replaced. Choose another folder."
        )


def _save(predictor: Predictor, record: Mapping[str, Any], folder: Path) -> None:
    """Write beside, then rename: a killed process leaves no half-written run, and loses none."""
    beside = Path(mkdtemp(prefix=f".{folder.name}-new-", dir=folder.parent))
    try:
        predictor.model.save(beside / "model.keras")
        predictor.source.save(beside / "source")
        predictor.target.save(beside / "target")
        (beside / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        beside.chmod(0o755)
    except BaseException:
        shutil.rmtree(beside)
        raise
    old = Path(mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    if folder.exists():
        folder.rename(old / folder.name)
    beside.rename(folder)
    shutil.rmtree(old)


def _answering(predictor: Predictor, strategy: Strategy):
    best = tf.function(
        lambda text: predictor.answer(text, strategy).text[:, 0],
        input_signature=[tf.TensorSpec([None], tf.string)],
        autograph=False,
    )

    def answer(sources: Sequence[str]) -> list[str]:
        parts = (sources[start : start + BATCH] for start in range(0, len(sources), BATCH))
        return [text.decode("utf-8") for part in parts for text in best(tf.constant(part)).numpy()]

    return answer


def _judge(task: Task, predictions: Sequence[str], pairs: Pairs) -> dict[str, float]:
    return {name: metric(predictions, pairs.targets) for name, metric in task.metrics.items()}
