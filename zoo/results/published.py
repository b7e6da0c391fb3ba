"""Figures that others published, on the data of our recipes, each with its source."""

from typing import NamedTuple

__all__ = ["PUBLISHED", "Published", "published"]


class Published(NamedTuple):
    """A figure, in the units of our metric of that name."""

    recipe: str
    split: str
    metric: str
    value: float
    system: str
    """What reached it."""
    source: str


WU = "Wu et al. 2021, arXiv 2105.14462"
LIUM = "Caglayan et al. 2017 (LIUM-CVC), arXiv 1707.04481"
SIGMORPHON = "Gorman et al. 2020, SIGMORPHON 2020 task 1"
YAO = "Yao & Zweig 2015, arXiv 1506.00196"
TOSHNIWAL = "Toshniwal & Livescu 2016, arXiv 1610.06540"

LILT = "Zenkel, Wuebker & DeNero 2019, github.com/lilt/alignment-scripts"

TINY = "Transformer-tiny, joint BPE, beam 5"
ATTENTIVE = "attentive GRU, BPE 10k; about"
FAST_ALIGN = "fast_align en–fr, learned on a million pairs more"
MGIZA = "Mgiza en–fr, learned on a million pairs more"

PUBLISHED = (
    Published("multi30k_transformer", "test_2016_flickr", "bleu_moses", 41.02, TINY, WU),
    Published("multi30k_transformer", "test_2017_flickr", "bleu_moses", 33.36, TINY, WU),
    Published("multi30k_transformer_fr", "test_2016_flickr", "bleu_moses", 61.80, TINY, WU),
    Published("multi30k_transformer_fr", "test_2017_flickr", "bleu_moses", 53.46, TINY, WU),
    Published("multi30k_bahdanau", "test_2016_flickr", "bleu_moses", 38.0, ATTENTIVE, LIUM),
    Published("g2p", "test", "word_error_rate", 0.188, "LSTM baseline, mean over the ten here", SIGMORPHON),
    Published("g2p", "test", "word_error_rate", 0.1684, "LSTM baseline, mean over its fifteen", SIGMORPHON),
    Published("g2p", "test", "word_error_rate", 0.138, "best system, mean over its fifteen", SIGMORPHON),
    Published("cmudict", "test", "word_error_rate", 0.286, "LSTM without attention, other split", YAO),
    Published("cmudict", "test", "phoneme_error_rate", 0.076, "LSTM without attention, other split", YAO),
    Published(
        "cmudict", "test", "word_error_rate", 0.217, "LSTM with global attention, other split", TOSHNIWAL
    ),
    Published(
        "cmudict", "test", "phoneme_error_rate", 0.050, "LSTM with global attention, other split", TOSHNIWAL
    ),
    Published("alignments", "hansards", "alignment_error_rate", 0.164, FAST_ALIGN, LILT),
    Published("alignments", "hansards", "alignment_error_rate", 0.080, MGIZA, LILT),
)
"""Where a recipe has several languages and no name of its own, `g2p`, the figure is their mean; those of hand
alignments are of `alignments`, the name of the set in the place of a split."""


def published(recipe: str, split: str, metric: str) -> list[Published]:
    """What others published for a recipe's test split and metric; there may be none."""
    return [figure for figure in PUBLISHED if figure[:3] == (recipe, split, metric)]
