"""The rules of the house, as far as a program can read them off the source.

A rule is a function from a source to its breaches, in words.
"""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

EVERYTHING = ("everything",)

ALLOWED: dict[str, tuple[str, ...]] = {
    "layers": (),
    "tokenizers": (),
    "metrics": (),
    "models": ("layers", "tokenizers.specials"),
    "decoders": ("tokenizers.specials", "tokenizers.sequences"),
    "data": ("tokenizers",),
    "tasks": ("data", "tokenizers", "metrics"),
    "knobs": ("decoders",),
    "predictor": ("decoders", "knobs", "tokenizers"),
    "predictors": ("predictor", "tokenizers"),
    "text_operations": (),
    "verify": ("text_operations",),
    "export": ("verify",),
    "training": ("data", "metrics", "tokenizers.specials"),
    "plots": (),
    "alignments": (),
    "masking": (),
    "diagnostics": ("layers", "models", "masking"),
    "describe": ("markdown", "verify"),
    "markdown": (),
    "serving": ("text_operations", "verify.layout", "verify.operations"),
    "studio": ("serving",),
    "recipes": EVERYTHING,
    "runs": EVERYTHING,
    "results": EVERYTHING,
    "served": EVERYTHING,
    "tables": EVERYTHING,
    "demo": EVERYTHING,
    "cli": EVERYTHING,
    "__init__": (),
    "__main__": ("cli",),
}
"""What each part of the zoo may import of the others, beside itself."""

ALLOWED_FOR_TYPES = {"export": ("predictor",)}
"""What it may name under `if TYPE_CHECKING:` besides."""

TENSORFLOW_TEXT = ("zoo.tokenizers.tensorflow_text",)
TENSORFLOW_IN_A_FUNCTION = ("zoo.layers.cache", "zoo.layers.scan")
PRINTING = ("zoo.serving.__main__", "zoo.verify.__main__")
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


class Source(NamedTuple):
    """A module as text; its name as it is imported, with `.__init__` for that of a package."""

    name: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def part(self) -> str:
        """The name right below the zoo, such as `layers`."""
        return self.name.split(".")[1]


class Import(NamedTuple):
    """Something imported: `a.b` for `import a.b`, and `a.b.c` for `from a.b import c`."""

    name: str
    line: int
    in_function: bool
    for_types: bool

    def is_of(self, package: str) -> bool:
        return f"{self.name}.".startswith(f"{package}.")


def imports(source: Source) -> Iterator[Import]:
    """Every import of a module, those inside functions too."""
    yield from _imports(source.name, source.tree, in_function=False, for_types=False)


def _imports(module: str, parent: ast.AST, *, in_function: bool, for_types: bool) -> Iterator[Import]:
    for node in ast.iter_child_nodes(parent):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(module, node)
            names = [f"{package}.{alias.name}" for alias in node.names]
        yield from (Import(name, node.lineno, in_function, for_types) for name in names)
        yield from _imports(
            module,
            node,
            in_function=in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda),
            for_types=for_types or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)),
        )


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """The package of a `from` import; a dot stands for the package of the module."""
    above = module.split(".")[: -node.level] if node.level else []
    return ".".join([*above, *filter(None, [node.module])])


def import_directions(source: Source) -> Iterator[str]:
    if source.part not in ALLOWED:
        yield f"{source.part} is not in the table of allowed imports: decide what it may import"
        return
    if ALLOWED[source.part] is EVERYTHING:
        return
    for found in imports(source):
        allowed = (source.part, *ALLOWED[source.part])
        if found.for_types:
            allowed += ALLOWED_FOR_TYPES.get(source.part, ())
        if found.is_of("zoo") and not any(found.is_of(f"zoo.{part}") for part in allowed):
            yield f"line {found.line}: {source.part} may not import {found.name}"


def tensorflow_text(source: Source) -> Iterator[str]:
    for found in imports(source):
        if found.is_of("tensorflow_text") and source.name not in TENSORFLOW_TEXT:
            yield f"line {found.line}: only {' and '.join(TENSORFLOW_TEXT)} import tensorflow_text"


def any_backend(source: Source) -> Iterator[str]:
    if source.part not in ("layers", "models"):
        return
    for found in imports(source):
        excused = source.name in TENSORFLOW_IN_A_FUNCTION and found.in_function
        if found.name.startswith("tensorflow") and not excused:
            yield f"line {found.line}: {source.part} are written in keras.ops, not {found.name}"


def length_of_files(source: Source) -> Iterator[str]:
    lines = len(source.text.splitlines())
    if lines > LINES_OF_A_FILE:
        yield f"{lines} lines, more than {LINES_OF_A_FILE}: it holds more than one concept"


def length_of_functions(source: Source) -> Iterator[str]:
    written = source.text.splitlines()
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = set(range(node.lineno, node.end_lineno + 1))
        if ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        texts = [written[line - 1].strip() for line in lines]
        code = [text for text in texts if text and not text.startswith("#")]
        if len(code) > LINES_OF_A_FUNCTION:
            yield f"line {node.lineno}: {node.name} has {len(code)} lines, more than {LINES_OF_A_FUNCTION}"


def telling_names(source: Source) -> Iterator[str]:
    for word in EMPTY_NAMES.intersection(source.name.split(".")):
        yield f"the name {word} says nothing: name it after its one concept"


def public_names(source: Source) -> Iterator[str]:
    """A docstring and `__all__`, and what that lists is there and documented."""
    if source.name.split(".")[-1] == "__main__" or any(
        word.startswith("_") and word != "__init__" for word in source.name.split(".")
    ):
        return
    if ast.get_docstring(source.tree) is None:
        yield "it has no docstring"
    listed = _listed(source.tree)
    if listed is None:
        yield "it has no __all__ of plain strings"
        return
    bound = dict(_bound(source.tree))
    for name in listed:
        if name not in bound and "__getattr__" not in bound:
            yield f"{name} is in __all__, but is not there"
        node = bound.get(name)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is None:
            yield f"line {node.lineno}: {name} is in __all__, but has no docstring"


def _listed(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and "__all__" in dict(_bound(node)):
            try:
                return list(ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def _bound(parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Names that a module gives a meaning to, on its top level."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0], node
        else:
            yield from _bound(node)


def registered_classes(source: Source) -> Iterator[str]:
    """Keras finds a class by its registered name when it reads a saved model."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ClassDef):
            continue
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        registered = any(text.endswith("register_keras_serializable('zoo')") for text in decorators)
        if "get_config" in methods and not registered:
            yield (
                f"line {node.lineno}: {node.name} has a get_config; "
                "decorate it with keras.saving.register_keras_serializable('zoo')"
            )


def silence(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        if called and source.name not in PRINTING:
            yield f"line {node.lineno}: only {' and '.join(PRINTING)} print; log, return or raise instead"


Rule = Callable[[Source], Iterator[str]]

RULES: list[Rule] = [
    import_directions,
    tensorflow_text,
    any_backend,
    length_of_files,
    length_of_functions,
    telling_names,
    public_names,
    registered_classes,
    silence,
]
