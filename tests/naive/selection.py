"""Selection of pairs as the definitions have it: all pairs scored by loops over words and n-grams."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

Words = Sequence[int]
Gram = tuple[int, ...]
Pair = tuple[Words, Words]


def ngrams(words: Words, order: int) -> set[Gram]:
    """Return the distinct n-grams of 1 … `order` words."""
    return {tuple(words[i : i + n]) for n in range(1, order + 1) for i in range(len(words) - n + 1)}


def pairs_with(pairs: Sequence[Pair], gram: Gram) -> list[int]:
    """Return the pairs whose source has an n-gram, and whose target is not empty."""
    return [p for p, (source, target) in enumerate(pairs) if target and gram in ngrams(source, len(gram))]


def dice(pairs: Sequence[Pair], x: int, y: int, product: bool) -> float:
    """bicici Eq. 3, of a source and a target word."""
    one = sum(x in source for source, _ in pairs)
    two = sum(y in target for _, target in pairs)
    both = sum(x in source and y in target for source, target in pairs)
    return 2 * both / (one * two if product else one + two) if both else 0.0


def dice_scores(pairs: Sequence[Pair], sentence: Words, order: int, product: bool) -> list[float]:
    """bicici Eq. 4, of a sentence and every pair; |S| is at least 2."""
    table: dict[tuple[int, int], float] = {}
    scores = []
    for source, target in pairs:
        total = 0.0
        for x in ngrams(sentence, order):
            for word in target:
                for y in x:
                    if (y, word) not in table:
                        table[y, word] = dice(pairs, y, word, product)
                    total += table[y, word]
        scores.append(total / (len(target) * math.log(max(len(source), 2))) if target else 0.0)
    return scores


def by_dice(pairs: Sequence[Pair], sentence: Words, count: int, order: int, scores: Sequence[float]) -> list[int]:
    """Select by scores: first those that share one of the longest n-grams, then shorter ones."""
    chosen: list[int] = []
    for n in range(order, 0, -1):
        grams = {gram for gram in ngrams(sentence, order) if len(gram) == n}
        candidates = {p for gram in grams for p in pairs_with(pairs, gram)} - set(chosen)
        chosen += sorted(candidates, key=lambda p: (-scores[p], p))
    return chosen[:count]


def in_turns(lists: Sequence[Sequence[int]], count: int, chosen: Sequence[int] = ()) -> list[int]:
    """Let lists take turns, each with its first item that is not there yet."""
    merged = list(chosen)
    while len(merged) < count:
        before = len(merged)
        for one in lists:
            new = [item for item in one if item not in merged]
            if new and len(merged) < count:
                merged.append(new[0])
        if len(merged) == before:
            break
    return merged


def round_robin(
    pairs: Sequence[Pair], sentence: Words, count: int, order: int, scores: Sequence[float], numbers: dict[Gram, int]
) -> list[int]:
    """Select in turns of n-grams; `numbers` says in which order they have theirs."""
    known = {gram for gram in ngrams(sentence, order) if pairs_with(pairs, gram)}
    lone = {gram for gram in known if not any(_inside(gram, longer) for longer in known)}
    chosen: list[int] = []
    for n in range(order, 0, -1):
        grams = {gram for gram in known if len(gram) == n} | (lone if n == order else set())
        lists = [
            sorted(pairs_with(pairs, gram), key=lambda p: (-scores[p], p))
            for gram in sorted(grams, key=numbers.__getitem__)
        ]
        chosen = in_turns(lists, count, chosen)
    return chosen


def _inside(gram: Gram, longer: Gram) -> bool:
    return len(gram) < len(longer) and gram in ngrams(longer, len(gram))


def bm25_scores(pairs: Sequence[Pair], sentence: Words, order: int, k: float, b: float) -> list[float]:
    """BM25 of the n-grams that a sentence and the source of a pair have in common."""
    sources = [source if target else [] for source, target in pairs]
    mean = sum(map(len, sources)) / len(pairs)
    scores = [0.0] * len(pairs)
    for gram in ngrams(sentence, order):
        have = pairs_with(pairs, gram)
        idf = math.log(1 + (len(pairs) - len(have) + 0.5) / (len(have) + 0.5))
        for p in have:
            words = sources[p]
            often = Counter(tuple(words[i : i + len(gram)]) for i in range(len(words) - len(gram) + 1))[gram]
            scores[p] += idf * often * (k + 1) / (often + k * (1 - b + b * len(words) / mean))
    return scores


def by_decay(
    pairs: Sequence[Pair], wanted: set[Gram], count: int, decay: float, power: float, numbers: dict[Gram, int]
) -> list[int]:
    """Select the best pair again and again, all scored anew; `numbers` is the order in which worth is summed."""
    known = sorted((gram for gram in wanted if pairs_with(pairs, gram)), key=numbers.__getitem__)
    have = {gram: set(pairs_with(pairs, gram)) for gram in known}
    worth = {gram: math.log((len(pairs) + 1) / len(have[gram])) for gram in known}
    chosen: list[int] = []
    while len(chosen) < count:
        scores = {
            p: sum(worth[gram] for gram in known if p in have[gram]) * float(len(source)) ** -power
            for p, (source, target) in enumerate(pairs)
            if source and target and p not in chosen
        }
        best = min(scores, key=lambda p: (-scores[p], p), default=-1)
        if best < 0 or scores[best] == 0.0:
            break
        chosen.append(best)
        for gram in known:
            if best in have[gram]:
                worth[gram] *= decay
    return chosen
