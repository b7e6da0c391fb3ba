"""Which words of a sentence and its translation belong together: baselines, Model 1, and what attention says.

Everything gives links, sets of (source word, target word), both counted from 0, which
`zoo.metrics.alignment_error_rate` judges against those that people made.
"""

from zoo.alignments.attention import attention_links, links_of_model, word_of_each_token
from zoo.alignments.diagonal import diagonal_links
from zoo.alignments.ibm_model_1 import IbmModel1

__all__ = ["IbmModel1", "attention_links", "diagonal_links", "links_of_model", "word_of_each_token"]
