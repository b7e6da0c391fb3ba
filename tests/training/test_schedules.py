import keras
import pytest

from zoo.training.schedules import Constant, Cosine, InverseSquareRoot, Noam, PerUpdate, learning_rate


def rates(schedule, updates):
    """The rate of each update, counted from 1; Keras hands over the number of those that are done."""
    return [float(schedule(update - 1)) for update in updates]


def test_noam_is_the_formula_of_the_paper():
    # width 512 and warm-up 4,000: by hand 512 ** -0.5 * t * 4000 ** -1.5, then 512 ** -0.5 * t ** -0.5.
    noam = Noam(512**-0.5, warmup_steps=4000)
    expected = [1.746928e-7, 3.493856e-7, 6.987712e-4, 3.493856e-4]
    assert rates(noam, [1, 2, 4000, 16_000]) == pytest.approx(expected, rel=1e-5)


def test_inverse_square_root_is_noam_by_its_greatest_rate():
    schedule = InverseSquareRoot(0.01, warmup_steps=4)
    # 0.01 * t / 4, then 0.01 * sqrt(4 / t)
    assert rates(schedule, [1, 2, 3, 4, 16, 400]) == pytest.approx(
        [0.0025, 0.005, 0.0075, 0.01, 0.005, 0.001]
    )
    noam = Noam(0.02, warmup_steps=4)
    assert rates(schedule, range(1, 50)) == pytest.approx(rates(noam, range(1, 50)), rel=1e-5)


def test_cosine_rises_in_a_line_and_falls_to_zero():
    schedule = Cosine(0.4, steps=14, warmup_steps=2)
    # Twelve updates along the half circle: after 3 of them cos 45 degrees, after 4 cos 60, after 6 cos 90.
    assert rates(schedule, [1, 2, 3, 7, 9]) == pytest.approx([0.2, 0.4, 0.4, 0.3, 0.2])
    assert float(schedule(14)) == float(schedule(99)) == pytest.approx(0, abs=1e-8)


def test_cosine_without_warm_up_is_that_of_keras():
    expected = keras.optimizers.schedules.CosineDecay(0.1, 20)
    assert rates(Cosine(0.1, steps=20), range(1, 22)) == pytest.approx(
        rates(expected, range(1, 22)), abs=1e-8
    )


def test_constant_rises_and_stays():
    assert rates(Constant(0.3, warmup_steps=3), [1, 2, 3, 4, 99]) == pytest.approx([0.1, 0.2, 0.3, 0.3, 0.3])


def test_batches_of_one_update_have_one_rate():
    schedule = learning_rate("constant", 0.3, warmup_steps=3, steps=9, accumulation=2)
    assert [float(schedule(batch)) for batch in range(6)] == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.3, 0.3])


def test_a_rate_that_never_changes_can_be_lowered_by_others():
    assert learning_rate("constant", 0.3, warmup_steps=0, steps=9) == 0.3


@pytest.mark.parametrize(
    "schedule",
    [
        Noam(0.1, warmup_steps=4),
        InverseSquareRoot(0.1, warmup_steps=4),
        Cosine(0.1, steps=9, warmup_steps=2),
        Constant(0.1, warmup_steps=2),
        PerUpdate(Noam(0.1, warmup_steps=4), batches=2),
    ],
    ids=lambda schedule: type(schedule).__name__,
)
def test_they_come_back_from_their_configurations(schedule):
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(schedule))
    assert type(again) is type(schedule)
    assert rates(again, range(1, 12)) == rates(schedule, range(1, 12))


def test_what_cannot_be_is_told():
    with pytest.raises(
        ValueError, match=r"no schedule 'step'. There are: noam, inverse_sqrt, cosine, constant"
    ):
        learning_rate("step", 0.1, warmup_steps=0, steps=9)
    with pytest.raises(ValueError, match="noam needs a warm-up: warmup_steps of 1 or more, got 0"):
        learning_rate("noam", 0.1, warmup_steps=0, steps=9)
    with pytest.raises(ValueError, match="Lower warmup_steps or train longer"):
        learning_rate("cosine", 0.1, warmup_steps=9, steps=9)
