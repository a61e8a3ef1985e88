"""The regression as a feature: sums of the automaton, and exact scores, against products of dense vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import ngram_spectra, preimage_search

from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.inputs import Input
from camber.decode.phrase.ngram_scores import NgramAutomaton, step_ngrams
from camber.regress.margin import MarginRegression
from camber.regress.prediction import LeastSquares, MaximumMargin, Regression, Vectors
from camber.regress.scorer import RegressionScorer, word_numbers
from camber.regress.scores import text_scores
from camber.regress.spectrum import Spectrum, string_kernel

WORDS = 6
words = st.integers(0, WORDS - 1)
texts = st.lists(words, min_size=1, max_size=6).map(tuple)
lists = st.lists(st.lists(st.integers(-2, WORDS), min_size=1, max_size=6), min_size=1, max_size=3)
pairs = st.lists(st.tuples(texts, texts), min_size=2, max_size=6)
spectra = st.builds(Spectrum, st.integers(1, 3), st.sampled_from(["blended", "weighted"]))
VOCABULARY = Vocabulary([f"w{n}" for n in range(WORDS)])


def regression_of(some: list[tuple[tuple[int, ...], tuple[int, ...]]], spectrum: Spectrum, kind: str) -> Regression:
    sides = [[[f"w{n}" for n in pair[k]] for pair in some] for k in (0, 1)]
    vectors = Vectors.of(Bitext(*(Sentences.encode(side, VOCABULARY) for side in sides)), spectrum)
    if kind == "lsr":
        return LeastSquares.of(vectors, 0.5)
    return MaximumMargin(vectors, MarginRegression().fit(vectors.source, vectors.target))


def automaton_sum(scorer: RegressionScorer, source: tuple[str, ...], text: tuple[int, ...], reach: list[int]) -> float:
    scored = scorer.scored(Input(source), np.array(reach, np.int64))
    ngrams = NgramAutomaton.of(scored, WORDS, 1.0, np.zeros(0, np.int64))
    state, total = 0, 0.0
    for word in text:
        gain, state = step_ngrams(ngrams, state, word)
        total += gain
    return total


@pytest.mark.parametrize("kind", ["lsr", "mmr"])
@given(pairs, spectra, st.lists(st.integers(0, WORDS), min_size=1, max_size=5).map(tuple), texts)
@settings(max_examples=60, deadline=None)
def test_the_automaton_sums_to_the_product_with_what_is_predicted(kind, pairs, spectrum, source, text) -> None:  # type: ignore[no-untyped-def]
    regression = regression_of(pairs, spectrum, kind)
    tokens = tuple(f"w{n}" for n in source)  # one of them is unknown
    scorer = RegressionScorer(regression, VOCABULARY, least=0.0)
    predicted = regression.predict(word_numbers(tokens, VOCABULARY), np.ones(WORDS, bool), [len(source)])
    ends = regression.vectors.target_grams.ends(np.array(text, np.int32))
    product = predicted.sums[predicted.rows[ends[ends >= 0]], 0].sum()
    total = automaton_sum(scorer, tokens, text, sorted(set(text)))
    assert total == pytest.approx(product, abs=1e-9)
    coarse = automaton_sum(replace(scorer, least=0.05), tokens, text, list(range(WORDS)))
    assert abs(coarse - product) <= 0.05 * ends.size


@given(pairs, spectra, texts, texts)
@settings(max_examples=60, deadline=None)
def test_least_squares_sum_products_with_all_training_targets(pairs, spectrum, source, text) -> None:  # type: ignore[no-untyped-def]
    weights = spectrum.weights.tolist()
    gram = np.array([[ngram_spectra.kernel(a, b, weights) for b, _ in pairs] for a, _ in pairs])
    with_source = np.array([ngram_spectra.kernel(a, source, weights) for a, _ in pairs])
    with_text = np.array([ngram_spectra.kernel(b, text, weights) for _, b in pairs])
    expected = with_text @ np.linalg.solve(gram + 0.5 * np.eye(len(pairs)), with_source)
    scorer = RegressionScorer.of(regression_of(pairs, spectrum, "lsr"), VOCABULARY, least=0.0)
    tokens = tuple(f"w{n}" for n in source)
    assert automaton_sum(scorer, tokens, text, list(range(WORDS))) == pytest.approx(expected, abs=1e-4)
    again = scorer.remembering()
    assert automaton_sum(again, tokens, text, list(range(WORDS))) == automaton_sum(
        again, tokens, text, sorted(set(text))
    )


@pytest.mark.parametrize("kind", ["lsr", "mmr"])
@given(
    pairs, spectra, texts, st.lists(st.lists(st.integers(-2, WORDS), min_size=1, max_size=6), min_size=1, max_size=3)
)
@settings(max_examples=60, deadline=None)
def test_scores_of_texts_are_those_of_the_pre_image_search(kind, pairs, spectrum, source, hypotheses) -> None:  # type: ignore[no-untyped-def]
    regression = regression_of(pairs, spectrum, kind)
    alphas = regression.margin.alphas.tolist() if isinstance(regression, MaximumMargin) else None
    twin = preimage_search.Scorer(pairs, spectrum.weights.tolist(), 0.5, alphas)
    scores, norms = text_scores(regression, np.array(source, np.int32), [np.array(h, np.int32) for h in hypotheses])
    expected = [twin.score(tuple(source), tuple(hypothesis)) for hypothesis in hypotheses]
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    np.testing.assert_allclose(norms, [string_kernel(np.array(h), np.array(h), spectrum) for h in hypotheses])


def test_an_empty_sentence_predicts_nothing() -> None:
    regression = regression_of([((0,), (1,)), ((1, 2), (2,))], Spectrum(2), "lsr")
    assert len(RegressionScorer.of(regression, VOCABULARY).scored(Input(()), np.arange(WORDS)).word) == 0
    scores, norms = text_scores(regression, np.zeros(0, np.int32), [np.array([1, 1], np.int32)])
    assert scores.tolist() == [0.0]
    assert norms.tolist() == [5.0]
