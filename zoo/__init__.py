"""A zoo of sequence models: trained with Keras' `fit`, exported as one SavedModel, served by TF Serving.

A text becomes ids, a model reads and writes ids, a search chooses among what it could write, and ids become
text again. Each part has its own package, which knows nothing of the others that it does not need:

    zoo.data, zoo.tasks         texts, and the question asked of them
    zoo.tokenizers              texts to ids and back, in graph operations
    zoo.layers, zoo.models      the networks, from their equations
    zoo.decoders                greedy and beam search, one loop for all models
    zoo.training, zoo.metrics   `compile` and `fit`, and how answers are judged
    zoo.predictor               tokenizers, model and search together: text to text
    zoo.predictors              the same for models whose answer is a label or a number
    zoo.export, zoo.verify      one SavedModel with everything in it, and its checks
    zoo.serving                 a server, and clients for REST and gRPC
    zoo.studio                  a page in the browser that asks served models, and draws
    zoo.diagnostics             what goes on inside: gradients through time, gates, scores, order
    zoo.plots                   pictures: where a model looked, how it learned, what goes on inside
    zoo.masking                 whether padding, the future or a neighbour leaks into answers, and where
    zoo.recipes                 all of the above, chosen so that it works: begin here
    zoo.runs                    recipes trained, evaluated and exported

`import zoo` imports none of them. They are imported when they are first used, as `zoo.plots` or by
`import zoo.plots`, so a client runs where TensorFlow is not installed. Where Keras and TensorFlow are at work
already, it imports `zoo.models`, so that Keras can load what was saved of them.
"""

import sys
from importlib import import_module
from typing import Any

__all__ = [
    "__version__",
    "data",
    "decoders",
    "diagnostics",
    "export",
    "layers",
    "masking",
    "metrics",
    "models",
    "plots",
    "predictor",
    "predictors",
    "recipes",
    "runs",
    "serving",
    "studio",
    "tasks",
    "tokenizers",
    "training",
    "verify",
]

DISTRIBUTION = "seq2seq-zoo"

NOT_INSTALLED = "0+not.installed"
"""The version of a source tree that was put on the path without being installed."""


def __getattr__(name: str) -> Any:
    """Find the version, or import a part, when it is first asked for (PEP 562)."""
    if name == "__version__":
        return _version()
    if name in __all__:
        return import_module(f"zoo.{name}")
    raise AttributeError(f"module 'zoo' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _register() -> None:
    """Tell Keras the classes that are in `.keras` files, if it is there to be told."""
    if sys.modules.get("keras") and sys.modules.get("tensorflow"):
        import_module("zoo.models")


def _version() -> str:
    """What pyproject.toml says, as the installation recorded it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return NOT_INSTALLED


_register()
