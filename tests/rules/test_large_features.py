"""The large features of phrase pairs: each is what it says, in a store, in files, and for added pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from naive import large_features as naive
from toys.large import NEW, OLD, encode, texts, twins

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext, Sentences
from camber.corpus.inputs import as_inputs
from camber.errors import ModelError, SettingsError
from camber.features.feature import COUNT, INDICATOR, PROBABILITY
from camber.rules.features import GROUPS
from camber.rules.hiero.index import CorpusIndex
from camber.rules.measuring import Measurer
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.features import SETS, chosen_features
from camber.rules.phrase.large import LargeFeatures
from camber.rules.phrase.overlay import Overlay
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import OverlaidRules, StoredRules
from camber.rules.words import WordKnowledge

FEW = RuleSettings(
    max_phrase_length=4, options_per_phrase=0, rule_features="large", frequent_words=2, clusters=3, signatures=4,
    subword_merges=3,
)  # fmt: skip
NAMES = FEW.features


def pairs_of(store):
    """Return all phrase pairs of a store with links and counts."""
    return [
        (store.source(phrase), store.target(rule), store.links_of(rule).tolist(), int(store.counts[rule, 1]))
        for phrase in range(store.phrases)
        for rule in store.rules(phrase)
    ]


def check(store, columns, features, sides, lexicon, names):
    """Compare the features of all rules with the twin's."""
    values = columns.values(np.arange(len(store)))
    place = {feature.name: at for at, feature in enumerate(features)}
    for row, (source, target, links, count) in zip(values, pairs_of(store), strict=True):
        hits = {name for name in names if row[place[name]] == 1.0}
        assert hits == naive.indicators(source, target, links, sides, names)
        assert all(row[place[name]] == 0.0 for name in set(names) - hits)
        weights = naive.subword_weights(source, target, sides, lexicon)
        for name, weight in zip(("lex_s_given_t_subwords", "lex_t_given_s_subwords"), weights, strict=True):
            assert row[place[name]] == pytest.approx(weight, rel=1e-5)
        assert row[place["source_words"]] == len(source)
        assert row[place["target_words"]] == len(target)
        assert row[place["count_st"]] == count


@pytest.mark.slow
@settings(max_examples=60)
@given(texts(OLD), texts(NEW))
def test_every_feature_is_what_the_textbook_says_of_old_and_added_pairs(old, new):
    bitext, alignment = encode(old)
    store = extract(bitext, alignment, FEW)
    knowledge = WordKnowledge.learn(bitext, FEW)
    large = LargeFeatures.of(knowledge, store, FEW)
    sides, lexicon = twins(bitext, knowledge, NEW, FEW.subword_merges)
    names = naive.inventory(pairs_of(store), sides, FEW.frequent_words, FEW.signatures)
    assert list(large.inventory.names) == names
    rules = StoredRules(store, NAMES, large)
    check(store, rules.batch(as_inputs([["ab"]])).columns, rules.features, sides, lexicon, names)

    source, target = (
        Sentences.encode([pair[side] for pair in new], text.vocabulary.extended(w for pair in new for w in pair[side]))
        for side, text in enumerate((bitext.source, bitext.target))
    )
    index = CorpusIndex.build(Bitext(source, target), Alignment.from_pairs([links for _, _, links in new]))
    added = OverlaidRules(Overlay(store, index, 4), NAMES, large.inventory)
    batch = added.batch(as_inputs([pair[0] for pair in old + new]))
    check(batch.store, batch.columns, added.features, sides, lexicon, names)


@pytest.fixture(scope="module")
def toy():
    pairs = [
        (["das", "haus", "=", "."], ["the", "house", "."], [(1, 1), (3, 2)]),
        (["das", "tor"], ["a", "gate"], [(0, 0), (1, 1)]),
    ]
    bitext, alignment = encode(pairs)
    store = extract(bitext, alignment, FEW)
    return store, LargeFeatures.of(WordKnowledge.learn(bitext, FEW), store, FEW)


def test_a_rule_by_hand():
    more = RuleSettings(frequent_words=20, clusters=20, signatures=100, rule_features="large")
    bitext = Bitext.encode([["das", "haus", "=", "."]], [["the", "house", "."]])
    alignment = Alignment.from_pairs([[(1, 1), (3, 2)]])
    store = extract(bitext, alignment, more)
    large = LargeFeatures.of(WordKnowledge.learn(bitext, more), store, more)
    rules = StoredRules(store, more.features, large)
    sides = [(len(source), len(target)) for source, target, _, _ in pairs_of(store)]
    rule = sides.index((4, 3))
    row = rules.batch(as_inputs([["das"]])).columns.values(np.array([rule, -1]))
    names = [feature.name for feature in rules.features]
    hits = {name for name, value in zip(names, row[0], strict=True) if ":" in name and value == 1.0}
    assert hits == {
        "inserts:the", "inserts_like:the", "deletes:das", "deletes_like:das", "deletes:%3D", "deletes_like:%3D",
        "signature:das+haus+%3D+.>the+house+.",
    }  # fmt: skip
    assert np.isnan(row[1]).all()  # a word that is passed through is no rule


def test_features_have_kinds_and_groups_stand_at_the_end(toy):
    store, large = toy
    rules = StoredRules(store, chosen_features("deletes,inserts,count_st,lex_t_given_s_subwords,source_words"), large)
    kinds = [(feature.name, feature.kind, feature.scope) for feature in rules.features]
    assert kinds[:3] == [
        ("count_st", COUNT, "rule"), ("lex_t_given_s_subwords", PROBABILITY, "rule"), ("source_words", COUNT, "rule"),
    ]  # fmt: skip
    assert [kind for _, kind, _ in kinds[3:]] == [INDICATOR] * 4
    assert [name.partition(":")[0] for name, _, _ in kinds[3:]] == ["inserts"] * 2 + ["deletes"] * 2
    all_rules = StoredRules(store, NAMES, large)
    every, some = (r.batch(as_inputs([["das"]])).columns.values(np.arange(len(store))) for r in (all_rules, rules))
    place = {feature.name: at for at, feature in enumerate(all_rules.features)}
    np.testing.assert_array_equal(some, every[:, [place[feature.name] for feature in rules.features]])


def test_sets_and_names_may_be_mixed():
    assert chosen_features("base") == SETS["base"]
    assert chosen_features("large") == RuleSettings(rule_features="large,base").features
    assert chosen_features("signatures,base")[-1] == "signatures"
    assert set(GROUPS) < set(chosen_features("large"))
    for text, problem in (("large,large", "named twice"), ("inserts:the", "is no feature"), ("", "'nothing' is no")):
        with pytest.raises(SettingsError, match=problem):
            chosen_features(text)


def test_they_come_back_from_files(toy, tmp_path: Path):
    store, large = toy
    large.save(tmp_path / "large")
    again = LargeFeatures.load(tmp_path / "large", store)
    assert again.inventory.names == large.inventory.names
    measurer = Measurer.of(again.inventory, store.source_vocabulary, store.target_vocabulary)
    for one in (large, LargeFeatures.measure(again.inventory, measurer, store)):
        for name in ("numbers", "offsets", "subword_scores"):
            np.testing.assert_array_equal(getattr(one.measured, name), getattr(again.measured, name))
    with pytest.raises(ModelError, match="expected"):
        LargeFeatures.load(tmp_path / "large", store.prune(1).select(np.arange(len(store.prune(1))) < 2))


def test_a_store_without_them_says_so(toy):
    store, _ = toy
    with pytest.raises(SettingsError, match="have no inserts"):
        StoredRules(store, ("count_s", "inserts"))
