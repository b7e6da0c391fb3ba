"""Short sentences between English and other languages."""

from zoo.data.corpora import tatoeba as corpus
from zoo.metrics import Bleu, ChrF
from zoo.tasks.task import Task
from zoo.tokenizers import Characters, Normalization, Subwords

__all__ = ["tatoeba_en_zh"]


def tatoeba_en_zh(*, vocab_size: int = 6_000) -> Task:
    """English to Chinese: pieces of lower-cased English words, and single Chinese characters.

    The sentences are in simplified and in traditional characters, as their authors wrote them.

    Args:
        vocab_size: number of English ids, those of bytes and the special ones counted.

    Raises:
        ValueError: the vocabulary is too large or small for the texts.
        OSError: the corpus could not be had; the message says what to do.
    """
    data = corpus.load("cmn")
    bleu, chrf = Bleu("zh"), ChrF()
    return Task(
        name="tatoeba_en_zh",
        description="Short sentences from English to Chinese, written character by character.",
        languages=("en",),
        licence=corpus.LICENCE,
        splits={"train": data.train, "validation": data.validation, "test": data.test},
        source=Subwords.learn(
            data.train.sources, vocab_size=vocab_size, normalization=Normalization(case="lower")
        ),
        target=Characters.learn(data.train.targets),
        metrics={"chrf": chrf, "bleu": bleu},
        examples=(
            "Look over there.",
            "Where do you live?",
            "I have never seen such a big dog.",
            "Thank you!",
        ),
        notes=(
            f"chrf: {chrf.signature}. bleu: {bleu.signature}.",
            f"Parts are drawn by English sentence; {data.dropped} pairs that repeat another, or share a "
            "sentence with another part, were left out.",
        ),
        data="Tatoeba in the edition of ManyThings.org, English and Chinese",
    )
