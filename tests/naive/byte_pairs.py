"""Byte pair encoding, the textbook way: count all pairs of neighbours, join the most frequent one, begin again."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise


def characters(word: str) -> list[str]:
    """Take a word apart; a blank marks its end."""
    return [*word[:-1], word[-1] + " "]


def join(symbols: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Join a pair wherever it stands, from the left."""
    joined: list[int] = []
    at = 0
    while at < len(symbols):
        if tuple(symbols[at : at + 2]) == pair:
            joined.append(new)
            at += 2
        else:
            joined.append(symbols[at])
            at += 1
    return joined


def learn(counts: dict[str, int], merges: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the texts of all symbols, characters first, and the pairs that were joined."""
    alphabet = {character for word in counts for character in characters(word)}
    texts = sorted(alphabet, key=lambda text: (text[0], len(text)))
    words = {word: [texts.index(character) for character in characters(word)] for word in counts}
    pairs: list[tuple[int, int]] = []
    for _ in range(merges):
        seen: Counter[tuple[int, int]] = Counter()
        for word, symbols in words.items():
            for pair in pairwise(symbols):
                seen[pair] += counts[word]
        if not seen or max(seen.values()) < 2:
            break
        best = min(seen, key=lambda pair: (-seen[pair], pair))
        pairs.append(best)
        words = {word: join(symbols, best, len(texts)) for word, symbols in words.items()}
        texts.append(texts[best[0]] + texts[best[1]])
    return texts, pairs


def segment(word: str, texts: list[str], pairs: list[tuple[int, int]]) -> list[str]:
    """Apply all merges in their order; a character that was never seen stays apart and is None."""
    first = len(texts) - len(pairs)
    symbols = [texts.index(c, 0, first) if c in texts[:first] else -1 - at for at, c in enumerate(characters(word))]
    for number, pair in enumerate(pairs):
        symbols = join(symbols, pair, first + number)
    return [texts[symbol] if symbol >= 0 else None for symbol in symbols]
