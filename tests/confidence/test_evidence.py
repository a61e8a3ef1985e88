"""What speaks for translations and their words."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive.confidence import word_posterior

from camber.confidence.evidence import SENTENCE, WORD, add_posteriors, gather, word_posteriors
from camber.decode.chart.derivation import ChartDerivation
from camber.decode.derivation import Derivation
from camber.features.feature import CONTEXT, PROBABILITY, RULE, Feature

INPUTS = (Feature("p", PROBABILITY, RULE), Feature("q", PROBABILITY, RULE), Feature("lm", scope=CONTEXT))
NONE = np.zeros((0, 2), np.int64)


def text_of(words: list[str], score: float) -> Derivation:
    """Return a derivation that is one part with all words."""
    span = np.array([[0, 1]])
    whole = np.array([[0, len(words)]])
    return Derivation(INPUTS, words, score, np.full((1, 3), np.nan), np.array([3]), span, whole)


lists = st.lists(st.tuples(st.lists(st.sampled_from("abc"), max_size=5), st.floats(-3, 3)), min_size=1, max_size=5).map(
    lambda items: [text_of(words, score) for words, score in items]
)


@given(lists, st.floats(0.01, 4))
def test_posteriors_of_words_are_those_of_the_definition(best, scale):
    evidence = gather([best], [["x"]], len(best))
    add_posteriors(evidence, [best], scale)
    texts, scores = [item.words for item in best], [item.score for item in best]
    for h in range(len(best)):
        for place in range(len(texts[h])):
            odds = evidence.words[evidence.offsets[h] + place, 0]
            expected = min(max(word_posterior(texts, scores, scale, h, place), 1e-3), 1 - 1e-3)
            assert 1 / (1 + math.exp(-odds)) == pytest.approx(expected, abs=1e-9)
    assert word_posteriors(best, scale) == pytest.approx(
        [word_posterior(texts, scores, scale, 0, place) for place in range(len(texts[0]))]
    )


def test_a_word_has_the_evidence_of_the_rule_that_gave_it():
    one = Derivation(
        INPUTS,
        ["the", "dog", "x"],
        -2.0,
        np.array([[0.5, 0.125, -1.0], [np.nan, np.nan, -3.0]]),
        np.array([7, -1]),
        np.array([[0, 3], [3, 4]]),
        np.array([[0, 2], [2, 3]]),
    )
    evidence = gather([[one]], [["der", "gute", "Hund", "x"]], 1)
    columns = dict(zip(WORD, evidence.words.T.tolist(), strict=True))
    assert columns["passed_through"] == [0, 0, 1]
    assert columns["copied"] == [0, 0, 1]
    assert columns["alone"] == [0, 0, 1]
    assert columns["source_words"] == pytest.approx([math.log(3), math.log(3), 0])
    assert columns["rule"] == pytest.approx([math.log(0.25), math.log(0.25), 0])
    assert columns["bare"] == [0, 0, 1]
    assert columns["lm"] == [-0.5, -0.5, -3.0]
    whole = dict(zip(SENTENCE, evidence.sentences[0].tolist(), strict=True))
    assert whole["lm"] == pytest.approx(-4 / 3)
    assert whole["parts"] == 0.5
    assert whole["passed_through"] == 0.25
    assert whole["ratio"] == 0.75
    assert whole["score"] == pytest.approx(-2 / 3)


def test_in_a_tree_of_rules_the_innermost_one_gave_a_word():
    """[a [b] c]: the inner rule gives b from the source word 1, the outer one a and c from the words 0 and 2."""
    tree = ChartDerivation(
        INPUTS,
        ["a", "b", "c"],
        0.0,
        np.array([[0.5, 0.5, -1.0], [0.25, 0.25, -4.0]]),
        np.array([1, 2]),
        np.array([[1, 2], [0, 3]]),
        np.array([[1, 2], [0, 3]]),
        np.array([[-1, -1], [0, -1]]),
        None,
    )
    evidence = gather([[tree]], [["u", "v", "w"]], 1)
    columns = dict(zip(WORD, evidence.words.T.tolist(), strict=True))
    assert columns["rule"] == pytest.approx([math.log(0.25), math.log(0.5), math.log(0.25)])
    assert columns["source_words"] == pytest.approx([math.log(2), 0, math.log(2)])
    assert columns["lm"] == [-2.0, -1.0, -2.0]


def test_an_empty_translation_has_evidence_without_words():
    empty = Derivation(INPUTS, [], 0.0, np.zeros((0, 3)), np.zeros(0, np.int64), NONE, NONE)
    evidence = gather([[empty], [text_of(["a"], 0.0)]], [[], ["b"]], 1)
    add_posteriors(evidence, [[empty], [text_of(["a"], 0.0)]], 1.0)
    assert evidence.offsets.tolist() == [0, 0, 1]
    assert np.isfinite(evidence.sentences).all()


def test_scores_of_any_size_have_posteriors() -> None:
    for base in (5000.0, -5000.0):
        best = [text_of(["a", "b"], base), text_of(["a", "c"], base - 1.0)]
        assert word_posteriors(best, 1.0) == pytest.approx([1.0, 1.0 / (1.0 + math.exp(-1.0))])
