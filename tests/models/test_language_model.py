"""Language models: what a prompt is, and that they learn texts, go on with them, answer and export."""

from itertools import product

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.data.batches import batches
from zoo.data.pairs import Pairs
from zoo.decoders import Beam, Greedy, decode
from zoo.export import Card, write
from zoo.models import RecurrentLM, TransformerLM, read_prompt
from zoo.predictor import Predictor
from zoo.tokenizers import Characters

PAD, START, END = 0, 1, 2
LETTERS = "abc"
LONGEST = 12


def make_recurrent(vocab_size):
    return RecurrentLM(vocab_size, embedding_dim=8, units=24, cell="gru")


def make_transformer(vocab_size):
    return TransformerLM(vocab_size, width=16, depth=2, heads=2, units=32, positions="rotary")


@pytest.mark.parametrize(
    ("source", "context", "last"),
    [
        ([5, 6, 7, END], [START, 5, 6], 7),
        ([5, 6, 7], [START, 5, 6], 7),
        ([5, END, PAD, PAD], [START], 5),
        ([END, PAD], [], START),
        ([END], [], START),
        ([PAD, PAD], [], START),
        ([PAD, PAD, 5, 6, END], [START, 5], 6),
    ],
)
def test_a_prompt_is_its_tokens_after_start(source, context, last):
    prompt = read_prompt(np.array([source]))
    mask = prompt.mask[0].numpy()
    assert prompt.context[0].numpy()[mask].tolist() == context
    assert prompt.last.numpy().tolist() == [last]
    assert prompt.length.numpy().tolist() == [len(context)]
    assert prompt.positions[0].numpy()[mask].tolist() == list(range(len(context)))


@pytest.mark.parametrize("make", [make_recurrent, make_transformer])
def test_a_prompt_is_the_beginning_of_the_text(make):
    """Wherever a text is parted into prompt and target, each token gets the same logits; padding included."""
    keras.utils.set_random_seed(2)
    model, text = make(9), [4, 5, 8, 4, 7, 6]
    whole = model({"source": np.array([[END]]), "target_ids": np.array([[START, *text]])}).numpy()[0]
    for parted in range(len(text) + 1):
        prompt, rest = text[:parted], text[parted:]
        target_ids = np.array([[START, *rest]])
        for source in ([*prompt, END], [*prompt, END, PAD, PAD], [PAD, *prompt, END]):
            logits = model({"source": np.array([source]), "target_ids": target_ids}).numpy()[0]
            np.testing.assert_allclose(logits, whole[parted:], atol=1e-5)


def repeating_texts():
    """Every pattern of 1 to 3 letters, over and over, up to the bound."""
    patterns = ["".join(letters) for n in (1, 2, 3) for letters in product(LETTERS, repeat=n)]
    return [(pattern * LONGEST)[:LONGEST] for pattern in patterns]


@pytest.fixture(scope="module", params=[make_recurrent, make_transformer])
def trained(request):
    """A model that was shown repeating texts, by plain compile and fit, and their tokenizer."""
    keras.utils.set_random_seed(1)
    tokenizer, texts = Characters(LETTERS), repeating_texts()
    model = request.param(tokenizer.vocab_size)
    pairs = Pairs([""] * len(texts) * 20, texts * 20)
    data = batches(
        pairs, tokenizer, tokenizer, batch_size=26, max_source_length=1, max_length=LONGEST + 1, seed=0
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    model.compile(keras.optimizers.Adam(0.01), loss)
    model.fit(data.dataset(20), epochs=20, steps_per_epoch=data.steps, shuffle=False, verbose=0)
    return model, tokenizer


@pytest.mark.parametrize("strategy", [Greedy(), Beam(3)], ids=lambda strategy: type(strategy).__name__)
def test_learns_to_continue_a_repeating_text(trained, strategy):
    """From prompts of unequal length, all in one batch."""
    model, tokenizer = trained
    texts = repeating_texts()
    lengths = [6 + n % 4 for n in range(len(texts))]
    prompts = tokenizer.encode(tf.constant([text[:n] for text, n in zip(texts, lengths, strict=True)]))
    ends = tf.fill([len(texts), 1], END)
    source = tf.concat([prompts, ends], axis=1).to_tensor(PAD)
    found = tf.function(lambda source: decode(model, source, strategy, max_length=LONGEST))(source)
    answers = [answer.decode() for answer in tokenizer.decode(found.token_ids[:, 0]).numpy()]
    right = [answer == text[n:] for answer, text, n in zip(answers, texts, lengths, strict=True)]
    assert np.mean(right) >= 0.95, answers


def test_predictor_answers_with_what_follows_and_exports(trained, tmp_path):
    model, tokenizer = trained
    predictor = Predictor(model, tokenizer, tokenizer, beam=Beam(2), max_source_length=16, max_length=LONGEST)
    assert set(predictor.signatures()) == {"serving_default", "greedy", "beam", "generate", "sample", "score"}
    texts = ["abcabc", "", "bbbbbbbb", "  ", "cacacac"]
    answers = predictor.answer(texts, Beam(2))
    assert answers.text[:, 0].numpy().tolist() == [b"abcabc", b"", b"bbbb", b"", b"acaca"]
    assert (answers.length[:, 0].numpy() == [6, 0, 4, 0, 5]).all()
    scored = predictor.score(["abcabc"], ["abcabc"])
    np.testing.assert_allclose(scored.score, answers.score[:1, 0], atol=1e-5)

    card = Card("repeats", "Repeats.", "repeating", "test", ["en"], "CC0")
    path = write(predictor, tmp_path, card=card, questions=texts[:1])
    served = tf.saved_model.load(str(path)).signatures
    assert set(served) == set(predictor.signatures())
    found = served["serving_default"](text=tf.constant(texts))["text"]
    assert found.numpy().tolist() == answers.text[:, 0].numpy().tolist()


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"cell must be one of rnn, gru, lstm, got 'tree'"):
        RecurrentLM(9, cell="tree")
    with pytest.raises(ValueError, match=r"positions must be one of .*, got 'relative'"):
        TransformerLM(9, positions="relative")
    with pytest.raises(ValueError, match=r"3 heads do not divide a width of 8"):
        TransformerLM(9, width=8, heads=3)


@pytest.mark.parametrize("model", [RecurrentLM, TransformerLM])
def test_sizes_that_no_language_model_can_have(model):
    more = ("embedding_dim",) if model is RecurrentLM else ("width", "heads", "max_length")
    for name in ("depth", "units", *more):
        with pytest.raises(ValueError, match=f"{name} must be a whole number, 1 or more, got 0"):
            model(9, **{name: 0})
    with pytest.raises(ValueError, match="vocab_size must be a whole number, 1 or more, got 0"):
        model(0)
    with pytest.raises(ValueError, match=r"dropout must be a rate from 0 to below 1, got 1"):
        model(9, dropout=1)
