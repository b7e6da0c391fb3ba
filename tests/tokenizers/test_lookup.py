import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from zoo.tokenizers.lookup import Lookup


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True), st.lists(st.text("ab")))
def test_finds_what_a_dictionary_finds(strings, others):
    asked = [*strings, *others, "", "a\0"]
    places = {string: place for place, string in enumerate(strings)}
    found = Lookup(strings).find(tf.constant(asked))
    assert found.numpy().tolist() == [places.get(string, -1) for string in asked]


def test_of_many_strings():
    strings = [f"word {number}" for number in range(50_000)]
    order = np.random.default_rng(0).permutation(50_000)
    lookup = Lookup(strings)
    for find in (lookup.find, tf.function(lookup.find)):
        found = find(tf.constant([strings[place] for place in order]))
        np.testing.assert_array_equal(found, order)
        assert found.dtype == tf.int32
