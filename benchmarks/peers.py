"""A peer at one piece of work, in its own environment: `python -m benchmarks.peers SYSTEM WORK`.

Each builds a model of the sizes of the work with random weights, and writes as many tokens as the work says.
"""

import argparse
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.measure import tell, time_runs
from benchmarks.work import MODELS, STEPS, THREADS, WORK, Work

__all__ = ["ENVIRONMENTS", "SYSTEMS", "Environment", "main"]

Run = Callable[[], Any]


class Environment(NamedTuple):
    """Where a peer lives, and what it is timed as."""

    name: str
    """Of the virtual environment, `.venv-bench-NAME`."""
    systems: tuple[str, ...]


ENVIRONMENTS = {
    "torch": Environment("torch", ("torch",)),
    "hf": Environment("torch", ("hf",)),
    "ct2": Environment("ct2", ("ct2-float32", "ct2-int8")),
    "kerashub": Environment("kerashub", ("kerashub",)),
}
"""Peer to where it lives; HuggingFace's Transformers stand on PyTorch."""


def torch_lstm(work: Work) -> Run:
    """The recurrent model as one would write it in PyTorch, eager."""
    import torch

    from benchmarks.torch_lstm import AttentiveLSTM

    torch.set_num_threads(THREADS)
    sizes = MODELS[work.model]
    model = AttentiveLSTM(sizes)
    source = torch.randint(3, sizes.vocab_size, (work.batch, work.source))
    if not work.trains:
        return lambda: model.greedy(source, work.target)
    target = torch.randint(3, sizes.vocab_size, (work.batch, work.target))
    optimizer = torch.optim.Adam(model.parameters())

    def train() -> None:
        optimizer.zero_grad()
        logits = model(source, target)
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten()).backward()
        optimizer.step()

    return train


def hf(work: Work) -> Run:
    """Marian of HuggingFace Transformers: `generate`, or a training step."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.set_num_threads(THREADS)
    sizes = MODELS[work.model]
    both = {"layers": sizes.depth, "attention_heads": sizes.heads, "ffn_dim": sizes.units}
    config = MarianConfig(
        vocab_size=sizes.vocab_size,
        d_model=sizes.width,
        **{f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in both.items()},
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
        max_position_embeddings=256,
        dropout=0.1,
    )
    model = MarianMTModel(config)
    source = torch.randint(3, sizes.vocab_size, (work.batch, work.source))
    inputs = {"input_ids": source, "attention_mask": torch.ones_like(source)}
    if work.trains:
        return _hf_training(model, inputs, torch.randint(3, sizes.vocab_size, (work.batch, work.target)))
    model.eval()
    lengths = {"min_new_tokens": work.target, "max_new_tokens": work.target}

    def generate() -> None:
        with torch.inference_mode():
            model.generate(**inputs, **lengths, num_beams=work.hypotheses, do_sample=False)

    return generate


def _hf_training(model: Any, inputs: Any, labels: Any) -> Run:
    import torch

    model.train()
    optimizer = torch.optim.Adam(model.parameters())

    def train() -> None:
        optimizer.zero_grad()
        model(**inputs, labels=labels).loss.backward()
        optimizer.step()

    return train


def ctranslate2(work: Work, precision: str) -> Run:
    """CTranslate2, in a precision of its own."""
    import ctranslate2
    import numpy as np

    from benchmarks.ct2_model import FIRST_WORD, write

    sizes = MODELS[work.model]
    with tempfile.TemporaryDirectory() as folder:
        write(sizes, folder)
        translator = ctranslate2.Translator(
            folder, device="cpu", compute_type=precision, intra_threads=THREADS, inter_threads=1
        )
    ids = np.random.default_rng(0).integers(FIRST_WORD, sizes.vocab_size, (work.batch, work.source))
    source = [[f"w{i}" for i in row] for row in ids]
    lengths = {"min_decoding_length": work.target, "max_decoding_length": work.target}
    return lambda: translator.translate_batch(source, beam_size=work.hypotheses, **lengths)


def kerashub(work: Work) -> Run:
    """BART of KerasHub, with TensorFlow under it."""
    import keras_hub
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    sizes = MODELS[work.model]
    backbone = keras_hub.models.BartBackbone(
        vocabulary_size=sizes.vocab_size,
        num_layers=sizes.depth,
        num_heads=sizes.heads,
        hidden_dim=sizes.width,
        intermediate_dim=sizes.units,
        max_sequence_length=256,
    )
    model = keras_hub.models.BartSeq2SeqLM(backbone, preprocessor=None)
    beam = keras_hub.samplers.BeamSampler(num_beams=max(1, work.hypotheses))
    model.compile(sampler=beam if work.hypotheses > 1 else "greedy")
    source = np.random.default_rng(0).integers(3, sizes.vocab_size, (work.batch, work.source))
    prompt = np.zeros((work.batch, 1 + work.target), "int32")
    prompt[:, 0] = 1
    inputs = {
        "encoder_token_ids": source,
        "encoder_padding_mask": np.ones(source.shape, bool),
        "decoder_token_ids": prompt,
        "decoder_padding_mask": prompt > 0,
    }
    return lambda: model.generate(inputs, stop_token_ids=None)


TORCH = ("torch", "numpy")
SYSTEMS: dict[str, tuple[Callable[[Work], Run], tuple[str, ...]]] = {
    "torch": (torch_lstm, TORCH),
    "hf": (hf, (*TORCH, "transformers")),
    "ct2-float32": (lambda work: ctranslate2(work, "float32"), ("ctranslate2", "numpy")),
    "ct2-int8": (lambda work: ctranslate2(work, "int8"), ("ctranslate2", "numpy")),
    "kerashub": (kerashub, ("keras-hub", "keras", "tensorflow")),
}
"""System to what makes a run for a piece of work, and the packages that it stands on."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("work", choices=WORK)
    parser.add_argument("--repeats", type=int, default=5, help="timed runs")
    arguments = parser.parse_args()
    work = WORK[arguments.work]
    prepare, packages = SYSTEMS[arguments.system]
    run, times = prepare(work), STEPS if work.trains else 1
    rates = time_runs(
        lambda: [run() for _ in range(times)], tokens=times * work.tokens, repeats=arguments.repeats
    )
    tell(arguments.system, work.name, rates, packages)


if __name__ == "__main__":
    main()
