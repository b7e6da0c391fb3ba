"""Recipes: one function for each trained thing, found by name."""

from collections.abc import Callable, Mapping

from zoo.recipes.dates import dates
from zoo.recipes.recipe import Recipe

__all__ = ["RECIPES", "Recipe", "find"]

RECIPES: Mapping[str, Callable[[], Recipe]] = {"dates": dates}
"""All recipes, by name."""


def find(name: str) -> Recipe:
    """The recipe of that name.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    if name not in RECIPES:
        raise ValueError(f"There is no recipe {name!r}. There are: {', '.join(sorted(RECIPES))}.")
    return RECIPES[name]()
