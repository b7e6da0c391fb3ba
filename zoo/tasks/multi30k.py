"""Captions of photographs, from one language to another."""

from zoo.data.corpora import multi30k as corpus
from zoo.metrics import Bleu, ChrF
from zoo.tasks.task import Task
from zoo.tokenizers import Normalization, Subwords

__all__ = ["multi30k"]

NAMES = {"de": "German", "en": "English", "fr": "French"}

EXAMPLES = {
    "en": (
        "Two dogs are playing in the snow.",
        "A woman in a red coat is waiting for the bus.",
        "Three children run across a green field while their mother watches them.",
        "An old man is reading a newspaper on a bench in the park.",
    ),
    "de": (
        "Zwei Hunde spielen im Schnee.",
        "Eine Frau in einem roten Mantel wartet auf den Bus.",
        "Drei Kinder laufen über eine grüne Wiese, während ihre Mutter ihnen zusieht.",
        "Ein alter Mann liest auf einer Bank im Park eine Zeitung.",
    ),
    "fr": (
        "Deux chiens jouent dans la neige.",
        "Une femme en manteau rouge attend le bus.",
        "Trois enfants courent dans un champ vert pendant que leur mère les regarde.",
        "Un vieil homme lit un journal sur un banc dans le parc.",
    ),
}


def multi30k(source: str = "en", target: str = "de", *, vocab_size: int = 10_000) -> Task:
    """Multi30k between two of its languages, lower-cased, with one vocabulary of BPE pieces for both.

    Args:
        source, target: two of `zoo.data.corpora.multi30k.LANGUAGES`.
        vocab_size: number of ids, those of bytes and the special ones counted.

    Raises:
        ValueError: not two of the languages, or the vocabulary is too large or small for the texts.
        OSError: the corpus could not be had; the message says what to do.
    """
    data = corpus.load(source, target)
    pieces = Subwords.learn(
        [*data.train.sources, *data.train.targets],
        vocab_size=vocab_size,
        normalization=Normalization(case="lower"),
    )
    papers, standard = Bleu(f"moses-{target}", lower_case=True), Bleu(lower_case=True)
    return Task(
        name=f"multi30k_{source}_{target}",
        description=f"Captions of photographs from {NAMES[source]} to {NAMES[target]}, in lower case.",
        languages=(source,),
        licence=corpus.LICENCE,
        splits=data._asdict(),
        source=pieces,
        target=pieces,
        metrics={"bleu_moses": papers, "bleu": standard, "chrf": ChrF(lower_case=True)},
        examples=EXAMPLES[source],
        notes=(
            f"bleu_moses is BLEU as papers on Multi30k report it: {papers.signature}.",
            f"bleu: {standard.signature}. chrf: {ChrF(lower_case=True).signature}.",
        ),
        data=f"Multi30k, task 1, {NAMES[source]} and {NAMES[target]}",
    )
