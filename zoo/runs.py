"""What is done with a recipe: train it, load what was trained, evaluate it, export it."""

import hashlib
import json
import platform
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

import zoo.export
from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.decoders import Greedy, Strategy
from zoo.predictor import Predictor
from zoo.recipes.recipe import Recipe
from zoo.tasks.task import Task
from zoo.tokenizers import Tokenizer, load_tokenizer
from zoo.training.fit import fit

__all__ = ["Evaluation", "Run", "align", "evaluate", "export", "load", "train"]

BATCH = 256
"""Texts that are decoded at once when a run is evaluated."""


class Run(NamedTuple):
    """A recipe that was trained."""

    recipe: Recipe
    predictor: Predictor
    record: Mapping[str, Any]
    """How it was trained: settings, seconds, versions, what Keras recorded of each epoch."""


class Evaluation(NamedTuple):
    """Figures: `figures[split][system][metric]`, for every test split, search and baseline."""

    figures: Mapping[str, Mapping[str, Mapping[str, float]]]
    sizes: Mapping[str, int]
    """Number of pairs of each split."""

    def flat(self) -> dict[str, float]:
        """The figures by a name such as `held_out_dates.beam.exact_match`."""
        return {
            f"{split}.{system}.{metric}": value
            for split, systems in self.figures.items()
            for system, metrics in systems.items()
            for metric, value in metrics.items()
        }


def train(
    recipe: Recipe, task: Task, folder: Path, *, callbacks: Sequence[keras.callbacks.Callback] = ()
) -> Run:
    """Train a recipe with Keras' `fit`, and save it.

    Args:
        recipe: what to train.
        task: what `recipe.task()` gave.
        folder: written whole or not at all; an earlier run in it is replaced.
        callbacks: handed to `fit`.

    Raises:
        FileExistsError: the folder holds something else than a run.
    """
    _refuse_other_content(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)  # before the training, not after it
    settings = recipe.training
    keras.utils.set_random_seed(settings.seed)
    model = recipe.model(task)
    started = time.monotonic()
    history = fit(
        model,
        _batches(recipe, task, "train", seed=settings.seed),
        _batches(recipe, task, "validation"),
        settings,
        callbacks=callbacks,
    )
    record = {
        "recipe": recipe.name,
        "seconds": round(time.monotonic() - started, 1),
        "settings": vars(settings),
        "parameters": model.count_params(),
        "pairs": len(task.splits["train"].sources),
        "tests": _fingerprint(task),
        "history": history,
        "versions": {
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
            "python": platform.python_version(),
        },
    }
    predictor = _predictor(recipe, model, task.source, task.target)
    _save(predictor, record, folder)
    return Run(recipe, predictor, record)


def load(recipe: Recipe, folder: Path) -> Run:
    """Load what `train` saved.

    Raises:
        FileNotFoundError: nothing was trained into that folder.
    """
    if not (folder / "run.json").is_file():
        raise FileNotFoundError(
            f"No trained {recipe.name} in {folder}. Train it first: zoo train {recipe.name}"
        )
    model = keras.saving.load_model(folder / "model.keras", compile=False)
    source, target = load_tokenizer(folder / "source"), load_tokenizer(folder / "target")
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return Run(recipe, _predictor(recipe, model, source, target), record)


def evaluate(run: Run, task: Task) -> Evaluation:
    """Decode every test split with greedy and beam search, and let the task's baselines answer too.

    Raises:
        ValueError: the task's tests are not those that were kept from this run's training.
    """
    if run.record["tests"] != _fingerprint(task):
        raise ValueError(
            f"The test splits of {task.name} are not those that were kept from this training: the data or a "
            f"package that makes them has changed. Train again: zoo train {run.recipe.name}"
        )
    tests = _tests(task)
    searches: dict[str, Strategy] = {"greedy": Greedy(), "beam": run.recipe.beam}
    systems = {name: _answering(run.predictor, strategy) for name, strategy in searches.items()}
    systems.update(task.baselines)
    figures = {
        split: {system: _judge(task, answer, pairs) for system, answer in systems.items()}
        for split, pairs in tests.items()
    }
    return Evaluation(figures, {name: len(pairs.sources) for name, pairs in tests.items()})


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


def _tests(task: Task) -> dict[str, Pairs]:
    return {name: pairs for name, pairs in task.splits.items() if name not in ("train", "validation")}


def _fingerprint(task: Task) -> str:
    """What tells the test splits of a task from any others."""
    return hashlib.sha256(json.dumps(_tests(task)).encode()).hexdigest()


def _batches(recipe: Recipe, task: Task, split: str, seed: int | None = None) -> tf.data.Dataset:
    return batches(
        task.splits[split],
        task.source,
        task.target,
        batch_size=recipe.training.batch_size,
        max_source_length=recipe.max_source_length,
        max_length=recipe.max_length,
        seed=seed,
    )


def _predictor(recipe: Recipe, model: keras.Model, source: Tokenizer, target: Tokenizer) -> Predictor:
    return Predictor(
        model,
        source,
        target,
        beam=recipe.beam,
        max_source_length=recipe.max_source_length,
        max_length=recipe.max_length,
    )


def _refuse_other_content(folder: Path) -> None:
    if folder.exists() and not (folder / "run.json").is_file() and any(folder.iterdir()):
        raise FileExistsError(
            f"{folder} holds something else than a trained model, and is not replaced. Choose another folder."
        )


def _save(predictor: Predictor, record: Mapping[str, Any], folder: Path) -> None:
    """Write beside, then rename: a killed process leaves no half-written run, and loses none."""
    beside = Path(mkdtemp(prefix=f".{folder.name}-new-", dir=folder.parent))
    predictor.model.save(beside / "model.keras")
    predictor.source.save(beside / "source")
    predictor.target.save(beside / "target")
    (beside / "run.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    beside.chmod(0o755)
    if folder.exists():
        old = Path(mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
        folder.rename(old / folder.name)
        beside.rename(folder)
        shutil.rmtree(old)
    else:
        beside.rename(folder)


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


def _judge(task: Task, answer, pairs: Pairs) -> dict[str, float]:
    predictions = answer(pairs.sources)
    return {name: metric(predictions, pairs.targets) for name, metric in task.metrics.items()}
