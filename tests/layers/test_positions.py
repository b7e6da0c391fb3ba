import numpy as np
import pytest
import tensorflow as tf
from equations import rotary_matrix, sinusoidal_position

from zoo.layers import LearnedPositions, RotaryPositions, SinusoidalPositions

random = np.random.default_rng(3)


def numbers(*shape):
    return random.normal(size=shape).astype("float32")


def layers():
    learned = LearnedPositions(12)
    learned.build((None, None, 6))
    learned.set_weights([numbers(12, 6)])
    return [SinusoidalPositions(), learned, RotaryPositions()]


each_layer = pytest.mark.parametrize("layer", layers(), ids=lambda layer: type(layer).__name__)


def test_sinusoidal_equals_the_equation():
    inputs = numbers(2, 50, 8)
    expected = inputs + [sinusoidal_position(t, 8) for t in range(50)]
    np.testing.assert_allclose(SinusoidalPositions()(inputs), expected, atol=1e-5)


def test_sinusoidal_by_hand():
    # D 4, position 2: sin 2, cos 2, and one hundredth of the way sin 0.02, cos 0.02.
    inputs = np.zeros((1, 4), "float32")
    found = SinusoidalPositions()(inputs, positions=2)
    np.testing.assert_allclose(found, [[0.909297, -0.416147, 0.019999, 0.999800]], atol=1e-6)


def test_sinusoidal_moves_by_a_turn():
    """Why these waves: the step by k is one linear map, the same from every position."""
    waves = SinusoidalPositions()(np.zeros((40, 8), "float32")).numpy()
    step = np.linalg.lstsq(waves[:-5], waves[5:], rcond=None)[0]
    np.testing.assert_allclose(waves[:-5] @ step, waves[5:], atol=1e-4)


def test_learned_equals_the_equation():
    layer = LearnedPositions(7)
    inputs = numbers(2, 5, 3)
    layer.build(inputs.shape)
    table = numbers(7, 3)
    layer.set_weights([table])
    np.testing.assert_allclose(layer(inputs), inputs + table[:5], atol=1e-6)
    order = np.array([6, 0, 1, 1, 2])
    np.testing.assert_allclose(layer(inputs, positions=order), inputs + table[order], atol=1e-6)


def test_learned_positions_have_an_end():
    with pytest.raises(ValueError, match="learned 4 positions, but its input has 5: give it a greater"):
        LearnedPositions(4)(numbers(1, 5, 2))


def test_no_position_beyond_the_end_has_the_vector_of_another():
    """A processor complains, and XLA, which cannot, gives no number. Positions before it are as they were."""
    layer, inputs = LearnedPositions(4), numbers(1, 3, 2)
    layer.build(inputs.shape)
    eager = layer(inputs, positions=tf.constant([1, 3, 0]))
    beyond = tf.constant([1, 4, 0])
    for call in (layer, tf.function(layer)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"4 is not in \[0, 4\)"):
            call(inputs, positions=beyond)
    found = tf.function(layer, jit_compile=True)(inputs, positions=beyond).numpy()
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_allclose(found[:, [0, 2]], eager[:, ::2], atol=1e-6)


def test_rotary_equals_the_equation():
    inputs = numbers(2, 3, 9, 8)
    expected = np.stack([inputs[:, :, t] @ rotary_matrix(t, 8).T for t in range(9)], axis=2)
    np.testing.assert_allclose(RotaryPositions()(inputs), expected, atol=1e-5)


def test_rotary_scores_depend_on_the_distance_alone():
    layer, query, key = RotaryPositions(base=100.0), numbers(1, 16), numbers(1, 16)

    def score(m, n):
        return float(np.sum(layer(query, positions=m) * layer(key, positions=n)))

    for distance in (-4, 0, 1, 7):
        scores = [score(n + distance, n) for n in (4, 5, 90, 900)]
        np.testing.assert_allclose(scores, scores[0], atol=2e-3)
        expected = query[0] @ rotary_matrix(-distance, 16, 100) @ key[0]
        np.testing.assert_allclose(scores[0], expected, atol=1e-4)
    assert abs(score(3, 0) - score(4, 0)) > 0.01


def test_rotary_keeps_lengths_and_leaves_position_0_alone():
    inputs = numbers(2, 30, 6)
    turned = RotaryPositions()(inputs).numpy()
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(inputs, axis=-1), rtol=1e-5)
    np.testing.assert_array_equal(turned[:, 0], inputs[:, 0])


@each_layer
def test_a_step_gives_what_the_whole_pass_gives(layer):
    """K hypotheses of a source stand at the same position t, a scalar that the graph does not know."""
    inputs = tf.constant(numbers(2, 3, 10, 6))
    whole = layer(inputs)
    step = tf.function(lambda inputs, t: layer(inputs, positions=t), reduce_retracing=True)
    for t in range(10):
        np.testing.assert_allclose(step(inputs[:, :, t], tf.constant(t)), whole[:, :, t], atol=1e-6)


@each_layer
def test_each_row_can_have_positions_of_its_own(layer):
    inputs = numbers(2, 4, 6)
    positions = np.array([[0, 0, 1, 2], [5, 6, 7, 8]], "int32")
    found = layer(inputs, positions=positions).numpy()
    for b, t in np.ndindex(2, 4):
        alone = layer(inputs[b, t][None], positions=int(positions[b, t]))
        np.testing.assert_allclose(found[b, t], alone[0], atol=1e-6)
    np.testing.assert_allclose(
        layer(inputs, positions=np.array([[2], [3]])), layer(inputs, positions=[[2] * 4, [3] * 4]), atol=1e-6
    )


@each_layer
def test_any_number_of_positions_in_one_graph(layer):
    traced = tf.function(layer, input_signature=[tf.TensorSpec((None, None, 6), tf.float32)])
    for shape in ((2, 5, 6), (1, 1, 6), (2, 0, 6), (0, 3, 6)):
        inputs = numbers(*shape)
        np.testing.assert_allclose(traced(inputs), layer(inputs), atol=1e-6)


@pytest.mark.parametrize("layer", [SinusoidalPositions, RotaryPositions])
def test_half_precision_still_tells_late_positions_apart(layer):
    """float16 counts no further than 2,048 in ones: positions are counted in float32 all the same."""
    inputs = np.ones((1, 4), "float32")
    for t in (3001, 40_001):
        half = tf.cast(layer(dtype="float16")(inputs, positions=t), tf.float32)
        np.testing.assert_allclose(half, layer()(inputs, positions=t), atol=3e-3)


@pytest.mark.parametrize("layer", [SinusoidalPositions, RotaryPositions])
def test_pairs_need_an_even_width(layer):
    with pytest.raises(ValueError, match="need an even width, got 5"):
        layer()(numbers(2, 5))
