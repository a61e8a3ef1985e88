"""Added pairs, laid over a rule store: the same numbers as when all pairs are counted together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.phrase_numbers import number_phrases as slow_numbers

from camber.align.lexical import LexicalTable, lexical_table
from camber.align.pharaoh import Alignment
from camber.corpus import Bitext, Sentences
from camber.errors import ModelError
from camber.rules.hiero.index import CorpusIndex
from camber.rules.numbering import number_phrases
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.overlay import WORTH, Overlay
from camber.rules.phrase.settings import RuleSettings

ALL = RuleSettings(max_phrase_length=4, options_per_phrase=0)


@st.composite
def two_texts(draw):
    """Pairs that are there and pairs that are added, over few words, with any links; only the latter have d and w."""
    texts = []
    for letters, others in (("abc", "xyz"), ("abcd", "xyzw")):
        pairs = []
        for _ in range(draw(st.integers(1, 5))):
            source = draw(st.lists(st.sampled_from(letters), min_size=1, max_size=6))
            target = draw(st.lists(st.sampled_from(others), min_size=1, max_size=6))
            cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
            pairs.append((source, target, sorted(draw(st.sets(st.sampled_from(cells), max_size=8)))))
        texts.append(pairs)
    return texts


def encode(pairs, like: Bitext | None = None):
    sides = [[pair[k] for pair in pairs] for k in range(2)]
    if like is None:
        bitext = Bitext.encode(*sides)
    else:
        known = like.source.vocabulary, like.target.vocabulary
        wide = [
            vocabulary.extended(word for line in side for word in line)
            for vocabulary, side in zip(known, sides, strict=True)
        ]
        bitext = Bitext(*(Sentences.encode(side, words) for side, words in zip(sides, wide, strict=True)))
    return bitext, Alignment.from_pairs([pair[2] for pair in pairs])


def overlaid(old, new, change=lambda store: store, lexicon=True):
    bitext, alignment = encode(old)
    store = change(extract(bitext, alignment, ALL))
    table = lexical_table(bitext, alignment) if lexicon else None
    return Overlay(store, CorpusIndex.build(*encode(new, bitext)), ALL.max_phrase_length, table)


def as_dictionary(store):
    rows = {}
    for phrase in range(store.phrases):
        for rule in store.rules(phrase):
            key = " ".join(store.source(phrase)), " ".join(store.target(rule))
            assert key not in rows
            counts = store.counts[rule, 0], store.source_counts[phrase], store.counts[rule, 1]
            rows[key] = tuple(map(int, counts)), store.scores[rule], store.reordering[rule]
    return rows


@pytest.mark.slow
@settings(max_examples=150)
@given(two_texts())
def test_added_phrases_count_as_if_all_pairs_had_been_extracted_together(texts):
    old, new = texts
    overlay = overlaid(old, new)
    together = as_dictionary(extract(*encode(old + new), ALL))
    known = as_dictionary(overlay.store)
    sentences = [source for source, _, _ in old + new]
    batch = overlay.batch([overlay.source_vocabulary.encode(words) for words in sentences])
    merged = as_dictionary(batch.store)
    assert merged.keys() == together.keys()
    for key, (counts, scores, reordering) in merged.items():
        assert counts == together[key][0]
        np.testing.assert_allclose(scores[[0, 2]], together[key][1][[0, 2]], rtol=1e-5)
        np.testing.assert_allclose(reordering, together[key][2], rtol=1e-4)
        # lexical weights: the store's where it has the rule, else those of all links together
        np.testing.assert_allclose(scores[[1, 3]], (known if key in known else together)[key][1][[1, 3]], rtol=1e-5)


@pytest.mark.slow
@settings(max_examples=60)
@given(two_texts())
def test_every_span_of_a_batch_finds_its_phrase_and_no_other(texts):
    old, new = texts
    overlay = overlaid(old, new)
    together = {source for source, _ in as_dictionary(extract(*encode(old + new), ALL))}
    sentences = [source for source, _, _ in old[:2] + new[:2]] + [["unknown", "a"]]
    batch = overlay.batch([overlay.source_vocabulary.encode(words) for words in sentences])
    at = 0
    for words in sentences:
        for start in range(len(words)):
            for k, phrase in enumerate(batch.spans[at].tolist()):
                text = words[start : start + k + 1]
                if len(text) == k + 1 and " ".join(text) in together:
                    assert batch.store.source(phrase) == text
                else:
                    assert phrase == -1
            at += 1


@pytest.mark.slow
@settings(max_examples=60)
@given(two_texts())
def test_a_rule_is_known_by_the_same_number_in_every_batch(texts):
    old, new = texts
    overlay = overlaid(old, new)
    sentences = [overlay.source_vocabulary.encode(source) for source, _, _ in old + new]
    every = overlay.batch(sentences)
    alone = [overlay.batch([ids]) for ids in sentences]

    def rules(batch):
        owners = np.repeat(np.arange(batch.store.phrases), np.diff(batch.store.rule_offsets))
        return {
            int(number): (batch.store.source(owner), batch.store.target(row), overlay.links_of(int(number)).tolist())
            for row, (number, owner) in enumerate(zip(batch.numbers.tolist(), owners.tolist(), strict=True))
        }

    joined = {}
    for batch in alone:
        joined |= rules(batch)
    assert joined == rules(every)


def test_a_table_without_counts_is_worth_a_few_occurrences():
    def without_counts(store):
        return dataclasses.replace(
            store, counts=np.zeros_like(store.counts), source_counts=np.zeros_like(store.source_counts)
        )

    overlay = overlaid([(["a"], ["x"], [(0, 0)])], [(["a"], ["y"], [(0, 0)])], without_counts, lexicon=False)
    rules = as_dictionary(overlay.batch([overlay.source_vocabulary.encode(["a"])]).store)
    assert rules["a", "x"][1][2] == pytest.approx(WORTH / (WORTH + 1))
    assert rules["a", "y"][1][2] == pytest.approx(1 / (WORTH + 1))
    assert rules["a", "x"][1][0] == rules["a", "y"][1][0] == 1


def test_rules_that_the_added_pairs_do_not_touch_stay_as_they_are():
    overlay = overlaid([(["a"], ["x"], [(0, 0)]), (["b"], ["x"], [(0, 0)])], [(["c"], ["y"], [(0, 0)])])
    rules = as_dictionary(overlay.batch([overlay.source_vocabulary.encode(["a", "b", "c"])]).store)
    for key, (counts, scores, reordering) in as_dictionary(overlay.store).items():
        assert rules[key][0] == counts
        assert rules[key][1].tolist() == scores.tolist()
        assert rules[key][2].tolist() == reordering.tolist()


def test_pairs_of_another_model_are_refused():
    bitext, alignment = encode([(["a"], ["x"], [(0, 0)])])
    with pytest.raises(ModelError, match="other rules"):
        Overlay(extract(bitext, alignment, ALL), CorpusIndex.build(*encode([(["b"], ["x"], [(0, 0)])])))


def test_added_pairs_without_a_single_link_change_nothing():
    overlay = overlaid([(["a"], ["x"], [(0, 0)])], [(["a"], ["y"], [])])
    batch = overlay.batch([overlay.source_vocabulary.encode(["a", "a"])])
    assert as_dictionary(batch.store).keys() == {("a", "x")}


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30))
def test_phrases_are_numbered_by_first_use(phrases):
    offsets = np.concatenate(([0], np.cumsum([len(phrase) for phrase in phrases]))).astype(np.int64)
    ids = np.array([word for phrase in phrases for word in phrase], np.int32)
    numbers, rows, _ = number_phrases(ids, offsets)
    assert numbers.tolist() == slow_numbers([tuple(phrase) for phrase in phrases])
    assert numbers[rows].tolist() == list(range(len(rows)))


@settings(max_examples=60)
@given(two_texts())
def test_lexical_tables_add_up(texts):
    old, new = texts
    first = encode(old)
    both = lexical_table(*first).plus(lexical_table(*encode(new, first[0])))
    expected = lexical_table(*encode(old + new, encode(new, first[0])[0]))
    for field in dataclasses.fields(LexicalTable):
        assert np.array_equal(getattr(both, field.name), getattr(expected, field.name))


def test_a_lexical_table_comes_back_from_its_file(tmp_path):
    table = lexical_table(*encode([(["a", "b"], ["x"], [(0, 0)])]))
    table.save(tmp_path / "lexicon.npy")
    again = LexicalTable.load(tmp_path / "lexicon.npy")
    for field in dataclasses.fields(LexicalTable):
        assert np.array_equal(getattr(again, field.name), getattr(table, field.name))
    (tmp_path / "lexicon.npy").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="lexical table"):
        LexicalTable.load(tmp_path / "lexicon.npy")
