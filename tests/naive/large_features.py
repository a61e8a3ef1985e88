"""The large features of rules, one rule at a time, with dictionaries and sets; a gap is the number -1 or -2."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

LEAST = 1e-7


def name_of(word):
    """Write a word as a name may hold it: not as a gap."""
    if word in ("[1]", "[2]"):
        return word.replace("[", "%5B")
    return "".join(quote(c, "") if c in "=|@%+>#" or not c.isprintable() else c for c in word)


@dataclass
class Side:
    """One language: how often each word was seen, most frequent first among equals by id; its cluster; its pieces."""

    counts: dict[str, int]
    cluster: dict[str, int]
    pieces: dict[str, list]

    def frequent(self, number):
        return sorted(self.counts, key=lambda word: -self.counts[word])[:number]

    def likes(self):
        """Return the most frequent word of every cluster that has words, by cluster."""
        best = {}
        for word in self.frequent(None):
            best.setdefault(self.cluster[word], word)
        return {cluster: name_of(best[cluster]) for cluster in sorted(best)}


def is_gap(symbol):
    return isinstance(symbol, int)


def signature(source, target, sides):
    """Return the clusters of all words of a rule, and its gaps; None stands for a word without a cluster."""
    return tuple(
        tuple(f"[{-symbol}]" if is_gap(symbol) else side.cluster.get(symbol) for symbol in symbols)
        for symbols, side in zip((source, target), sides, strict=True)
    )


def inventory(rules, sides, frequent, signatures):
    """Return the names of all indicators; rules: (source, target, links, count) in their order."""
    source, target = sides
    often = Counter()
    for s, t, _, count in rules:
        often[signature(s, t, sides)] += count
    names = [f"inserts:{name_of(word)}" for word in target.frequent(frequent)]
    names += [f"deletes:{name_of(word)}" for word in source.frequent(frequent)]
    names += [f"inserts_like:{like}" for like in target.likes().values()]
    names += [f"deletes_like:{like}" for like in source.likes().values()]
    for key in sorted(often, key=lambda key: -often[key])[:signatures]:
        names.append(signature_name(key, sides))
    return names


def signature_name(key, sides):
    left, right = (
        "+".join(symbol if isinstance(symbol, str) else side.likes()[symbol] for symbol in symbols)
        for symbols, side in zip(key, sides, strict=True)
    )
    return f"signature:{left}>{right}"


def indicators(source, target, links, sides, names):
    """Return the names of the indicators of a rule."""
    hits = set()
    for at, word in enumerate(target):
        if not is_gap(word) and all(t != at for _, t in links):
            hits.add(f"inserts:{name_of(word)}")
            if word in sides[1].cluster:
                hits.add(f"inserts_like:{sides[1].likes()[sides[1].cluster[word]]}")
    for at, word in enumerate(source):
        if not is_gap(word) and all(s != at for s, _ in links):
            hits.add(f"deletes:{name_of(word)}")
            if word in sides[0].cluster:
                hits.add(f"deletes_like:{sides[0].likes()[sides[0].cluster[word]]}")
    key = signature(source, target, sides)
    if all(None not in clusters for clusters in key):
        hits.add(signature_name(key, sides))
    return hits & set(names)


def subword_weights(source, target, sides, table):
    """Return lex(s|t) and lex(t|s) by pieces; table: (source piece, target piece) → p(s|t), p(t|s), NULL is None.

    A piece that was never seen is an object of its own.
    """
    left = [piece for word in source if not is_gap(word) for piece in sides[0].pieces[word]]
    right = [piece for word in target if not is_gap(word) for piece in sides[1].pieces[word]]

    def best(column, key, others):
        return max(LEAST, *(table.get(key(other), (0.0, 0.0))[column] for other in [None, *others]))

    backward = math.prod(best(0, lambda t, s=s: (s, t), right) for s in left)
    forward = math.prod(best(1, lambda s, t=t: (s, t), left) for t in right)
    return backward, forward
