"""Modified Kneser-Ney and its discounts from the textbook, with dictionaries of tuples."""

from __future__ import annotations

import math
from collections import Counter

FALLBACK = [0.0, 0.5, 1.0, 1.5]
SPECIAL = {"<s>", "</s>", "<unk>"}


def discounts(counts):
    """Return [0, D1, D2, D3+] from adjusted counts (Chen and Goodman 1998, Eq. 26)."""
    n = [sum(1 for count in counts if count == k) for k in range(5)]
    if n[1] == 0 or n[2] == 0 or n[3] == 0:
        return FALLBACK
    y = n[1] / (n[1] + 2 * n[2])
    discounts = [0.0] + [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
    return discounts if min(discounts[1:]) > 0 else FALLBACK


def estimate(sentences, order, thresholds=None):
    """Return {n-gram: (log10 probability, log10 backoff)} of every n-gram up to `order`."""
    thresholds = thresholds or [0] * order
    sentences = [
        ["<s>", *("<unk>" if word in SPECIAL else word for word in sentence), "</s>"] for sentence in sentences
    ]
    order = min(order, max(map(len, sentences)))
    raw = [Counter() for _ in range(order + 1)]
    before = {}
    for sentence in sentences:
        for n in range(1, order + 1):
            for start in range(len(sentence) - n + 1):
                gram = tuple(sentence[start : start + n])
                raw[n][gram] += 1
                if start > 0:
                    before.setdefault(gram, set()).add(sentence[start - 1])
    words = {word for sentence in sentences for word in sentence} | {"<unk>"}
    words.discard("<s>")

    adjusted = [Counter() for _ in range(order + 1)]
    for n in range(1, order + 1):
        for gram, count in raw[n].items():
            adjusted[n][gram] = count if n == order or gram[0] == "<s>" else len(before[gram])
    adjusted[1].pop(("<s>",))
    raw[1][("<unk>",)] += 0

    kept = [{gram for gram, c in raw[n].items() if n == 1 or c > thresholds[n - 1]} for n in range(order + 1)]
    probability, gamma = {}, {}
    for n in range(1, order + 1):
        discount = discounts(list(adjusted[n].values()))
        for context in {gram[:-1] for gram in adjusted[n]}:
            after = {gram: count for gram, count in adjusted[n].items() if gram[:-1] == context}
            total = sum(after.values())
            lost = sum(discount[min(count, 3)] if gram in kept[n] else count for gram, count in after.items())
            gamma[context] = lost / total
            for gram, count in after.items():
                probability[gram] = (count - discount[min(count, 3)]) / total
        for gram in kept[n] - {("<s>",)}:
            shorter = probability[gram[1:]] if n > 1 else 1 / len(words)
            probability[gram] = probability.get(gram, 0.0) + gamma[gram[:-1]] * shorter
    probability[("<s>",)] = 1.0
    return {
        gram: (math.log10(probability[gram]), math.log10(gamma.get(gram, 1.0)))
        for n in range(1, order + 1)
        for gram in kept[n]
    }
