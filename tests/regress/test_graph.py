"""The graph of predicted n-grams."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.corpus import Sentences
from camber.errors import CamberError
from camber.regress.graph import Prediction, build_graph, marked, marked_ngrams
from camber.regress.spectrum import Spectrum

WORDS = 3
BEGIN, END = WORDS, WORDS + 1
texts = st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=5)


def spelt(graph, gram):
    """Return the words of an n-gram."""
    words = []
    while gram > 0:
        words.append(int(graph.word[gram]))
        gram = graph.prefix[gram]
    return tuple(words[::-1])


@given(
    st.dictionaries(
        st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=4).map(tuple), st.floats(-1, 4), max_size=12
    ),
    st.integers(4, 5),
)
def test_the_trie_has_every_ngram_inside_the_predicted_ones_and_knows_their_suffixes(grams, order):
    graph = build_graph(Prediction.of(list(grams), list(grams.values())), order, WORDS)
    inside = {gram[i:j] for gram in grams for i in range(len(gram)) for j in range(i + 1, len(gram) + 1)}
    spellings = [spelt(graph, gram) for gram in range(len(graph.word))]
    assert sorted(spellings) == sorted(inside | {(), (END,)})
    number = {words: gram for gram, words in enumerate(spellings)}
    followed = {gram[:-1] for gram in inside} | {()}
    for words, gram in number.items():
        assert graph.length[gram] == len(words)
        assert spellings[graph.suffix[gram]] == words[1:]
        assert spellings[graph.unigram[gram]] == words[-1:]
        expected = next(words[k:] for k in range(len(words) + 1) if words[k:] in followed and len(words[k:]) < order)
        assert spellings[graph.context[gram]] == expected
        children = graph.child[graph.first[gram] : graph.first[gram + 1]]
        longer = {one for one in inside if one[:-1] == words and one}
        assert {spellings[child] for child in children} == longer
        if words in grams:
            assert graph.count[gram] == grams[words]
            assert graph.times[gram] == max(1, round(grams[words]))
        else:
            assert np.isnan(graph.count[gram])


@given(texts, st.integers(1, 3))
def test_marked_ngrams_are_those_of_the_text_between_its_marks(text, order):
    sentences = Sentences.encode(text)
    begin = len(sentences.vocabulary)
    ids, offsets, often = marked_ngrams(sentences, order)
    counts = {}
    for sentence in marked(sentences):
        words = sentence.tolist()
        assert (words[0], words[-1]) == (begin, begin + 1)
        for n in range(1, order + 1):
            for i in range(len(words) - n + 1):
                gram = tuple(words[i : i + n])
                if n > 1 or gram[0] < begin:
                    counts[gram] = counts.get(gram, 0) + 1
    grams = [tuple(ids[a:b].tolist()) for a, b in pairwise(offsets)]
    assert dict(zip(grams, often.tolist(), strict=True)) == counts


def test_values_of_a_weighted_spectrum_become_counts():
    weighted = Prediction.of([[0], [0, 1], [1, 2]], [0.5, np.sqrt(2) * 0.8, 0.1], Spectrum(2, "weighted"))
    assert weighted.counts == pytest.approx([0.5, 0.8, 0.1 / np.sqrt(2)])
    kept = weighted.above(0.3)
    assert (kept.ids.tolist(), kept.offsets.tolist()) == ([0, 0, 1], [0, 1, 3])


@pytest.mark.parametrize(
    ("grams", "values", "what"),
    [
        ([[0, 1], [0, 1]], [1.0, 1.0], "n-gram 1 is predicted twice"),
        ([[0, 1, 2]], [1.0], "expected 1 to 2"),
        ([[0, 7]], [1.0], "expected 0 to 4"),
        ([[0], [1, 0]], [1.0, np.inf], "value of n-gram 1 is not a finite"),
        ([[END, 0]], [1.0], "</s> before its last"),
        ([[0, BEGIN]], [1.0], "<s> after its first"),
        ([[0]], [1.0, 2.0], "2 predicted values, but offsets of 1"),
    ],
)
def test_what_cannot_be_a_graph_is_refused(grams, values, what):
    with pytest.raises(CamberError, match=what):
        build_graph(Prediction.of(grams, values), 2, WORDS)
