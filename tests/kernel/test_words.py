"""Words in a text are numbered by first use, also when the table grows on the way."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.kernel.table import capacity_for, empty_table
from camber.kernel.words import NOTHING, rehash, set_word, with_byte, word_slot

WORDS = st.lists(st.one_of(st.sampled_from([b"", b"a", b"ab", b"ba"]), st.binary(max_size=9)), max_size=40)


@settings(deadline=None)
@given(WORDS, st.integers(0, 40))
def test_words_are_numbered_by_first_use(words, grow_at):
    data = np.frombuffer(b"".join(words) + b".", np.uint8)
    slots, spans = empty_table(len(words)), np.zeros((len(words), 3), np.int64)
    numbers: dict[bytes, int] = {}
    start = 0
    for place, word in enumerate(words):
        if place == grow_at:
            slots = np.full(2 * capacity_for(len(words)), -1, np.int64)
            rehash(slots, spans, len(numbers))
        hashed = np.int64(NOTHING)
        for byte in word:
            hashed = with_byte(hashed, byte)
        slot = word_slot(data, start, start + len(word), hashed, slots, spans)
        assert slots[slot] == numbers.get(word, -1)
        if word not in numbers:
            numbers[word] = len(numbers)
            set_word(slots, slot, spans, numbers[word], start, start + len(word), hashed)
        start += len(word)
    spellings = [data[first:last].tobytes() for first, last in spans[: len(numbers), :2]]
    assert spellings == list(numbers)
