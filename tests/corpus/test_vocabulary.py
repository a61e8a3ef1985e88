"""Vocabularies: ids are dense, stable and survive saving; no word is special."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from camber.corpus import Vocabulary

WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n"), min_size=1), unique=True, max_size=30
)


def test_ids_go_by_frequency_then_code_point():
    text = [["b", "a", "c"], ["b", "c"], ["b", "é"]]
    assert Vocabulary.from_text(text).words == ("b", "c", "a", "é")


def test_markers_of_other_tools_are_ordinary_words():
    vocabulary = Vocabulary.from_text([["<s>", "</s>", "<unk>", "|||"]])
    assert sorted(vocabulary.decode(range(4))) == ["</s>", "<s>", "<unk>", "|||"]
    assert vocabulary.id("<s>") >= 0
    assert vocabulary.id("absent") == -1
    assert vocabulary.encode(["<s>", "absent"]).tolist() == [vocabulary.id("<s>"), -1]


@settings(deadline=None)
@given(WORDS)
def test_a_saved_vocabulary_is_the_same_when_it_is_loaded(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("vocabulary") / "words"
    Vocabulary(words).save(path)
    assert Vocabulary.load(path) == Vocabulary(words)


def test_byte_order_marks_and_carriage_returns_inside_words_are_kept(tmp_path):
    vocabulary = Vocabulary(["\ufeffa", "b\r", "b", ""])
    vocabulary.save(tmp_path / "words")
    assert Vocabulary.load(tmp_path / "words") == vocabulary


@settings(deadline=None)
@given(WORDS, WORDS)
@example(["a", "b"], ["b", "c", "b"])
def test_extending_keeps_the_old_ids(old, new):
    vocabulary = Vocabulary(old)
    extended = vocabulary.extended(new)
    assert extended.words[: len(old)] == tuple(old)
    assert set(extended.words) == set(old) | set(new)
    assert extended.encode(extended.words).tolist() == list(range(len(extended.words)))


def test_a_word_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(["a", "a"])
