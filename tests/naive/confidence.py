"""Posteriors of words, and logistic regression, by their definitions."""

import math
from collections import Counter


def word_posterior(texts, scores, scale, hypothesis, place):
    """Return the probability of all texts that have the word at a place as often as it has come there, at least."""
    weights = [math.exp(scale * score) for score in scores]
    word = texts[hypothesis][place]
    times = texts[hypothesis][: place + 1].count(word)
    return sum(w for text, w in zip(texts, weights, strict=True) if Counter(text)[word] >= times) / sum(weights)


def logistic_loss(rows, truth, bias, weights, penalty, deviations):
    """Return the sum of cross entropies, and the penalty of the weights that standardised columns have."""
    total = 0.0
    for row, share in zip(rows, truth, strict=True):
        odds = bias + sum(x * w for x, w in zip(row, weights, strict=True))
        total += math.log1p(math.exp(-abs(odds))) + max(odds, 0.0) - share * odds
    return total + penalty / 2 * sum((w * d) ** 2 for w, d in zip(weights, deviations, strict=True))
