"""What the README says, taken apart so that a program can hold it against the project.

A check is a function from what is written, and what is the case, to the faults, in words.
"""

import ast
import io
import json
import re
import shlex
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import curl_commands
import typer

USAGE_ERROR = typer.BadParameter.__base__
"""Of the click that Typer uses: some releases bring their own, others take the installed one."""

FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
A_COMMAND = re.compile(r"(?:\.venv/bin/|python -m )?((?:zoo|make)(?: .*)?)")
A_PATH = re.compile(r"[A-Za-z.][\w.-]*/[\w./-]*|[\w-]+\.(?:md|py|ipynb|png|toml)")
REMARK = re.compile(r"[A-Za-z]")
"""How a comment begins that is for people; one that begins otherwise shows a value."""


class Block(NamedTuple):
    """A fenced block: what follows the opening fence, such as `python client`, and what is inside."""

    info: str
    code: str


class Shown(NamedTuple):
    """A line of code that ends in a comment, and what it gave: a value, or what it printed."""

    line: str
    comment: str
    value: Any


class Ran(NamedTuple):
    """What came of running code."""

    shown: list[Shown]
    printed: list[str]


class Request(NamedTuple):
    """A request as `curl` would send it, and the answer that is printed below it."""

    url: str
    body: str | None
    answer: Any


def blocks(markdown: str) -> list[Block]:
    return [Block(*found) for found in FENCED.findall(markdown)]


def spans(markdown: str) -> list[str]:
    """What stands between backticks in running text and tables."""
    return re.findall(r"`([^`\n]+)`", FENCED.sub("", markdown))


def run(code: str, namespace: dict[str, Any]) -> Ran:
    """Run code in a namespace, and keep what the lines gave that have a comment, and what was printed."""
    ran = Ran([], [])
    lines = code.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {
        token.start[0]: token.string[1:].strip() for token in tokens if token.type == tokenize.COMMENT
    }

    def show(line: int, value: Any) -> None:
        if line in comments:
            ran.shown.append(Shown(lines[line - 1].strip(), comments[line], value))

    def keep(*values: Any) -> str:
        ran.printed.append(" ".join(map(str, values)))
        return ran.printed[-1]

    tree = ast.fix_missing_locations(_Watched().visit(ast.parse(code)))
    namespace.update(print=keep, __show__=show)
    exec(compile(tree, "README.md", "exec"), namespace)
    return ran


def run_all(markdown: str) -> tuple[Ran, dict[str, Any]]:
    """Run the Python of a whole document, block after block in one namespace, which is given back too."""
    ran, namespace = Ran([], []), {"__name__": "document"}
    for block in blocks(markdown):
        if block.info == "python":
            shown, printed = run(block.code, namespace)
            ran.shown.extend(shown)
            ran.printed.extend(printed)
    return ran, namespace


class _Watched(ast.NodeTransformer):
    """Hands the value of every statement that is an expression to `__show__`."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        watch = ast.Name("__show__", ast.Load())
        node.value = ast.Call(watch, [ast.Constant(node.end_lineno), node.value], [])
        return node


def comment_faults(shown: Shown) -> Iterator[str]:
    """A comment beside `print` is what it prints; another one that is a value has the form of the line's."""
    if shown.line.startswith("print("):
        if shown.value != shown.comment:
            yield f"{shown.line!r} printed {shown.value!r}"
    elif not REMARK.match(shown.comment):
        # Dots say that there is more, which Python would not take after a name.
        example = shown.comment.replace(", ...", "")
        yield from form_faults(ast.parse(example, mode="eval").body, shown.value, shown.line)


def answer_faults(expected: Any, answer: Any) -> Iterator[str]:
    """Two JSON documents have the same form."""
    yield from form_faults(ast.parse(repr(expected), mode="eval").body, answer, "the answer")


def form_faults(expected: ast.expr, value: Any, place: str) -> Iterator[str]:
    """Keys, names and types are the same; numbers, texts and lengths of lists may differ."""
    match expected:
        case ast.UnaryOp(operand=number):
            yield from form_faults(number, value, place)
        case ast.Constant(value=example):
            if type(value) is not type(example):
                yield f"{place} is {value!r}, not a {type(example).__name__}"
        case ast.List(elts=elements):
            yield from _list_faults(elements, value, place)
        case ast.Dict(keys=keys, values=values):
            yield from _dict_faults(dict(zip(map(ast.literal_eval, keys), values, strict=True)), value, place)
        case ast.Call(func=ast.Name(id=name), keywords=fields):
            if type(value).__name__ != name:
                yield f"{place} is {value!r}, not a {name}"
                return
            for field in fields:
                yield from form_faults(field.value, getattr(value, field.arg, None), f"{place}.{field.arg}")
        case _:
            yield f"{place}: cannot tell what {ast.unparse(expected)} stands for"


def _list_faults(elements: list[ast.expr], value: Any, place: str) -> Iterator[str]:
    if not isinstance(value, list) or bool(value) != bool(elements):
        yield f"{place} is {value!r}, not such a list"
        return
    for number, item in enumerate(value):
        yield from form_faults(elements[min(number, len(elements) - 1)], item, f"{place}[{number}]")


def _dict_faults(fields: Mapping[str, ast.expr], value: Any, place: str) -> Iterator[str]:
    if not isinstance(value, dict) or value.keys() != fields.keys():
        yield f"{place} is {value!r}, not an object of {', '.join(fields)}"
        return
    for name, field in fields.items():
        yield from form_faults(field, value[name], f"{place}.{name}")


def exchanges(markdown: str) -> Iterator[tuple[list[str], str]]:
    """The commands of all console blocks, as words, each with the output below it."""
    for block in blocks(markdown):
        if block.info != "console":
            continue
        for part in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
            command, _, output = part.replace("\\\n", " ").partition("\n")
            yield shlex.split(command), output


def requests(markdown: str) -> list[Request]:
    """The `curl` commands.

    Raises:
        ValueError: a command has an option that this does not know, or an answer is not JSON.
    """
    return [
        Request(*curl_commands.read(words), json.loads(output))
        for words, output in exchanges(markdown)
        if words and words[0] == "curl"
    ]


def commands(markdown: str) -> list[list[str]]:
    """The `zoo` and `make` commands, as words, wherever they stand."""
    typed = [shlex.join(words) for words, _ in exchanges(markdown)]
    found = [A_COMMAND.fullmatch(text) for text in (*spans(markdown), *typed)]
    return [shlex.split(command[1]) for command in found if command]


def command_faults(words: list[str], verbs: Mapping[str, Any], targets: Collection[str]) -> Iterator[str]:
    """The target or the verb exists; if arguments are written, the verb takes them."""
    program, *arguments = words
    if program == "make":
        for target in arguments:
            if target not in targets:
                yield f"`make {target}` does not exist"
    elif arguments and arguments[0] not in verbs:
        yield f"`zoo {arguments[0]}` does not exist"
    elif len(arguments) > 1:
        verb, *rest = arguments
        try:
            verbs[verb].make_context(verb, rest)
        except USAGE_ERROR as error:
            yield f"`zoo {shlex.join(arguments)}` does not work: {error}"


def path_faults(markdown: str, root: Path) -> Iterator[str]:
    """Files and folders that are named, shown or linked to exist, or are made by a command."""
    made = {line.strip("/*") for line in (root / ".gitignore").read_text(encoding="utf-8").splitlines()}
    named = [span for span in spans(markdown) if A_PATH.fullmatch(span) and span.split("/")[0] not in made]
    linked = [link for link in re.findall(r"\]\(([^)]+)\)", markdown) if "://" not in link]
    for path in dict.fromkeys([*named, *linked]):
        if not (root / path).exists():
            yield f"{path} does not exist"


def table(markdown: str, first_heading: str) -> list[list[str]]:
    """The rows of the table whose first column is headed so, as cells."""
    found = re.search(rf"^\| {re.escape(first_heading)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", markdown, re.MULTILINE)
    if not found:
        raise ValueError(f"There is no table with a first column {first_heading!r}.")
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found[1].splitlines()]


def written_signatures(markdown: str) -> dict[str, dict[str, dict[str, int]]]:
    """The table of signatures: of each its inputs and outputs, name to number of axes."""
    return {
        name.strip("`"): {"inputs": _ranks(inputs), "outputs": _ranks(outputs)}
        for name, inputs, outputs in table(markdown, "signature")
    }


def exported_signatures(manifest: Mapping[str, Any]) -> dict[str, dict[str, dict[str, int]]]:
    """What an export's manifest says, in the same form."""
    return {
        name: {side: _lengths(signature[side].items()) for side in ("inputs", "outputs")}
        for name, signature in manifest["signatures"].items()
    }


def _ranks(cell: str) -> dict[str, int]:
    """Of "`text` (B,), `score` (B, K)", or "`text`, `score`, all (B, K)"."""
    for_all = re.search(r"all \(([^)]*)\)", cell)
    named = re.findall(r"`(\w+)`(?: \(([^)]*)\))?", cell)
    return {name: len(re.findall(r"\w+", axes or (for_all[1] if for_all else ""))) for name, axes in named}


def _lengths(forms: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, int]:
    return {name: len(form["shape"]) for name, form in forms}
