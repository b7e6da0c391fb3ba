"""What a task is: a question asked of a corpus."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from zoo.data.pairs import Pairs
from zoo.tokenizers.protocol import Tokenizer

__all__ = ["Baseline", "Metric", "Task"]

Metric = Callable[[Sequence[str], Sequence[str]], float]
"""`metric(predictions, references)` gives one number for the whole."""

Baseline = Callable[[Sequence[str]], list[str]]
"""`baseline(sources)` answers without a trained model."""


@dataclass(frozen=True)
class Task:
    """A question asked of a corpus: its texts, its tokenizers and how answers are judged.

    Attributes:
        name: lower-case identifier.
        description: one sentence, shown to people.
        languages: BCP 47 tags of the source texts.
        licence: of the data, in words.
        splits: texts by name; `train` and `validation` are always there, every other name is a test.
        source: tokenizer of the sources.
        target: tokenizer of the targets.
        metrics: by name.
        baselines: by name, what a user might reach for instead of a trained model.
        examples: sources that make good golden examples and warm-up requests.
        notes: facts about the data that belong beside its figures, such as what was left out.
        data: the corpus that the texts are of, in words.
    """

    name: str
    description: str
    languages: Sequence[str]
    licence: str
    splits: Mapping[str, Pairs]
    source: Tokenizer
    target: Tokenizer
    metrics: Mapping[str, Metric]
    examples: Sequence[str]
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    notes: Sequence[str] = ()
    data: str = ""

    @property
    def tests(self) -> dict[str, Pairs]:
        """The splits that nothing is learned from."""
        return {name: pairs for name, pairs in self.splits.items() if name not in ("train", "validation")}
