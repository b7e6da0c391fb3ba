"""Translations judged as a whole corpus, by sacrebleu (Post 2018), with a signature that says exactly how."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoo.metrics.moses import moses_tokens
from zoo.metrics.strings import require_pairs

__all__ = ["MOSES", "Bleu", "ChrF", "signatures"]

MOSES = {"moses-de": "de", "moses-en": "en", "moses-fr": "fr"}
"""Tokens as the tokenizer of Moses cuts them, for each language; the other names are sacrebleu's."""


@dataclass(frozen=True)
class Bleu:
    """BLEU (Papineni et al. 2002) of a corpus, from 0 to 100: higher is better.

    `Bleu()` is what papers call SacreBLEU. `Bleu("moses-de", lower_case=True)` is what papers on Multi30k
    report: BLEU over tokens of lower-cased text. Of predictions and references alike, case is dropped, then
    the punctuation is normalised, then the text is cut as the tokenizer of Moses does it, as in the
    corpus' own files `lc.norm.tok`; see `zoo.metrics.moses_tokens`. On those tokens, sacrebleu gives the
    number of `multi-bleu.perl`.

    Attributes:
        tokens: how text is cut; `13a`, `intl`, `char`, `zh` and others of sacrebleu's, or one of `MOSES`.
        lower_case: whether case is dropped first.
    """

    tokens: str = "13a"
    lower_case: bool = False

    def __call__(self, predictions: Sequence[str], references: Sequence[str]) -> float:
        """The score.

        Raises:
            ValueError: there are none, or not as many predictions as references.
        """
        require_pairs(predictions, references)
        left, right = map(self._read, (predictions, references))
        return self._metric().corpus_score(left, [right]).score

    @property
    def signature(self) -> str:
        """How the score comes about, as sacrebleu writes it."""
        signature = _signature(self._metric())
        return signature.replace("tok:none", f"tok:{self.tokens}") if self.tokens in MOSES else signature

    def _read(self, texts: Sequence[str]) -> list[str]:
        if self.tokens not in MOSES:
            return list(texts)
        language = MOSES[self.tokens]
        lowered = (text.lower() if self.lower_case else text for text in texts)
        return [" ".join(moses_tokens(text, language)) for text in lowered]

    def _metric(self) -> Any:
        from sacrebleu.metrics import BLEU

        cut = self.tokens in MOSES
        tokenize = "none" if cut else self.tokens
        return BLEU(lowercase=self.lower_case, tokenize=tokenize, force=cut)


@dataclass(frozen=True)
class ChrF:
    """chrF (Popović 2015) of a corpus, from 0 to 100: higher is better; chrF++ (2017) with `word_order=2`.

    Attributes:
        word_order: the longest run of words that counts beside runs of up to 6 characters.
        lower_case: whether case is dropped first.
    """

    word_order: int = 0
    lower_case: bool = False

    def __call__(self, predictions: Sequence[str], references: Sequence[str]) -> float:
        """The score.

        Raises:
            ValueError: there are none, or not as many predictions as references.
        """
        require_pairs(predictions, references)
        return self._metric().corpus_score(list(predictions), [list(references)]).score

    @property
    def signature(self) -> str:
        """How the score comes about, as sacrebleu writes it."""
        return _signature(self._metric())

    def _metric(self) -> Any:
        from sacrebleu.metrics import CHRF

        return CHRF(word_order=self.word_order, lowercase=self.lower_case)


def signatures(metrics: Mapping[str, Callable[..., float]]) -> dict[str, str]:
    """The signatures of those metrics that have one, by their names."""
    return {name: metric.signature for name, metric in metrics.items() if hasattr(metric, "signature")}


def _signature(metric: Any) -> str:
    """A signature counts the references, so there has to be one."""
    metric.corpus_score(["one"], [["one"]])
    return metric.get_signature().format()
