"""Bitexts: token ids with offsets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus import Bitext, Sentences

TEXT = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), max_size=8)


@settings(deadline=None)
@given(TEXT)
def test_decoding_gives_the_sentences_back(text):
    sentences = Sentences.encode(text)
    assert [sentences.vocabulary.decode(ids) for ids in sentences] == text
    assert len(sentences) == len(text)
    assert sentences.lengths.tolist() == [len(sentence) for sentence in text]
    assert sentences.longest == max(map(len, text), default=0)
    assert sentences.ids.dtype == np.int32
    assert sentences.offsets.dtype == np.int64


def test_words_outside_a_given_vocabulary_are_minus_one():
    known = Sentences.encode([["a", "b"]])
    assert Sentences.encode([["b", "z"]], known.vocabulary).ids.tolist() == [1, -1]


@settings(deadline=None)
@given(TEXT)
def test_swapping_twice_changes_nothing(text):
    bitext = Bitext.encode(text, text[::-1])
    assert bitext.swapped().swapped() == bitext
    assert bitext.swapped().source is bitext.target


def test_sides_of_different_length_are_refused():
    with pytest.raises(ValueError, match="1 source but 2 target"):
        Bitext.encode([["a"]], [["b"], ["c"]])
