import keras
import numpy as np
import pytest

from zoo.data.vectors import Coverage, WordVectors, match_vectors, read_vectors
from zoo.tokenizers import END, PAD, START, UNKNOWN, Characters
from zoo.tokenizers.specials import SPECIALS

WORDS = ("the", "Haus", "狗", "new york")
VECTORS = np.array([[0.5, -1, 2], [1e-3, 0, 3], [4, 5, 6], [-7, 8, 9]], "float32")
LINES = [f"{word} {x} {y} {z}\n" for word, (x, y, z) in zip(WORDS, VECTORS, strict=True)]


@pytest.fixture
def write(tmp_path):
    def text(content, name="vectors.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return text


def assert_whole(found):
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, VECTORS)
    assert found.vectors.dtype == np.float32


def test_glove_text(write):
    assert_whole(read_vectors(write("".join(LINES))))


def test_word2vec_text(write):
    assert_whole(read_vectors(write("4 3\n" + "".join(LINES), "vectors.vec")))


def test_line_ends_of_other_writers(write):
    assert_whole(read_vectors(write("4 3\r\n" + "".join(line.replace("\n", " \r\n") for line in LINES))))
    assert_whole(read_vectors(write("".join(LINES)[:-1])))


def test_npz(tmp_path):
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(WORDS), vectors=VECTORS, other=np.zeros(3))
    assert_whole(read_vectors(path))


@pytest.mark.parametrize("word", ["\u00a0", "a\u00a0b", "\u2028", "\u0085", "..  .", "42", ""])
def test_odd_words(write, word):
    found = read_vectors(write(f"{LINES[0]}{word} 1 2 3\n"))
    assert found.words == ("the", word)
    np.testing.assert_array_equal(found.vectors[1], [1, 2, 3])


def test_a_character_cut_in_two_harms_no_other_word(write):
    found = read_vectors(write(b"\xe7\x8b 1 2\nthe 3 4\n"))
    assert found.words == ("\ufffd", "the")


def test_of_a_word_that_comes_twice_the_first_counts(write):
    found = read_vectors(write("a 1 2\nb 3 4\na 5 6\n"))
    assert found.words == ("a", "b")
    np.testing.assert_array_equal(found.vectors, [[1, 2], [3, 4]])


def test_only_some_words_keep_the_order_of_the_file(write):
    path = write("2 2\na 1 2\nb x y\n")  # what is left out is not even read as numbers
    assert read_vectors(path, only={"a", "z"}).words == ("a",)
    with pytest.raises(ValueError, match="has none of the words that were asked for"):
        read_vectors(path, only={"z"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "a word and its numbers in each line, got ''"),
        ("just\nwords\n", "a word and its numbers in each line, got 'just'"),
        ("a 1 2\nb 1\n", "entry 2 must be a word and 2 numbers, got 2 fields. Is the file cut short"),
        ("5 2\na 1 2\nb 3 4\n", "announces 5 words, but holds 2"),
        ("2 2\na 1 2\nb", "entry 2 must be"),
        ("a 1 2\nb one 2\n", "the vector of 'b' must be numbers, but could not convert string to float"),
        ("a 1 2\nb nan 2\n", "the vector of 'b' holds numbers that are not finite"),
        (b"3 4\na \x01\x02\x03\x00\xff\n", "entry 1 must be a word and 4 numbers"),
    ],
)
def test_text_in_no_known_form(write, content, message):
    with pytest.raises(ValueError, match=message):
        read_vectors(write(content))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"tokens": np.array(WORDS), "vectors": VECTORS}, "arrays words and vectors, got tokens, vectors"),
        ({"words": np.array(WORDS), "vectors": VECTORS[:2]}, r"got \(4,\) and \(2, 3\)"),
        ({"words": np.array(WORDS), "vectors": VECTORS[:, 0]}, r"got \(4,\) and \(4,\)"),
    ],
)
def test_npz_in_no_known_form(tmp_path, arrays, message):
    path = tmp_path / "vectors.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message):
        read_vectors(path)


def test_rows_stand_for_ids_and_the_report_says_which_are_missing():
    vocabulary = [*SPECIALS, "狗", "The", "the", "cat"]
    matrix, coverage = match_vectors(WordVectors(WORDS, VECTORS), vocabulary)
    np.testing.assert_array_equal(matrix[[4, 6]], VECTORS[[2, 0]])
    assert coverage == (("狗", "the"), ("The", "cat"))
    assert coverage.missing_share == 0.5
    assert str(coverage) == "2 of 4 words (50.0%) have no vector: The, cat"
    assert matrix.shape == (8, 3)
    assert matrix.dtype == np.float32


def test_the_lower_case_word_stands_in_where_it_is_asked_to():
    vectors = WordVectors(("us", "US", "the"), np.array([[1.0], [2.0], [3.0]], "float32"))
    matrix, coverage = match_vectors(vectors, [*SPECIALS, "US", "us", "The", "TO"], spelling="lower_case")
    np.testing.assert_array_equal(matrix[4:7], [[2], [1], [3]])
    assert coverage.missing == ("TO",)
    with pytest.raises(ValueError, match="spelling must be one of exact, lower_case, got 'any'"):
        match_vectors(vectors, SPECIALS, spelling="any")


def test_rows_without_a_vector_by_the_stated_rule():
    random = np.random.default_rng(0)
    numbers = random.normal([3, -1], [2, 0.1], (500, 2)).astype("float32")
    vectors = WordVectors(tuple(map(str, range(500))), numbers)
    vocabulary = [*SPECIALS, *(f"new{i}" for i in range(2000)), "7"]
    matrix, _ = match_vectors(vectors, vocabulary, seed=1)
    np.testing.assert_array_equal(matrix[PAD], 0)
    np.testing.assert_allclose(matrix[UNKNOWN], numbers.mean(axis=0))
    drawn = matrix[[START, END, *range(4, 2004)]]
    np.testing.assert_allclose(drawn.mean(axis=0), numbers.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(drawn.std(axis=0), numbers.std(axis=0), rtol=0.1)

    same, _ = match_vectors(vectors, [*vocabulary[:10], "7", "more"], seed=1)
    np.testing.assert_array_equal(same[:10], matrix[:10])
    assert not np.array_equal(match_vectors(vectors, vocabulary, seed=2).matrix[4], matrix[4])


def test_special_ids_take_the_vectors_of_their_names_but_for_padding():
    vectors = WordVectors(("</s>", "", "<unk>"), np.array([[1.0], [2.0], [3.0]], "float32"))
    matrix, coverage = match_vectors(vectors, SPECIALS)
    np.testing.assert_array_equal(matrix[[PAD, END, UNKNOWN], 0], [0, 1, 3])
    assert coverage == ((), ())
    assert coverage.missing_share == 0


def test_a_vocabulary_without_the_special_ids():
    with pytest.raises(ValueError, match=r"A vocabulary must begin with .* got \('the', 'a'\)"):
        match_vectors(WordVectors(WORDS, VECTORS), ["the", "a"])


def test_a_long_report_is_cut():
    coverage = Coverage((), tuple("abcdefghijklm"))
    assert str(coverage) == "13 of 13 words (100.0%) have no vector: a, b, c, d, e, f, g, h, i, j, ..."
    assert str(Coverage(("a",), ())) == "0 of 1 words (0.0%) have no vector"


def test_the_vocabulary_of_a_tokenizer_is_its_tokens():
    tokenizer = Characters("ab")
    vocabulary = [token.decode() for token in tokenizer.tokens(range(tokenizer.vocab_size)).numpy()]
    matrix, coverage = match_vectors(WordVectors(("b", "<unk>"), np.ones((2, 1), "float32")), vocabulary)
    assert coverage == (("b",), ("a",))
    ids = tokenizer.encode(["bz"]).values
    np.testing.assert_array_equal(matrix[ids], [[1], [1]])


@pytest.mark.parametrize("trainable", [True, False])
def test_an_embedding_is_tuned_or_frozen_and_comes_back_as_it_was(tmp_path, trainable):
    matrix, _ = match_vectors(WordVectors(WORDS, VECTORS), [*SPECIALS, "the", "cat"])
    embedding = keras.layers.Embedding(*matrix.shape, weights=matrix, trainable=trainable)
    model = keras.Sequential([keras.Input((2,)), embedding, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    ids = np.array([[4, 5], [5, PAD]])
    np.testing.assert_array_equal(embedding(ids), matrix[ids])
    model.fit(ids, np.ones((2, 2, 1)), verbose=0)
    moved = np.any(embedding.get_weights()[0] != matrix, axis=1)
    assert moved.tolist() == [trainable, False, False, False, trainable, trainable]

    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.layers[0].get_weights()[0], embedding.get_weights()[0])
    assert again.layers[0].trainable == trainable
