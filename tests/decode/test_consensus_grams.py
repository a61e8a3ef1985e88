"""N-gram posteriors and expected sentence BLEU against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import consensus as naive

from camber.decode.consensus.grams import gram_posteriors, pair_bleu
from camber.metrics.bleu import BLEU
from camber.metrics.sentence import sentence_bleu


@st.composite
def weighed_lists(draw):
    """Up to six hypotheses over few words, some of them empty, and how likely each is by one to three lists."""
    words = draw(st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=6))
    lists = draw(st.integers(1, 3))
    chance = st.one_of(st.just(0.0), st.floats(0.0, 1.0))
    return words, draw(
        st.lists(st.lists(chance, min_size=lists, max_size=lists), min_size=len(words), max_size=len(words))
    )


@settings(max_examples=80, deadline=None)
@given(weighed_lists(), st.integers(1, 4))
def test_sums_of_posteriors_are_those_of_the_definition(weighed, order):
    words, chances = weighed
    sums = gram_posteriors(words, np.reshape(chances, (len(words), -1)) if words else np.zeros((0, 2)), order)
    expected = np.reshape(naive.gram_posteriors(words, chances, order), sums.shape)
    assert sums == pytest.approx(expected)


@settings(max_examples=80, deadline=None)
@given(weighed_lists(), st.integers(1, 4))
def test_expected_bleu_is_that_of_the_definition(weighed, order):
    words, chances = weighed
    found = pair_bleu(words, order) @ (np.reshape(chances, (len(words), -1)) if words else np.zeros((0, 2)))
    assert found == pytest.approx(np.reshape(naive.expected_bleu(words, chances, order) if words else [], found.shape))


def test_expected_bleu_is_that_of_the_metric():
    texts = ["a man with a hat", "a man with hat", "the man has a hat on", "a hat"]
    numbers = {word: number for number, word in enumerate(sorted({word for text in texts for word in text.split()}))}
    words = [[numbers[word] for word in text.split()] for text in texts]
    for place, reference in enumerate(texts):
        rows = BLEU(tokenize="none").statistics(texts, [[reference]], np.zeros(len(texts), np.int64))
        assert 100 * pair_bleu(words)[:, place] == pytest.approx(sentence_bleu(rows))


def test_posteriors_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"posteriors have the shape \(1, 1\), expected \(2, lists\)"):
        gram_posteriors([[1], [2]], [[1.0]])
