"""A text in the numbers of a model's words, as counting takes it.

A tokenised file is numbered by a kernel, without a string for each of its words; what else becomes tokens, in Python.
Both number words alike: the most frequent first, equally frequent ones by their spelling.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from camber.arrays.scratch import Scratch
from camber.arrays.types import I4
from camber.corpus import Sentences
from camber.corpus.bitext import Encoder
from camber.errors import InputError
from camber.files import Lines, decode_lines, read_bytes
from camber.kernel import kernel
from camber.lm.spelling import IN_LINE, set_spelled, spelled_slot, word_end, word_table
from camber.lm.trie import BEGIN, END, SPECIAL, UNKNOWN
from camber.progress import log

#: numbers, or bytes, that are looked at together
_BLOCK = 1 << 20
#: lines that are tokenised together; words that come in them for the first time stay where the others' memory was
_LINES = 500
#: words that there is room for at first
_ROOM = 1 << 12
#: the number of the first word that a text can have
_FIRST = len(SPECIAL)


class NumberedText(NamedTuple):
    """A text in the numbers of a model's words."""

    words: tuple[str, ...]  # <unk>, <s>, </s>, then those of the text
    tokens: I4  # with <s> and </s> around every sentence
    longest: int  # tokens of the longest sentence, the ends not counted


def read_text(path: str | Path, scratch: Scratch, tokenise: Callable[[str], list[str]] | None = None) -> NumberedText:
    """Read a text (plain or .gz) with one sentence per line; without `tokenise`, its words are between blanks."""
    data = read_bytes(path).removeprefix(b"\xef\xbb\xbf")
    if not data:
        raise InputError("the file is empty", path, remedy="give a file with one sentence per line")
    if tokenise is None:
        _check_encoding(data, path)
        return _numbered(data, scratch)
    lines, encoder = Lines(data, path), Encoder()
    for first in range(0, len(lines), _LINES):
        encoder.add([tokenise(line) for line in lines[first : first + _LINES]])
    return numbered_sentences(encoder.sentences(np.arange(len(lines))), scratch)


def numbered_sentences(text: Sentences, scratch: Scratch) -> NumberedText:
    """Return sentences in the numbers of a model's words; those outside of their vocabulary are `<unk>`."""
    counts = np.zeros(len(text.vocabulary) + 1, np.int64)  # one more, which the id -1 of an unknown word finds
    for first in range(0, len(text.ids), _BLOCK):
        counts += np.bincount(text.ids[first : first + _BLOCK] + 1, minlength=len(counts))
    seen = counts[1:] > 0
    for word in SPECIAL:
        if (index := text.vocabulary.id(word)) >= 0 and seen[index]:
            seen[index] = False
            _warn_of(word)
    new = np.append(np.where(seen, np.cumsum(seen) + _FIRST - 1, UNKNOWN), UNKNOWN).astype(np.int32)
    used = (text.vocabulary.words[index] for index in np.flatnonzero(seen))
    tokens: I4 = scratch.empty((len(text.ids) + 2 * len(text),), np.int32)
    _with_ends(text.ids, text.offsets, new, tokens)
    return NumberedText((*SPECIAL, *used), tokens, text.longest)


def _warn_of(word: str) -> None:
    log.warning("lm: the text contains the token %s; it is counted as an unknown word", word)


def _check_encoding(data: bytes, path: str | Path) -> None:
    at = 0
    while at < len(data):
        upto = data.rfind(b"\n", at, at + _BLOCK) + 1 or data.find(b"\n", at) + 1 or len(data)
        try:
            data[at:upto].decode("utf-8")
        except UnicodeDecodeError:
            decode_lines(data, path)  # it says where
        at = upto


def _numbered(data: bytes, scratch: Scratch) -> NumberedText:
    text = np.frombuffer(data, np.uint8)
    size, longest = _sizes(text)
    tokens: I4 = scratch.empty((int(size),), np.int32)
    spans, counts = np.empty((_ROOM, 2), np.int64), np.zeros(_ROOM, np.int64)
    at = place = used = 0
    while at < len(data):
        if used > 0:
            spans, counts = np.concatenate([spans, spans]), np.concatenate([counts, 0 * counts])
        table = word_table(len(spans))
        _enter_again(text, table, spans, int(used))
        at, place, used = _number(text, int(at), int(place), int(used), table, spans, counts, tokens)
    spelled = [data[first:last] for first, last in spans[:used].tolist()]
    by_spelling = np.array(sorted(range(used), key=spelled.__getitem__), np.int64)
    order: list[int] = by_spelling[np.argsort(-counts[by_spelling], kind="stable")].tolist()
    special = {word.encode(): number for number, word in enumerate(SPECIAL)}
    for number in sorted(special[spelled[word]] for word in order if spelled[word] in special):
        _warn_of(SPECIAL[number])
    order = [word for word in order if spelled[word] not in special]
    new = np.zeros(_FIRST + used, np.int32)  # UNKNOWN
    new[:_FIRST] = range(_FIRST)
    new[_FIRST + np.array(order, np.int64)] = np.arange(_FIRST, _FIRST + len(order))
    _renumber(tokens, new)
    words = b"\n".join(spelled[word] for word in order).decode().split("\n") if order else []
    return NumberedText((*SPECIAL, *words), tokens, int(longest))


@kernel
def _sizes(data):
    """Return how many tokens a text has, with the ends of its sentences, and the words of the longest of these."""
    at = tokens = words = longest = 0
    while at < len(data):
        if data[at] == 10:
            tokens += words + 2
            longest = max(longest, words)
            words = 0
            at += 1
        elif data[at] == 32 or data[at] == 9 or data[at] == 13:
            at += 1
        else:
            words += 1
            at = word_end(data, at, IN_LINE)
    if data[len(data) - 1] != 10:
        tokens += words + 2
        longest = max(longest, words)
    return tokens, longest


@kernel
def _number(data, at, place, used, table, spans, counts, tokens):
    """Number words by their first occurrence, from the byte `at` on, and count them.

    Return where that ends, how many tokens there are by then, and how many different words. It ends behind the text, or
    at a word for which there is no room.
    """
    while at < len(data):
        if place == 0 or tokens[place - 1] == END:
            tokens[place] = BEGIN
            place += 1
        if data[at] == 10:
            tokens[place] = END
            place += 1
            at += 1
        elif data[at] == 32 or data[at] == 9 or data[at] == 13:
            at += 1
        else:
            end = word_end(data, at, IN_LINE)
            slot = spelled_slot(table, spans, data, data, at, end)
            word = table[slot]["word"]
            if word < 0:
                if used == len(spans):
                    return at, place, used
                set_spelled(table, spans, slot, used, data, at, end)
                word = used
                used += 1
            counts[word] += 1
            tokens[place] = _FIRST + word
            place += 1
            at = end
    if data[len(data) - 1] != 10:
        tokens[place] = END
    return at, place, used


@kernel
def _enter_again(data, table, spans, words):
    for word in range(words):
        first, last = spans[word, 0], spans[word, 1]
        set_spelled(table, spans, spelled_slot(table, spans, data, data, first, last), word, data, first, last)


@kernel
def _renumber(tokens, new):
    for place in range(len(tokens)):
        tokens[place] = new[np.uint64(tokens[place])]


@kernel
def _with_ends(ids, offsets, new, tokens):
    """Write sentences in other numbers, each between <s> and </s>."""
    at = 0
    for sentence in range(len(offsets) - 1):
        tokens[at] = BEGIN
        at += 1
        for place in range(offsets[sentence], offsets[sentence + 1]):
            word = np.int64(ids[place])
            tokens[at] = new[word if word >= 0 else len(new) - 1]
            at += 1
        tokens[at] = END
        at += 1
