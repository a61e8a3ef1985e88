"""Hierarchical rules for a sentence, extracted from an indexed corpus when the sentence arrives.

    index = CorpusIndex.build(bitext, alignment)
    extractor = HieroExtractor(index, lexical_table(bitext, alignment))
    extractor.grammar(Input("ein mann mit hut".split()))

The rules are those of Chiang (2007), found as by Lopez (2008): every phrase of the sentence, with and without gaps, is
looked up in the corpus, and rules are read off a sample of its occurrences.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from camber.align.lexical import NULL, LexicalTable, lexical_table
from camber.arrays.types import I8
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.engine import PerThread
from camber.errors import CamberError
from camber.features.feature import Feature, names_of
from camber.kernel import kernel
from camber.kernel.table import capacity_for, record_slot
from camber.rules.features import GROUPS, learnt
from camber.rules.hiero.boxes import Limits
from camber.rules.hiero.counting import (
    ARENA,
    DONE,
    LEXICON,
    MATCHES,
    MOST_SYMBOLS,
    MOST_TARGET,
    PAIRS,
    RAW_NAMES,
    RULES,
    VARIANTS,
    Lexicon,
    Rules,
    Scratch,
)
from camber.rules.hiero.features import (
    LEXICAL,
    RULE_FEATURES,
    SETS,
    RawGrammar,
    check_names,
    chosen_features,
    features_of,
)
from camber.rules.hiero.grammar import Grammar
from camber.rules.hiero.index import CorpusIndex
from camber.rules.hiero.matching import PATTERN, match_sentence
from camber.rules.settings import WordSettings
from camber.settings import setting

if TYPE_CHECKING:  # imported where rules have such features
    from camber.rules.inventory import Inventory
    from camber.rules.measuring import Measurer


#: Whether target words without links may stand at the edges of a rule, and how many at each. More of them make many
#: more rules, which share the same occurrences, take longer, and translate no better (experiments/hiero).
EDGES, LOOSE = ("tight", "loose"), 2


@dataclass(frozen=True)
class HieroSettings(WordSettings, group="Hierarchical rules"):
    """Which hierarchical rules are extracted."""

    max_span: int = setting(15, "longest span of a rule, in words, on either side", low=1, high=MOST_TARGET)
    max_symbols: int = setting(5, "most words and non-terminals of a source side", low=1, high=MOST_SYMBOLS)
    max_nonterminals: int = setting(2, "most non-terminals of a rule", low=0, high=2)
    min_gap: int = setting(1, "fewest source words that a non-terminal covers", low=1)
    samples: int = setting(300, "occurrences of a source phrase that are looked at", low=1)
    edges: str = setting(
        "loose",
        "target words without links at the edges of a rule: none (tight), or up to two beside another word (loose)",
        choices=EDGES,
    )
    lexical: str = setting(
        "max",
        "lexical weights of a word: its best counterpart, the mean of those linked, or both kinds",
        choices=LEXICAL,
    )
    rule_features: str = setting(
        "",
        f"features of the rules, separated by commas (empty: base): any of {', '.join((*SETS, *RULE_FEATURES))}",
    )

    def __post_init__(self) -> None:
        """Check the names of the features, too."""
        super().__post_init__()
        chosen_features(self.rule_features)

    @property
    def features(self) -> tuple[str, ...]:
        """The features of the rules, by their names, and groups of features."""
        return chosen_features(self.rule_features, self.lexical)


class HieroExtractor:
    """A source of grammars: the rules of a sentence from an indexed corpus. Threads may share it."""

    def __init__(
        self,
        index: CorpusIndex,
        lexicon: LexicalTable | None = None,
        settings: HieroSettings | None = None,
        features: Sequence[str] | None = None,
        inventory: Inventory | None = None,
    ) -> None:
        """Prepare extraction; `lexicon` is by default the table of the indexed corpus itself.

        `features` are by default those that the settings choose; some can only be told by an `inventory`.
        """
        self.index, self.settings = index, settings or HieroSettings()
        names = check_names(self.settings.features if features is None else features)
        self.features: tuple[Feature, ...] = features_of(names, inventory)  # of the rules that `grammar` gives
        self._dense = tuple(name for name in names if name not in GROUPS)
        self._learnt = learnt(names)
        self._places = inventory.columns(names) if inventory is not None and self._learnt else None
        self._measurer = _measurer(inventory, index) if inventory is not None and self._learnt else None
        lexicon = lexical_table(index.bitext, index.alignment) if lexicon is None else lexicon
        if lexicon.source_words > len(index.source.vocabulary) or lexicon.target_words > len(index.target.vocabulary):
            raise CamberError(
                f"the lexical table knows {lexicon.source_words:,} and {lexicon.target_words:,} words, the index "
                f"{len(index.source.vocabulary):,} and {len(index.target.vocabulary):,}; they belong to other corpora"
            )
        self._columns = index.columns
        self._lexicon = _hashed(lexicon, len(index.source.vocabulary), len(index.target.vocabulary))
        chosen = self.settings
        self._limits = Limits(
            chosen.max_span,
            chosen.max_symbols,
            chosen.max_nonterminals,
            chosen.min_gap,
            chosen.samples,
            LOOSE * EDGES.index(chosen.edges),
        )
        self._memory = PerThread()
        self._kept: _Kept | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features of the rules that :meth:`grammar` gives."""
        return names_of(self.features)

    @property
    def source_words(self) -> Vocabulary:
        """The words of the corpus' source side."""
        return self.index.source.vocabulary

    @property
    def target_words(self) -> Vocabulary:
        """The words of the corpus' target side."""
        return self.index.target.vocabulary

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """How rules are extracted."""
        return {"hiero": self.settings.to_dict()}

    def remembering(self, room: int = 2 << 30) -> HieroExtractor:
        """Return the same extractor, which keeps the rules of sentences in at most `room` bytes.

        Tuning translates the same sentences again and again; their rules need not be extracted every time.
        """
        if self._kept is not None:
            return self
        extractor = copy(self)
        extractor._kept = _Kept(room)
        return extractor

    def grammar(self, item: Input) -> Grammar:
        """Return the rules that apply to a sentence, with raw features."""
        indicators = self.names[len(self._dense) :] if self._places is not None else ()
        return self.raw(item.tokens).grammar(self._dense, indicators, self._places)

    def raw(self, sentence: Sequence[str]) -> RawGrammar:
        """Return the rules that apply to a tokenised sentence, with raw features.

        Words that the corpus does not have are in no rule, but a non-terminal may cover them. Those of a thread's last
        sentence are at hand: whoever completes a translation word by word asks for them again and again.
        """
        key, memory = tuple(sentence), self._own_memory()
        if memory.latest is not None and memory.latest[0] == key:
            return memory.latest[1]
        memory.latest = key, self._found(key)
        return memory.latest[1]

    def _own_memory(self) -> _Memory:
        memory: _Memory | None = getattr(self._memory, "value", None)
        if memory is None:
            memory = self._memory.value = _Memory(len(self.index.source.vocabulary))
        return memory

    def _found(self, key: tuple[str, ...]) -> RawGrammar:
        """Return rules that are kept, or extract them."""
        if self._kept is None:
            return self._extract(key)
        grammar = self._kept.grammars.get(key)
        if grammar is None:
            grammar = self._extract(key)
            self._kept.keep(key, grammar)
        return grammar

    def _extract(self, sentence: Sequence[str]) -> RawGrammar:
        words, ids = _number(self.index.source.vocabulary.encode(sentence))
        memory = self._own_memory()
        memory.fit(len(words), len(ids))
        sizes = np.zeros(4, np.int64)
        while True:
            status = match_sentence(
                self._columns, self._lexicon, words, ids, self._limits, memory.scratch, memory.rules, sizes
            )
            if status == DONE:
                return self._copy(memory.rules, int(sizes[0]))
            memory.grow(int(status), int(sizes[1]))

    def _copy(self, rules: Rules, count: int) -> RawGrammar:
        """Take the rules out of the memory that the next sentence will use."""
        source_offsets = rules.source_offsets[: count + 1].copy()
        target_offsets = rules.target_offsets[: count + 1].copy()
        link_offsets = rules.link_offsets[: count + 1].copy()
        grammar = RawGrammar(
            rules.source[: source_offsets[-1]].copy(),
            source_offsets,
            rules.target[: target_offsets[-1]].copy(),
            target_offsets,
            rules.raw[:count].copy(),
            rules.links[: link_offsets[-1]].copy(),
            link_offsets,
            self.index.source.vocabulary,
            self.index.target.vocabulary,
        )
        if self._measurer is None:
            return grammar
        return replace(grammar, measured=self._measurer.measure(grammar.sides, self._learnt))


class _Kept:
    """Grammars that are kept until their room is used up; threads may overdraw it by a grammar each."""

    def __init__(self, room: int) -> None:
        self.grammars: dict[tuple[str, ...], RawGrammar] = {}
        self._room = room

    def keep(self, key: tuple[str, ...], grammar: RawGrammar) -> None:
        """Keep a grammar if there is room for it."""
        if grammar.nbytes <= self._room:
            self._room -= grammar.nbytes
            self.grammars[key] = grammar


class _Memory:
    """Arrays of one thread, which grow when a sentence needs more."""

    def __init__(self, source_words: int) -> None:
        self.latest: tuple[tuple[str, ...], RawGrammar] | None = None
        i8 = np.int64
        self.scratch = Scratch(
            local=np.full(source_words, -1, np.int32),
            child=np.full((2, 0), -1, i8),
            children=np.empty((0, 5), i8),
            own=np.zeros(MOST_SYMBOLS, i8),
            stack=np.empty(0, PATTERN),
            arena=np.empty(1 << 16, i8),
            pairs=np.empty((1 << 16, 2), i8),
            matches=np.empty((1 << 10, 2), i8),
            triples=np.empty((1 << 10, 3), i8),
            slots=np.full(1 << 11, -1, i8),
            rows=np.empty((1 << 10, 6), i8),
            variants=np.empty((1 << 10, 2 + MOST_SYMBOLS), i8),
            batch=np.zeros((256, 2), i8),
            chunks=np.zeros((4, 2), i8),
            gaps=np.zeros((8, 2), i8),
            boxes=np.zeros((4, 7), i8),
            target_side=np.zeros(2 * MOST_TARGET, i8),
            place=np.zeros(2 * MOST_TARGET, i8),
            bits=np.zeros(MOST_SYMBOLS, i8),
            weights=np.zeros((MOST_SYMBOLS, 3)),
            patterns=np.zeros(1, i8),
            seen=np.full(1 << 8, -1, i8),
            given=np.empty((1 << 8, 2 * MOST_SYMBOLS + 1)),
            extracted=np.zeros(4, i8),
        )
        self._make_rules(1 << 12)

    def _make_rules(self, count: int) -> None:
        i8 = np.int64
        self.rules = Rules(
            source=np.empty(count * MOST_SYMBOLS, i8),
            source_offsets=np.empty(count + 1, i8),
            target=np.empty(count * 8, i8),
            target_offsets=np.empty(count + 1, i8),
            raw=np.empty((count, len(RAW_NAMES))),
            links=np.empty((count * MOST_SYMBOLS, 2), np.uint8),
            link_offsets=np.empty(count + 1, i8),
        )

    def fit(self, length: int, distinct: int) -> None:
        """Make room for a sentence of `length` words, `distinct` of which differ and are known."""
        scratch = self.scratch
        if distinct > scratch.child.shape[1]:
            room = 2 * distinct
            scratch = scratch._replace(
                child=np.full((2, room), -1, np.int64),
                children=np.empty((2 * room, 5), np.int64),
                stack=np.empty(2 * room * MOST_SYMBOLS + 1, PATTERN),
            )
        if length > len(scratch.matches):
            scratch = scratch._replace(matches=np.empty((2 * length, 2), np.int64))
        self.scratch = scratch

    def grow(self, status: int, needed: int) -> None:
        """Double what ran out of room."""
        scratch = self.scratch
        if status == ARENA:
            scratch = scratch._replace(arena=np.empty(2 * max(len(scratch.arena), needed), np.int64))
        elif status == PAIRS:
            scratch = scratch._replace(pairs=np.empty((2 * max(len(scratch.pairs), needed), 2), np.int64))
        elif status == MATCHES:
            room = 2 * max(len(scratch.matches), len(scratch.triples))
            scratch = scratch._replace(matches=np.empty((room, 2), np.int64), triples=np.empty((room, 3), np.int64))
        elif status == RULES:
            self._make_rules(2 * len(self.rules.raw))
            room = 2 * len(scratch.slots)
            scratch = scratch._replace(slots=np.full(room, -1, np.int64), rows=np.empty((room // 2, 6), np.int64))
        elif status == VARIANTS:
            scratch = scratch._replace(variants=np.empty((2 * len(scratch.variants), 2 + MOST_SYMBOLS), np.int64))
        self.scratch = scratch


def _measurer(inventory: Inventory, index: CorpusIndex) -> Measurer:
    from camber.rules.measuring import Measurer

    return Measurer.of(inventory, index.source.vocabulary, index.target.vocabulary)


def _number(encoded: I8) -> tuple[I8, I8]:
    """Number the known words of a sentence by first use: the sentence in these numbers (-1: unknown), and their ids."""
    numbers: dict[int, int] = {}
    words = [numbers.setdefault(word, len(numbers)) if word >= 0 else -1 for word in encoded.tolist()]
    return np.array(words, np.int64), np.array(list(numbers), np.int64)


def _hashed(table: LexicalTable, source_words: int, target_words: int) -> Lexicon:
    """Put a lexical table into a form that kernels probe quickly."""
    both = (table.source != NULL) & (table.target != NULL)
    records = np.zeros(capacity_for(int(both.sum())), LEXICON)
    records["key"] = -1
    keys = table.source[both].astype(np.int64) * target_words + table.target[both]
    _fill(records, keys, table.target_given_source[both], table.source_given_target[both])
    source_null, target_null = np.zeros(source_words), np.zeros(target_words)
    rows = table.target == NULL
    source_null[table.source[rows]] = table.source_given_target[rows]
    rows = table.source == NULL
    target_null[table.target[rows]] = table.target_given_source[rows]
    return Lexicon(records, source_null, target_null)


@kernel
def _fill(records, keys, t_given_s, s_given_t):
    for k in range(len(keys)):
        slot = record_slot(records, keys[k])
        records[slot]["key"] = keys[k]
        records[slot]["t_given_s"] = t_given_s[k]
        records[slot]["s_given_t"] = s_given_t[k]
