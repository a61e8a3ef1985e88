"""Predictions of both regressions, against dense matrices and vectors."""

from __future__ import annotations

import numpy as np
import pytest
from naive import ngram_spectra

from camber.corpus import Bitext, Sentences
from camber.regress.margin import MarginRegression
from camber.regress.prediction import LeastSquares, MaximumMargin, Prediction, Vectors
from camber.regress.spectrum import Spectrum


def random_bitext(pairs: int, words: int, seed: int) -> Bitext:
    rng = np.random.default_rng(seed)

    def side(letter: str) -> list[list[str]]:
        return [
            [f"{letter}{word}" for word in (rng.pareto(1.0, rng.integers(1, 8)) * 3).astype(int) % words]
            for _ in range(pairs)
        ]

    return Bitext.encode(side("s"), side("t"))


def products(vectors: Vectors, prediction: Prediction, text: list[int]) -> tuple[np.ndarray, float]:
    """Sum up what the n-grams of a text add: products with what is predicted, and with the mean."""
    total, mean = -np.asarray(prediction.constants), 0.0
    for gram in vectors.target_grams.ends(np.array(text, np.int32)).ravel().tolist():
        if gram >= 0 and prediction.rows[gram] >= 0:
            total = total + prediction.sums[prediction.rows[gram]]
            mean += prediction.means[prediction.rows[gram]]
    return total, mean


SPECTRA = [Spectrum(order=1), Spectrum(order=3), Spectrum(order=3, weighting="weighted")]
SOURCE = [1, 0, -1, 2, 1, 0, 3, -2, -1]  # -1 and -2: two unknown words, one of them twice
TARGET = [0, 2, 1, 0, 2, 4]


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_least_squares_predict_what_the_inverse_of_the_gram_matrix_does(spectrum: Spectrum) -> None:
    bitext = random_bitext(40, 12, 1)
    vectors = Vectors.of(bitext, spectrum)
    everything = np.ones(len(bitext.target.vocabulary), bool)
    prediction = LeastSquares.of(vectors, 0.3).predict(np.array(SOURCE, np.int32), everything)
    weights = spectrum.weights.tolist()

    def kernels(side: Sentences, text: list[int]) -> np.ndarray:
        return np.array([ngram_spectra.kernel(other.tolist(), text, weights) for other in side])

    gram = np.array([kernels(bitext.source, text.tolist()) for text in bitext.source])
    inverse = np.linalg.inv(gram + 0.3 * np.eye(40))
    for k in range(len(SOURCE)):  # wang2007 Eq. 10: k_y(y) K⁻¹ k_x(x)
        expected = kernels(bitext.target, TARGET) @ inverse @ kernels(bitext.source, SOURCE[: k + 1])
        assert products(vectors, prediction, TARGET)[0][k] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_maximum_margin_predicts_what_centred_normalised_vectors_do(spectrum: Spectrum) -> None:
    bitext = random_bitext(40, 12, 2)
    vectors = Vectors.of(bitext, spectrum)
    margin = MarginRegression(cost=0.7).fit(vectors.source, vectors.target)
    everything = np.ones(len(bitext.target.vocabulary), bool)
    prediction = MaximumMargin(vectors, margin).predict(np.array(SOURCE, np.int32), everything)
    weights = spectrum.weights.tolist()

    def centred(side: Sentences, text: list[int]) -> np.ndarray:
        """Rows of the side and at last the text, as dense vectors less the mean of the side, of length 1."""
        texts = [*(sentence.tolist() for sentence in side), text]
        counts = [ngram_spectra.spectrum(words, len(weights)) for words in texts]
        grams = sorted(set().union(*counts))
        roots = np.sqrt([weights[len(gram) - 1] for gram in grams])
        table = np.array([[count[gram] for gram in grams] for count in counts]) * roots
        table -= table[:-1].mean(0)
        return np.asarray(table / np.linalg.norm(table, axis=1, keepdims=True))

    assert margin.alphas.max() > 0.0
    right = centred(bitext.target, TARGET)
    product, mean = products(vectors, prediction, TARGET)
    norm = ngram_spectra.kernel(TARGET, TARGET, weights) - 2.0 * mean + prediction.mean_square
    for k in range(len(SOURCE)):  # wang2007 Eq. 11: Σ α_i κ̄(y_i, y) κ̄(x_i, x)
        left = centred(bitext.source, SOURCE[: k + 1])
        expected = float(margin.alphas @ ((left[:-1] @ left[-1]) * (right[:-1] @ right[-1])))
        assert product[k] / np.sqrt(norm) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", ["lsr", "mmr"])
def test_some_prefixes_and_fewer_reachable_words_are_a_part_of_all(kind: str) -> None:
    bitext = random_bitext(30, 9, 3)
    vectors = Vectors.of(bitext, Spectrum(order=2))
    regression: LeastSquares | MaximumMargin
    if kind == "lsr":
        regression = LeastSquares.of(vectors, 0.1)
    else:
        regression = MaximumMargin(vectors, MarginRegression().fit(vectors.source, vectors.target))
    source, everything = np.array(SOURCE, np.int32), np.ones(len(bitext.target.vocabulary), bool)
    whole = regression.predict(source, everything)
    assert len(whole.grams) == len(vectors.target_grams)
    some = np.zeros_like(everything)
    some[[0, 2]] = True
    part = regression.predict(source, some, [3, len(SOURCE)])
    assert 2 < len(part.grams) < len(whole.grams)
    assert {tuple(sorted(set(gram))) for gram in grams_of(vectors, part.grams)} <= {(0,), (2,), (0, 2)}
    assert (whole.rows[part.grams] >= 0).all()
    assert part.sums == pytest.approx(whole.sums[whole.rows[part.grams]][:, [2, len(SOURCE) - 1]])
    assert part.means == pytest.approx(whole.means[whole.rows[part.grams]])
    assert part.constants == pytest.approx(whole.constants[[2, len(SOURCE) - 1]])
    assert [part.rows[gram] for gram in part.grams] == list(range(len(part.grams)))


def grams_of(vectors: Vectors, grams: np.ndarray) -> list[list[int]]:
    """Spell n-grams by the words that lead to them."""
    keys, words = vectors.target_grams.arrays()["keys"], vectors.target_grams.words
    spelt = []
    for gram in grams.tolist():
        text = []
        while gram >= 0:
            text.insert(0, int(keys[gram] % words))
            gram = int(keys[gram] // words) - 1
        spelt.append(text)
    return spelt
