"""A large table of hierarchical rules, sorted by source side, from which the rules of a sentence are taken.

The source sides are kept as a trie whose symbols are words and the non-terminal. A sentence walks through it from each
of its words; a non-terminal may take one word or more. The columns are memory-mapped.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.arrays.ragged import offsets_from, places_of, ranks, sort_keys, take_ragged
from camber.arrays.types import F4, F8, I4, I8, U1, AnyArray
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.errors import ModelError
from camber.features.feature import NUMBER, RULE, Feature
from camber.kernel import kernel
from camber.kernel.table import capacity_for, find, insert
from camber.rules.hiero.grammar import Grammar, check_rules

#: The logarithm of an impossible event, as in Moses.
LEAST = -100.0
#: The feature that is 1 for every rule; it comes behind the scores.
RULE_PENALTY = "phrase_penalty"

_COLUMNS: Shapes = {
    "source": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "rule_offsets": (np.int64, 1),
    "target": (np.int32, 1),
    "target_offsets": (np.int64, 1),
    "scores": (np.float32, 2),
    "links": (np.uint8, 2),
    "link_offsets": (np.int64, 1),
    "trie_keys": (np.int64, 1),
    "trie_nodes": (np.int64, 1),
    "gap": (np.int64, 1),
    "side": (np.int64, 1),
}


@dataclass(frozen=True)
class RuleTable:
    """Rules with raw scores; those with the source side `n` are ``rule_offsets[n]`` … ``rule_offsets[n + 1] - 1``.

    >>> table = read_moses_rules("rule-table.gz")                                   # doctest: +SKIP
    >>> len(table.grammar(Input(["das", "haus"])))                                         # doctest: +SKIP
    812
    """

    scores_names: tuple[str, ...]
    source: I4  # symbols of the distinct source sides, as in `Grammar`
    source_offsets: I8  # [sides + 1]
    rule_offsets: I8  # [sides + 1]
    target: I4
    target_offsets: I8  # [rules + 1]
    scores: F4  # [rules, scores]: raw
    links: U1  # [links, 2]: of words
    link_offsets: I8  # [rules + 1]
    trie_keys: I8  # a power of two; see `child` below
    trie_nodes: I8  # the node at each slot of `trie_keys`
    gap: I8  # [nodes] the node behind a non-terminal, or -1
    side: I8  # [nodes] the source side that ends here, or -1
    source_words: Vocabulary
    target_words: Vocabulary
    logarithms: bool = True  # whether grammars have natural logarithms of the scores (at least -100), or the scores
    limit: int = 0  # most rules with the same source side in a grammar, the first ones of the table; 0: all
    span: int = 0  # most words that a rule covers; 0: any

    @classmethod
    def make(
        cls,
        names: Sequence[str],
        source: tuple[AnyArray, I8],
        target: tuple[AnyArray, I8],
        scores: F4,
        links: tuple[U1, I8],
        words: tuple[Vocabulary, Vocabulary],
        rank: F8,
    ) -> RuleTable:
        """Sort rules, given line by line (symbols and offsets), by source side, then by falling `rank`."""
        number = ranks(sort_keys(source[0].astype(np.int64) + 3, source[1]))  # keys are above 0
        order = np.lexsort((-rank, number))
        rule_offsets = offsets_from(np.bincount(number))
        sides, side_offsets = take_ragged(source[0].astype(np.int64), source[1], order[rule_offsets[:-1]])
        flat, offsets = take_ragged(target[0].astype(np.int32), target[1], order)
        linked, link_offsets = take_ragged(links[0], links[1], order)
        trie = _plant(sides, side_offsets, len(words[0]))
        return cls(
            tuple(names),
            sides.astype(np.int32),
            side_offsets,
            rule_offsets,
            flat,
            offsets,
            np.ascontiguousarray(scores[order], np.float32),
            linked,
            link_offsets,
            *trie,
            *words,
        )

    def __len__(self) -> int:
        """Return the number of rules."""
        return len(self.target_offsets) - 1

    @property
    def names(self) -> tuple[str, ...]:
        """The features of the rules that :meth:`grammar` gives."""
        return (*self.scores_names, RULE_PENALTY)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of the rules that :meth:`grammar` gives: Moses' own numbers, which are logarithms."""
        return tuple(Feature(name, NUMBER, RULE) for name in self.names)

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """How many rules a sentence gets."""
        return {"table": {"limit": self.limit}}

    def remembering(self) -> RuleTable:
        """Return this: rules are looked up, and there is nothing that would be worth keeping."""
        return self

    def giving(self, limit: int | None = None, span: int | None = None, *, logarithms: bool | None = None) -> RuleTable:
        """Return the same table with other grammars: see the fields of these names."""
        told = {"limit": limit, "span": span, "logarithms": logarithms}
        changes: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        return dataclasses.replace(self, **changes)

    def sides(self, sentence: Sequence[str]) -> I8:
        """Return the source sides that match somewhere in a tokenised sentence, rising."""
        words = self.source_words.encode(sentence)
        longest = int(np.diff(self.source_offsets).max(initial=0))
        # what is not touched of these costs nothing
        marks, matching = np.zeros(len(self.source_offsets), np.uint8), np.empty(len(self.source_offsets), np.int64)
        stack = np.empty(((longest + 1) * (len(words) + 1) + 1, 2), np.int64)
        count = _match(
            self.trie_keys, self.trie_nodes, self.gap, self.side, words, len(self.source_words) + 1, self.span, marks,
            stack, matching,
        )  # fmt: skip
        return np.sort(matching[:count])

    def grammar(self, item: Input) -> Grammar:
        """Return the rules that apply to a sentence."""
        sides = self.sides(item.tokens)
        starts = self.rule_offsets[sides]
        sizes = self.rule_offsets[sides + 1] - starts
        if self.limit:
            sizes = np.minimum(sizes, self.limit)
        rows = places_of(starts, sizes)
        source, source_offsets = take_ragged(self.source, self.source_offsets, np.repeat(sides, sizes))
        target, target_offsets = take_ragged(self.target, self.target_offsets, rows)
        links, link_offsets = take_ragged(self.links, self.link_offsets, rows)
        scores = self.scores[rows].astype(np.float64)
        return Grammar(
            self.names,
            source.astype(np.int64),
            source_offsets,
            target.astype(np.int64),
            target_offsets,
            np.append(logarithms(scores) if self.logarithms else scores, np.ones((len(rows), 1)), axis=1),
            links,
            link_offsets,
            self.source_words,
            self.target_words,
        )

    def save(self, folder: str | Path) -> None:
        """Write the columns as .npy files into a folder that exists."""
        folder = Path(folder)
        save_arrays(folder, {name: getattr(self, name) for name in _COLUMNS}, _COLUMNS)
        self.source_words.save(folder / "source_words.txt")
        self.target_words.save(folder / "target_words.txt")
        (folder / "scores.json").write_text(json.dumps(list(self.scores_names)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> RuleTable:
        """Open what :meth:`save` wrote; the columns are memory-mapped."""
        folder = Path(folder)
        try:
            names = tuple(json.loads((folder / "scores.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ModelError(f"{folder}: cannot be opened ({error}); convert the model again") from None
        words = [Vocabulary.load(folder / f"{side}_words.txt") for side in ("source", "target")]
        columns = open_arrays(folder, _COLUMNS, "convert the model again")
        table = cls(names, **columns, source_words=words[0], target_words=words[1])
        table._check(Checks(folder, "convert the model again"))
        return table

    def _check(self, checks: Checks) -> None:
        """Refuse columns that a kernel would read outside of, and a trie in which it would go round and round."""
        sides, rules, nodes = len(self.source_offsets) - 1, len(self.scores), len(self.gap)
        checks.names("scores.json", self.scores_names)
        check_rules(checks, self.source, self.source_offsets, self.rule_offsets, self, rules)
        checks.shape("scores", self.scores, rules, len(self.scores_names))
        checks.shape("side", self.side, nodes)
        checks.below("side", self.side, sides, least=-1)
        slots = len(self.trie_keys)
        checks.that(slots > 0 and slots & (slots - 1) == 0, "trie_keys", f"{slots} slots, expected a power of two")
        checks.shape("trie_nodes", self.trie_nodes, slots)
        used = np.flatnonzero(self.trie_keys >= 0)
        checks.that(len(used) < slots and nodes > 0, "trie_keys", "no slot is free")
        parents, children = self.trie_keys[used] // (len(self.source_words) + 1), self.trie_nodes[used]
        checks.below("trie_keys", parents, nodes)
        checks.below("trie_nodes", children, nodes)
        checks.that((children > parents).all(), "trie_nodes", "a node that comes before what leads to it")
        checks.below("gap", self.gap, nodes, least=-1)
        later = (self.gap < 0) | (self.gap > np.arange(nodes))
        checks.that(later.all(), "gap", "a node that comes before what leads to it")
        longest = int(np.diff(self.source_offsets).max(initial=0))
        checks.that(_depth(parents, children, self.gap) <= longest, "gap", "the trie is deeper than the longest rule")


def _depth(parents: I8, children: I8, gap: I8) -> int:
    """Return how many symbols lead to the deepest node; nodes come after what leads to them."""
    from_gap = np.flatnonzero(gap >= 0)
    heads, tails = np.concatenate((parents, from_gap)), np.concatenate((children, gap[from_gap]))
    depth = np.zeros(len(gap), np.int64)
    order = np.argsort(tails, kind="stable")
    _deepen(heads[order], tails[order], depth)
    return int(depth.max(initial=0))


def logarithms(scores: F8) -> F8:
    """Return natural logarithms, at least -100.

    >>> logarithms(np.array([1.0, 0.0])).tolist()
    [0.0, -100.0]
    """
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(scores), LEAST)


def _plant(sides: I8, offsets: I8, words: int) -> tuple[I8, I8, I8, I8]:
    """Put distinct source sides into a trie: keys, nodes, gap, side as in :class:`RuleTable`."""
    room = len(sides) + 1  # nodes, if no two sides began with the same symbol
    while True:
        keys = np.full(capacity_for(room), -1, np.int64)
        nodes, gap, side = np.empty(len(keys), np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        count = int(_grow(sides, offsets, words + 1, keys, nodes, gap, side))
        if capacity_for(count) == len(keys):
            return keys, nodes, gap[:count].copy(), side[:count].copy()
        room = count  # the table can be smaller


@kernel
def _deepen(heads, tails, depth):
    for edge in range(len(heads)):
        depth[tails[edge]] = max(depth[tails[edge]], depth[heads[edge]] + 1)


@kernel
def _grow(sides, offsets, width, keys, nodes, gap, side):
    """Plant the sides and return the number of nodes."""
    count = np.int64(1)
    gap[0] = -1
    side[0] = -1
    for number in range(len(offsets) - 1):
        node = np.int64(0)
        for at in range(offsets[number], offsets[number + 1]):
            symbol = sides[at]
            if symbol < 0:
                after = gap[node]
            else:
                slot = find(keys, node * width + symbol)
                after = nodes[slot] if slot >= 0 else np.int64(-1)
            if after < 0:
                after = count
                count += 1
                gap[after] = -1
                side[after] = -1
                if symbol < 0:
                    gap[node] = after
                else:
                    nodes[insert(keys, node * width + symbol)] = after
            node = after
        side[node] = number
    return count


@kernel
def _match(keys, nodes, gap, side, words, width, span, marks, stack, matching):
    """Write the sides that match somewhere in the sentence to `matching`, each once; return how many."""
    count = 0
    for begin in range(len(words)):
        limit = min(len(words), begin + span) if span > 0 else len(words)
        stack[0, 0], stack[0, 1] = 0, begin
        depth = 1
        while depth > 0:
            depth -= 1
            node, at = stack[depth, 0], stack[depth, 1]
            own = side[node]
            if own >= 0 and marks[own] == 0:
                marks[own] = 1
                matching[count] = own
                count += 1
            if at >= limit:
                continue
            if words[at] >= 0:
                slot = find(keys, node * width + words[at])
                if slot >= 0:
                    stack[depth, 0], stack[depth, 1] = nodes[slot], at + 1
                    depth += 1
            if gap[node] >= 0:
                for end in range(at + 1, limit + 1):
                    stack[depth, 0], stack[depth, 1] = gap[node], end
                    depth += 1
    return count
