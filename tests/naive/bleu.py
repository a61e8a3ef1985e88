"""BLEU's n-gram statistics as the textbook has them."""

from collections import Counter


def ngrams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu_statistics(hypothesis, references, order=4, shortest=False):
    """Return [length, reference length, matches of orders 1…, n-grams of orders 1…] of one tokenised sentence."""
    length = len(hypothesis)
    lengths = [len(reference) for reference in references]
    chosen = min(lengths) if shortest else min(lengths, key=lambda other: (abs(other - length), other))
    matches, totals = [], []
    for n in range(1, order + 1):
        grams = ngrams(hypothesis, n)
        limit = Counter()
        for reference in references:
            limit |= ngrams(reference, n)  # the largest count in any one reference
        matches.append(sum((grams & limit).values()))
        totals.append(sum(grams.values()))
    return [length, chosen, *matches, *totals]
