"""Writing a rule store as Moses' phrase and reordering tables (their form is described in `moses`).

The lines are put together as bytes in a kernel: with Python strings it would take longer than extracting the rules.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from, owners_of, ranks, sort_keys
from camber.arrays.types import F4, I4, I8, U1, Array
from camber.corpus.vocabulary import Vocabulary
from camber.kernel import kernel, kernel_inlined
from camber.rules.phrase.store import RuleStore

PHRASE_TABLE = "phrase-table.gz"
REORDERING_TABLE = "reordering-table.wbe-msd-bidirectional-fe.gz"

#: Bytes that are put together before they are compressed.
_BUFFER = 1 << 22

#: Correctly rounded powers of ten, for six digits of the smallest float32 (1e-45).
_POWERS = np.array([float(f"1e{power}") for power in range(52)])


def write_moses(store: RuleStore, folder: str | Path) -> list[Path]:
    """Write the store's phrase table, and its reordering table if it has one, into a folder; return their paths.

    Lines stand in byte order, as Moses sorts them. A ``|`` in a word becomes ``&#124;``, as in Moses' tokeniser.
    """
    folder = Path(folder)
    phrase = owners_of(store.rule_offsets)
    order = _byte_order(store, phrase)
    paths = [folder / PHRASE_TABLE]
    _write_packed(paths[0], _lines(store, phrase, order, store.scores, full=True))
    if store.has_reordering:
        paths.append(folder / REORDERING_TABLE)
        _write_packed(paths[1], _lines(store, phrase, order, store.reordering, full=False))
    return paths


def format_numbers(values: npt.ArrayLike) -> list[str]:
    """Write float32 numbers that are not negative with six digits, as C++ streams do (the kernel's own format).

    >>> format_numbers([0.5, 1 / 3, 1e-7])
    ['0.5', '0.333333', '1e-07']
    """
    texts, buffer = [], np.empty(64, np.uint8)
    for value in np.asarray(values, np.float32).astype(np.float64).tolist():
        texts.append(buffer[: _put_number(buffer, 0, value, _POWERS)].tobytes().decode())
    return texts


def _write_packed(path: Path, blocks: Iterator[memoryview]) -> None:
    """Write a gzip file, quickly rather than small, without a time stamp: the same rules give the same bytes."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed:
        for block in blocks:
            packed.write(block)


def _lines(store: RuleStore, phrase: I8, order: I8, values: F4, full: bool) -> Iterator[memoryview]:
    """Yield the table's bytes in blocks; every block is only good until the next one is asked for."""
    source = _Side(store.source_ids, store.source_offsets, *_word_bytes(store.source_vocabulary))
    target = _Side(store.target_ids, store.target_offsets, *_word_bytes(store.target_vocabulary))
    rules = _Rules(order, phrase, values, store.links, store.link_offsets, store.counts, store.source_counts)
    counted = bool(store.counts.any())
    buffer, row = np.empty(_BUFFER, np.uint8), 0
    while row < len(order):
        after, size = _put_lines(row, rules, source, target, full, counted, _POWERS, buffer)
        if after == row:  # one line alone is longer than the buffer
            buffer = np.empty(2 * len(buffer), np.uint8)
            continue
        yield buffer[:size].data
        row = after


def _escaped(vocabulary: Vocabulary) -> list[str]:
    return [word.replace("|", "&#124;") for word in vocabulary.words]


def _word_bytes(vocabulary: Vocabulary) -> tuple[U1, I8]:
    encoded = [word.encode() for word in _escaped(vocabulary)]
    flat = np.frombuffer(b"".join(encoded), np.uint8).copy()
    return flat, offsets_from(map(len, encoded))


def _byte_order(store: RuleStore, phrase: I8) -> I8:
    """Return the rules in the byte order of their lines."""
    sources = _text_keys(store.source_vocabulary, store.source_ids, store.source_offsets)
    targets = _text_keys(store.target_vocabulary, store.target_ids, store.target_offsets)
    return np.lexsort((*targets[::-1], ranks(sources)[phrase]))


def _text_keys(vocabulary: Vocabulary, ids: I4, offsets: I8) -> list[I8]:
    """Return int64 keys, most important first, that sort phrases like the bytes of their text and a separator.

    Every word is followed by a space, so that no word is the beginning of another, and words may be compared by their
    rank. The separator after the phrase counts as one more word.
    """
    texts = [word + " " for word in _escaped(vocabulary)]
    separator = "||| "
    rank = {text: place for place, text in enumerate(sorted({*texts, separator}), 1)}  # UTF-8 keeps code point order
    of_word = np.array([rank[text] for text in texts] or [0], np.int64)
    return sort_keys(of_word[ids], offsets, end=rank[separator])


@kernel
def _put_integer(buffer, at, value):
    """Write an integer that is not negative; return the place after it."""
    size, rest = 1, value
    while rest >= 10:
        rest //= 10
        size += 1
    for place in range(at + size - 1, at - 1, -1):
        buffer[place] = 48 + value % 10
        value //= 10
    return at + size


@kernel
def _put_number(buffer, at, value, powers):
    """Write a number that is not negative with six significant digits (%g); return the place after it."""
    if value == 0.0:
        buffer[at] = 48
        return at + 1
    exponent = np.int64(np.floor(np.log10(value)))
    digits = np.int64(0)
    for _ in range(3):  # the logarithm may be one off beside a power of ten
        scale = 5 - exponent
        digits = np.int64(np.rint(value * powers[scale] if scale >= 0 else value / powers[-scale]))
        if digits > 1000000:
            exponent += 1
        elif digits < 100000:
            exponent -= 1
        else:
            break
    if digits == 1000000:  # 9.999996 became 10
        digits = np.int64(100000)
        exponent += 1
    size = 6
    while digits % 10 == 0:
        digits //= 10
        size -= 1
    if -5 < exponent < 0:  # 0.00ddd
        buffer[at], buffer[at + 1] = 48, 46
        at += 2
        for _ in range(-exponent - 1):
            buffer[at] = 48
            at += 1
        return _put_integer(buffer, at, digits)
    if 0 <= exponent < 6:
        if size <= exponent + 1:  # ddd000
            for _ in range(exponent + 1 - size):
                digits *= 10
            return _put_integer(buffer, at, digits)
        end = _put_integer(buffer, at, digits) + 1  # dd.ddd
        for place in range(end - 1, at + exponent + 1, -1):
            buffer[place] = buffer[place - 1]
        buffer[at + exponent + 1] = 46
        return end
    end = _put_integer(buffer, at, digits)  # d.ddde-07
    if size > 1:
        for place in range(end, at + 1, -1):
            buffer[place] = buffer[place - 1]
        buffer[at + 1] = 46
        end += 1
    buffer[end], buffer[end + 1] = 101, 45 if exponent < 0 else 43
    end += 2
    if abs(exponent) < 10:
        buffer[end] = 48
        end += 1
    return _put_integer(buffer, end, abs(exponent))


@kernel
def _put_separator(buffer, at):
    buffer[at] = buffer[at + 4] = 32
    buffer[at + 1] = buffer[at + 2] = buffer[at + 3] = 124
    return at + 5


class _Side(NamedTuple):
    """The phrases of one side, and the spelling of its words."""

    ids: Array  # int32[words of all phrases]
    offsets: Array  # int64[phrases + 1]
    letters: Array  # uint8[bytes]
    bounds: Array  # int64[vocabulary + 1]: the letters of word w are letters[bounds[w]:bounds[w + 1]]


class _Rules(NamedTuple):
    """What stands behind the phrases of a line."""

    order: Array  # int64[rules]: as the lines are written
    phrase: Array  # int64[rules]: their source phrases
    values: Array  # float32[rules, columns]
    links: Array  # uint8[links, 2]
    link_offsets: Array  # int64[rules + 1]
    counts: Array  # int32[rules, 2]: c(t), c(s, t)
    source_counts: Array  # int64[source phrases]


@kernel_inlined
def _put_words(buffer, at, side, phrase):
    first, last = side.offsets[phrase], side.offsets[phrase + 1]
    for place in range(first, last):
        if place > first:
            buffer[at] = 32
            at += 1
        word = side.ids[place]
        for letter in range(side.bounds[word], side.bounds[word + 1]):
            buffer[at] = side.letters[letter]
            at += 1
    return at


@kernel_inlined
def _text_size(side, phrase):
    first, last = side.offsets[phrase], side.offsets[phrase + 1]
    size = last - first
    for place in range(first, last):
        size += side.bounds[side.ids[place] + 1] - side.bounds[side.ids[place]]
    return size


@kernel_inlined
def _put_links(buffer, at, rules, rule):
    first = rules.link_offsets[rule]
    for link in range(first, rules.link_offsets[rule + 1]):
        if link > first:
            buffer[at] = 32
            at += 1
        at = _put_integer(buffer, at, np.int64(rules.links[link, 0]))
        buffer[at] = 45
        at = _put_integer(buffer, at + 1, np.int64(rules.links[link, 1]))
    return at


@kernel_inlined
def _put_counts(buffer, at, rules, rule):
    at = _put_integer(buffer, at, np.int64(rules.counts[rule, 0]))
    buffer[at] = 32
    at = _put_integer(buffer, at + 1, rules.source_counts[rules.phrase[rule]])
    buffer[at] = 32
    return _put_integer(buffer, at + 1, np.int64(rules.counts[rule, 1]))


@kernel
def _put_lines(row, rules, source, target, full, counted, powers, buffer):
    """Write the lines from `row` on that fit into the buffer; return the row after them and the number of bytes."""
    at, columns = 0, rules.values.shape[1]
    while row < len(rules.order):
        rule = rules.order[row]
        room = _text_size(source, rules.phrase[rule]) + _text_size(target, rule)
        room += 14 * columns + 8 * (rules.link_offsets[rule + 1] - rules.link_offsets[rule]) + 100
        if at + room > len(buffer):
            break
        at = _put_separator(buffer, _put_words(buffer, at, source, rules.phrase[rule]))
        at = _put_separator(buffer, _put_words(buffer, at, target, rule))
        for column in range(columns):
            if column > 0:
                buffer[at] = 32
                at += 1
            at = _put_number(buffer, at, np.float64(rules.values[rule, column]), powers)
        if full:
            at = _put_links(buffer, _put_separator(buffer, at), rules, rule)
            if counted:
                at = _put_counts(buffer, _put_separator(buffer, at), rules, rule)
            at = _put_separator(buffer, at)
            buffer[at] = buffer[at + 1] = buffer[at + 2] = 124
            at += 3
        buffer[at] = 10
        at += 1
        row += 1
    return row, at
