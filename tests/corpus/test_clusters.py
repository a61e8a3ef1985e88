"""Word clusters: the kernel moves words as the textbook does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.corpus import Sentences
from camber.corpus.clusters import WordClusters
from camber.corpus.hotel import generate
from camber.errors import CamberError
from tests.naive import word_exchange

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), min_size=1, max_size=8)


@settings(max_examples=60)
@given(texts, st.integers(1, 5), st.integers(1, 6))
def test_words_and_likelihood_are_those_of_the_textbook(text: list[list[str]], clusters: int, rounds: int) -> None:
    of_word, likelihood, done = word_exchange.exchange(text, clusters, rounds)
    sentences = Sentences.encode(text)
    learnt = WordClusters.learn(sentences, clusters, rounds)
    assert learnt.log_likelihood == pytest.approx(likelihood, abs=1e-6)
    assert dict(zip(sentences.vocabulary.words, learnt.of_word.tolist(), strict=True)) == of_word
    assert learnt.rounds == done


def test_every_round_makes_the_text_more_likely() -> None:
    text = Sentences.encode([line.split() for line in generate(train=200, dev=1, test=1).train[1]])
    values = [WordClusters.learn(text, 10, rounds).log_likelihood for rounds in (0, 1, 2, 20)]
    assert values == sorted(values)
    assert values[1] > values[0]
    again = WordClusters.learn(text, 10)
    assert np.array_equal(again.of_word, WordClusters.learn(text, 10).of_word)
    frequency = np.bincount(again.of_word[text.ids], minlength=10)
    assert (np.diff(frequency) <= 0).all()


def test_few_words_and_no_words() -> None:
    assert WordClusters.learn(Sentences.encode([[], []]), 5).of_word.tolist() == []
    assert WordClusters.learn(Sentences.encode([["a"]]), 5).of_word.tolist() == [0]
    with pytest.raises(CamberError, match="at least 1"):
        WordClusters.learn(Sentences.encode([["a"]]), 0)
