"""What clients give back, and the calls that the REST and the gRPC client share; standard library only."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from zoo.serving.client_target import check_asked

__all__ = [
    "Alignment",
    "Classified",
    "Client",
    "Hypothesis",
    "Scored",
    "ServingError",
    "Signature",
    "Tagged",
    "TensorInfo",
    "Valued",
    "VersionStatus",
    "best_first",
]

_Self = TypeVar("_Self", bound="Client")
_UNREACHED = -1e8
"""Below this score a beam place is filler: fewer sequences could be reached than the beam is wide."""

_ADVICE = {
    "INVALID_ARGUMENT": "Compare the inputs with what metadata() says of the signature.",
    "FAILED_PRECONDITION": "Compare the signature with those that metadata() lists.",
    "NOT_FOUND": "Check the model's name and version; status() tells what is served.",
    "UNAVAILABLE": "Check that a server runs there: `zoo serve` starts one.",
    "DEADLINE_EXCEEDED": "Send fewer or shorter texts at a time, or give the client a longer timeout.",
    "RESOURCE_EXHAUSTED": "Send less at a time, or try again later.",
    "UNIMPLEMENTED": "Use another signature or another server.",
}
_OF_LABELS = "A server knows the labels of its configuration; `zoo serve` reads them when it starts."


def _advice(code: str, message: str) -> str:
    """What may help; an unknown label has the code of malformed inputs."""
    return _OF_LABELS if "version label" in message else _ADVICE.get(code, "")


class ServingError(Exception):
    """A call that failed.

    Attributes:
        code: a canonical status code, such as `NOT_FOUND` or `UNAVAILABLE`; the same over REST and gRPC.
        message: what the server said, or why none was reached.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message.rstrip(' .')}. {_advice(code, message)}".rstrip())
        self.code = code
        self.message = message


class Hypothesis(NamedTuple):
    """One decoded text.

    Attributes:
        text: the text itself.
        score: the sum of the model's log probabilities of its tokens, the end counted.
        length: tokens without the end.
        ranked_score: what orders the hypotheses of a beam; for a greedy answer, which is alone, its score.
    """

    text: str
    score: float
    length: int
    ranked_score: float


class Scored(NamedTuple):
    """How probable a target is: the sum over its tokens, and each token with its log probability."""

    score: float
    tokens: list[str]
    token_scores: list[float]


class Alignment(NamedTuple):
    """Where the model looked: `weights[t][s]` is how much target token t drew on source token s."""

    source_tokens: list[str]
    target_tokens: list[str]
    weights: list[list[float]]


class Tagged(NamedTuple):
    """The tokens of a text, each with its label and with the label's probability."""

    tokens: list[str]
    labels: list[str]
    scores: list[float]


class Valued(NamedTuple):
    """The tokens of a text, each with its number."""

    tokens: list[str]
    values: list[float]


class Classified(NamedTuple):
    """A text's label, its probability, and those of all labels, in the order of its labels.txt.

    Where there is nothing to say, as of a blank text, the label is empty, and all probabilities are 0.
    """

    label: str
    score: float
    probabilities: list[float]


class VersionStatus(NamedTuple):
    """A version of a model: its state, such as `AVAILABLE` or `END`, and what went wrong, if anything."""

    version: int
    state: str
    message: str


class TensorInfo(NamedTuple):
    """A tensor: dtype such as `DT_STRING`, shape with None where any length goes; shape None: any rank."""

    dtype: str
    shape: tuple[int | None, ...] | None


class Signature(NamedTuple):
    """The inputs and outputs of a signature, by name."""

    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]


class Client(ABC):
    """The calls that every client has. Row i of an answer belongs to row i of the question, and to no other.

    A client can be used from several threads, and as a context manager. Every call may raise `ServingError`.
    """

    def __init__(self, model: str, version: int | None, label: str | None, timeout: float) -> None:
        check_asked(model, version, label, timeout)
        self.model = model
        self.version = version
        self.label = label
        self.timeout = timeout
        self._signatures: dict[str, Signature] | None = None

    @abstractmethod
    def predict(
        self, inputs: Mapping[str, Sequence[Any]], *, signature: str = "serving_default"
    ) -> dict[str, list[Any]]:
        """Call a signature.

        Args:
            inputs: input name to its rows; texts as str, or bytes for what is not UTF-8.

        Returns:
            Output name to its rows, as nested lists; strings are str, from outputs named `*_bytes` bytes.
        """

    @abstractmethod
    def status(self) -> list[VersionStatus]:
        """The versions that the server knows, highest first; only the client's own if it asks for one."""

    @abstractmethod
    def metadata(self) -> dict[str, Signature]:
        """The model's signatures by name, without TensorFlow's own, whose names begin with `__`."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def answer(self, texts: Sequence[str | bytes]) -> list[str]:
        """The best text for each text, from the signature `serving_default`."""
        return self.predict({"text": _texts(texts)})["text"]

    def greedy(self, texts: Sequence[str | bytes]) -> list[Hypothesis]:
        """The greedily decoded text for each text."""
        out = self.predict({"text": _texts(texts)}, signature="greedy")
        rows = zip(out["text"], out["score"], out["length"], out["score"], strict=True)
        return [Hypothesis(*row) for row in rows]

    def beam(self, texts: Sequence[str | bytes]) -> list[list[Hypothesis]]:
        """The hypotheses of a beam search for each text, best first; unreached places are left out."""
        return best_first(self.predict({"text": _texts(texts)}, signature="beam"))

    def generate(
        self,
        texts: Sequence[str | bytes],
        *,
        width: int | Sequence[int] = 0,
        length_penalty: float | Sequence[float] = -1000.0,
        min_length: int | Sequence[int] = 0,
        max_length: int | Sequence[int] = 0,
        prefix: str | Sequence[str | bytes] = "",
    ) -> list[list[Hypothesis]]:
        """The hypotheses of a beam search that the request chooses, best first, without unreached places.

        Everything but the texts is one value for all texts, or one for each.

        Args:
            texts: what to answer.
            width: of the beam; 0 stands for the exported one, and none is wider than the export allows.
            length_penalty: -1000 stands for the exported one; 0 ranks by plain log probability, more favours
                long answers.
            min_length: no end before so many tokens.
            max_length: most tokens; 0 stands for the exported bound, which none exceeds.
            prefix: how the answer begins.
        """
        knobs = {
            "width": width,
            "length_penalty": length_penalty,
            "min_length": min_length,
            "max_length": max_length,
            "prefix": prefix,
        }
        texts = _texts(texts)
        return best_first(self.predict({"text": texts, **_of_each(knobs, len(texts))}, signature="generate"))

    def sample(
        self,
        texts: Sequence[str | bytes],
        *,
        seed: int | Sequence[int] = 0,
        temperature: float | Sequence[float] = 1.0,
        top_k: int | Sequence[int] = 0,
        top_p: float | Sequence[float] = 1.0,
    ) -> list[Hypothesis]:
        """A drawn text for each text: the same seed draws the same, whatever else is asked.

        Everything but the texts is one value for all texts, or one for each.

        Args:
            texts: what to answer.
            seed: of the draw.
            temperature: less than 1 makes likely tokens likelier.
            top_k: only so many likeliest tokens may be drawn; 0 allows all.
            top_p: only the likeliest tokens that together reach this probability may be drawn.
        """
        knobs = {"seed": seed, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        texts = _texts(texts)
        out = self.predict({"text": texts, **_of_each(knobs, len(texts))}, signature="sample")
        rows = zip(out["text"], out["score"], out["length"], out["score"], strict=True)
        return [Hypothesis(*row) for row in rows]

    def score(self, texts: Sequence[str | bytes], targets: Sequence[str | bytes]) -> list[Scored]:
        """How probable each target is for its text.

        Raises:
            ValueError: there are not as many targets as texts.
        """
        texts, targets = _pairs(texts, targets)
        out = self.predict({"text": texts, "target": targets}, signature="score")
        rows = zip(out["score"], out["tokens"], out["token_scores"], strict=True)
        return [
            Scored(score, tokens[: _filled(tokens)], token_scores[: _filled(tokens)])
            for score, tokens, token_scores in rows
        ]

    def align(
        self, texts: Sequence[str | bytes], targets: Sequence[str | bytes] | None = None
    ) -> list[Alignment]:
        """Which source tokens each target token drew on; without targets, those of the greedy answers."""
        texts = _texts(texts)
        texts, targets = _pairs(texts, [""] * len(texts) if targets is None else targets)
        out = self.predict({"text": texts, "target": targets}, signature="align")
        rows = zip(out["source_tokens"], out["target_tokens"], out["alignment"], strict=True)
        return [
            Alignment(
                source[: _filled(source)],
                target[: _filled(target)],
                [weights[: _filled(source)] for weights in alignment[: _filled(target)]],
            )
            for source, target, alignment in rows
        ]

    def tag(self, texts: Sequence[str | bytes]) -> list[Tagged]:
        """A label for every token of each text."""
        out = self.predict({"text": _texts(texts)}, signature="tag")
        rows = zip(out["tokens"], out["labels"], out["scores"], strict=True)
        return [
            Tagged(tokens[: _filled(tokens)], labels[: _filled(tokens)], scores[: _filled(tokens)])
            for tokens, labels, scores in rows
        ]

    def tag_values(self, texts: Sequence[str | bytes]) -> list[Valued]:
        """A number for every token of each text, from a model that gives numbers."""
        out = self.predict({"text": _texts(texts)}, signature="tag")
        rows = zip(out["tokens"], out["values"], strict=True)
        return [Valued(tokens[: _filled(tokens)], values[: _filled(tokens)]) for tokens, values in rows]

    def classify(self, texts: Sequence[str | bytes]) -> list[Classified]:
        """A label for each text, or for each of what else the model reads, such as WAV files as bytes."""
        out = self._predict_only("classify", _texts(texts))
        rows = zip(out["label"], out["score"], out["probabilities"], strict=True)
        return [Classified(*row) for row in rows]

    def regress(self, texts: Sequence[str | bytes]) -> list[float]:
        """A number for each text, or for each of what else the model reads, such as WAV files as bytes."""
        return self._predict_only("regress", _texts(texts))["value"]

    def is_available(self) -> bool:
        """Whether the server can answer for the model now."""
        return not self._problem()

    def wait_until_available(self, timeout: float = 60.0) -> None:
        """Wait until the server can answer for the model; raises `ServingError` after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            problem = self._problem()
            if not problem:
                return
            if time.monotonic() >= deadline:
                message = f"model {self.model!r} was not available within {timeout} s: {problem}"
                raise ServingError("UNAVAILABLE", message)
            time.sleep(min(0.1, timeout))

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _problem(self) -> str:
        """Why the model cannot be asked now; empty if it can."""
        try:
            statuses = self.status()
        except ServingError as error:
            return error.message
        if any(status.state == "AVAILABLE" for status in statuses):
            return ""
        return "; ".join(f"version {s.version} is {s.state} {s.message}".rstrip() for s in statuses)

    def _predict_only(self, signature: str, rows: Sequence[str | bytes]) -> dict[str, list[Any]]:
        """Fill the only input of a signature: its name says what the model reads, such as `audio`."""
        names = sorted(self._signature(signature).inputs)
        if len(names) != 1:
            message = f"expected one input of {signature!r} to fill, got {names}; predict() fills any"
            raise ServingError("INVALID_ARGUMENT", message)
        return self.predict({names[0]: rows}, signature=signature)

    def _signature(self, name: str) -> Signature:
        """What the server said of a signature when it was first asked."""
        if self._signatures is None or name not in self._signatures:
            self._signatures = self.metadata()
        if name not in self._signatures:
            known = ", ".join(sorted(self._signatures))
            raise ServingError("INVALID_ARGUMENT", f"there is no signature {name!r}; the model has {known}.")
        return self._signatures[name]


def best_first(out: Mapping[str, Any]) -> list[list[Hypothesis]]:
    """What `beam` and `generate` answer, without the places that no hypothesis reached."""
    rows = zip(out["text"], out["score"], out["length"], out["ranked_score"], strict=True)
    return [[Hypothesis(*place) for place in zip(*row, strict=True) if place[1] > _UNREACHED] for row in rows]


def _of_each(knobs: Mapping[str, Any], count: int) -> dict[str, Sequence[Any]]:
    """One value of each knob for each text."""
    each = {
        name: value if isinstance(value, Sequence) and not isinstance(value, str) else [value] * count
        for name, value in knobs.items()
    }
    for name, values in each.items():
        if len(values) != count:
            raise ValueError(f"Give one {name}, or one for each of {count} texts, got {len(values)}.")
    return each


def _filled(tokens: Sequence[str]) -> int:
    """How many tokens a row has without its padding."""
    count = len(tokens)
    while count and not tokens[count - 1]:
        count -= 1
    return count


def _texts(texts: Iterable[str | bytes]) -> list[str | bytes]:
    """Texts as a list; one alone would be taken for its characters, or come back without its row."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise ValueError(f"Give a list of texts, such as ['one text'], got {texts!r}.")
    return list(texts)


def _pairs(
    texts: Iterable[str | bytes], targets: Iterable[str | bytes]
) -> tuple[list[str | bytes], list[str | bytes]]:
    texts, targets = _texts(texts), _texts(targets)
    if len(texts) != len(targets):
        raise ValueError(f"Each text needs one target, got {len(texts)} texts and {len(targets)} targets.")
    return texts, targets
