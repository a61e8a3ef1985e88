"""Pieces of words: the kernels equal the textbook, and nothing is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from camber.corpus import Sentences
from camber.corpus.subwords import Subwords
from tests.naive import byte_pairs

words = st.text(st.sampled_from("abc"), min_size=1, max_size=7)
texts = st.lists(st.lists(words, max_size=8), min_size=1, max_size=6)


def pieces_of(subwords: Subwords, word: str) -> list[str | None]:
    ids, _ = subwords.segment([word])
    return [None if piece < 0 else subwords.pieces.words[piece] for piece in ids.tolist()]


@given(texts, st.integers(0, 12), st.lists(st.text(st.sampled_from("abcd"), min_size=1, max_size=9), max_size=4))
def test_merges_and_segments_are_those_of_the_textbook(text: list[list[str]], merges: int, others: list[str]) -> None:
    counts = Counter(word for sentence in text for word in sentence)
    symbols, pairs = byte_pairs.learn(counts, merges)
    subwords = Subwords.learn(Sentences.encode(text), merges)
    assert subwords.merges.tolist() == [list(pair) for pair in pairs]
    assert list(subwords.symbols) == symbols
    for word in [*counts, *others]:
        assert pieces_of(subwords, word) == byte_pairs.segment(word, symbols, pairs)


def test_runs_are_joined_from_the_left() -> None:
    subwords = Subwords.learn(Sentences.encode([["aaaab", "aaab", "aaaa"]]), merges=1)
    assert subwords.symbols[-1] == "aa"
    assert pieces_of(subwords, "aaaaa") == ["aa", "aa", "a "]
    assert pieces_of(subwords, "aaab") == ["aa", "a", "b "]


def test_a_text_in_pieces_spells_the_same(tmp_path: Path) -> None:
    text = Sentences.encode([["lower", "low"], [], ["lowest", "newest", "low"]])
    subwords = Subwords.learn(text, merges=6)
    subwords.save(tmp_path / "subwords")
    loaded = Subwords.load(tmp_path / "subwords")
    assert loaded.symbols == subwords.symbols
    pieces = loaded.cut(text)
    assert len(pieces) == len(text)
    spelt = ["".join(pieces.vocabulary.decode(sentence)).split() for sentence in pieces]
    assert spelt == [text.vocabulary.decode(sentence) for sentence in text]


def test_characters_beyond_the_basic_plane_and_new_ones() -> None:
    subwords = Subwords.learn(Sentences.encode([["𝔘ni", "𝔘ni", "x"]]))
    assert pieces_of(subwords, "𝔘ni") == ["𝔘ni "]
    assert pieces_of(subwords, "𝔘nξ") == ["𝔘", "n", None]  # "n" and "i " are older, and were joined first
    ids, offsets = subwords.segment([])
    assert len(ids) == 0
    assert offsets.tolist() == [0]


def test_a_text_without_words_has_no_pieces() -> None:
    subwords = Subwords.learn(Sentences.encode([[], []]))
    assert len(subwords.merges) == 0
    assert subwords.cut(Sentences.encode([[]])).offsets.tolist() == [0, 0]
    assert np.array_equal(subwords.alphabet, [])
