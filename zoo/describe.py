"""A card of an export, in Markdown: what it is, what it answers, and requests to copy.

It is read off the export alone, so it can be written wherever the folder lies.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zoo.markdown import table
from zoo.verify.layout import (
    ALWAYS_ASKED,
    GOLDEN,
    MANIFEST,
    question_of,
    read_golden,
    read_manifest,
    to_plain,
    version_number,
)

__all__ = ["Where", "describe"]

REST_SNIPPET = """\
import json
import urllib.request

url = {url!r}
body = {body!r}
request = urllib.request.Request(url, json.dumps(body).encode(), {{"Content-Type": "application/json"}})
with urllib.request.urlopen(request, timeout=60) as response:
    print(json.load(response))"""

GRPC_SNIPPET = """\
{imports}import grpc
from tensorflow import make_ndarray, make_tensor_proto
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

request = PredictRequest()
request.model_spec.name = {model!r}
request.model_spec.signature_name = {signature!r}
{inputs}
with grpc.insecure_channel({target!r}) as channel:
    answer = PredictionServiceStub(channel).Predict(request, timeout=60)
print({{name: make_ndarray(value).tolist() for name, value in answer.outputs.items()}})"""

LONGEST_ANSWER = 400
"""Characters of an answer that are shown."""


class Where(NamedTuple):
    """Where the model is served, as the requests of a card say it."""

    rest_url: str = "http://127.0.0.1:8501"
    grpc_target: str = "127.0.0.1:8500"


def describe(path: Path, where: Where = Where()) -> str:  # noqa: B008 - immutable
    """The card of the export in a folder `NAME/VERSION`.

    Args:
        path: of the version; or of the model, then of its highest version.
        where: it is served.

    Raises:
        FileNotFoundError: there is no export with a manifest, or it has no golden questions.
        ValueError: the manifest, or the golden questions, are none.
    """
    path = _version(Path(path))
    manifest = read_manifest(path)
    examples = _examples(_golden(path, manifest["signatures"]), manifest["signatures"])
    parts = [
        _about(path, manifest),
        _figures(manifest["card"]["metrics"]),
        _list("Notes", manifest["card"]["notes"]),
        _signatures(manifest["signatures"]),
        *_requests(manifest, examples, where),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _version(path: Path) -> Path:
    if (path / MANIFEST).is_file():
        return path
    found = {
        version_number(child.name): child for child in path.glob("[0-9]*") if (child / MANIFEST).is_file()
    }
    versions = {number: child for number, child in found.items() if number is not None}
    if not versions:
        raise FileNotFoundError(
            f"There is no export of the zoo in {path}: expected {path / MANIFEST}. Give the folder "
            "NAME/VERSION of an export, or NAME."
        )
    return versions[max(versions)]


def _golden(path: Path, signatures: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The golden questions with their answers, as they are written."""
    asked = {example.signature for example in read_golden(path, signatures)}
    if "serving_default" not in asked:
        raise ValueError(
            f"{path / GOLDEN} has no question to serving_default, so there is nothing to show. Export again; "
            f"`zoo verify {path}` tells what else is wrong."
        )
    return json.loads((path / GOLDEN).read_text(encoding="utf-8"))


def _examples(
    golden: Sequence[Mapping[str, Any]], signatures: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """For each signature the first entry with the question that is shown."""
    question = question_of(signatures["serving_default"])
    shown = _shown([entry["inputs"][question] for entry in golden])
    examples: dict[str, Mapping[str, Any]] = {}
    for entry in golden:
        if entry["inputs"][question] == shown:
            examples.setdefault(entry["signature"], entry)
    return examples


def _shown(questions: Sequence[Any]) -> Any:
    """The last text of the task's own examples; where they are no texts, the shortest."""
    always = [to_plain(text) for text in ALWAYS_ASKED]
    own = [question for question in questions if question not in always] or questions
    texts = [question for question in own if isinstance(question, str)]
    return texts[-1] if texts else min(own, key=lambda question: len(question["b64"]))


def _about(path: Path, manifest: Mapping[str, Any]) -> str:
    card = manifest["card"]
    size = sum(manifest["files"].values()) / 2**20
    rows = {
        "task": card["task"],
        "recipe": card["recipe"],
        "languages": ", ".join(card["languages"]),
        "trained on": card.get("data") or "not stated",  # exports from before the field have none
        "licence": card["licence"],
        "created": manifest["created"],
        "made with": ", ".join(f"{name} {version}" for name, version in manifest["versions"].items()),
        "needs": ", ".join(["TensorFlow", *manifest["needs"]]),
        "size": f"{size:.1f} MiB",
    }
    title = f"# {card['name']}" + (f", version {path.name}" if path.name.isdigit() else "")
    return f"{title}\n\n{card['description']}\n\n{table(('', ''), rows.items())}"


def _figures(metrics: Mapping[str, float]) -> str:
    rows = [(name.replace(".", ", ").replace("_", " "), f"{value:.4f}") for name, value in metrics.items()]
    return "## Figures\n\n" + table(("on the test splits", ""), rows) if rows else ""


def _list(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _signatures(signatures: Mapping[str, Any]) -> str:
    rows = [
        (f"`{name}`", _inputs(form["inputs"], form.get("neutral", {})), _outputs(form["outputs"]))
        for name, form in signatures.items()
    ]
    return "## Signatures\n\n" + table(("name", "inputs (neutral value)", "outputs"), rows)


def _inputs(forms: Mapping[str, Any], neutral: Mapping[str, Any]) -> str:
    return ", ".join(
        f"`{name}` {form['dtype']}" + (f" ({json.dumps(neutral[name])})" if name in neutral else "")
        for name, form in forms.items()
    )


def _outputs(forms: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}` {form['dtype']} ({_sizes(form['shape'])})" for name, form in forms.items())


def _sizes(shape: Sequence[int | None] | None) -> str:
    """The batch, and the sizes of a row as far as they are known."""
    return ", ".join(["B", *(str(size or "-") for size in (shape or [])[1:])])


def _requests(
    manifest: Mapping[str, Any], examples: Mapping[str, Mapping[str, Any]], where: Where
) -> Iterator[str]:
    """A request to each signature with its answer, and one from Python over each protocol."""
    name = manifest["card"]["name"]
    url = f"{where.rest_url}/v1/models/{name}:predict"
    lines = []
    for signature, example in examples.items():
        command = f"curl {url} -d {shlex.quote(json.dumps(_body(signature, example), ensure_ascii=False))}"
        lines.append(f"`{signature}`:\n\n```sh\n{command}\n```\n\n```json\n{_answer(example)}\n```")
    yield "\n\n".join(["## Requests\n\nEach with the answer that this export gave when it was made.", *lines])
    signature = "beam" if "beam" in examples else "serving_default"
    body = _body(signature, examples[signature])
    yield "## From Python, over REST\n\n" + _python(REST_SNIPPET.format(body=body, url=url))
    forms = manifest["signatures"][signature]["inputs"]
    inputs = "\n".join(
        f"request.inputs[{key!r}].CopyFrom("
        f"make_tensor_proto([{_value(value)}], dtype={forms[key]['dtype']!r}))"
        for key, value in examples[signature]["inputs"].items()
    )
    imports = "from base64 import b64decode\n\n" if "b64decode(" in inputs else ""
    code = GRPC_SNIPPET.format(
        imports=imports, model=name, signature=signature, inputs=inputs, target=where.grpc_target
    )
    yield "## From Python, over gRPC\n\n" + _python(code)


def _value(value: Any) -> str:
    """A value of an input in Python."""
    return f"b64decode({value['b64']!r})" if isinstance(value, dict) else repr(value)


def _body(signature: str, example: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request with one row."""
    name = {} if signature == "serving_default" else {"signature_name": signature}
    return {**name, "instances": [dict(example["inputs"])]}


def _answer(example: Mapping[str, Any]) -> str:
    """What comes back: with one output its values alone."""
    outputs = example["outputs"]
    row = next(iter(outputs.values())) if len(outputs) == 1 else outputs
    written = json.dumps({"predictions": [row]}, ensure_ascii=False)
    return written if len(written) <= LONGEST_ANSWER else f"{written[:LONGEST_ANSWER]} ..."


def _python(code: str) -> str:
    return f"```python\n{code}\n```"
