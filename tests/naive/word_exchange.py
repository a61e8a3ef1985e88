"""Word clusters by exchange, with the likelihood of the whole text computed for every move that is considered."""

from __future__ import annotations

import math
from collections import Counter

END = None  # before and after every sentence; a cluster of its own


def log_likelihood(sentences: list[list[str]], cluster: dict) -> float:
    """Sum log p(w | c(w)) + log p(c(w) | c(v)) over all bigrams v w of the text."""
    total = 0.0
    bigrams = [pair for words in sentences for pair in zip([END, *words], [*words, END], strict=True)]
    words = Counter(right for _, right in bigrams)
    clusters = Counter(cluster[right] for _, right in bigrams)
    before = Counter(cluster[left] for left, _ in bigrams)
    pairs = Counter((cluster[left], cluster[right]) for left, right in bigrams)
    for left, right in bigrams:
        total += math.log(words[right] / clusters[cluster[right]])
        total += math.log(pairs[cluster[left], cluster[right]] / before[cluster[left]])
    return total


def exchange(sentences: list[list[str]], clusters: int, rounds: int) -> tuple[dict[str, int], float, int]:
    """Return the cluster of every word, numbered by falling frequency, the log likelihood, and the passes made."""
    counts = Counter(word for words in sentences for word in words)
    order = sorted(counts, key=lambda word: (-counts[word], word))
    cluster: dict = {word: min(place, clusters - 1) for place, word in enumerate(order)}
    cluster[END] = clusters
    done = 0
    while done < rounds and order:
        done += 1
        moved = False
        for word in order:
            old = best = cluster[word]
            most = log_likelihood(sentences, cluster)
            for other in range(clusters):
                cluster[word] = other
                value = log_likelihood(sentences, cluster)
                if value > most + 1e-7:
                    best, most = other, value
            cluster[word] = best
            moved = moved or best != old
        if not moved:
            break
    value = log_likelihood(sentences, cluster)
    del cluster[END]
    frequency = Counter(dict.fromkeys(range(clusters), 0))
    for word, c in cluster.items():
        frequency[c] += counts[word]
    rank = {c: place for place, c in enumerate(sorted(frequency, key=lambda c: (-frequency[c], c)))}
    return {word: rank[c] for word, c in cluster.items()}, value, done
