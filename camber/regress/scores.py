"""How well texts fit what a regression predicts for a sentence: the scores of wang2007, exactly, for re-ranking.

    numbers = word_numbers(tokens, source_words)
    scores, norms = text_scores(regression, numbers, texts)     # texts: word numbers of each hypothesis

Least squares score a text y by 2 ⟨φ(y), W φ(x)⟩ - κ(y, y), which is -‖W φ(x) - φ(y)‖² (Eq. 8) but for what all texts
have in common; maximum margin by ⟨φ(y) - μ, W x̄⟩ / ‖φ(y) - μ‖ (Eq. 9). These are the scores that the pre-image search
gives to whole translations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from camber.arrays.types import F8, I4
from camber.regress.prediction import Regression
from camber.regress.spectrum import string_kernel


def text_scores(regression: Regression, sentence: I4, texts: Sequence[I4], *, scale: float = 1.0) -> tuple[F8, F8]:
    """Return the score and κ(y, y) of some texts for a source sentence: float64[texts] each.

    Words are numbered as the regression's n-grams have them; a number below 0, or above all of them, is a word that no
    n-gram has, equal ones the same word. `scale`: what predictions are multiplied by, of least squares only.
    """
    vectors = regression.vectors
    grams, spectrum = vectors.target_grams, vectors.spectrum
    norms = np.array([string_kernel(text, text, spectrum) for text in texts])
    if not len(sentence):
        return np.zeros(len(texts)), norms
    known = [np.where((text >= 0) & (text < grams.words), text, -1).astype(np.int32) for text in texts]
    reachable = np.zeros(grams.words, np.bool_)
    for text in known:
        reachable[text[text >= 0]] = True
    aim = regression.predict(sentence, reachable, [len(sentence)])
    products, means = np.zeros(len(texts)), np.zeros(len(texts))
    for place, text in enumerate(known):
        ends = grams.ends(text)
        rows = aim.rows[ends[ends >= 0]]
        products[place] = aim.sums[rows, 0].sum() - aim.constants[0]
        means[place] = aim.means[rows].sum()
    if not aim.normalised:
        return 2.0 * scale * products - norms, norms  # wang2007 Eq. 10
    squares = norms - 2.0 * means + aim.mean_square
    return np.where(squares > 1e-12, products / np.sqrt(np.maximum(squares, 1e-12)), 0.0), norms  # Eq. 11
