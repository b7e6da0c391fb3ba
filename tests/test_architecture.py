"""The zoo keeps the rules of the house, and each rule fails where it is broken."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from house_rules import (
    ALLOWED,
    RULES,
    Source,
    any_backend,
    import_directions,
    length_of_files,
    length_of_functions,
    public_names,
    registered_classes,
    silence,
    telling_names,
    tensorflow_text,
)

import zoo

PACKAGE = Path(zoo.__file__).parent


def all_sources() -> list[Source]:
    names = {path: ".".join(("zoo", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in paths()}
    return [Source(name, path.read_text(encoding="utf-8")) for path, name in names.items()]


def paths() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_zoo_keeps_the_rules(rule):
    breaches = [f"{source.name}: {breach}" for source in all_sources() for breach in rule(source)]
    assert not breaches, "\n".join(["", *breaches])


def test_the_table_of_imports_has_no_row_for_what_is_not_there():
    assert set(ALLOWED) == {source.part for source in all_sources()}


def long_function(lines: int) -> str:
    return '"""D."""\n__all__ = []\ndef f():\n' + "    x = 1\n" * (lines - 1)


BROKEN = [
    (import_directions, "zoo.layers.x", "import zoo.models", "layers may not import zoo.models"),
    (import_directions, "zoo.layers.x", "from zoo import metrics", "may not import zoo.metrics"),
    (import_directions, "zoo.layers.x", "def f():\n    from zoo.data.pairs import Pairs", "line 2: layers"),
    (
        import_directions,
        "zoo.layers.x",
        "from ..data.pairs import Pairs",
        "may not import zoo.data.pairs.Pairs",
    ),
    (import_directions, "zoo.layers.__init__", "from ..data import pairs", "import zoo.data.pairs"),
    (import_directions, "zoo.metrics", "import zoo.tokenizers", "metrics may not"),
    (
        import_directions,
        "zoo.models.x",
        "from zoo.tokenizers import PAD",
        "may not import zoo.tokenizers.PAD",
    ),
    (import_directions, "zoo.models.x", "from zoo.decoders import Beam", "may not import zoo.decoders.Beam"),
    (import_directions, "zoo.decoders.x", "from zoo.models import A", "decoders may not import zoo.models.A"),
    (import_directions, "zoo.decoders.x", "if TYPE_CHECKING:\n    import zoo.models", "line 2: decoders"),
    (import_directions, "zoo.export", "from zoo.predictor import Predictor", "export may not"),
    (import_directions, "zoo.plots", "import zoo.metrics", "plots may not"),
    (import_directions, "zoo.serving.rest", "import zoo.layers", "serving may not"),
    (import_directions, "zoo.__init__", "from zoo.layers import LSTM", "__init__ may not"),
    (import_directions, "zoo.newcomer", "", "newcomer is not in the table"),
    (
        tensorflow_text,
        "zoo.tokenizers.words",
        "import tensorflow_text as text",
        "only zoo.tokenizers.tensorflow_text",
    ),
    (tensorflow_text, "zoo.data.x", "def f():\n    from tensorflow_text import a", "line 2"),
    (any_backend, "zoo.layers.x", "import tensorflow as tf", "keras.ops, not tensorflow"),
    (any_backend, "zoo.models.x", "def f():\n    from tensorflow import nn", "not tensorflow.nn"),
    (any_backend, "zoo.layers.scan", "import tensorflow as tf", "line 1"),
    (length_of_files, "zoo.x", "\n" * 401, "401 lines, more than 400"),
    (length_of_functions, "zoo.x", long_function(41), "line 3: f has 41 lines, more than 40"),
    (length_of_functions, "zoo.x", "class A:\n    async def f():\n" + "        x = 1\n" * 40, "line 2: f"),
    (telling_names, "zoo.data.utils", "", "the name utils says nothing"),
    (telling_names, "zoo.common.masks", "", "the name common says nothing"),
    (public_names, "zoo.x", "__all__ = []", "no docstring"),
    (public_names, "zoo.x.__init__", "", "no docstring"),
    (public_names, "zoo.x", '"""D."""', "no __all__"),
    (public_names, "zoo.x", '"""D."""\n__all__ = list(globals())', "no __all__ of plain strings"),
    (public_names, "zoo.x", '"""D."""\n__all__ = ["a"]', "a is in __all__, but is not there"),
    (public_names, "zoo.x", '"""D."""\n__all__ = ["f"]\ndef f(): ...', "line 3: f is in __all__, but has no"),
    (public_names, "zoo.x", '"""D."""\n__all__ = ["A"]\nclass A: ...', "line 3: A is in __all__, but has no"),
    (registered_classes, "zoo.x", "class A:\n    def get_config(self): ...", "line 1: A has a get_config"),
    (
        registered_classes,
        "zoo.x",
        "@register_keras_serializable()\nclass A:\n    def get_config(self): ...",
        "A",
    ),
    (silence, "zoo.x", "def f():\n    print('hello')", "line 2: only zoo.serving.__main__"),
]


@pytest.mark.parametrize(("rule", "name", "text", "breach"), BROKEN)
def test_a_breach_is_found(rule, name, text, breach):
    (found,) = list(rule(Source(name, text)))[:1]
    assert breach in found


KEPT = [
    (import_directions, "zoo.layers.x", "from zoo.layers.masks import a\nfrom . import b\nimport zoology"),
    (import_directions, "zoo.models.x", "import zoo.layers\nfrom zoo.tokenizers.specials import PAD"),
    (import_directions, "zoo.models.x", "from zoo.tokenizers import specials"),
    (import_directions, "zoo.export", "if TYPE_CHECKING:\n    from zoo.predictor import Predictor"),
    (import_directions, "zoo.cli", "def f():\n    from zoo import recipes\n    import zoo.models"),
    (tensorflow_text, "zoo.tokenizers.tensorflow_text", "import tensorflow_text"),
    (any_backend, "zoo.layers.scan", "def f():\n    import tensorflow as tf"),
    (any_backend, "zoo.decoders.x", "import tensorflow as tf"),
    (any_backend, "zoo.layers.x", "import keras"),
    (length_of_files, "zoo.x", "\n" * 400),
    (length_of_functions, "zoo.x", long_function(40)),
    (
        length_of_functions,
        "zoo.x",
        'def f():\n    """\n' + "    d\n" * 50 + '    """\n' + "\n    # why\n" * 50,
    ),
    (telling_names, "zoo.data.commons", ""),
    (public_names, "zoo.x", '"""D."""\nfrom a import b\n__all__ = ["b", "C"]\nC: int = 1'),
    (public_names, "zoo.x", '"""D."""\n__all__ = ["f"]\ndef f():\n    """D."""\ndef g(): ...'),
    (public_names, "zoo.x", '"""D."""\n__all__ = ["a"]\ndef __getattr__(name): ...'),
    (public_names, "zoo.x.__main__", ""),
    (
        registered_classes,
        "zoo.x",
        "@keras.saving.register_keras_serializable('zoo')\nclass A:\n  def get_config(s): ...",
    ),
    (registered_classes, "zoo.x", "class A:\n    def f(self): ..."),
    (silence, "zoo.verify.__main__", "print()"),
    (silence, "zoo.x", "console.print()\npprint()"),
]


@pytest.mark.parametrize(("rule", "name", "text"), KEPT)
def test_what_is_allowed_is_no_breach(rule, name, text):
    assert list(rule(Source(name, text))) == []


def test_every_rule_was_seen_to_fail_and_to_hold():
    assert {rule for rule, *_ in BROKEN} == set(RULES)
    assert {rule for rule, *_ in KEPT} == set(RULES)


def imported_by(code: str) -> set[str]:
    """Top-level modules that are there after running code in a fresh interpreter."""
    report = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{dedent(code)}\n{report}"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


HEAVY = {"tensorflow", "keras", "numpy", "matplotlib", "grpc"}


def test_the_zoo_imports_nothing_heavy_by_itself():
    found = imported_by("import zoo; zoo.__version__; dir(zoo)")
    assert "zoo" in found
    assert not HEAVY & found
    assert HEAVY & imported_by("import zoo; zoo.plots"), "what is heavy must be seen when it is there"


def test_parts_are_imported_when_they_are_used():
    found = imported_by("import zoo; assert zoo.metrics.exact_match(['a'], ['a']) == 1.0")
    assert not HEAVY & found
    for name in zoo.__all__:
        assert getattr(zoo, name) is not None
    assert set(zoo.__all__) <= set(dir(zoo))
    with pytest.raises(AttributeError, match=r"has no attribute 'colours'; it has .* layers"):
        zoo.colours  # noqa: B018


def test_the_version_is_that_of_the_installation(monkeypatch):
    from importlib.metadata import version

    assert zoo.__version__ == version("seq2seq-zoo")
    monkeypatch.setattr(zoo, "DISTRIBUTION", "not-installed-anywhere")
    assert zoo.__version__ == zoo.NOT_INSTALLED
