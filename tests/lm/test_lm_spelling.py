"""Words by their bytes: where they end, which number they have, and lines as numbers."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import spelling

from camber.lm.lines import SpelledWords
from camber.lm.spelling import ANY_BLANK, BETWEEN_FIELDS, IN_LINE, set_spelled, spelled_slot, word_end, word_table

BYTES = st.one_of(
    st.binary(max_size=20), st.lists(st.sampled_from(b"ab \t\r\n\x0b\x1f!\x00\xa0"), max_size=20).map(bytes)
)
#: pieces that make words of up to 30 bytes which differ in one place
WORDS = st.lists(st.sampled_from(["a", "b", "abcdefg", "é", "字", "\x00", "\x1c", "!"]), min_size=1, max_size=5).map(
    "".join
)
BLANKS = st.sampled_from([" ", "  ", "\t", "\r", "\x0b\x0c", "\n"])


def _number(table, spans, data, first, last, number):
    """Return the number of a word, after it was entered with another one if it is new."""
    slot = spelled_slot(table, spans, data, data, first, last)
    if table["word"][slot] < 0:
        set_spelled(table, spans, slot, number, data, first, last)
    return table["word"][slot]


def numbered(words):
    """Return the number of each word: its place, or that of its first occurrence."""
    data = np.frombuffer(b"".join(words) + b"\n", np.uint8)
    ends = np.cumsum([0, *map(len, words)])
    table, spans = word_table(len(words)), np.zeros((len(words), 2), np.int64)
    return [int(_number(table, spans, data, ends[n], ends[n + 1], n)) for n in range(len(words))]


@given(BYTES, st.integers(0, 20))
@settings(max_examples=300, deadline=None)
def test_words_end_where_a_regular_expression_says(data, at):
    array = np.frombuffer(data, np.uint8)
    at = min(at, len(data))
    for ends, blank in (
        (ANY_BLANK, spelling.ANY_BLANK), (IN_LINE, spelling.IN_LINE), (BETWEEN_FIELDS, spelling.IN_ARPA),
    ):  # fmt: skip
        assert word_end(array, at, ends) == spelling.word_end(data, at, blank)


@given(
    st.lists(st.one_of(st.binary(max_size=9), st.binary(min_size=7, max_size=40), WORDS.map(str.encode)), max_size=40)
)
@settings(max_examples=200, deadline=None)
def test_words_have_one_number_exactly_if_their_bytes_are_equal(words):
    assert numbered(words) == [words.index(word) for word in words]


def test_long_words_of_one_key_are_told_apart():
    """The hash of eight bytes can be undone, so that words with one key are easily found."""
    mask = (1 << 64) - 1

    def stirred(key):
        key = key * 0x9E3779B97F4A7C15 & mask
        return key ^ key >> 32

    one, two = (int.from_bytes(word, "little") for word in (b"the same", b"as other"))
    second = int.from_bytes(b" length!", "little") ^ stirred(16 ^ one) ^ stirred(16 ^ two)
    words = [b"the same length!", b"as other" + second.to_bytes(8, "little")]
    assert len(words[1]) == 16
    assert numbered([*words, *words]) == [0, 1, 0, 1]


@given(st.lists(WORDS, max_size=12), st.lists(st.lists(st.tuples(WORDS, BLANKS), max_size=8), max_size=5))
@settings(max_examples=200, deadline=None)
def test_lines_have_the_numbers_of_their_words(words, pieces):
    words = ["<unk>", "<s>", "</s>", *words]
    lines = ["".join(word + blank for word, blank in line) for line in pieces]
    found = [
        numbers[first:last].tolist()
        for numbers, offsets in SpelledWords.of(words).numbered(lines)
        for first, last in itertools.pairwise(offsets)
    ]
    assert found == spelling.numbers(words, lines)
