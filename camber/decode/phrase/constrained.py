"""Constraints on phrases: what the spans of a sentence may become is said anew where terms and bans want it.

A term takes the place of all rules for its words. Rules for spans that cross an edge of it are cut away; those for
longer spans stay where their inner links say that they translate the term's words as the term does, and where they
translate them by as many other words, these are replaced: so the words around a term are translated as ever. Where the
model has rules for all that a term allows, these are its options, with features of their own; else all of them are made
up, on equal terms, and context decides. What is made up has none of a rule's features, as a word that is passed
through. In place of words that no rule has, language models hear what the best rule would have said.

The result is a batch like any other, with a store of its own, and the search does not know that there are terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from camber.arrays.ragged import cut, offsets_from, places_of, take_ragged
from camber.arrays.types import I8
from camber.corpus.constraints import Ban, Term, folded
from camber.corpus.inputs import Input
from camber.corpus.vocabulary import Vocabulary
from camber.rules.columns import RuleColumns
from camber.rules.phrase.source import Bound, PhraseBatch
from camber.rules.phrase.store import RuleStore

#: what stands in place of a span's phrase: no rule (a word alone is passed through), nothing at all, or, from OWN
#: downwards, phrases of the draft
NONE, BLOCKED, OWN = -1, -2, -3
#: the number that a rule which was made up has outside: -1 is a word that is passed through
MADE = -2
#: rules of a longer span that lend themselves to a term
LIKENESSES = 3


class Draft:
    """Phrases whose rules are chosen one by one, beside those of a batch.

    A candidate is a rule of the batch's store, or -1 - m, the m-th that was made up.
    """

    def __init__(self, batch: PhraseBatch, words: Vocabulary) -> None:
        self.batch, self.store, self.words = batch, batch.store, words
        self.phrases: list[list[int]] = []
        self.made: list[list[int]] = []
        self.penalties: list[float] = []
        self.likes: list[int] = []
        #: words that no rule has, and which words language models hear in their place
        self._extra: dict[tuple[str, str], int] = {}
        self._plain: list[int] = []

    def word(self, word: str, heard: str = "") -> int:
        """Return the number of a target word, a new one if no rule has it; language models may hear another one."""
        number = self.words.id(word)
        key = (word, heard or word)
        if number >= 0 and key[0] == key[1]:
            return number
        if key not in self._extra:
            plain = len(self.words) + len(self._extra) if key[0] == key[1] else self.word(word)
            self._extra[key] = len(self._extra)
            self._plain.append(plain)
        return len(self.words) + self._extra[key]

    def make(self, row: Iterable[str], penalty: float = 0.0) -> int:
        """Make up a rule with this target; return the candidate."""
        return self.make_ids([self.word(word) for word in row], penalty)

    def make_ids(self, row: list[int], penalty: float = 0.0, like: int = -1) -> int:
        """Make up a rule with target words of these numbers, or one with other words `like` a rule of the store."""
        self.made.append(row)
        self.penalties.append(penalty)
        self.likes.append(like)
        return -len(self.made)

    def add(self, candidates: Iterable[int]) -> int:
        """Make a phrase of candidates; return what stands for it in spans."""
        self.phrases.append(list(candidates))
        return OWN - len(self.phrases) + 1

    def candidates(self, phrase: int) -> Sequence[int]:
        """Return the candidates of a phrase."""
        if phrase >= 0:
            return self.store.rules(phrase)
        return self.phrases[OWN - phrase] if phrase <= OWN else ()

    def target(self, candidate: int) -> list[int]:
        """Return the numbers of a candidate's target words."""
        if candidate < 0:
            known = len(self.words)
            return [word if word < known else self._plain[word - known] for word in self.made[-1 - candidate]]
        a, b = self.store.target_offsets[candidate : candidate + 2]
        words: list[int] = self.store.target_ids[a:b].tolist()
        return words

    def targets(self, phrase: int) -> tuple[I8, I8, I8]:
        """Return the rules among a phrase's candidates, their target words in one array, and the offsets of these."""
        if phrase >= 0:
            rows = np.arange(*self.store.rule_offsets[phrase : phrase + 2])
        else:
            rows = np.array([row for row in self.candidates(phrase) if row >= 0], np.int64)
        ids, offsets = take_ragged(self.store.target_ids, self.store.target_offsets, rows)
        return rows, ids.astype(np.int64), offsets

    def with_words(self, phrase: int, wanted: I8) -> list[int]:
        """Return the rules of a phrase that have one of some target words."""
        if phrase >= 0:  # most have none, which is soon seen
            low, high = self.store.rule_offsets[phrase : phrase + 2].tolist()
            starts = self.store.target_offsets[low : high + 1]
            words = self.store.target_ids[starts[0] : starts[-1]]
            hits = np.flatnonzero(words == wanted[0] if len(wanted) == 1 else np.isin(words, wanted))
            if not len(hits):
                return []
            found: list[int] = (np.unique(np.searchsorted(starts, hits + starts[0], "right")) - 1 + low).tolist()
            return found
        rows, ids, offsets = self.targets(phrase)
        hits = np.unique(np.searchsorted(offsets, np.flatnonzero(np.isin(ids, wanted)), "right") - 1)
        chosen: list[int] = rows[hits].tolist()
        return chosen

    def finish(self, spans: I8, places: Sequence[int], tokens: Sequence[str]) -> PhraseBatch:
        """Return a batch with a store that has the rules of all phrases of the spans, and those that were made up."""
        used = np.unique(spans[spans >= 0])
        starts, sizes = self.store.rule_offsets[used], self.store.rule_offsets[used + 1] - self.store.rule_offsets[used]
        own = np.array([row for phrase in self.phrases for row in phrase], np.int64)
        rows = np.concatenate([places_of(starts, sizes), own])
        alike = np.where(rows < 0, np.array([0, *self.likes], np.int64)[np.maximum(-rows, 0)], rows)
        made = alike < 0
        phrases = np.where(spans >= 0, np.searchsorted(used, spans), spans)
        phrases = np.where(spans <= OWN, len(used) + OWN - spans, phrases)
        penalty = np.zeros(len(rows))
        penalty[rows < 0] = np.array([0.0, *self.penalties])[-rows[rows < 0]]
        numbers = np.where(made, MADE, alike if self.batch.numbers is None else self._numbers(alike))
        store = self._store(rows, alike, np.concatenate([sizes, np.array([len(p) for p in self.phrases], np.int64)]))
        texts, heard = (tuple(key[side] for key in self._extra) for side in (0, 1))
        bound = Bound(made, penalty, texts, heard, np.asarray(places, np.int64), tuple(tokens))
        return PhraseBatch(store, self._columns(alike), phrases, numbers, bound)

    def _numbers(self, rows: I8) -> I8:
        assert self.batch.numbers is not None
        return self.batch.numbers[np.maximum(rows, 0)] if len(self.batch.numbers) else rows

    def _columns(self, rows: I8) -> RuleColumns:
        """Return the features of rows, those of the first rule for what was made up: nobody looks at them."""
        columns, kept = self.batch.columns, np.maximum(rows, 0)
        if not len(columns.table):
            return columns._replace(table=np.zeros((len(rows), columns.table.shape[1]), columns.table.dtype))
        if columns.width == columns.table.shape[1]:
            return columns._replace(table=columns.table[kept])
        indicators, offsets = take_ragged(columns.indicators, columns.offsets, kept)
        return columns._replace(table=columns.table[kept], indicators=indicators, offsets=offsets)

    def _store(self, rows: I8, alike: I8, sizes: I8) -> RuleStore:
        """Return the rules of rows, in phrases of these sizes, without what a search does not look at."""
        store, kept, made = self.store, np.maximum(rows, 0), np.flatnonzero(rows < 0)
        starts, lengths = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        if len(store):
            starts = store.target_offsets[kept]
            lengths = store.target_offsets[kept + 1] - starts
        offsets = offsets_from(np.array([len(row) for row in self.made], np.int64))
        numbers = -1 - rows[made]
        starts[made], lengths[made] = offsets[numbers] + len(store.target_ids), offsets[numbers + 1] - offsets[numbers]
        flat, target_offsets = self._cut(starts, lengths)
        reordering = np.ones((len(rows), store.reordering.shape[1]), np.float32)
        reordering[alike >= 0] = store.reordering[alike[alike >= 0]]
        none, start = np.zeros(0, np.int64), np.zeros(1, np.int64)
        return replace(
            store,
            source_ids=none.astype(np.int32),
            source_offsets=start,
            rule_offsets=offsets_from(sizes),
            source_counts=none,
            target_ids=flat,
            target_offsets=target_offsets,
            scores=np.zeros((0, 4), np.float32),
            counts=np.zeros((0, 2), np.int32),
            reordering=reordering,
            links=np.zeros((0, 2), np.uint8),
            link_offsets=start,
        )

    def _cut(self, starts: I8, lengths: I8) -> tuple[np.ndarray, I8]:
        """Gather target words of the store and, behind it, of what was made up; the store is not copied."""
        size = len(self.store.target_ids)
        old = starts < size
        flat, offsets = np.empty(int(lengths.sum()), np.int32), offsets_from(lengths)
        flat[places_of(offsets[:-1][old], lengths[old])] = cut(self.store.target_ids, starts[old], lengths[old])[0]
        words = np.fromiter(chain.from_iterable(self.made), np.int32)
        new = ~old
        flat[places_of(offsets[:-1][new], lengths[new])] = cut(words, starts[new] - size, lengths[new])[0]
        return flat, offsets


def obey(draft: Draft, inputs: Sequence[Input]) -> list[I8]:
    """Return the spans of sentences in which terms and bans are obeyed, int64[words, longest] for each."""
    batch = draft.batch
    sizes = [term.end - term.begin for item in inputs for term in item.constraints.terms]
    spans = np.full((len(batch.spans), max([batch.spans.shape[1], *sizes])), NONE, np.int64)
    spans[:, : batch.spans.shape[1]] = batch.spans
    pieces = np.split(spans, np.cumsum([len(item) for item in inputs])[:-1])
    for item, own in zip(inputs, pieces, strict=True):
        for wall in item.constraints.walls:
            wall_off(own, wall)
        for ban in item.constraints.bans:
            forbid(draft, own, ban)
        place_terms(draft, own, item.constraints.terms)
    return pieces


def wall_off(spans: I8, wall: int) -> None:
    """Let no phrase cross a wall."""
    for begin in range(max(0, wall - spans.shape[1] + 1), wall):
        spans[begin, wall - begin :] = BLOCKED


def reaches(item: Input) -> I8:
    """Return for each word of a sentence where the next wall is, or the end: int64[words]."""
    if not item.constraints.walls:
        return np.full(len(item), len(item), np.int64)
    bounds = sorted({0, *(wall for wall in item.constraints.walls if 0 < wall < len(item)), len(item)})
    return np.repeat(np.array(bounds[1:], np.int64), np.diff(bounds))


def forbid(draft: Draft, spans: I8, ban: Ban) -> None:
    """Drop the rules for words of a ban whose target has the banned row in it."""
    first = folded(ban.target)[0]
    for begin, size in _overlapping(spans, ban.begin, ban.end):
        phrase = int(spans[begin, size])
        rows, ids, _ = draft.targets(phrase)
        wanted = [number for number in np.unique(ids).tolist() if draft.words.words[number].casefold() == first]
        if not wanted:
            continue
        near = draft.with_words(phrase, np.array(wanted))
        banned = {row for row in near if ban.within(draft.words.decode(draft.target(row)))}
        if banned:
            left = [row for row in rows.tolist() if row not in banned]
            spans[begin, size] = draft.add(left) if left else NONE


def place_terms(draft: Draft, spans: I8, terms: Sequence[Term]) -> None:
    """Put terms into the spans of a sentence; they do not overlap."""
    allowed = {term: [draft.words.encode(row).tolist() for row in term.targets] for term in terms}
    longer: dict[tuple[int, int], int] = {}
    for term in terms:
        for begin, size in _overlapping(spans, term.begin, term.end):
            end = begin + size + 1
            if (begin, size) in longer or (begin, end) == (term.begin, term.end):
                continue
            longer[begin, size] = BLOCKED
            inside = [other for other in terms if other.begin < end and begin < other.end]
            if begin <= inside[0].begin and inside[-1].end <= end:
                phrase = spans.item(begin, size)
                rows = _agreeing(draft, phrase, begin, inside, allowed)
                if len(inside) == 1:
                    rows += _substituted(draft, phrase, begin, term, allowed[term])
                if rows:
                    longer[begin, size] = draft.add(rows)
    for term in terms:
        exact = [_exact(draft, _phrase(spans, term), ids) for ids in allowed[term]]
        rows = [row for row in exact if row is not None]
        if len(rows) < len(exact):
            best = next((draft.target(row) for row in draft.candidates(_phrase(spans, term)) if row >= 0), [])
            heard = [*draft.words.decode(best), *[""] * max(map(len, term.targets))]
            rows = [
                draft.make_ids([draft.word(*pair) for pair in zip(row, heard, strict=False)]) for row in term.targets
            ]
        _block(spans, term.begin, term.end)
        longer[term.begin, term.end - term.begin - 1] = draft.add(rows)
    for (begin, size), phrase in longer.items():
        spans[begin, size] = phrase


def _exact(draft: Draft, phrase: int, target: list[int]) -> int | None:
    """Return the rule of a phrase that has this very target."""
    near = draft.with_words(phrase, np.array(target[:1])) if min(target) >= 0 else []
    return next((row for row in near if draft.target(row) == target), None)


def _phrase(spans: I8, term: Term) -> int:
    return int(spans[term.begin, term.end - term.begin - 1])


def _block(spans: I8, begin: int, end: int) -> None:
    """Let no span have one of the words begin .. end - 1."""
    for first in range(max(0, begin - spans.shape[1] + 1), end):
        spans[first, max(0, begin - first) :] = BLOCKED


def _overlapping(spans: I8, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the spans (first word, size - 1) with one of the words begin .. end - 1 that have rules."""
    start = max(0, begin - spans.shape[1] + 1)
    block = spans[start:end]
    places = np.argwhere((block != NONE) & (block != BLOCKED)).tolist()
    return [(start + first, size) for first, size in places if start + first + size >= begin]


def _agreeing(
    draft: Draft, phrase: int, begin: int, terms: Sequence[Term], allowed: dict[Term, list[list[int]]]
) -> list[int]:
    """Return the rules of a phrase, from word `begin` on, that translate the terms inside as they want it."""
    wanted = np.array([row[0] for row in allowed[terms[0]] if min(row) >= 0], np.int64)
    if not len(wanted):
        return []
    rows = draft.with_words(phrase, wanted)
    return [
        row
        for row in rows
        if all(agrees(draft.store, row, term.begin - begin, term.end - begin, allowed[term]) for term in terms)
    ]


def _substituted(draft: Draft, phrase: int, begin: int, term: Term, allowed: list[list[int]]) -> list[int]:
    """Return likenesses of a phrase's most probable rules, with the term's words where they have others for it."""
    made: list[int] = []
    known, first, last = draft.words.words, term.begin - begin, term.end - begin
    for row in draft.candidates(phrase)[:LIKENESSES]:
        place = piece(draft.store, row, first, last) if row >= 0 else None
        if place is None:
            continue
        low, high = place
        words: list[int] = []
        for target, ids in zip(term.targets, allowed, strict=True):
            if len(target) != high - low:
                continue
            words = words or draft.target(row)
            if ids != words[low:high]:
                said = [known[number] for number in words[low:high]]
                other = [draft.word(word, heard) for word, heard in zip(target, said, strict=True)]
                made.append(draft.make_ids([*words[:low], *other, *words[high:]], like=row))
    return made


def agrees(store: RuleStore, rule: int, begin: int, end: int, allowed: Sequence[Sequence[int]]) -> bool:
    """Say whether a rule's links make of its source words begin .. end - 1 one of some target rows and no more."""
    place = piece(store, rule, begin, end)
    if place is None:
        return False
    a = int(store.target_offsets[rule])
    row: list[int] = store.target_ids[a + place[0] : a + place[1]].tolist()
    return row in allowed


def piece(store: RuleStore, rule: int, begin: int, end: int) -> tuple[int, int] | None:
    """Return which target words of a rule translate its source words begin .. end - 1 and no others, by its links."""
    a, b = store.link_offsets.item(rule), store.link_offsets.item(rule + 1)
    inside = outside = 0  # a bit for each target word
    for at, to in store.links[a:b].tolist():
        if begin <= at < end:
            inside |= 1 << to
        else:
            outside |= 1 << to
    if not inside or inside & outside:
        return None
    low, high = (inside & -inside).bit_length() - 1, inside.bit_length()
    return (low, high) if inside == (1 << high) - (1 << low) else None
