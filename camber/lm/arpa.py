"""The ARPA format: n-grams with log10 probabilities and backoffs, as every language-model tool reads and writes it.

    \\data\\
    ngram 1=4
    …
    \\1-grams:
    -1.2<tab>word<tab>-0.3
    …
    \\end\\

Reading is done by a kernel over the bytes of the file; fields may be separated by any run of tabs and spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I4, I8, U1, Records
from camber.errors import InputError
from camber.files import read_bytes, write_whole_bytes
from camber.kernel import kernel, kernel_inlined
from camber.lm.spelling import BETWEEN_FIELDS, eight_bytes, set_spelled, spelled_slot, word_end, word_table
from camber.lm.trie import SPECIAL, DuplicateNgramError, NgramTrie, trie_from_rows
from camber.numbers import shown, whole_number
from camber.progress import each, log

#: log10 probability of <unk> or </s> in a model that does not say (KenLM's convention)
ABSENT = -100.0

#: N-grams after which progress is told when writing
_AT_ONCE = 10_000
#: Bytes that are written at a time
_BUFFER = 1 << 17
#: Words of the longest n-gram of a model that is read.
MOST_ORDER = 64
#: Larger log10 values are not believed, and could not be written.
LARGEST = 1e9


#: powers of ten, and constants for eight digits in one number
_TENS = np.array([10**digits for digits in range(9)])
_NONE, _ONE, _8, _16, _32, _56 = (np.uint64(number) for number in (0, 1, 8, 16, 32, 56))
_TEN, _HUNDRED, _MYRIAD, _ALL = (np.uint64(number) for number in (10, 100, 10_000, 0xFFFFFFFF))
_EACH, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_ZEROS, _TO_HIGH = np.uint64(0x3030303030303030), np.uint64(0x7676767676767676)
_PAIRS, _FOURS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_FINE, _SHORT, _NUMBER, _POSITIVE, _WORDS, _STRANGER, _REPEATED, _BACKOFF, _EXTRA = range(9)


def read_arpa(path: str | Path) -> NgramTrie:
    """Read an ARPA file (plain or .gz).

    Words get the ids 0 `<unk>`, 1 `<s>`, 2 `</s>`, then in the order of the file. A model without one of these three
    gets it with log10 probability -100, and a warning.
    """
    return _Reader(path).read()


class _Grams(NamedTuple):
    """Columns of a trie."""

    prefix: I4
    word: I4
    probability: F8
    backoff: F8


@dataclass
class _Section:
    """The n-grams of one order, as they stand in the file."""

    rows: I4
    probability: F8
    backoff: F8
    start: int  # the byte where its first row begins


class _Words(NamedTuple):
    """The words of a file by their bytes (:mod:`camber.lm.spelling`), in its order, and the numbers that they get."""

    table: Records
    spans: I8
    numbers: I4


def write_arpa(path: str | Path, trie: NgramTrie) -> None:
    """Write an ARPA file (gzip if its name ends in .gz), all or nothing; numbers have 7 decimals."""
    encoded = [word.encode() for word in trie.words]
    offsets = offsets_from(map(len, encoded))
    spelling = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    line = 64 + trie.order * (int(np.diff(offsets).max()) + 1)  # bytes of the longest there may be: two numbers, words
    text, gram_words = np.empty(max(_BUFFER, 2 * line + 8), np.uint8), np.empty(trie.order, np.int64)
    grams = _Grams(trie.prefix, trie.word, trie.probability, trie.backoff)
    with write_whole_bytes(path) as stream:
        stream.write(b"\\data\\\n")
        for n in range(1, trie.order + 1):
            stream.write(b"ngram %d=%d\n" % (n, trie.starts[n + 1] - trie.starts[n]))
        for n in range(1, trie.order + 1):
            stream.write(b"\n\\%d-grams:\n" % n)
            start, end = trie.starts[n : n + 2].tolist()
            for first in each(range(start, end, _AT_ONCE), f"write {n}-grams"):
                gram, last = first, min(first + _AT_ONCE, end)
                while gram < last:
                    some = gram_words[:n]
                    gram, used = _format_ngrams(
                        grams, gram, last, some, spelling, offsets, line, int(n < trie.order), text
                    )
                    stream.write(text[:used].data)
        stream.write(b"\n\\end\\\n")


class _Reader:
    """One file being read; `position` is the byte after what was read."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.data = read_bytes(path)
        self.bytes: U1 = np.frombuffer(self.data, np.uint8)
        self.position = 0

    def read(self) -> NgramTrie:
        counts = self._counts()
        words = _Words(word_table(counts[0]), np.zeros((counts[0], 2), np.int64), np.zeros(counts[0], np.int32))
        sections: list[_Section] = []
        for n, count in enumerate(counts, 1):
            self._expect(rf"\{n}-grams:")
            sections.append(self._section(n, count, words))
            if n == 1:
                new = self._specials_first(self._spelled(words.spans), sections[0], words.numbers)
        self._expect("\\end\\")
        sections[-1].backoff[:] = 0  # the longest n-grams are never contexts, whatever the file says
        try:
            return trie_from_rows(
                new, [s.rows for s in sections], [s.probability for s in sections], [s.backoff for s in sections]
            )
        except DuplicateNgramError as error:
            line = self._line_number(sections[error.order - 1].start) + error.row
            gram = " ".join(new[word] for word in sections[error.order - 1].rows[error.row])
            raise InputError(f"the n-gram {gram!r} is given twice", self.path, line) from None

    def _line_number(self, position: int) -> int:
        return self.data.count(b"\n", 0, position) + 1

    def _fail(self, problem: str, position: int, remedy: str = "") -> InputError:
        return InputError(problem, self.path, self._line_number(position), remedy=remedy)

    def _line(self) -> str:
        """Return the next line that is not blank, and move behind it ("" at the end of the file)."""
        while self.position < len(self.data):
            self.start = self.position
            end = self.data.find(b"\n", self.start)
            end = len(self.data) if end < 0 else end
            self.position = end + 1
            if line := self.data[self.start : end].strip():
                return line.decode("utf-8", "replace")
        self.start = len(self.data)
        return ""

    def _expect(self, title: str) -> None:
        line = self._line()
        if line != title:
            shown = repr(line[:60]) if line else "the end of the file"
            raise self._fail(
                f"{shown} where {title!r} was expected", self.start, "do the header's counts fit the sections?"
            )

    def _counts(self) -> list[int]:
        """Read the header up to its last count line."""
        start = re.search(rb"^(\xef\xbb\xbf)?\\data\\[ \t\r]*$", self.data, re.MULTILINE)
        if start is None:
            raise InputError(r"no line \data\: this is not an ARPA file", self.path)
        self.position = start.end()
        counts: list[int] = []
        while True:
            before = self.position
            line = self._line()
            match = re.fullmatch(r"ngram\s+(\d+)\s*=\s*(\d+)", line)
            if match is None:
                break
            order, count = (
                whole_number(text, what, self.path, self._line_number(self.start))
                for text, what in ((match[1], "order"), (match[2], "count"))
            )
            if order != len(counts) + 1:
                raise self._fail(f"count of order {order} where order {len(counts) + 1} was expected", self.start)
            if order > MOST_ORDER:
                raise self._fail(f"n-grams of {order} words; the most is {MOST_ORDER}", self.start)
            counts.append(count)
        if line.startswith("ngram"):
            raise self._fail(f"{shown(line)} is not a count", self.start, "counts look like ngram 1=1000")
        if not counts or counts[0] == 0:
            raise self._fail("the header counts no unigrams", self.start)
        # an n-gram takes a digit, and for each of its words a blank and a letter
        if sum(count * (2 * n + 1) for n, count in enumerate(counts, 1)) > len(self.data):
            raise self._fail(f"the header counts {sum(counts):,} n-grams, more than the file can hold", self.start)
        self.position = before
        return counts

    def _section(self, n: int, count: int, words: _Words) -> _Section:
        rows = np.zeros((count, n), np.int32)
        probability, backoff = np.zeros(count), np.zeros(count)
        if blank := re.compile(rb"(?:[ \t\r]*\n)+").match(self.data, self.position):
            self.position = blank.end()
        start = self.position
        problem, row, position = _parse_section(self.bytes, self.position, n, words, rows, probability, backoff)
        if problem == _SHORT:
            raise self._fail(f"{row:,} {n}-grams where the header counts {count:,}", position, "is the file complete?")
        if problem != _FINE:
            end = self.data.find(b"\n", position)
            text = self.data[position : end if end >= 0 else None].decode("utf-8", "replace").strip()[:80]
            what = {
                _NUMBER: "the log probability is not a finite number",
                _POSITIVE: "the log probability is positive",
                _WORDS: f"fewer than {n} words",
                _STRANGER: "a word that is not among the unigrams",
                _REPEATED: "this word is given twice",
                _BACKOFF: "the backoff is not a finite number",
                _EXTRA: "more fields than probability, n-gram and backoff",
            }[problem]
            raise self._fail(f"{what} in {text!r}", position)
        self.position = position
        return _Section(rows, probability, backoff, start)

    def _spelled(self, spans: I8) -> list[str]:
        """Return the words of the unigrams, in the order of the file."""
        spelled = [self.data[start:end] for start, end in spans.tolist()]
        try:
            words = b"\n".join(spelled).decode("utf-8").split("\n")
        except UnicodeDecodeError as error:
            place = error.object.count(b"\n", 0, error.start)
            raise self._fail(
                f"invalid UTF-8 (byte 0x{error.object[error.start]:02x})",
                int(spans[place, 0]),
                "convert the file to UTF-8",
            ) from None
        return ["<unk>" if word == "<UNK>" and "<unk>" not in words else word for word in words]

    def _specials_first(self, words: list[str], first: _Section, numbers: I4) -> list[str]:
        """Number the words so that <unk>, <s>, </s> are 0, 1, 2; return them in the new order."""
        ordered = dict.fromkeys((*SPECIAL, *words))
        place = {word: index for index, word in enumerate(ordered)}
        numbers[:] = [place[word] for word in words]
        absent = [word for word in SPECIAL if word not in set(words)]
        for word in absent:
            log.warning("%s: no %s among the unigrams; taking log10 p = %g", self.path, word, ABSENT)
        probability, backoff = np.full(len(ordered), ABSENT), np.zeros(len(ordered))
        probability[numbers], backoff[numbers] = first.probability, first.backoff
        first.rows = np.arange(len(ordered), dtype=np.int32)[:, None]
        first.probability, first.backoff = probability, backoff
        return list(ordered)


@kernel_inlined
def _parse_number(data, position):
    """Read a decimal number; return its value, the position behind it, and whether there was one."""
    negative = position < len(data) and data[position] == 45  # -
    start = position + 1 if negative else position
    if start + 1 < len(data) and 48 <= data[start] <= 57 and data[start + 1] == 46:
        # as nearly all: one digit, the point, and up to eight more, which are eight bytes to calculate with together
        eight = eight_bytes(data, start + 2) ^ _ZEROS
        others = (eight + _TO_HIGH | eight) & _HIGH  # the lowest is right: no byte below it is more than 9
        digits = np.int64(8)
        if others != _NONE:
            digits = np.int64((((others & (_NONE - others)) - _ONE & _EACH) * _EACH >> _56) - _ONE)
        end = start + 2 + digits
        if digits > 0 and (end >= len(data) or data[end] == 9 or data[end] == 10 or data[end] == 32):
            eight <<= np.uint64(64 - 8 * digits)
            eight = (eight * _TEN + (eight >> _8)) & _PAIRS
            eight = (eight * _HUNDRED + (eight >> _16)) & _FOURS
            eight = (eight * _MYRIAD + (eight >> _32)) & _ALL
            mantissa = (np.int64(data[start]) - 48) * _TENS[digits] + np.int64(eight)
            value = mantissa / float(_TENS[digits])
            return -value if negative else value, end, True
    return _parse_any_number(data, position)


@kernel
def _parse_any_number(data, position):
    """Do what `_parse_number` does, for numbers of any form."""
    size = len(data)
    sign, value, digits, scale = 1.0, 0.0, 0, 0
    if position < size and (data[position] == 45 or data[position] == 43):  # - +
        if data[position] == 45:
            sign = -1.0
        position += 1
    mantissa: Any = 0
    exponent: Any = 0
    point = False
    while position < size:
        byte = np.int64(data[position])  # uint8 would wrap where this runs uncompiled
        if 48 <= byte <= 57:
            digits += 1
            if mantissa < 100000000000000000:  # more digits do not change a float64
                mantissa = mantissa * 10 + (byte - 48)
                if point:
                    scale -= 1
            elif not point:
                scale += 1
        elif byte == 46 and not point:
            point = True
        else:
            break
        position += 1
    good = digits > 0
    if good and position < size and (data[position] == 101 or data[position] == 69):  # e E
        position += 1
        direction, digits = 1, 0
        if position < size and (data[position] == 45 or data[position] == 43):
            if data[position] == 45:
                direction = -1
            position += 1
        while position < size and 48 <= data[position] <= 57:
            exponent = min(exponent * 10 + (np.int64(data[position]) - 48), 100000)
            digits += 1
            position += 1
        good = digits > 0
        scale += direction * exponent
    value = float(mantissa)
    if scale < 0:
        # two steps: 10^-scale alone may overflow
        value = value / 10.0 ** min(-scale, 300) / 10.0 ** max(0, min(-scale - 300, 300))
    elif scale > 0:
        value = value * 10.0 ** min(scale, 300)
    good = good and value < LARGEST
    # a number ends where the field ends
    if position < size and data[position] != 32 and data[position] != 9 and data[position] != 10:
        good = good and data[position] == 13
    return sign * value, position, good


@kernel
def _skip_blanks(data, position):
    """Return the position of the next byte that is no space, tab or carriage return before a line end."""
    size = len(data)
    while position < size:
        byte = data[position]
        if byte == 32 or byte == 9 or (byte == 13 and (position + 1 == size or data[position + 1] == 10)):
            position += 1
        else:
            break
    return position


@kernel
def _parse_section(data, position, order, words, rows, probability, backoff):
    """Read as many n-grams as `rows` holds.

    The unigram section fills the table of words; the others look words up there.
    Returns (problem, row, position): of the line with the problem, or behind the section.
    """
    size = len(data)
    for row in range(len(rows)):
        line = position
        position = _skip_blanks(data, line)
        if position >= size or data[position] == 10 or data[position] == 92:  # a blank line, a title
            return _SHORT, row, line
        value, position, good = _parse_number(data, position)
        if not good:
            return _NUMBER, row, line
        if value > 0:
            return _POSITIVE, row, line
        probability[row] = value
        for column in range(order):
            start = _skip_blanks(data, position)
            if start == position or start >= size or data[start] == 10:
                return _WORDS, row, line
            position = word_end(data, start, BETWEEN_FIELDS)
            slot = spelled_slot(words.table, words.spans, data, data, start, position)
            word = words.table[slot]["word"]
            if order == 1:
                if word >= 0:
                    return _REPEATED, row, line
                set_spelled(words.table, words.spans, slot, row, data, start, position)
            elif word < 0:
                return _STRANGER, row, line
            else:
                rows[row, column] = words.numbers[word]
        start = _skip_blanks(data, position)
        position = start
        if start < size and data[start] != 10:
            backoff[row], position, good = _parse_number(data, start)
            if not good:
                return _BACKOFF, row, line
            position = _skip_blanks(data, position)
            if position < size and data[position] != 10:
                return _EXTRA, row, line
        position += 1
    return _FINE, len(rows), min(position, size)


@kernel_inlined
def _format_number(value, text, position):
    """Write a number with up to 7 decimals; return the position behind it. Eight bytes behind that are undefined."""
    scaled = np.int64(abs(value) * 1e7 + 0.5)
    if value < 0 and scaled > 0:
        text[position] = 45  # -
        position += 1
    whole, fraction = scaled // 10000000, scaled % 10000000
    unit = 1
    while unit * 10 <= whole:
        unit *= 10
    while unit > 0:
        text[position] = 48 + whole // unit % 10
        position += 1
        unit //= 10
    if fraction > 0:
        text[position] = 46  # .
        position += 1
        digits = _eight_digits(np.uint64(fraction * 10))
        _write_eight(text, position, digits | _ZEROS)
        position += 7
        digits <<= _8
        while digits >> _56 == _NONE:
            digits <<= _8
            position -= 1
    return position


@kernel_inlined
def _eight_digits(number):
    """Return the digits of a number below 100,000,000, one for each byte, the first one lowest."""
    number = number // _MYRIAD | number % _MYRIAD << _32
    hundreds = (number * np.uint64(10486)) >> np.uint64(20) & np.uint64(0x0000007F0000007F)
    number = hundreds | (number - hundreds * _HUNDRED) << _16
    tens = (number * np.uint64(103)) >> np.uint64(10) & np.uint64(0x000F000F000F000F)
    return tens | (number - tens * _TEN) << _8


@kernel_inlined
def _write_eight(text, position, eight):
    """Write eight bytes, the lowest first."""
    place = np.uint64(position)
    text[place] = np.uint8(eight)  # the compiler makes one store of these
    text[place + np.uint64(1)] = np.uint8(eight >> np.uint64(8))
    text[place + np.uint64(2)] = np.uint8(eight >> np.uint64(16))
    text[place + np.uint64(3)] = np.uint8(eight >> np.uint64(24))
    text[place + np.uint64(4)] = np.uint8(eight >> np.uint64(32))
    text[place + np.uint64(5)] = np.uint8(eight >> np.uint64(40))
    text[place + np.uint64(6)] = np.uint8(eight >> np.uint64(48))
    text[place + np.uint64(7)] = np.uint8(eight >> np.uint64(56))


@kernel
def _format_ngrams(grams, gram, last, words, spelling, offsets, line, with_backoff, text):
    """Write n-grams up to number `last` as lines of an ARPA file, as many as there is room for.

    Return the number of the next one, and how many bytes were written. A line takes at most `line` bytes.
    """
    position = 0
    while gram < last and position + line + 8 <= len(text):
        shorter = np.int64(gram)
        for column in range(len(words) - 1, -1, -1):
            words[column] = grams.word[shorter]
            shorter = np.int64(grams.prefix[shorter])
        position = _format_number(grams.probability[gram], text, position)
        text[position] = 9  # a tab, then spaces
        for column in range(len(words)):
            position += 1
            at, end = offsets[words[column]], offsets[words[column] + 1]
            behind = position + end - at
            while at < end:
                _write_eight(text, position, eight_bytes(spelling, at))
                position += 8
                at += 8
            position = behind
            text[position] = 32
        if with_backoff > 0:
            text[position] = 9
            position = _format_number(grams.backoff[gram], text, position + 1)
        text[position] = 10
        position += 1
        gram += 1
    return gram, position
