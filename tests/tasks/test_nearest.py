import pytest

from zoo.metrics import phoneme_error_rate, string_error_rate
from zoo.tasks.nearest import AgainstNearest, any_of

REFERENCES = [any_of(["R EH D", "R IY D"]), "K AE T", any_of(["AH", "EY B"])]


def test_any_listed_answer_is_right():
    judge = AgainstNearest(string_error_rate)
    assert judge(["R EH D", "K AE T", "EY B"], REFERENCES) == 0
    assert judge(["R IY D", "K AA T", "AH"], REFERENCES) == pytest.approx(1 / 3)
    assert judge(["R EH D | R IY D", "K AE T", "AH"], REFERENCES) == pytest.approx(1 / 3), "not all at once"


def test_edits_are_those_to_the_nearest_per_phoneme_of_it():
    judge = AgainstNearest(phoneme_error_rate)
    # R IY: 1 edit to R IY D; K T: 1 to K AE T; EY: 1 to AH, which comes before EY B.
    assert judge(["R IY", "K T", "EY"], REFERENCES) == pytest.approx(3 / (3 + 3 + 1))
    assert judge(["R IY D", "K AE T", "B"], REFERENCES) == pytest.approx(1 / 7)
    assert judge(["", "", ""], REFERENCES) == 1


def test_as_many_of_both():
    with pytest.raises(ValueError, match="1 predictions and 3 references"):
        AgainstNearest(string_error_rate)(["AH"], REFERENCES)
    with pytest.raises(ValueError, match="3 predictions and 1 references"):
        AgainstNearest(string_error_rate)(["AH"] * 3, ["AH"])


def test_answers_with_the_sign_between_them_are_refused():
    with pytest.raises(ValueError, match="stands between answers"):
        any_of(["A | B", "C"])
