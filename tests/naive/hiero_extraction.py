"""Hierarchical rules by definition: look everywhere, try every box, count in dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

#: words without links that may join a rule at an edge
LOOSE = 2


@dataclass
class Rule:
    """How often a rule was extracted, how much of an occurrence each time, and with which links."""

    times: int = 0
    count: float = 0.0
    samples: int = 0
    links: Counter = field(default_factory=Counter)


def grammar(pairs, sentence, max_span=15, max_symbols=5, max_nonterminals=2, min_gap=1, edges="tight"):
    """Return {(source side, target side): Rule} for a sentence; a non-terminal is the number -1 or -2.

    `pairs`: (source words, target words, links) of the whole corpus. `edges`: whether target words without links may
    stand at the edges of a rule (loose), all choices sharing an occurrence alike.
    Also return {source side: how many of its occurrences gave rules}.
    """
    rules, extracted = defaultdict(Rule), Counter()
    for pattern in patterns(sentence, max_span, max_symbols, max_nonterminals, min_gap):
        places = [
            (pair, parts)
            for pair in pairs
            for start in range(len(pair[0]))
            for parts in occurrences(pattern, pair[0], start, max_span, min_gap)
        ]
        for pair, parts in places:
            for choices in rules_at(pair, parts, max_span, max_symbols, max_nonterminals, min_gap, edges):
                source = choices[0][0]
                if not fits(source, sentence, max_span, min_gap):
                    continue
                extracted[source] += 1
                for _, target, links in choices:
                    rule = rules[source, target]
                    rule.times += 1
                    rule.count += 1 / len(choices)
                    rule.samples = len(places)
                    rule.links[links] += 1
    return dict(rules), extracted


def patterns(sentence, max_span, max_symbols, max_nonterminals, min_gap):
    """All sequences of words and gaps (None) of a sentence that begin and end with a word."""
    spans = set()

    def extend(pattern, start, end):
        spans.add(pattern)
        for at in range(end, min(start + max_span, len(sentence))):
            gap = () if at == end else (None,)
            if gap and at - end < min_gap:
                continue
            longer = (*pattern, *gap, sentence[at])
            if len(longer) <= max_symbols and longer.count(None) <= max_nonterminals:
                extend(longer, start, at + 1)

    for start, word in enumerate(sentence):
        extend((word,), start, start + 1)
    return spans


def occurrences(pattern, words, start, max_span, min_gap):
    """Where a pattern may stand in `words` from `start` on: lists of (position, length) of its contiguous parts."""

    def match(symbols, at, parts):
        if at - start > max_span:
            return
        if not symbols:
            yield [tuple(part) for part in parts]
        elif symbols[0] is None:
            for end in range(at + min_gap, len(words)):
                yield from match(symbols[1:], end, [*parts, (end, 0)])
        elif at < len(words) and words[at] == symbols[0]:
            yield from match(symbols[1:], at + 1, [*parts[:-1], (parts[-1][0], parts[-1][1] + 1)])

    return match(pattern, start, [(start, 0)])


def fits(source, sentence, max_span, min_gap):
    """Whether the source side can cover a part of the sentence; an outer non-terminal covers at least one word."""

    def match(k, at, start):
        if k == len(source):
            return at - start <= max_span
        if isinstance(source[k], int):
            least = 1 if k in (0, len(source) - 1) else min_gap
            return any(match(k + 1, end, start) for end in range(at + least, min(start + max_span, len(sentence)) + 1))
        return at < len(sentence) and sentence[at] == source[k] and match(k + 1, at + 1, start)

    return any(match(0, start, start) for start in range(len(sentence)))


def box(links, low, high):
    """The target span (low, high) of the source words low:high if no link leaves the box, otherwise None."""
    linked = [t for s, t in links if low <= s < high]
    if not linked:
        return None
    target_low, target_high = min(linked), max(linked) + 1
    if any(not low <= s < high for s, t in links if target_low <= t < target_high):
        return None
    return target_low, target_high


def smallest_box(links, length, low, high):
    """The smallest source span around low:high that is a closed box."""
    spans = [(a, b) for a in range(low + 1) for b in range(high, length + 1) if box(links, a, b)]
    return min(spans, key=lambda span: span[1] - span[0], default=None)


def loosened(links, span, length, max_span, gaps):
    """The target span and all longer ones that have the same links: a few words join it, but none beside a gap."""
    linked = {t for _, t in links}
    low, high = span
    before = 0 if low in {a for a, _ in gaps} else LOOSE
    behind = 0 if high in {b for _, b in gaps} else LOOSE
    return [
        (a, b)
        for a in range(max(0, low - before), low + 1)
        for b in range(high, min(length, high + behind) + 1)
        if b - a <= max_span and not linked & {*range(a, low), *range(high, b)}
    ]


def rules_at(pair, parts, max_span, max_symbols, max_nonterminals, min_gap, edges):
    """The rules of one occurrence: for each box a list of choices (source side, target side, links)."""
    source, target, links = pair
    linked = {s for s, _ in links}
    low, high = parts[0][0], sum(parts[-1])
    words = {at for start, length in parts for at in range(start, start + length)}
    inner = [(sum(a), b[0]) for a, b in pairwise(parts)]
    core = [t for s, t in links if low <= s < high]
    if not words & linked:
        return

    def allowed(span):
        """Return the gaps of a box around the occurrence if they are good, otherwise None."""
        gaps = [(span[0], low)] * (span[0] < low) + inner + [(high, span[1])] * (span[1] > high)
        targets = box(links, *span)
        if len(gaps) > max_nonterminals or len(words) + len(gaps) > max_symbols or targets is None:
            return None
        if span[1] - span[0] > max_span or targets[1] - targets[0] > max_span:
            return None
        for a, b in gaps:
            if b - a < min_gap or not {a, b - 1} <= linked or box(links, a, b) is None:
                return None
        return gaps

    def choices(span, gaps):
        """Write down a box as rules, one for each choice of its edges."""
        targets = box(links, *span)
        spans = [targets]
        if edges == "loose":
            spans = loosened(links, targets, len(target), max_span, [box(links, *gap) for gap in gaps])
        return [rule(gaps, *targets) for targets in spans]

    def rule(gaps, target_low, target_high):
        """Write down a box with this target span as a rule."""
        left = [*[("gap", gap[0], n) for n, gap in enumerate(gaps)], *[("word", at, at) for at in words]]
        left.sort(key=lambda item: item[1])
        spans = [box(links, *gap) for gap in gaps]
        covered = {t for a, b in spans for t in range(a, b)}
        right = [
            *[("gap", a, n) for n, (a, _) in enumerate(spans)],
            *[("word", t, t) for t in range(target_low, target_high) if t not in covered],
        ]
        right.sort(key=lambda item: item[1])
        inside = tuple(
            (i, j)
            for i, (kind, s, _) in enumerate(left)
            for j, (other, t, _) in enumerate(right)
            if kind == other == "word" and (s, t) in set(links)
        )
        return (
            tuple(-n - 1 if kind == "gap" else source[n] for kind, _, n in left),
            tuple(-n - 1 if kind == "gap" else target[n] for kind, _, n in right),
            inside,
        )

    base = smallest_box(links, len(source), low, high)
    if base is None or box(links, *base) != (min(core), max(core) + 1):
        return
    gaps = allowed(base)
    if gaps is None:
        return
    if {base[0], base[1] - 1} <= linked:
        yield choices(base, gaps)
    # outer non-terminals where there are none yet: the shortest possible
    lows = [at for at in range(low - min_gap + 1) if at in linked]
    highs = [at + 1 for at in range(high + min_gap - 1, len(source)) if at in linked]
    free_left, free_right = base[0] == low and bool(lows), base[1] == high and bool(highs)
    for left, right in ((True, False), (False, True), (True, True)):
        if (left and not free_left) or (right and not free_right):
            continue
        begin, end = max(lows) if left else base[0], min(highs) if right else base[1]
        if not {begin, end - 1} <= linked:
            continue
        span = smallest_box(links, len(source), begin, end)
        if span is None or (not left and span[0] != begin) or (not right and span[1] != end):
            continue
        gaps = allowed(span)
        if gaps is not None:
            yield choices(span, gaps)
