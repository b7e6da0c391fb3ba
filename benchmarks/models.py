"""The zoo's models in the sizes of the work."""

import keras
from keras import ops

from benchmarks.work import MODELS, Recurrent, Transformer
from zoo.layers import Projection
from zoo.models import BahdanauDecoder, RecurrentEncoder, RecurrentSeq2Seq, Seq2Seq, TransformerSeq2Seq

__all__ = ["VARIANTS", "PlainReadoutDecoder", "make"]


@keras.saving.register_keras_serializable("benchmarks")
class PlainReadoutDecoder(BahdanauDecoder):
    """Logits in one product from state and context, as the PyTorch peer has them.

    The zoo's own decoder follows the paper: it narrows state, token and context to a maxout layer of half the
    units first, so its product with the vocabulary is a quarter of this one's, and its speed no comparison.
    """

    def make_readout(self) -> keras.layers.Layer:
        return Projection(self.vocab_size, dtype=self.dtype_policy, name="readout")

    def features_width(self, width: int) -> int:
        return self.units + width

    def features(self, embedded, state):
        return ops.concatenate([state.cells[-1].hidden, state.read], axis=-1)


def _peers_recurrent(sizes: Recurrent) -> keras.Model:
    shared = {"embedding_dim": sizes.embedding_dim}
    return Seq2Seq(
        RecurrentEncoder(sizes.vocab_size, sizes.encoder_units, **shared),
        PlainReadoutDecoder(sizes.vocab_size, sizes.decoder_units, **shared),
    )


def _own_recurrent(sizes: Recurrent) -> keras.Model:
    return RecurrentSeq2Seq(
        sizes.vocab_size,
        sizes.vocab_size,
        embedding_dim=sizes.embedding_dim,
        encoder_units=sizes.encoder_units,
        decoder_units=sizes.decoder_units,
    )


def _transformer(sizes: Transformer) -> keras.Model:
    return TransformerSeq2Seq(
        sizes.vocab_size,
        sizes.vocab_size,
        width=sizes.width,
        depth=sizes.depth,
        heads=sizes.heads,
        units=sizes.units,
        dropout=0.1,
        shared_embedding=True,
    )


VARIANTS = {
    "lstm": {"zoo": _peers_recurrent, "zoo-maxout": _own_recurrent},
    "tiny": {"zoo": _transformer},
    "base": {"zoo": _transformer},
}
"""Model to system to what makes it; `zoo` has the peers' products, and is what the goals speak of."""


def make(model: str, system: str) -> keras.Model:
    """A model with random weights."""
    keras.utils.set_random_seed(0)
    return VARIANTS[model][system](MODELS[model])
