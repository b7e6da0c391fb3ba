import itertools

import numpy as np
import pytest
import tensorflow as tf
from predictor_cases import BLANK, LENGTH, TEXTS, WIDTH, asking, assert_equal_rows, make_predictor

from zoo.decoders import Beam, Greedy, Sample
from zoo.predictor import Predictor
from zoo.tokenizers import END


@pytest.fixture(scope="module")
def predictor():
    return make_predictor()


@pytest.fixture(scope="module")
def ask():
    return asking()


@pytest.fixture(scope="module")
def answers(ask):
    return {name: ask(name, TEXTS) for name in ("serving_default", "greedy", "beam")}


def test_signatures_are_the_public_contract(ask):
    forms = {
        name: {key: (value.dtype.name, value.shape) for key, value in ask(name, *texts).items()}
        for name, texts in {
            "serving_default": [["abc", "a"]],
            "greedy": [["abc", "a"]],
            "beam": [["abc", "a"]],
            "generate": [["abc", "a"]],
            "sample": [["abc", "a"]],
            "score": [["abc", "a"], ["xy", ""]],
            "align": [["abc", "a"], ["xy", "z"]],
        }.items()
    }
    assert forms == {
        "serving_default": {"text": ("object", (2,))},
        "greedy": {"text": ("object", (2,)), "score": ("float32", (2,)), "length": ("int32", (2,))},
        "beam": {
            "text": ("object", (2, WIDTH)),
            "score": ("float32", (2, WIDTH)),
            "ranked_score": ("float32", (2, WIDTH)),
            "length": ("int32", (2, WIDTH)),
        },
        "generate": {
            "text": ("object", (2, 8)),
            "score": ("float32", (2, 8)),
            "ranked_score": ("float32", (2, 8)),
            "length": ("int32", (2, 8)),
        },
        "sample": {"text": ("object", (2,)), "score": ("float32", (2,)), "length": ("int32", (2,))},
        "score": {
            "score": ("float32", (2,)),
            "tokens": ("object", (2, 3)),
            "token_scores": ("float32", (2, 3)),
        },
        "align": {
            "source_tokens": ("object", (2, 4)),
            "target_tokens": ("object", (2, 3)),
            "alignment": ("float32", (2, 3, 4)),
        },
    }


def test_inputs_of_signatures_are_named_batches(predictor):
    text, target = {"text": "string"}, {"text": "string", "target": "string"}
    expected = {
        "serving_default": text,
        "greedy": text,
        "beam": text,
        "generate": {
            **text,
            "width": "int32",
            "length_penalty": "float32",
            "min_length": "int32",
            "max_length": "int32",
            "prefix": "string",
        },
        "sample": {**text, "seed": "int32", "temperature": "float32", "top_k": "int32", "top_p": "float32"},
        "score": target,
        "align": target,
    }
    signatures = predictor.signatures()
    assert {
        name: {key: spec.dtype.name for key, spec in signature.inputs.items()}
        for name, signature in signatures.items()
    } == expected
    for signature in signatures.values():
        for key, spec in signature.inputs.items():
            assert spec.shape.as_list() == [None]
            assert spec.name == key
        assert set(signature.neutral) == set(signature.inputs) - {"text", "target"}


def test_neutral_values_are_part_of_the_contract(predictor):
    signatures = predictor.signatures()
    assert signatures["generate"].neutral == {
        "width": 0,
        "length_penalty": -1000,
        "min_length": 0,
        "max_length": 0,
        "prefix": "",
    }
    assert signatures["sample"].neutral == {"seed": 0, "temperature": 1, "top_k": 0, "top_p": 1}


def test_no_align_for_a_model_without_attention(predictor):
    class Blind:
        vocab_size = 8

    assert "align" not in Predictor(Blind(), predictor.source, predictor.target).signatures()


def test_empty_and_blank_texts_have_the_empty_answer(answers):
    for row in BLANK:
        assert answers["serving_default"]["text"][row] == b""
        assert answers["greedy"]["text"][row] == b""
        assert answers["greedy"]["length"][row] == 0
        assert answers["beam"]["text"][row].tolist() == [b""] * WIDTH
        assert answers["beam"]["length"][row].tolist() == [0] * WIDTH
        np.testing.assert_array_equal(answers["beam"]["score"][row, 1:], [-1e9] * (WIDTH - 1))
        assert answers["beam"]["score"][row, 0] > -1e3


def test_other_texts_have_answers_of_their_own(answers):
    others = [row for row in range(len(TEXTS)) if row not in BLANK]
    beam = answers["beam"]
    assert len({beam["text"][row].tobytes() for row in others}) > 1
    assert (beam["score"][others] > -1e8).all()
    assert (beam["length"][others] == LENGTH).any()
    assert (beam["length"][others] < LENGTH).any()
    for texts in (beam["text"].ravel(), answers["greedy"]["text"]):
        for text in texts:
            assert set(text.decode("utf-8")) <= set("xyz \ufffd")
    for text, length in zip(beam["text"].ravel(), beam["length"].ravel(), strict=True):
        assert len(text.decode("utf-8")) == length <= LENGTH


def test_each_text_alone_as_in_any_batch(ask, answers):
    order = [5, 12, 12, 3, 0, 1, 8, 4, 2]
    for name, expected in answers.items():
        for rows in [[row] for row in range(len(TEXTS))] + [order]:
            found = ask(name, [TEXTS[row] for row in rows])
            assert_equal_rows(found, slice(None), rows, expected)


def test_serving_default_is_the_best_of_the_beam(answers):
    np.testing.assert_array_equal(answers["serving_default"]["text"], answers["beam"]["text"][:, 0])
    assert (np.diff(answers["beam"]["ranked_score"], axis=1) <= 0).all()


def test_white_space_around_and_what_is_beyond_the_bound_do_not_matter(ask):
    same = ["abc", "  abc", "abc\n", "\u00a0\v abc \x85\r\n"]
    long = ["abc" * 4, "abc" * 4 + "b", "abc" * 700]
    beam = ask("beam", same + long)
    for rows in (range(1, 4), range(5, 7)):
        for row in rows:
            assert_equal_rows(beam, row, rows[0] - 1)
    inside = ask("beam", ["a bc", "abc"])
    assert inside["score"][0, 0] != inside["score"][1, 0]


def test_invalid_bytes_are_read_as_unknown(ask):
    beam = ask("beam", [b"ab\xc2", "ab\ufffd", "ab語"])
    assert_equal_rows(beam, 1, 0)
    assert_equal_rows(beam, 2, 0)


@pytest.mark.parametrize("name", ["serving_default", "greedy", "beam", "score", "align"])
def test_an_empty_batch(ask, name):
    texts = [[], []] if name in ("score", "align") else [[]]
    for value in ask(name, *texts).values():
        assert value.shape[0] == 0


def test_score_of_an_answer_is_the_score_of_the_search(ask, answers):
    """Also of answers that the bound cut, and of those that begin or end with a space."""
    beam = answers["beam"]
    pairs = [(row, k) for row in range(len(TEXTS)) for k in range(WIDTH) if beam["score"][row, k] > -1e8]
    texts, targets = [TEXTS[row] for row, _ in pairs], [beam["text"][pair] for pair in pairs]
    assert any(target != target.strip() for target in targets)
    scored = ask("score", texts, targets)
    np.testing.assert_allclose(scored["score"], [beam["score"][pair] for pair in pairs], atol=1e-5)
    greedy = ask("score", TEXTS, answers["greedy"]["text"])
    np.testing.assert_allclose(greedy["score"], answers["greedy"]["score"], atol=1e-5)


def test_score_token_by_token(ask):
    scored = ask("score", ["abc", "", "abc", "abc"], ["xyz", "x", "", "xyzxyzxyz"])
    tokens = [[token.decode() for token in row] for row in scored["tokens"]]
    assert tokens == [
        ["x", "y", "z", "</s>", "", ""],
        ["x", "</s>", "", "", "", ""],
        ["</s>", "", "", "", "", ""],
        ["x", "y", "z", "x", "y", "z"],
    ]
    empty = scored["tokens"] == b""
    assert (scored["token_scores"][empty] == 0).all()
    assert (scored["token_scores"][~empty] < 0).all()
    np.testing.assert_allclose(scored["token_scores"].sum(1), scored["score"], rtol=1e-5)
    np.testing.assert_allclose(scored["token_scores"][0, :3], scored["token_scores"][3, :3], atol=1e-5)


def test_score_equals_the_model(predictor, ask):
    """Of one pair, token by token, from the model's own logits."""
    source = [[*predictor.source.encode(["abc"]).to_list()[0], END]]
    x, y = predictor.target.encode(["xy"]).to_list()[0]
    log_probs = tf.nn.log_softmax(
        predictor.model({"source": np.array(source), "target_ids": np.array([[1, x, y]])})
    )
    expected = [log_probs[0, 0, x], log_probs[0, 1, y], log_probs[0, 2, END]]
    np.testing.assert_allclose(ask("score", ["abc"], ["xy"])["token_scores"], [expected], atol=1e-5)


def test_alignment_of_given_targets(predictor, ask):
    found = ask("align", ["abc", "", "c"], ["xy", "z", "xyzxyzxyz"])
    assert [[t.decode() for t in row] for row in found["source_tokens"]] == [
        ["a", "b", "c", "</s>"],
        ["</s>", "", "", ""],
        ["c", "</s>", "", ""],
    ]
    assert [[t.decode() for t in row] for row in found["target_tokens"]] == [
        ["x", "y", "</s>", "", "", ""],
        ["z", "</s>", "", "", "", ""],
        ["x", "y", "z", "x", "y", "z"],
    ]
    there = (found["target_tokens"] != b"")[:, :, None] & (found["source_tokens"] != b"")[:, None, :]
    assert (found["alignment"][~there] == 0).all()
    np.testing.assert_allclose(found["alignment"].sum(2), found["target_tokens"] != b"", atol=1e-5)

    source = [[*predictor.source.encode(["abc"]).to_list()[0], END]]
    ids = [[1, *predictor.target.encode(["xy"]).to_list()[0]]]
    expected = predictor.model.alignment(np.array(source), np.array(ids))
    np.testing.assert_allclose(found["alignment"][0, :3], expected[0], atol=1e-5)


def test_alignment_of_an_empty_target_is_that_of_the_greedy_answer(ask, answers):
    texts = ["abc", "", "cab cab", "bbbbbbbb"]
    greedy = ask("greedy", texts)
    assert LENGTH in greedy["length"]
    found = ask("align", texts, [""] * 4)
    assert [b"".join(row).decode().removesuffix("</s>") for row in found["target_tokens"]] == [
        text.decode().replace("\ufffd", "<unk>") for text in greedy["text"]
    ]
    mixed = ask("align", texts, ["x", "y", "", ""])
    length = min(mixed["alignment"].shape[1], found["alignment"].shape[1])
    np.testing.assert_allclose(mixed["alignment"][2:, :length], found["alignment"][2:, :length], atol=1e-5)
    assert mixed["target_tokens"][0].tolist()[:2] == [b"x", b"</s>"]


def test_strategies_can_be_chosen(predictor, answers):
    found = predictor.answer(tf.constant(TEXTS[:2]), Greedy())
    np.testing.assert_array_equal(found.text[:, 0], answers["greedy"]["text"][:2])
    wide = predictor.answer(tf.constant(TEXTS[:2]), Beam(5))
    assert wide.text.shape == wide.score.shape == wide.ranked_score.shape == wide.length.shape == (2, 5)


def test_assets_are_the_vocabularies(predictor):
    assert predictor.assets() == {
        "source_vocabulary.json": predictor.source.describe(),
        "target_vocabulary.json": predictor.target.describe(),
    }


@pytest.mark.parametrize("name", ["score", "align"])
def test_texts_and_targets_must_be_as_many(ask, name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many of both"):
        ask(name, ["abc", "a", "b"], ["xy"])


@pytest.mark.parametrize("strategy", [None, Sample(3)], ids=["greedy", "sample"])
def test_an_answer_grows_to_what_it_is_in_the_end(predictor, strategy):
    for text in ("abc", "cab cab", "   ", ""):
        so_far = list(predictor.stream(text, strategy))
        final = predictor.answer([text], strategy or Greedy()).text.numpy()[0, 0].decode()
        assert so_far[-1] == final
        assert len(so_far) <= LENGTH
        for shorter, longer in itertools.pairwise(so_far):
            assert longer.startswith(shorter)
    assert len(list(predictor.stream("abc", strategy))) > 1


def test_streamed_texts_are_traced_once_and_once_more_for_other_lengths(predictor, monkeypatch):
    model, traces = predictor.model, 0
    step = model.step

    def counted(*args):
        nonlocal traces
        traces += 1
        return step(*args)

    monkeypatch.setattr(model, "step", counted)
    fresh = Predictor(model, predictor.source, predictor.target, max_length=LENGTH)
    counts = []
    for seed, text in enumerate(("abc", "cab", "cab cab", "b", "   ", "abc")):
        assert list(fresh.stream(text, Sample(seed)))
        counts.append(traces)
    assert counts == [1, 1, 2, 2, 2, 2]
