"""Posteriors of n-grams and expected sentence BLEU by definition: lists of tuples, counted anew for every pair."""

import math
from collections import Counter


def grams(words, n):
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def gram_posteriors(hypotheses, posteriors, order):
    """For every hypothesis and list, the sum of p(g) over its n-grams, [hypotheses][lists][order]."""
    lists = len(posteriors[0]) if posteriors else 0
    return [
        [
            [
                sum(
                    sum(row[k] for other, row in zip(hypotheses, posteriors, strict=True) if gram in grams(other, n))
                    for gram in grams(words, n)
                )
                for n in range(1, order + 1)
            ]
            for k in range(lists)
        ]
        for words in hypotheses
    ]


def sentence_bleu(words, reference, order):
    """BLEU with one added to matches and n-grams of orders 2 and more; 0 without a word in common."""
    if not set(words) & set(reference):
        return 0.0
    score = min(0.0, 1.0 - len(reference) / len(words))
    for n in range(1, order + 1):
        own = Counter(grams(words, n))
        more = 0 if n == 1 else 1
        score += math.log(((own & Counter(grams(reference, n))).total() + more) / (own.total() + more)) / order
    return math.exp(score)


def expected_bleu(hypotheses, posteriors, order):
    """For every hypothesis and list, its sentence BLEU with each hypothesis as reference, weighed by the latter."""
    return [
        [
            sum(row[k] * sentence_bleu(words, other, order) for other, row in zip(hypotheses, posteriors, strict=True))
            for k in range(len(posteriors[0]))
        ]
        for words in hypotheses
    ]
