"""Suffix array and indexed corpus: against sorted(), built at once or grown, saved and opened."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext, Sentences
from camber.corpus.inputs import Input
from camber.errors import CamberError, ModelError
from camber.rules.hiero.extraction import HieroExtractor
from camber.rules.hiero.index import CorpusIndex
from camber.rules.hiero.suffix_array import ends_of, find_phrase, sort_suffixes

TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=20), max_size=8)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_suffixes_stand_as_sorted_puts_them(sentences):
    text = Sentences.encode(sentences)
    ids, ends = text.ids.tolist(), ends_of(text)
    wanted = sorted(range(len(ids)), key=lambda at: (ids[at : ends[at]], at))
    assert sort_suffixes(text).tolist() == wanted


def test_many_words_and_long_repeats_are_sorted_too():
    rng = np.random.default_rng(1)
    sentences = [[str(n) for n in rng.integers(0, 5000, 30)] for _ in range(100)]
    sentences += [["a"] * 150, ["a"] * 150, sentences[0], sentences[0][3:]]
    text = Sentences.encode(sentences)
    ids, ends = text.ids.tolist(), ends_of(text)
    wanted = sorted(range(len(ids)), key=lambda at: (ids[at : ends[at]], at))
    assert sort_suffixes(text).tolist() == wanted


@settings(max_examples=80, deadline=None)
@given(TEXTS, st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_a_phrase_is_found_wherever_it_stands(sentences, phrase):
    text = Sentences.encode(sentences)
    order, ends = sort_suffixes(text), ends_of(text)
    low, high = find_phrase(text.ids, ends, order, text.vocabulary.encode(phrase))
    starts = [
        int(text.offsets[s]) + at
        for s, sentence in enumerate(sentences)
        for at in range(len(sentence))
        if sentence[at : at + len(phrase)] == phrase
    ]
    assert sorted(order[low:high].tolist()) == starts


@st.composite
def corpora(draw):
    pairs = []
    for _ in range(draw(st.integers(0, 5))):
        source, target = (draw(st.lists(st.sampled_from(letters), max_size=6)) for letters in ("abcd", "wxyz"))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        pairs.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=6)) if cells else ())))
    return pairs


def encode(pairs, source=None, target=None):
    bitext = Bitext(
        Sentences.encode([s for s, _, _ in pairs], source), Sentences.encode([t for _, t, _ in pairs], target)
    )
    return bitext, Alignment.from_pairs([links for _, _, links in pairs])


def assert_equal(one: CorpusIndex, other: CorpusIndex):
    assert one.source.vocabulary == other.source.vocabulary
    assert one.target.vocabulary == other.target.vocabulary
    for name, left, right in zip(one.columns._fields, one.columns, other.columns, strict=True):
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right), name


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(corpora(), corpora())
def test_an_index_that_grew_is_the_index_of_all_pairs(old, new):
    grown = CorpusIndex.build(*encode(old)).extended(*encode(new))
    whole = CorpusIndex.build(*encode(old + new, grown.source.vocabulary, grown.target.vocabulary))
    assert_equal(grown, whole)
    assert len(grown) == len(old) + len(new)
    words = CorpusIndex.build(*encode(old)).source.vocabulary.words
    assert grown.source.vocabulary.words[: len(words)] == words


def small():
    return CorpusIndex.build(*encode([(["a", "b"], ["x", "y"], [(0, 1), (1, 0)]), (["b"], ["z"], [(0, 0)])]))


def test_an_index_comes_back_from_its_folder(tmp_path):
    index = small()
    index.save(tmp_path / "index")
    opened = CorpusIndex.load(tmp_path / "index")
    assert_equal(index, opened)
    assert isinstance(np.load(tmp_path / "index/suffixes.npy", mmap_mode="r"), np.memmap)
    one, other = (HieroExtractor(i).grammar(Input(["a", "b"])) for i in (index, opened))
    assert len(one) > 0
    assert np.array_equal(one.features, other.features)


def test_a_new_pair_is_used_at_once():
    index = small().extended(*encode([(["new", "b"], ["fresh", "z"], [(0, 0), (1, 1)])]))
    grammar = HieroExtractor(index).grammar(Input(["new"]))
    assert [grammar.target_side(rule) for rule in range(len(grammar))] == [["fresh"]]
    assert index.count(["b"]) == 3
    assert index.count(["new", "b"]) == 1


def test_a_damaged_index_is_refused(tmp_path):
    with pytest.raises(ModelError, match="not an indexed corpus"):
        CorpusIndex.load(tmp_path)
    small().save(tmp_path)
    np.save(tmp_path / "suffixes.npy", np.array([0, 1, 9], np.int32))
    with pytest.raises(ModelError, match=r"suffixes\.npy: numbers from 0 to 9, expected 0 to 2"):
        CorpusIndex.load(tmp_path)
    small().save(tmp_path)
    np.save(tmp_path / "source_offsets.npy", np.array([0, 5, 3], np.int64))
    with pytest.raises(ModelError, match=r"source_offsets\.npy: offsets that fall"):
        CorpusIndex.load(tmp_path)
    (tmp_path / "index.json").write_text('{"format": 99}')
    with pytest.raises(ModelError, match="format 99, expected 1"):
        CorpusIndex.load(tmp_path)


def test_an_alignment_of_another_corpus_is_refused():
    bitext, _ = encode([(["a"], ["x"], [])])
    with pytest.raises(CamberError, match="outside"):
        CorpusIndex.build(bitext, Alignment.from_pairs([[(3, 0)]]))
