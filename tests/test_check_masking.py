"""The audit of masks names what was made wrong on purpose, and lets pass what is right."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers, ops
from leaky_models import (
    FLOATS,
    IDS,
    ByMask,
    DotAttention,
    HiddenGradient,
    LargestOfBatch,
    Neighbour,
    NormalizedOverTime,
    Pooled,
    embedding,
    functional,
    sequential,
)

from zoo.masking import check_masking

PRESENT = IDS > 0
PADDING, CONTENT, ROWS = "padding ignored", "padding content ignored", "rows independent"
FUTURE, LOSS, GRADIENTS = "future unseen", "loss ignores padding", "gradients at padding zero"
pytestmark = pytest.mark.filterwarnings("ignore:Layer .* does not support masking")


def lstm(**kwargs):
    return layers.LSTM(4, name="lstm", **kwargs)


def dense(name="answer"):
    return layers.Dense(3, name=name)


def leaks(report):
    return {name: leak.layer for name, leak in report.leaks.items()}


def through(layer, *checks):
    """The same layer in each of these checks."""
    return dict.fromkeys(checks, layer)


ALL = (PADDING, CONTENT, GRADIENTS)


def test_padding_in_a_softmax():
    report = check_masking(functional(lambda x: dense()(DotAttention(masked=False, name="look")(x))), IDS)
    assert leaks(report) == through("look", *ALL)
    assert report[CONTENT].leak.kind == "DotAttention"
    assert "in its own code, after look/keys" in report[CONTENT].leak.detail
    assert report[CONTENT].leak.difference > 0.01


def test_padding_in_the_softmax_of_keras_attention():
    def body(x):
        return dense()(layers.MultiHeadAttention(2, 3, name="heads")(x, x))

    report = check_masking(functional(body, mask=False), IDS)
    assert leaks(report) == through("heads", *ALL)
    assert report[CONTENT].outcome == "leaks at heads (MultiHeadAttention)"
    assert check_masking(functional(body), IDS).ok


def test_padding_in_a_mean():
    def body(x):
        return dense()(layers.GlobalAveragePooling1D(name="mean")(x))

    assert leaks(check_masking(functional(body, mask=False), IDS)) == through("mean", *ALL)
    assert check_masking(functional(body), IDS).ok
    report = check_masking(functional(lambda x: dense()(ops.mean(x, axis=1))), IDS)
    assert {leak.kind for leak in report.leaks.values()} == {"Mean"}, "an operation is named as a layer is"


def test_padding_in_a_mean_in_the_code_of_a_model():
    report = check_masking(Pooled(masked=False, name="pooled"), IDS)
    assert leaks(report) == through("pooled", *ALL)
    assert "in its own code, before answer" in report[PADDING].leak.detail
    assert check_masking(Pooled(masked=True), IDS).ok


def test_padding_in_a_norm_over_time():
    report = check_masking(functional(lambda x: dense()(NormalizedOverTime(name="norm")(x))), IDS)
    assert leaks(report) == through("norm", *ALL)


def test_padding_in_a_norm_of_fixed_length():
    """Weights for each position: the model takes no more padding, so only content can be tried."""
    model = functional(lambda x: dense()(layers.LayerNormalization(axis=1, name="norm")(x)), length=5)
    report = check_masking(model, IDS)
    assert leaks(report) == through("norm", CONTENT, GRADIENTS)
    assert report[PADDING].outcome == "not checked"
    assert "takes no longer inputs" in report[PADDING].not_checked


def test_padding_in_the_statistics_of_a_batch():
    def body(x):
        return dense()(layers.BatchNormalization(name="norm")(x))

    assert check_masking(functional(body, mask=False), IDS).ok, "nothing is wrong outside of training"
    model = functional(body, mask=False)
    before = model.get_weights()
    report = check_masking(model, IDS, training=True)
    assert leaks(report) == through("norm", *ALL, ROWS)
    for weight, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(weight, other)
    assert leaks(check_masking(functional(body), IDS, training=True)) == through("norm", ROWS)


def test_padding_through_a_reversed_sequence():
    class Reversed(layers.Layer):
        def call(self, inputs):
            return ops.flip(inputs, axis=1)

    report = check_masking(functional(lambda x: dense()(lstm()(Reversed(name="reversed")(x)))), IDS)
    assert {layer.split("/")[0] for layer in leaks(report).values()} == {"lstm"}
    assert set(leaks(report)) == set(ALL)
    assert "no mask: reversed dropped the one that it was given" in report[PADDING].leak.detail
    assert check_masking(functional(lambda x: dense()(lstm(go_backwards=True)(x))), IDS).ok


def test_a_mask_dropped_by_a_sum():
    report = check_masking(functional(lambda x: dense()(lstm()(x + 0.5))), IDS)
    assert leaks(report) == through("lstm", *ALL)
    assert "it was given no mask: add dropped the one that it was given" in report[CONTENT].leak.detail

    class Summed(keras.Model):
        def __init__(self):
            super().__init__(name="summed")
            self.first, self.second = embedding(name="first"), embedding(name="second")
            self.lstm = lstm()

        def call(self, ids):
            return self.lstm(self.first(ids) + self.second(ids))

    report = check_masking(Summed(), IDS)
    assert leaks(report) == through("lstm", *ALL)
    assert "no mask: second was the last to pass one on" in report[CONTENT].leak.detail
    assert check_masking(functional(lambda x: lstm()(layers.Add()([x, layers.Dense(6)(x)]))), IDS).ok


def test_the_future_in_self_attention():
    def model(causal):
        return functional(lambda x: dense()(DotAttention(causal=causal, name="look")(x)))

    report = check_masking(model(False), IDS, causal=("inputs",))
    assert leaks(report) == through("look", FUTURE)
    assert "other inputs from position 1 on" in report[FUTURE].leak.detail
    assert check_masking(model(True), IDS, causal=("inputs",))[FUTURE].passed


def test_the_future_in_the_attention_of_keras():
    def model(causal):
        def body(x):
            heads = layers.MultiHeadAttention(2, 3, name="heads")
            return dense()(heads(x, x, use_causal_mask=causal))

        return functional(body)

    assert leaks(check_masking(model(False), IDS, causal=("inputs",))) == through("heads", FUTURE)
    report = check_masking(model(True), IDS, causal=("inputs",))
    assert report.ok
    assert report[FUTURE].passed


def test_the_future_in_a_backward_layer():
    def body(x):
        both = layers.Bidirectional(layers.LSTM(4, return_sequences=True, name="lstm"), name="both")
        return dense()(both(x))

    report = check_masking(functional(body), IDS, causal=("inputs",))
    assert leaks(report) == through("both/backward_lstm", FUTURE)
    assert check_masking(functional(body), IDS).ok


def test_a_row_in_its_neighbour():
    report = check_masking(functional(lambda x: dense()(Neighbour(name="neighbour")(lstm()(x)))), IDS)
    assert leaks(report) == through("neighbour", ROWS)
    assert "the rows in another order" in report[ROWS].leak.detail
    report = check_masking(functional(lambda x: dense()(LargestOfBatch(name="largest")(x)), mask=False), IDS)
    assert report[ROWS].leak.layer == "largest", "a statistic that no order of rows changes"


@pytest.mark.parametrize(
    ("mask", "weights", "reduction", "leaking"),
    [
        (False, None, "sum_over_batch_size", True),
        (False, PRESENT * 1.0, "sum_over_batch_size", True),  # divides by the number of positions
        (False, PRESENT * 1.0, "mean_with_sample_weight", False),
        (True, None, "sum_over_batch_size", False),
    ],
)
def test_padding_in_the_loss(mask, weights, reduction, leaking):
    model = functional(lambda x: dense()(x), mask=mask)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
    model.compile(loss=loss)
    report = check_masking(model, IDS, labels=IDS % 3, weights=weights)
    found = report.leaks.pop(LOSS, None)
    assert (found is not None) == leaking
    if leaking:
        assert (found.layer, found.kind) == ("loss", "SparseCategoricalCrossentropy")
    else:
        assert report[LOSS].passed
    assert (GRADIENTS in report.leaks) == (weights is None and not mask)


def test_the_loss_of_a_model_that_leaks_names_the_layer():
    model = functional(lambda x: dense()(layers.GlobalAveragePooling1D(name="mean")(x)), mask=False)
    model.compile(loss="mse")
    report = check_masking(model, IDS, labels=np.zeros((3, 3)))
    assert leaks(report) == through("mean", *ALL, LOSS)


def test_a_gradient_at_padding_that_no_value_shows():
    report = check_masking(functional(lambda x: dense()(HiddenGradient(name="hidden")(x))), IDS)
    assert leaks(report) == through("hidden", GRADIENTS)


def test_floats_with_a_mask_of_their_own():
    inputs = {"features": FLOATS + 3.0, "present": PRESENT}
    assert check_masking(ByMask(), inputs).ok
    report = check_masking(ByMask(masked=False, name="sums"), inputs)
    assert leaks(report) == through("sums", *ALL)
    numbers = {"features": FLOATS + 3.0, "present": PRESENT.astype("int32")}
    assert check_masking(ByMask(), numbers, masks=("present",)).ok
    assert leaks(check_masking(ByMask(masked=False, name="sums"), numbers, masks=("present",))) == leaks(
        report
    )


def test_floats_with_a_masking_layer():
    assert check_masking(sequential(layers.Masking(), lstm(), dense()), FLOATS).ok
    report = check_masking(sequential(layers.Masking(), layers.Conv1D(3, 1, name="dropped"), lstm()), FLOATS)
    assert leaks(report) == through("lstm", *ALL)
    assert "no mask: dropped dropped the one" in report[CONTENT].leak.detail
    report = check_masking(sequential(lstm(), dense()), FLOATS)
    assert leaks(report) == through("lstm", PADDING, GRADIENTS)


RIGHT = {
    "LSTM": lambda x: dense()(lstm()(x)),
    "GRU of both directions": lambda x: layers.Bidirectional(layers.GRU(3, return_sequences=True))(x),
    "stacked RNN": lambda x: layers.SimpleRNN(3)(layers.SimpleRNN(3, return_sequences=True)(x)),
    "with dropout": lambda x: layers.Dropout(0.5)(lstm(dropout=0.5, recurrent_dropout=0.5)(x)),
    "over each position": lambda x: layers.TimeDistributed(dense())(layers.LayerNormalization()(x)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    """With dropout in training too: nothing is drawn at random."""
    report = check_masking(functional(RIGHT[name]), IDS, training=name == "with dropout")
    assert report.ok, str(report)
    assert all(report[name].passed for name in (*ALL, ROWS)), str(report)


def test_sequences_of_equal_length_and_a_start_that_is_put_before():
    """Which axis is whose is found by experiment, and a longer axis by where it differs."""

    class WithStart(keras.Model):
        def __init__(self, masked):
            super().__init__()
            self.masked = masked
            self.first, self.second = embedding(False), embedding(False)
            self.look = layers.MultiHeadAttention(2, 3, name="look")

        def call(self, inputs):
            query, memory = self.first(inputs["query"]), self.second(inputs["memory"])
            query = ops.concatenate([ops.ones_like(query[:, :1]), query], axis=1)
            mask = (inputs["memory"] != 0)[:, None, :] if self.masked else None
            return self.look(query, memory, attention_mask=mask)

    inputs = {"query": IDS, "memory": IDS[::-1].copy()}
    report = check_masking(WithStart(True), inputs, causal=("query",))
    assert report.ok, str(report)
    assert report[FUTURE].passed
    report = check_masking(WithStart(False), inputs)
    assert leaks(report) == through("look", *ALL)
    assert "padding in memory" in report[PADDING].leak.detail


def test_ids_beside_a_mask_and_types_that_are_no_tokens():
    class Typed(keras.Model):
        def __init__(self, masked):
            super().__init__()
            self.masked = masked
            self.tokens, self.types = embedding(False), embedding(False, name="types")
            self.mean = layers.GlobalAveragePooling1D(name="mean")

        def call(self, inputs):
            mask = inputs["attention_mask"] > 0
            both = self.tokens(inputs["ids"]) + self.types(inputs["types"])
            return self.mean(both, mask=mask if self.masked else None)

    inputs = {"ids": IDS, "types": IDS % 2, "attention_mask": PRESENT * 1}
    arguments = {"padding": {"ids": 0}, "masks": ("attention_mask",)}
    report = check_masking(Typed(True), inputs, **arguments)
    assert report.ok, str(report)
    assert report[CONTENT].passed
    assert leaks(check_masking(Typed(False), inputs, **arguments)) == through("mean", *ALL)


def test_an_input_that_does_not_run_over_time():
    ids, age = keras.Input((None,), dtype="int32"), keras.Input((2,))
    answer = layers.Concatenate()([lstm()(embedding()(ids)), age])
    report = check_masking(keras.Model([ids, age], answer), [IDS, np.ones((3, 2), "float32")])
    assert report.ok, str(report)
    assert all(report[name].passed for name in (*ALL, ROWS))


def test_a_model_in_a_graph_function_and_one_that_keeps_its_state():
    class Compiled(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = functional(lambda x: layers.GlobalAveragePooling1D(name="mean")(x), mask=False)

        @tf.function(jit_compile=True)
        def call(self, inputs):
            return self.inner(inputs)

    assert leaks(check_masking(Compiled(), IDS)) == through("model/mean", *ALL)
    assert not tf.config.functions_run_eagerly()

    ids = keras.Input(batch_shape=(3, None), dtype="int32")
    model = keras.Model(ids, lstm(stateful=True)(embedding()(ids)))
    model(IDS)
    states = [state.numpy() for state in model.get_layer("lstm").states]
    report = check_masking(model, IDS)
    assert report.ok, str(report)
    assert "no other number of rows" in report[ROWS].not_checked
    for state, before in zip(model.get_layer("lstm").states, states, strict=True):
        np.testing.assert_array_equal(state, before)


@pytest.mark.parametrize(("policy", "side"), [("mixed_float16", "left"), ("mixed_bfloat16", "right")])
def test_half_precision_and_padding_on_either_side(policy, side):
    ids = IDS if side == "right" else IDS[:, ::-1].copy()
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        assert check_masking(functional(lambda x: dense()(lstm()(x))), ids).ok
        wrong = functional(lambda x: dense()(layers.GlobalAveragePooling1D(name="mean")(x)), mask=False)
        assert leaks(check_masking(wrong, ids)) == through("mean", *ALL)
    finally:
        keras.config.set_dtype_policy(before)


def test_nothing_is_left_behind():
    model = functional(RIGHT["with dropout"])
    call, rate = keras.layers.Layer.__call__, model.get_layer("lstm").dropout
    operation = keras.Operation.__call__
    state = [variable.numpy() for variable in model.variables]
    check_masking(model, IDS, training=True)
    with pytest.raises(ValueError, match="no padding"):
        check_masking(model, IDS[:1])
    assert (keras.layers.Layer.__call__, keras.Operation.__call__) == (call, operation)
    assert model.get_layer("lstm").dropout == rate == 0.5
    for variable, value in zip(model.variables, state, strict=True):
        np.testing.assert_array_equal(variable, value)


def test_the_report_is_a_table():
    report = check_masking(functional(lambda x: dense()(Neighbour(name="neighbour")(x))), IDS)
    text = str(report)
    assert [check.name for check in report.checks] == [PADDING, CONTENT, ROWS, FUTURE, LOSS, GRADIENTS]
    for check in report.checks:
        (line,) = [line for line in text.splitlines() if check.name in line]
        assert check.outcome in line
    assert "leaks at neighbour (Neighbour)" in text
    assert "Masks of model" in text
    assert report.table().row_count == 6
    assert not report.ok
    assert not report[FUTURE].passed


def test_complaints():
    model = functional(lambda x: dense()(x))
    with pytest.raises(ValueError, match="no padding in inputs: give rows of different lengths"):
        check_masking(model, IDS, padding=99)
    with pytest.raises(ValueError, match="causal names 'target', but the inputs are inputs"):
        check_masking(model, IDS, causal=("target",))
    with pytest.raises(ValueError, match=r"compile\(loss=\.\.\.\)"):
        check_masking(model, IDS, labels=IDS)
    with pytest.raises(ValueError, match="inputs has dtype <U1; give numbers"):
        check_masking(model, np.array([["a"]]))
    with pytest.raises(ValueError, match=r"b has shape \(2, 5\), a has shape \(3, 5\)"):
        check_masking(model, {"a": IDS, "b": IDS[:2]})
    with pytest.raises(ValueError, match=r"m has shape \(3, 5, 5\); expected a mask \(B, T\)"):
        check_masking(model, {"m": np.ones((3, 5, 5), bool)})
    with pytest.raises(ValueError, match="padding of x could be that of m or n"):
        check_masking(model, {"m": PRESENT, "n": PRESENT[::-1], "x": FLOATS + 3})
    with pytest.raises(ValueError, match="tolerance must be greater than 0, got 0"):
        check_masking(model, IDS, tolerance=0)
    with pytest.raises(ValueError, match="not finite"):
        check_masking(functional(lambda x: dense()(x) + np.inf), IDS)
