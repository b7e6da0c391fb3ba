"""Tokenizers in an export with a model between them, asked through a server."""

import keras
import pytest
from served_answers import ask, assert_same_but_for_padding, clients

import zoo.export
from zoo.decoders import Beam
from zoo.models import RecurrentSeq2Seq
from zoo.predictor import Predictor
from zoo.serving.server import Server
from zoo.tokenizers import Subwords, WordPieces, load_tokenizer
from zoo.verify import Check, Report

ENGLISH = ["A man rides a bicycle.", "Two dogs run over the street!", "A man runs."]
KOREAN = ["한 남자가 자전거를 탄다.", "개 두 마리가 길을 건너 달린다!", "한 남자가 달린다."]
TEXTS = [*ENGLISH, *KOREAN, "", "  ", "👩\u200d👧 zß\r\n", b"ab\xc2", "A " * 40]


class Reading(Predictor):
    """Asked only what tells what the tokenizers do."""

    def signatures(self):
        every = super().signatures()
        return {name: every[name] for name in ("serving_default", "score", "align")}


def subwords(texts, kind, size):
    return Subwords.learn(texts, vocab_size=size, kind=kind)


def two_languages():
    return subwords(ENGLISH, "bpe", 300), subwords(KOREAN, "unigram", 283)


def one_for_both():
    shared = WordPieces.learn([*ENGLISH, *KOREAN], vocab_size=130)
    return shared, shared


def predictor_of(source, target):
    keras.utils.set_random_seed(3)
    model = RecurrentSeq2Seq(
        source.vocab_size, target.vocab_size, embedding_dim=6, encoder_units=6, decoder_units=8
    )
    model.set_weights([weight * 3 for weight in model.get_weights()])
    return Reading(model, source, target, beam=Beam(3), max_source_length=24, max_length=16)


@pytest.fixture(scope="module")
def predictors():
    return {"two-languages": predictor_of(*two_languages()), "one-for-both": predictor_of(*one_for_both())}


def write(predictor, name, folder):
    card = zoo.export.Card(name, "Nonsense.", "none", "none", ["en"], "CC0")
    zoo.export.write(predictor, folder, card=card, questions=[ENGLISH[0]])


@pytest.fixture(scope="module")
def server(predictors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved_models")
    write(predictors["two-languages"], "two-languages", folder)
    with pytest.MonkeyPatch.context() as patch:  # once verified in earnest is enough
        passed = Report("", "", (Check("nothing", True, ""),))
        patch.setattr(zoo.export, "verify_in_fresh_process", lambda path: passed)
        write(predictors["one-for-both"], "one-for-both", folder)
    models = {name: folder / name for name in predictors}
    with Server(models, grpc_port=0, rest_port=0) as running:
        yield running


@pytest.mark.parametrize("name", ["two-languages", "one-for-both"])
def test_a_server_answers_as_the_predictor(server, predictors, name):
    signatures = predictors[name].signatures()
    targets = [*KOREAN, *ENGLISH, *KOREAN, "", "개"]
    both = {"text": TEXTS, "target": targets}
    asked = {"serving_default": {"text": TEXTS}, "score": both, "align": both}
    for signature, inputs in asked.items():
        expected = ask(signatures[signature], inputs)
        for client in clients(server, name):
            found = client.predict(inputs, signature=signature)
            assert_same_but_for_padding(found, expected, signature)


def test_the_tokens_of_each_language_are_its_own(predictors):
    found = predictors["two-languages"].score([ENGLISH[0]], [KOREAN[0]])
    names = b"".join(found.tokens.numpy()[0]).decode("utf-8")
    assert names == "▁한▁남자가▁자전거를▁탄다.</s>"
    aligned = predictors["two-languages"].align([ENGLISH[0]], [KOREAN[0]])
    assert b"".join(aligned.source_tokens.numpy()[0]).decode("utf-8") == "▁A▁man▁rides▁a▁bicycle.</s>"


def test_one_object_for_both_is_saved_for_each_and_loaded_as_two_equal_ones(tmp_path):
    source, target = one_for_both()
    assert source is target
    source.save(tmp_path / "source")
    target.save(tmp_path / "target")
    first, second = load_tokenizer(tmp_path / "source"), load_tokenizer(tmp_path / "target")
    assert first.describe() == second.describe() == source.describe()
