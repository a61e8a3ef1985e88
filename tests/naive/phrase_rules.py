"""Phrase extraction and scoring as the textbook has it: try all spans, count in dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field


def consistent_spans(words, others, links, longest):
    """Return (i1, i2, j1, j2), ends included: a link inside, and no link with just one end inside."""
    pairs = []
    for i1 in range(words):
        for i2 in range(i1, min(i1 + longest, words)):
            for j1 in range(others):
                for j2 in range(j1, min(j1 + longest, others)):
                    ends = [(i1 <= i <= i2, j1 <= j <= j2) for i, j in links]
                    if (True, True) in ends and all(a == b for a, b in ends):
                        pairs.append((i1, i2, j1, j2))
    return pairs


def orientation(links, words, others, span, forward):
    """Return 0 (monotone), 1 (swap) or 2 (discontinuous) by the links of the next or previous target word."""
    i1, i2, j1, j2 = span
    known = {*links, (-1, -1), (words, others)}  # before the first and after the last words, all is in order
    before, after = (i1 - 1, i2 + 1) if not forward else (i2 + 1, i1 - 1)
    j = j2 + 1 if forward else j1 - 1
    straight, crossed = (before, j) in known, (after, j) in known
    if straight and not crossed:
        return 0
    return 1 if crossed and not straight else 2


def word_probabilities(pairs):
    """Return w(t|s) and w(s|t) as dictionaries by (s, t), with None for NULL."""
    counts = Counter()
    for source, target, links in pairs:
        counts.update((source[i], target[j]) for i, j in links)
        counts.update((word, None) for i, word in enumerate(source) if all(i != a for a, _ in links))
        counts.update((None, word) for j, word in enumerate(target) if all(j != b for _, b in links))
    by_source, by_target = Counter(), Counter()
    for (s, t), count in counts.items():
        by_source[s] += count
        by_target[t] += count
    return (
        {(s, t): count / by_source[s] for (s, t), count in counts.items()},
        {(s, t): count / by_target[t] for (s, t), count in counts.items()},
    )


@dataclass
class Entry:
    count: int = 0
    alignments: Counter = field(default_factory=Counter)
    orientations: list = field(default_factory=lambda: [0] * 6)
    scores: tuple = ()
    links: tuple = ()
    counts: tuple = ()


def _lexical(words, others, links, probability):
    """Multiply the mean probability of every word given its linked words, or given NULL."""
    product = 1.0
    for place, word in enumerate(words):
        linked = [others[b] for a, b in links if a == place] or [None]
        product *= sum(probability(word, other) for other in linked) / len(linked)
    return product


def _usual(alignments, size, place):
    """Return the most frequent alignment; of equals, the last when sorted by the lists of linked places."""

    def lists(links):
        return [sorted(link[1 - place] for link in links if link[place] == at) for at in range(size)]

    return max(alignments, key=lambda links: (alignments[links], lists(links)))


def phrase_table(pairs, longest, smoothing=0.5):
    """Return {(source words, target words): Entry} for pairs (source words, target words, links)."""
    table, by_source, by_target = defaultdict(Entry), Counter(), Counter()
    for source, target, links in pairs:
        for span in consistent_spans(len(source), len(target), links, longest):
            i1, i2, j1, j2 = span
            s, t = tuple(source[i1 : i2 + 1]), tuple(target[j1 : j2 + 1])
            entry = table[s, t]
            entry.count += 1
            by_source[s] += 1
            by_target[t] += 1
            entry.alignments[frozenset((i - i1, j - j1) for i, j in links if i1 <= i <= i2)] += 1
            entry.orientations[orientation(links, len(source), len(target), span, False)] += 1
            entry.orientations[3 + orientation(links, len(source), len(target), span, True)] += 1
    target_given_source, source_given_target = word_probabilities(pairs)
    for (s, t), entry in table.items():
        direct, inverse = _usual(entry.alignments, len(t), 1), _usual(entry.alignments, len(s), 0)
        entry.links = tuple(sorted(direct, key=lambda link: (link[1], link[0])))
        entry.counts = (by_target[t], by_source[s], entry.count)
        entry.scores = (
            entry.count / by_target[t],
            _lexical(s, t, inverse, lambda word, other: source_given_target[word, other]),
            entry.count / by_source[s],
            _lexical(t, s, {(j, i) for i, j in direct}, lambda word, other: target_given_source[other, word]),
        )
        entry.orientations = [(n + smoothing) / (entry.count + 3 * smoothing) for n in entry.orientations]
    return dict(table)
