"""Multi30k: captions of 31,014 photographs, in parallel in English, German and French.

Elliott, Frank, Sima'an and Specia (2016), "Multi30K: Multilingual English-German Image Descriptions"; French
by Elliott, Frank, Barrault, Bougares and Specia (2017). These are the raw texts of task 1, as they were
published, a sentence a line.
"""

from typing import NamedTuple

from zoo.data.download import File, read
from zoo.data.pairs import Pairs

__all__ = ["LANGUAGES", "LICENCE", "Multi30k", "load"]

LICENCE = (
    "no licence is stated; its authors published the texts for research, those of the photographs are under "
    "Flickr's terms, for research and education only"
)

LANGUAGES = ("de", "en", "fr")

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
ADDRESS = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"

CHECKSUMS = {
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "train.fr": "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "val.fr": "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    "test_2016_flickr.fr": "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
    "test_2017_flickr.de": "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081",
    "test_2017_flickr.en": "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98",
    "test_2017_flickr.fr": "6f3764e31dac41e9455e612958bcfd4e877c5e15cd66df2c2b2be6d9bd83e5b6",
}


class Multi30k(NamedTuple):
    """Its published parts: 29,000, 1,014, 1,000 and 1,000 pairs."""

    train: Pairs
    validation: Pairs
    test_2016_flickr: Pairs
    test_2017_flickr: Pairs


def load(source: str = "en", target: str = "de") -> Multi30k:
    """The corpus between two of its languages; white space around a sentence is dropped.

    Raises:
        ValueError: not two of `LANGUAGES`, or a file does not hold what it should.
        OSError: a file could not be had; the message says what to do.
    """
    if source == target or not {source, target} <= set(LANGUAGES):
        raise ValueError(f"Choose two of {', '.join(LANGUAGES)}, got {source!r} and {target!r}.")
    parts = ("train", "val", "test_2016_flickr", "test_2017_flickr")
    return Multi30k(*(Pairs(_sentences(part, source), _sentences(part, target)) for part in parts))


def _sentences(part: str, language: str) -> list[str]:
    name = f"{part}.{language}"
    content = read("multi30k", File(name, f"{ADDRESS}/{name}.gz", CHECKSUMS[name]))
    lines = content.decode("utf-8").split("\n")
    return [line.strip() for line in lines[:-1]]
