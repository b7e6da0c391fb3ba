"""What a user froze is frozen after a model was saved and loaded, and nothing else is."""

import keras
import numpy as np
import pytest

from zoo.layers import AttentionPooling
from zoo.models import (
    ClassToken,
    Ensemble,
    RecurrentEncoder,
    RecurrentLM,
    RecurrentSeq2Seq,
    Seq2Seq,
    SequenceClassifier,
    SequenceTagger,
    TransformerDecoder,
    TransformerEncoder,
    TransformerLM,
    TransformerSeq2Seq,
)

SOURCE = np.array([[4, 5, 6, 2], [6, 2, 0, 0]])
TARGET = np.array([[1, 5, 6], [1, 6, 2]])
SMALL = {"depth": 1, "heads": 2, "units": 6}


def recurrent():
    return RecurrentSeq2Seq(8, 9, embedding_dim=3, encoder_units=4, decoder_units=4, depth=2)


def encoder():
    return RecurrentEncoder(8, 4, embedding_dim=3, cell="gru")


def mixed():
    return Seq2Seq(encoder(), TransformerDecoder(9, 4, **SMALL))


def tagger():
    return SequenceTagger(encoder(), classes=3)


def classifier():
    inner = ClassToken(TransformerEncoder(8, 4, **SMALL))
    return SequenceClassifier(inner, classes=3, pooling=AttentionPooling(4))


CASES = {
    "encoder": (recurrent, lambda model: [model.encoder]),
    "embedding": (recurrent, lambda model: [model.encoder.embedding]),
    "layer of a stack": (recurrent, lambda model: [model.encoder.stack.layers[1][0], model.decoder.cells[0]]),
    "encoder of a Transformer": (
        lambda: TransformerSeq2Seq(8, 9, width=4, **SMALL),
        lambda model: [model.encoder],
    ),
    "one part of a block": (mixed, lambda model: [model.decoder.blocks[0].attentions["cross_attention"]]),
    "encoder given as a part": (mixed, lambda model: [model.encoder]),
    "embedding of a tagger": (tagger, lambda model: [model.encoder.embedding]),
    "pooling and class token": (classifier, lambda model: [model.pooling, model.encoder.encoder.embedding]),
    "recurrent language model": (
        lambda: RecurrentLM(8, embedding_dim=3, units=4, depth=2),
        lambda model: [model.embedding, model.stack[1]],
    ),
    "language model": (
        lambda: TransformerLM(8, width=4, **SMALL),
        lambda model: [model.decoder.blocks[0].norms["feed_forward"]],
    ),
    "member of an ensemble": (
        lambda: Ensemble([recurrent(), recurrent()]),
        lambda model: [model.models[1].decoder],
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def frozen_model(request):
    make, freeze = request.param
    model = make()
    for layer in freeze(model):
        layer.trainable = False
    assert 0 < len(model.trainable_variables) < len(model.variables)
    return model


def test_frozen_layers_stay_frozen_and_others_do_not_freeze(frozen_model, tmp_path):
    frozen_model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    again_by_configuration = type(frozen_model).from_config(frozen_model.get_config())
    for one in (again, again_by_configuration):
        shapes = [[w.shape for w in each.trainable_variables] for each in (one, frozen_model)]
        assert shapes[0] == shapes[1]
        assert one.get_config()["frozen"] == frozen_model.get_config()["frozen"]
        assert [layer.trainable for layer in one._flatten_layers()] == [
            layer.trainable for layer in frozen_model._flatten_layers()
        ]
    for weight, other in zip(again.get_weights(), frozen_model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, other)


def test_a_layer_thawed_inside_a_frozen_one():
    """Keras asks the outer one first; once that is thawed alone, by its own switch, the inner ones count."""
    model = recurrent()
    model.encoder.trainable = False
    model.encoder.embedding.trainable = True
    again = RecurrentSeq2Seq.from_config(model.get_config())
    assert not again.encoder.trainable
    assert again.encoder.embedding.trainable
    assert not again.encoder.stack.trainable
    assert again.decoder.trainable


def test_a_frozen_whole():
    model = recurrent()
    model.trainable = False
    again = RecurrentSeq2Seq.from_config(model.get_config())
    assert not again.trainable_variables
    again.trainable = True
    assert len(again.trainable_variables) == len(model.variables)


def test_training_goes_on_after_loading_with_the_same_weights_frozen(tmp_path):
    """The optimizer's numbers belong to the weights that are trained: they have to be the same."""
    keras.utils.set_random_seed(0)
    model, inputs = recurrent(), {"source": SOURCE, "target_ids": TARGET}
    model.encoder.trainable = False
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.1), loss)
    model.fit(inputs, TARGET, verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    before = again.get_weights()
    for one in (model, again):
        one.fit(inputs, TARGET, verbose=0)
    for weight, other in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(weight, other, atol=1e-6)
    count = len(again.encoder.weights)
    for weight, old in zip(again.get_weights()[:count], before[:count], strict=True):
        np.testing.assert_array_equal(weight, old)
    assert not np.array_equal(again.get_weights()[-1], before[-1])


@pytest.mark.parametrize("trainable", [True, False])
def test_vectors_trained_elsewhere_are_tuned_or_frozen_and_come_back_so(tmp_path, trainable):
    model = recurrent()
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    model.encoder.embedding.set_weights([vectors])
    model.encoder.embedding.trainable = trainable
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.encoder.embedding.get_weights()[0], vectors)
    assert again.encoder.embedding.trainable == trainable
    again.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    again.fit({"source": SOURCE, "target_ids": TARGET}, TARGET, verbose=0)
    moved = np.any(again.encoder.embedding.get_weights()[0] != vectors)
    assert moved == trainable


def test_a_configuration_from_before_layers_could_be_frozen():
    config = recurrent().get_config()
    del config["frozen"]
    assert len(RecurrentSeq2Seq.from_config(config).trainable_variables) == len(recurrent().variables)
