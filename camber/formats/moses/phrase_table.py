"""Reading Moses' phrase and reordering tables into a rule store.

Phrase table:      source ||| target ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| 0-0 1-1 ||| c(t) c(s) c(s,t) ||| |||
Reordering table:  source ||| target ||| monotone swap discontinuous (backward) monotone swap discontinuous (forward)

Alignments and counts may be missing; further fields are passed over. The bytes are taken apart in a kernel, which also
numbers the words: tables have millions of lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from camber.arrays.ragged import offsets_from, ranks, sort_keys, take_ragged
from camber.arrays.types import F4, F8, I4, I8, U1, Array
from camber.corpus.vocabulary import Vocabulary
from camber.errors import InputError
from camber.files import read_bytes
from camber.kernel import kernel, kernel_inlined
from camber.kernel.words import NOTHING, rehash, set_word, with_byte, word_slot
from camber.numbers import shown
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.store import REORDERING_NAMES, RuleStore

#: Powers of ten, correctly rounded.
_POWERS = np.array([float(f"1e{power}") for power in range(309)])

#: The largest count that a store keeps.
MOST_COUNT = 2**31 - 1

#: Slots of a word table at the start.
_SLOTS = 1 << 16

# Why the kernel stopped.
_DONE, _TABLE_FULL, _NOT_A_RULE, _BAD_NUMBER, _WRONG_NUMBERS, _WRONG_COUNTS, _BAD_LINK, _LINK_OUTSIDE = range(8)

# Places of its state.
_AT, _ROW, _SOURCE_WORDS, _TARGET_WORDS, _LINKS, _FIRST, _LAST = range(7)


@dataclass(frozen=True)
class MosesSide:
    """The phrases of one side, line by line, in a vocabulary of the words in order of their frequency."""

    vocabulary: Vocabulary
    ids: I4
    offsets: I8  # [lines + 1]


@dataclass(frozen=True)
class MosesTable:
    """What stands in a file, in the order of its lines."""

    path: str | Path
    source: MosesSide
    target: MosesSide
    values: F4  # [lines, columns]
    links: U1
    link_offsets: I8
    counts: I4  # [lines, 3] c(t), c(s), c(s, t); 0 where absent


def read_moses(phrase_table: str | Path, reordering_table: str | Path | None = None) -> RuleStore:
    """Read a phrase table, and the reordering table that belongs to it, into a rule store.

    Both may be plain or gzip. The vocabularies are those of the table's words, the most frequent first.
    """
    table = read_columns(phrase_table, SCORE_NAMES, full=True)
    lines = len(table.values)
    if not lines:
        raise InputError("the phrase table is empty", phrase_table, remedy="give the table that Moses trained")
    source = ranks(sort_keys(table.source.ids + 1, table.source.offsets))
    target = ranks(sort_keys(table.target.ids + 1, table.target.offsets))
    _check_unique(source, target, phrase_table)
    reordering = np.zeros((lines, 0), np.float32)
    if reordering_table is not None:
        reordering = _match(table, read_columns(reordering_table, REORDERING_NAMES, full=False))

    order = np.lexsort((target, -table.values[:, SCORE_NAMES.index("p_t_given_s")], source))
    sizes = np.bincount(source)
    rule_offsets = offsets_from(sizes)
    first = order[rule_offsets[:-1]]
    source_ids, source_offsets = take_ragged(table.source.ids, table.source.offsets, first)
    target_ids, target_offsets = take_ragged(table.target.ids, table.target.offsets, order)
    links, link_offsets = take_ragged(table.links, table.link_offsets, order)
    return RuleStore(
        source_ids=source_ids,
        source_offsets=source_offsets,
        rule_offsets=rule_offsets,
        source_counts=table.counts[first, 1].astype(np.int64),
        target_ids=target_ids,
        target_offsets=target_offsets,
        scores=table.values[order],
        counts=table.counts[order][:, [0, 2]],
        reordering=reordering[order],
        links=links,
        link_offsets=link_offsets,
        source_vocabulary=table.source.vocabulary,
        target_vocabulary=table.target.vocabulary,
        max_phrase_length=int(np.diff(source_offsets).max(initial=0)),
    )


def read_columns(path: str | Path, names: tuple[str, ...], *, full: bool, most: float = 1.0001) -> MosesTable:
    """Read a table with one number per name, none of them above `most`; with `full`, also alignments and counts."""
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"invalid UTF-8 (byte 0x{data[error.start]:02x})", path, line, remedy="convert the file to UTF-8"
        ) from None
    letters = np.frombuffer(data, np.uint8)
    words = [_Words(letters), _Words(letters)]
    state, columns = np.zeros(7, np.int64), _Columns.of(0, 0, 0, 0, len(names))
    why = _scan(letters, False, full, state, words[0].arrays, words[1].arrays, columns, _POWERS)
    if why == _DONE:
        lines, source_words, target_words, links = state[[_ROW, _SOURCE_WORDS, _TARGET_WORDS, _LINKS]].tolist()
        columns = _Columns.of(lines, source_words, target_words, links, len(names))
        state[:], why = 0, _TABLE_FULL
    while why == _TABLE_FULL:
        for table in words:
            table.make_room()
        why = _scan(letters, True, full, state, words[0].arrays, words[1].arrays, columns, _POWERS)
    if why != _DONE:
        _complain(why, data, state, path, names)
    values = columns.values.astype(np.float32)
    _check_probabilities(values, path, most)
    offsets = [offsets_from(columns.sizes[:, side]) for side in range(3)]
    source = _renumbered(words[0], columns.source_ids, offsets[0])
    target = _renumbered(words[1], columns.target_ids, offsets[1])
    counts = columns.counts
    short = np.isnan(counts[:, 2])  # older tables lack c(s, t)
    counts[short, 2] = columns.values[short, min(2, len(names) - 1)] * counts[short, 1]
    _check_counts(counts, path)
    return MosesTable(path, source, target, values, columns.links, offsets[2], np.rint(counts).astype(np.int32))


class _Columns(NamedTuple):
    """What the kernel reads out of the lines."""

    sizes: Array  # int64[lines, 3]: source words, target words, links
    source_ids: Array  # int32[source words]
    target_ids: Array  # int32[target words]
    values: Array  # float64[lines, columns]
    links: Array  # uint8[links, 2]
    counts: Array  # float64[lines, 3]

    @classmethod
    def of(cls, lines: int, source_words: int, target_words: int, links: int, columns: int) -> _Columns:
        """Make room for so many."""
        return cls(
            np.zeros((lines, 3), np.int64),
            np.empty(source_words, np.int32),
            np.empty(target_words, np.int32),
            np.empty((lines, columns)),
            np.empty((links, 2), np.uint8),
            np.zeros((lines, 3)),
        )


class _WordArrays(NamedTuple):
    """A table of words (see `camber.kernel.words`)."""

    slots: Array  # int64[slots]
    spans: Array  # int64[slots, 3]
    used: Array  # int64[1]: how many words there are


class _Words:
    """The distinct words of one side, found by hash and compared by their bytes."""

    def __init__(self, letters: U1) -> None:
        self.letters = letters
        self.slots = np.full(_SLOTS, -1, np.int64)  # word number, or -1
        self.spans = np.zeros((_SLOTS, 3), np.int64)  # first byte, byte after the last, hash
        self.used = np.zeros(1, np.int64)

    @property
    def arrays(self) -> _WordArrays:
        return _WordArrays(self.slots, self.spans, self.used)

    def make_room(self) -> None:
        """Double a table that is half full."""
        if 2 * self.used[0] >= len(self.slots):
            self.slots = np.full(2 * len(self.slots), -1, np.int64)
            self.spans = np.concatenate((self.spans, np.zeros_like(self.spans)))
            rehash(self.slots, self.spans, self.used[0])

    def texts(self) -> list[str]:
        spans = self.spans[: self.used[0], :2].tolist()
        return [self.letters[first:last].tobytes().decode() for first, last in spans]


def _renumbered(words: _Words, ids: I4, offsets: I8) -> MosesSide:
    """Number words by falling frequency (in lines), then in code point order."""
    texts, frequency = words.texts(), np.bincount(ids, minlength=int(words.used[0])).tolist()
    order = sorted(range(len(texts)), key=lambda word: (-frequency[word], texts[word]))
    new = np.empty(len(order), np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    return MosesSide(Vocabulary([texts[word] for word in order]), new[ids], offsets)


def _complain(why: int, data: bytes, state: I8, path: str | Path, names: tuple[str, ...]) -> NoReturn:
    """Raise the error that the kernel met, with the line and the piece of text."""
    line, piece = int(state[_ROW]) + 1, data[state[_FIRST] : state[_LAST]].decode()
    number = int(state[_FIRST])
    expected = f"{len(names)} numbers ({' '.join(names)})"
    if why == _NOT_A_RULE:
        raise InputError(
            f"{shown(piece)} is not a rule", path, line, remedy=f"expected: source ||| target ||| {expected}"
        )
    if why == _WRONG_NUMBERS:
        raise InputError(f"{number} numbers, expected {expected}", path, line)
    if why == _WRONG_COUNTS:
        raise InputError(f"{number} counts, expected 3: c(t) c(s) c(s,t)", path, line)
    if why == _BAD_LINK:
        raise InputError(f"{shown(piece)} is not a link", path, line, remedy="links look like 0-0 1-2")
    if why == _LINK_OUTSIDE:
        told = f"link {piece} lies outside the phrase pair, or beyond the first 256 words of a side"
        raise InputError(told, path, line)
    raise InputError(f"{shown(piece)} is not a number", path, line)


def _check_probabilities(values: F4, path: str | Path, most: float) -> None:
    wrong = ~((values >= 0) & (values <= most))
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"{values[row, column]} is not a probability",
            path,
            row + 1,
            remedy="the table must hold raw probabilities, not logarithms",
        )


def _check_counts(counts: F8, path: str | Path) -> None:
    """Refuse what would not stay what it is in the integers of a store."""
    wrong = ~((counts >= 0) & (counts <= MOST_COUNT))
    if wrong.any():
        row, column = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"{counts[row, column]:.10g} is not a count from 0 to {MOST_COUNT:,}",
            path,
            row + 1,
            remedy="divide the counts of the table, or leave them out",
        )


def _check_unique(source: I8, target: I8, path: str | Path) -> None:
    pairs = source * (target.max(initial=0) + 1) + target
    sorted_pairs = np.sort(pairs)
    twice = sorted_pairs[1:][sorted_pairs[1:] == sorted_pairs[:-1]]
    if len(twice):
        lines = np.flatnonzero(np.isin(pairs, twice))
        again = next(line for n, line in enumerate(lines.tolist()) if pairs[line] in pairs[lines[:n]])
        raise InputError("this phrase pair was there before", path, again + 1)


def _match(table: MosesTable, other: MosesTable) -> F4:
    """Return the values of `other` in the order of the lines of `table`."""
    sides = []
    for mine, its in ((table.source, other.source), (table.target, other.target)):
        # words that the phrase table lacks get 0, which no phrase of it contains
        translate = mine.vocabulary.encode(its.vocabulary.words) + 1
        sides.append((mine, translate[its.ids], its.offsets))
    if all(np.array_equal(m.offsets, o) and np.array_equal(m.ids + 1, ids) for m, ids, o in sides):
        return other.values  # the usual case: the same lines in the same order
    lines = len(table.values)
    together = []
    for mine, ids, offsets in sides:
        both = np.append(mine.ids + 1, ids).astype(np.int64) + 1  # sort keys are above 0
        together.append(ranks(sort_keys(both, np.concatenate((mine.offsets, mine.offsets[-1] + offsets[1:])))))
    pairs = together[0] * (together[1].max(initial=0) + 1) + together[1]
    wanted, there = pairs[:lines], pairs[lines:]
    order = np.argsort(there, kind="stable")
    at = np.searchsorted(there[order], wanted)
    matched = at < len(there)
    matched[matched] = there[order][at[matched]] == wanted[matched]
    if not matched.all():
        bad = int(np.flatnonzero(~matched)[0])
        source, target = (
            " ".join(side.vocabulary.decode(side.ids[side.offsets[bad] : side.offsets[bad + 1]]))
            for side in (table.source, table.target)
        )
        raise InputError(
            f"{source!r} ||| {target!r} has no line in {other.path}",
            table.path,
            bad + 1,
            remedy="give the reordering table that was made with this phrase table",
        )
    return other.values[order[at]]


@kernel_inlined
def _number_of(data, first, last, words):
    """Return the number of the word data[first:last], a new one if it was not seen; -1: the table is too full."""
    slots, spans, used = words
    hashed = np.int64(NOTHING)
    for at in range(first, last):
        hashed = with_byte(hashed, data[at])
    slot = word_slot(data, first, last, hashed, slots, spans)
    if slots[slot] < 0:
        if 2 * used[0] >= len(slots):
            return -1
        set_word(slots, slot, spans, used[0], first, last, hashed)
        used[0] += 1
    return slots[slot]


@kernel
def _parse(data, first, last, powers):
    """Return the number that data[first:last] spells, NaN if it is none."""
    at, sign = first, 1.0
    if at < last and (data[at] == 45 or data[at] == 43):
        sign = -1.0 if data[at] == 45 else 1.0
        at += 1
    mantissa, shift, digits, point = np.int64(0), np.int64(0), 0, False
    while at < last:
        letter = np.int64(data[at])
        if 48 <= letter <= 57:
            if mantissa < 100000000000000000:
                mantissa = mantissa * 10 + letter - 48
                shift -= 1 if point else 0
            elif not point:
                shift += 1
            digits += 1
        elif letter == 46 and not point:
            point = True
        else:
            break
        at += 1
    if digits == 0:
        return np.nan
    if at < last:  # e-05
        if (data[at] != 101 and data[at] != 69) or at + 1 == last:
            return np.nan
        at += 1
        minus = data[at] == 45
        if data[at] == 45 or data[at] == 43:
            at += 1
        if at == last:
            return np.nan
        exponent = 0
        while at < last:
            if data[at] < 48 or data[at] > 57:
                return np.nan
            exponent = min(exponent * 10 + int(data[at]) - 48, 10000)
            at += 1
        shift += -exponent if minus else exponent
    if shift < -308:
        return 0.0
    scaled = mantissa / powers[-shift] if shift < 0 else mantissa * powers[min(shift, 308)]
    return sign * scaled


@kernel
def _place(data, first, last):
    """Return the integer that data[first:last] spells, -1 if it is none (256 for all that are larger)."""
    value = 0 if last > first else -1
    for at in range(first, last):
        if data[at] < 48 or data[at] > 57:
            return -1
        value = min(value * 10 + int(data[at]) - 48, 256)
    return value


@kernel
def _stop(state, why, first, last):
    state[_FIRST], state[_LAST] = first, last
    return why


@kernel_inlined
def _next_field(data, at):
    """Return where the next word of a line begins and ends, and where to go on; it is empty at the end of the line."""
    while at < len(data) and (data[at] == 32 or data[at] == 9 or data[at] == 13):
        at += 1
    first = at
    while at < len(data) and data[at] != 32 and data[at] != 9 and data[at] != 10:
        at += 1
    last = at
    while last > first and data[last - 1] == 13 and (at >= len(data) or data[at] == 10):  # CR before the line's end
        last -= 1
    return first, last, at


@kernel
def _is_separator(data, first, last):
    return last - first == 3 and data[first] == 124 and data[first + 1] == 124 and data[first + 2] == 124


@kernel_inlined
def _read_word(data, first, last, words, ids, at):
    """Write the number of a word; say whether the table of words had room for it."""
    word = _number_of(data, first, last, words)
    if word >= 0:
        ids[at] = word
    return word >= 0


@kernel_inlined
def _read_link(data, first, last, sources, targets, links, at):
    """Read a link, such as 0-1, of phrases of so many words; return _DONE or what is wrong with it."""
    dash = first
    while dash < last and data[dash] != 45:
        dash += 1
    left, right = _place(data, first, dash), _place(data, dash + 1, last)
    if left < 0 or right < 0:
        return _BAD_LINK
    if left >= min(sources, 256) or right >= min(targets, 256):
        return _LINK_OUTSIDE
    links[at, 0] = left
    links[at, 1] = right
    return _DONE


@kernel
def _scan(data, fill, full, state, source_words, target_words, columns, powers):
    """Take lines apart from where `state` stands; without `fill`, only count. Return why it stopped (_DONE, …)."""
    sizes, source_ids, target_ids, values, links, counts = columns
    width = values.shape[1]
    while state[_AT] < len(data):
        line = at = state[_AT]
        row = state[_ROW]
        field, sources, targets, numbers, linked, counted = 0, 0, 0, 0, 0, 0
        while True:
            first, last, at = _next_field(data, at)
            if first == last:
                break
            why = _DONE
            if _is_separator(data, first, last):
                field += 1
            elif field == 0:
                place = state[_SOURCE_WORDS] + sources
                if fill and not _read_word(data, first, last, source_words, source_ids, place):
                    return _TABLE_FULL
                sources += 1
            elif field == 1:
                place = state[_TARGET_WORDS] + targets
                if fill and not _read_word(data, first, last, target_words, target_ids, place):
                    return _TABLE_FULL
                targets += 1
            elif field == 2:
                if fill and numbers < width:
                    values[row, numbers] = _parse(data, first, last, powers)
                    why = _BAD_NUMBER if np.isnan(values[row, numbers]) else _DONE
                numbers += 1
            elif field == 3 and full:
                if fill:
                    why = _read_link(data, first, last, sources, targets, links, state[_LINKS] + linked)
                linked += 1
            elif field == 4 and full:
                if fill and counted < 3:
                    counts[row, counted] = _parse(data, first, last, powers)
                    why = _BAD_NUMBER if np.isnan(counts[row, counted]) else _DONE
                counted += 1
            if why != _DONE:
                return _stop(state, why, first, last)
        if field < 2 or sources == 0 or targets == 0:
            return _stop(state, _NOT_A_RULE, line, at)
        if numbers != width:
            return _stop(state, _WRONG_NUMBERS, numbers, 0)
        if counted == 1 or counted > 3:
            return _stop(state, _WRONG_COUNTS, counted, 0)
        if fill:
            sizes[row, 0], sizes[row, 1], sizes[row, 2] = sources, targets, linked
            if counted == 2:
                counts[row, 2] = np.nan
        state[_AT] = at + 1
        state[_ROW] = row + 1
        state[_SOURCE_WORDS] += sources
        state[_TARGET_WORDS] += targets
        state[_LINKS] += linked
    return _DONE
