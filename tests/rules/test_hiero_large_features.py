"""The large features of hierarchical rules: each is what it says, for sentences old and new, and with added pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from naive import large_features as naive
from toys.large import NEW, OLD, encode, texts, twins

from camber.align.pharaoh import Alignment
from camber.corpus import Bitext
from camber.corpus.inputs import Input
from camber.errors import ModelError, SettingsError
from camber.features.feature import COUNT, INDICATOR, PROBABILITY
from camber.rules.features import GROUPS, LEARNT_NAMES
from camber.rules.hiero import large
from camber.rules.hiero.extraction import HieroExtractor, HieroSettings
from camber.rules.hiero.features import DEFAULT_NAMES, chosen_features
from camber.rules.hiero.index import CorpusIndex
from camber.rules.hiero.large import learn_inventory
from camber.rules.inventory import Inventory
from camber.rules.words import WordKnowledge

FEW = HieroSettings(rule_features="large", frequent_words=2, clusters=3, signatures=4, subword_merges=3)


def rules_of(grammar):
    """Return the rules of a grammar: words as strings and gaps as numbers, and links."""
    rules = []
    for rule in range(len(grammar)):
        sides = []
        for flat, offsets, vocabulary in (
            (grammar.source, grammar.source_offsets, grammar.source_words),
            (grammar.target, grammar.target_offsets, grammar.target_words),
        ):
            symbols = flat[offsets[rule] : offsets[rule + 1]].tolist()
            sides.append([vocabulary.words[symbol] if symbol >= 0 else symbol for symbol in symbols])
        links = grammar.links[grammar.link_offsets[rule] : grammar.link_offsets[rule + 1]].tolist()
        rules.append((*sides, links))
    return rules


def check(grammar, sides, lexicon, names):
    """Compare the features of all rules of a grammar with the twin's."""
    values = grammar.columns.values(np.arange(len(grammar)))
    assert values.shape == (len(grammar), len(grammar.names))
    place = {name: at for at, name in enumerate(grammar.names)}
    for row, (source, target, links) in zip(values, rules_of(grammar), strict=True):
        hits = {name for name in names if row[place[name]] == 1.0}
        assert hits == naive.indicators(source, target, links, sides, names)
        assert all(row[place[name]] == 0.0 for name in set(names) - hits)
        weights = naive.subword_weights(source, target, sides, lexicon)
        for name, weight in zip(("lex_s_given_t_subwords", "lex_t_given_s_subwords"), weights, strict=True):
            assert row[place[name]] == pytest.approx(weight, rel=1e-5)
        assert row[place["source_words"]] == sum(isinstance(symbol, str) for symbol in source)
        assert row[place["target_words"]] == sum(isinstance(symbol, str) for symbol in target)


@pytest.mark.slow
@settings(max_examples=60)
@given(texts(OLD), texts(NEW))
def test_every_feature_is_what_the_textbook_says_of_old_and_added_pairs(old, new):
    bitext, alignment = encode(old)
    index = CorpusIndex.build(bitext, alignment)
    knowledge = WordKnowledge.learn(bitext, FEW)
    inventory = learn_inventory(knowledge, index, FEW)
    sides, lexicon = twins(bitext, knowledge, NEW, FEW.subword_merges)
    plain = HieroExtractor(index)
    counted = [
        (source, target, links, probability)
        for raw in (plain.raw(source) for source, _, _ in old)
        for (source, target, links), probability in zip(rules_of(raw), raw.column("p_coherent").tolist(), strict=True)
    ]
    names = naive.inventory(counted, sides, FEW.frequent_words, FEW.signatures)
    assert list(inventory.names) == names

    added = index.extended(*encode(new))
    for known in (index, added):
        extractor = HieroExtractor(known, settings=FEW, inventory=inventory)
        assert extractor.names == (*FEW.features[: -len(GROUPS)], *names)
        for source, _, _ in old + new:
            check(extractor.grammar(Input(source)), sides, lexicon, names)


@pytest.fixture(scope="module")
def toy():
    bitext, alignment = encode(
        [
            (["das", "haus", "=", "."], ["the", "house", "."], [(1, 1), (3, 2)]),
            (["das", "tor"], ["a", "gate"], [(0, 0), (1, 1)]),
        ]
    )
    index = CorpusIndex.build(bitext, alignment)
    return index, learn_inventory(WordKnowledge.learn(bitext, FEW), index, FEW)


def test_a_rule_by_hand():
    more = HieroSettings(rule_features="large", frequent_words=20, clusters=20, signatures=100)
    bitext = Bitext.encode([["das", "haus", "=", "."]], [["the", "house", "."]])
    index = CorpusIndex.build(bitext, Alignment.from_pairs([[(1, 1), (3, 2)]]))
    inventory = learn_inventory(WordKnowledge.learn(bitext, more), index, more)
    grammar = HieroExtractor(index, settings=more, inventory=inventory).grammar(Input(["das", "haus", "=", "."]))
    rules = [(source, target) for source, target, _ in rules_of(grammar)]
    values = grammar.columns.values(np.array([rules.index(([-1, "=", "."], [-1, "."])), -1]))
    told = dict(zip(grammar.names, values[0].tolist(), strict=True))
    hits = {name for name, value in told.items() if ":" in name and value == 1.0}
    assert hits == {"deletes:%3D", "deletes_like:%3D", "signature:[1]+%3D+.>[1]+."}
    assert (told["source_words"], told["target_words"], told["arity"]) == (2.0, 1.0, 1.0)
    assert np.isnan(values[1]).all()  # glue, or a word that is passed through, is no rule


def test_features_have_the_kinds_that_those_of_phrases_have(toy):
    index, inventory = toy
    names = chosen_features("deletes,inserts,target_words,lex_t_given_s_subwords,source_words")
    extractor = HieroExtractor(index, features=names, inventory=inventory)
    kinds = [(feature.name, feature.kind, feature.plus) for feature in extractor.features]
    assert kinds[:3] == [
        ("target_words", COUNT, 0.0), ("lex_t_given_s_subwords", PROBABILITY, 0.0), ("source_words", COUNT, 0.0),
    ]  # fmt: skip
    assert [kind for _, kind, _ in kinds[3:]] == [INDICATOR] * 4
    assert [name.partition(":")[0] for name, _, _ in kinds[3:]] == ["inserts"] * 2 + ["deletes"] * 2
    every = HieroExtractor(index, settings=FEW, inventory=inventory).grammar(Input(["das", "tor"]))
    some = extractor.grammar(Input(["das", "tor"]))
    rows = np.arange(len(every))
    places = [every.names.index(name) for name in some.names]
    np.testing.assert_array_equal(some.columns.values(rows), every.columns.values(rows)[:, places])


def test_sets_and_names_may_be_mixed():
    assert chosen_features("") == chosen_features("base") == DEFAULT_NAMES
    assert chosen_features("large") == HieroSettings(rule_features="large,base").features
    assert set(DEFAULT_NAMES) | set(LEARNT_NAMES) < set(chosen_features("large"))
    assert len(chosen_features("large", "both")) == len(chosen_features("large")) + 2
    for text, problem in (
        ("large,large", "named twice"), ("count_st,CountEF", "named twice"), ("inserts:the", "is no feature"),
    ):  # fmt: skip
        with pytest.raises(SettingsError, match=problem):
            HieroSettings(rule_features=text)


def test_an_inventory_comes_back_from_files(toy, tmp_path: Path):
    index, inventory = toy
    inventory.save(tmp_path / "large")
    again = Inventory.load(tmp_path / "large")
    one, other = (
        HieroExtractor(index, settings=FEW, inventory=made).grammar(Input(["das", "tor"]))
        for made in (inventory, again)
    )
    assert one.names == other.names
    rows = np.arange(len(one))
    np.testing.assert_array_equal(one.columns.values(rows), other.columns.values(rows))
    np.save(tmp_path / "large" / "source_marks.npy", inventory.source_marks[:, 1:])
    with pytest.raises(ModelError, match=r"source_marks\.npy: shape"):
        Inventory.load(tmp_path / "large")


def test_rules_that_are_kept_keep_what_was_measured(toy, monkeypatch):
    index, inventory = toy
    extractor = HieroExtractor(index, settings=FEW, inventory=inventory).remembering()
    first = extractor.grammar(Input(["das", "haus"]))
    assert extractor.raw(["das", "haus"]).nbytes > HieroExtractor(index).raw(["das", "haus"]).nbytes
    monkeypatch.setattr(extractor, "_measurer", None)
    again = extractor.grammar(Input(["das", "haus"]))
    rows = np.arange(len(first))
    np.testing.assert_array_equal(first.columns.values(rows), again.columns.values(rows))


def test_without_an_inventory_they_are_refused(toy):
    index, _ = toy
    with pytest.raises(SettingsError, match="have no inserts, signatures: train it with --hiero-rule-features"):
        HieroExtractor(index, features=("count_s", "inserts", "signatures"))
    with pytest.raises(SettingsError, match="have no lex_t_given_s_subwords"):
        HieroExtractor(index).raw(["das"]).column("lex_t_given_s_subwords")


def test_signatures_are_counted_in_sentences_from_all_over_the_text(toy, monkeypatch):
    index, _ = toy
    knowledge = WordKnowledge.learn(index.bitext, FEW)
    monkeypatch.setattr(large, "SENTENCES", 1)
    (row,) = large.evenly(len(index), 1)
    alone = learn_inventory(knowledge, index, FEW)
    of_row = HieroExtractor(index, features=("signatures",), inventory=alone).grammar(
        Input(index.source.vocabulary.decode(index.source[row]))
    )
    assert set(of_row.columns.values(np.arange(len(of_row))).sum(axis=0) > 0) == {True}
    monkeypatch.setattr(large, "MOST_RULES", -1)
    assert learn_inventory(knowledge, index, FEW).sizes[-1] == 0  # no rule was looked at
