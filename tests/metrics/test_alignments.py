import pytest

from zoo.metrics import alignment_error_rate


def test_by_hand():
    # |A n S| = 1, |A n P| = 2, |A| = 3, |S| = 2: 1 - 3 / 5.
    found, sure, possible = [{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 2)}], [{(0, 0), (1, 2), (1, 1)}]
    assert alignment_error_rate(found, sure, possible) == pytest.approx(0.4)


def test_what_is_sure_is_possible_too():
    found, sure = [[(0, 0), (1, 1)]], [[(0, 0)]]
    assert alignment_error_rate(found, sure, [[(1, 1)]]) == alignment_error_rate(
        found, sure, [[(0, 0), (1, 1)]]
    )
    assert alignment_error_rate(found, sure, [[(1, 1)]]) == 0.0


def test_without_possible_links_it_is_one_minus_f1():
    found, sure = [{(0, 0), (1, 0)}, {(2, 2)}], [{(0, 0)}, {(2, 2), (3, 3), (4, 4)}]
    precision, recall = 2 / 3, 2 / 4
    assert alignment_error_rate(found, sure) == pytest.approx(
        1 - 2 * precision * recall / (precision + recall)
    )


def test_perfect_worst_and_repeated_links():
    links = [{(0, 1), (1, 0)}, set()]
    assert alignment_error_rate(links, links) == 0.0
    assert alignment_error_rate([{(5, 5)}, set()], links) == 1.0
    assert alignment_error_rate([[(0, 1), (0, 1), (1, 0)], []], links) == 0.0


def test_what_cannot_be_judged_is_refused():
    with pytest.raises(ValueError, match="1 predictions and 2 references"):
        alignment_error_rate([{(0, 0)}], [set(), set()])
    with pytest.raises(ValueError, match="1 predictions and 2 references"):
        alignment_error_rate([{(0, 0)}], [set()], [set(), set()])
    with pytest.raises(ValueError, match="got none of either"):
        alignment_error_rate([set()], [set()])
