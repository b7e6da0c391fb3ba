"""Recipes: one function for each trained thing, found by name."""

from collections.abc import Callable, Mapping
from functools import partial

from zoo.data.corpora.sigmorphon2020_g2p import LANGUAGES
from zoo.recipes.dates import dates
from zoo.recipes.g2p import cmudict, g2p
from zoo.recipes.multi30k import multi30k_bahdanau, multi30k_sutskever, multi30k_transformer
from zoo.recipes.own import own, own_again
from zoo.recipes.recipe import OwnFiles, Recipe
from zoo.recipes.tatoeba import tatoeba_en_zh

__all__ = ["RECIPES", "OwnFiles", "Recipe", "find", "own", "own_again"]

RECIPES: Mapping[str, Callable[[], Recipe]] = {
    "dates": dates,
    "multi30k_transformer": multi30k_transformer,
    "multi30k_transformer_fr": partial(multi30k_transformer, "fr"),
    "multi30k_bahdanau": multi30k_bahdanau,
    "multi30k_sutskever": multi30k_sutskever,
    "tatoeba_en_zh": tatoeba_en_zh,
    "cmudict": cmudict,
    **{f"g2p_{language}": partial(g2p, language) for language in LANGUAGES},
}
"""All recipes, by name. None loads any data before its task is made."""


def find(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    if name not in RECIPES:
        raise ValueError(f"There is no recipe {name!r}. There are: {', '.join(sorted(RECIPES))}.")
    return RECIPES[name]()
