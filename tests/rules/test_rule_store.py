"""The rule store: finding, pruning, significance, files."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from camber.arrays.ragged import offsets_from
from camber.corpus import Vocabulary
from camber.errors import CamberError, ModelError, SettingsError
from camber.formats.moses.phrase_table import read_moses
from camber.kernel import compiled_kernels
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.significance import significance, significant
from camber.rules.phrase.store import RuleStore


def store_of(phrases, options=None):
    """Make a store of source phrases (id tuples) with `options[phrase]` = [(target ids, p(t|s), c(t), c(s,t)), …]."""
    phrases = sorted(set(phrases))
    options = options or {phrase: [((0,), 1.0, 1, 1)] for phrase in phrases}
    rows = [(phrase, *row) for phrase in phrases for row in sorted(options[phrase], key=lambda row: (-row[1], row[0]))]
    count = len(rows)
    lengths = np.array([len(phrase) for phrase in phrases], np.int64)
    scores = np.full((count, 4), 0.5, np.float32)
    scores[:, 2] = [row[2] for row in rows]
    return RuleStore(
        source_ids=np.array([word for phrase in phrases for word in phrase], np.int32),
        source_offsets=offsets_from(lengths),
        rule_offsets=offsets_from(np.array([len(options[phrase]) for phrase in phrases], np.int64)),
        source_counts=np.array([sum(row[3] for row in options[phrase]) for phrase in phrases], np.int64),
        target_ids=np.array([word for row in rows for word in row[1]], np.int32),
        target_offsets=offsets_from(np.array([len(row[1]) for row in rows], np.int64)),
        scores=scores,
        counts=np.array([row[3:] for row in rows], np.int32).reshape(-1, 2),
        reordering=np.full((count, 6), 1 / 3, np.float32),
        links=np.zeros((count, 2), np.uint8),
        link_offsets=np.arange(count + 1),
        source_vocabulary=Vocabulary([f"s{n}" for n in range(9)]),
        target_vocabulary=Vocabulary([f"t{n}" for n in range(9)]),
        max_phrase_length=int(lengths.max(initial=0)),
    )


def same(left, right):
    for item in dataclasses.fields(left):
        a, b = getattr(left, item.name), getattr(right, item.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b), item.name
        else:
            assert a == b


phrases = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), max_size=40)


@settings(max_examples=150, deadline=None)
@given(phrases, st.lists(st.integers(-1, 4), max_size=12))
def test_spans_are_those_that_a_dictionary_finds(known, sentence):
    store = store_of(known)
    index = {phrase: number for number, phrase in enumerate(sorted(set(known)))}
    spans = store.spans(sentence)
    assert spans.shape[0] == len(sentence)
    for start in range(len(sentence)):
        for k in range(spans.shape[1]):
            piece = tuple(sentence[start : start + k + 1])
            assert spans[start, k] == (index.get(piece, -1) if len(piece) == k + 1 else -1)
    for phrase, number in index.items():
        assert store.find(phrase) == number
    assert store.find([]) == -1
    assert store.find([0] * 9) == -1


@settings(max_examples=60, deadline=None)
@given(st.data(), phrases.filter(bool), st.integers(0, 4))
def test_pruning_keeps_the_best_rules_of_every_phrase(data, known, limit):
    row = st.tuples(st.tuples(st.integers(0, 8)), st.sampled_from([0.1, 0.2, 0.5]), st.just(1), st.just(1))
    options = {p: data.draw(st.lists(row, min_size=1, max_size=6, unique_by=lambda r: r[0])) for p in set(known)}
    store = store_of(known, options)
    pruned = store.prune(limit)
    assert pruned.phrases == store.phrases
    for phrase in range(store.phrases):
        best = list(store.rules(phrase))[: limit or None]
        kept = list(pruned.rules(phrase))
        assert [pruned.target(r) for r in kept] == [store.target(r) for r in best]
        assert pruned.scores[kept].tolist() == store.scores[best].tolist()
        assert [pruned.links[pruned.link_offsets[r]].tolist() for r in kept] == [[0, 0]] * len(best)


def test_pruning_to_a_negative_number_is_refused():
    with pytest.raises(CamberError, match="-1"):
        store_of([(1,)]).prune(-1)


def test_selecting_drops_phrases_that_have_no_rule_left():
    store = store_of([(0,), (0, 1, 2), (3,)])
    left = store.select(np.array([True, False, True]))
    assert [left.source(p) for p in range(left.phrases)] == [["s0"], ["s3"]]
    assert left.max_phrase_length == 1
    assert store.select(np.zeros(3, bool)).phrases == 0


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(2, 400))
def test_significance_is_fishers_exact_test(data, total):
    source, target = data.draw(st.integers(1, total)), data.draw(st.integers(1, total))
    together = data.draw(st.integers(max(0, source + target - total), min(source, target)))
    table = [[together, source - together], [target - together, total - source - target + together]]
    wanted = -np.log(stats.fisher_exact(table, alternative="greater")[1])
    assert significance([together], [source], [target], total)[0] == pytest.approx(wanted, rel=1e-6, abs=1e-9)


def test_significance_of_large_counts_does_not_underflow():
    wanted = -stats.hypergeom.logsf(899, 1_000_000, 1000, 1000)
    assert significance([900], [1000], [1000], 1_000_000)[0] == pytest.approx(wanted, rel=1e-9)
    assert wanted > 745  # e^-745 is the smallest float


def test_significance_pruning_stands_on_either_side_of_pairs_seen_once():
    options = {(0,): [((0,), 0.9, 9, 9), ((1,), 0.1, 40, 1)], (1,): [((2,), 1.0, 1, 1)]}
    store = store_of(options, options)
    assert [len(significant(store, name, total=1000)) for name in ("alpha-epsilon", "alpha+epsilon")] == [2, 1]
    assert significant(store, 0.0, total=1000).phrases == 2
    assert len(significant(store, "alpha+epsilon")) <= 1
    once = float(significance([1], [1], [1], 1000)[0])  # at the threshold is enough
    assert [len(significant(store, least, total=1000)) for least in (once, np.nextafter(once, 99.0))] == [2, 1]
    with pytest.raises(CamberError, match=r"'beta'.*alpha-epsilon, alpha\+epsilon"):
        significant(store, "beta")


def test_significance_pruning_needs_counts(tmp_path):
    (tmp_path / "t").write_text("a ||| x ||| 1 1 1 1\n")
    with pytest.raises(CamberError, match="needs the counts"):
        significant(read_moses(tmp_path / "t"))


def test_a_saved_store_loads_the_same_and_memory_mapped(tmp_path):
    store = store_of([(0,), (0, 1), (2, 1)])
    store.save(tmp_path / "rules")
    loaded = RuleStore.load(tmp_path / "rules")
    same(store, loaded)
    assert isinstance(loaded.scores.base, np.memmap)
    assert loaded.find([0, 1]) == store.find([0, 1]) == 1
    assert len(compiled_kernels()["camber.rules.phrase.store.lookup_spans"]) <= 1


def test_an_empty_store_and_one_without_reordering_can_be_saved(tmp_path):
    for number, store in enumerate(
        (store_of([]), dataclasses.replace(store_of([(1,)]), reordering=np.zeros((1, 0), np.float32)))
    ):
        store.save(tmp_path / str(number))
        loaded = RuleStore.load(tmp_path / str(number))
        same(store, loaded)
        assert loaded.find([1]) == number - 1  # the second has it as phrase 0, the first has none


def test_a_damaged_store_is_a_clear_error(tmp_path):
    with pytest.raises(ModelError, match="not a rule store"):
        RuleStore.load(tmp_path)
    store_of([(0,), (1,)]).save(tmp_path)
    np.save(tmp_path / "counts.npy", np.zeros((5, 2), np.int32))
    with pytest.raises(ModelError, match="do not fit together"):
        RuleStore.load(tmp_path)
    np.save(tmp_path / "counts.npy", np.zeros((5, 2)))
    with pytest.raises(ModelError, match="float64"):
        RuleStore.load(tmp_path)
    (tmp_path / "counts.npy").write_bytes(b"broken")
    with pytest.raises(ModelError, match=r"counts\.npy"):
        RuleStore.load(tmp_path)
    (tmp_path / "rules.json").write_text(json.dumps({"format": 99, "max_phrase_length": 7}))
    with pytest.raises(ModelError, match="format 99"):
        RuleStore.load(tmp_path)


def test_a_table_has_the_features_that_are_asked_for():
    store = store_of([(1,), (1, 2)], {(1,): [((0,), 0.75, 5, 3), ((1,), 0.25, 0, 1)], (1, 2): [((2,), 1.0, 2, 0)]})
    assert store.table(SCORE_NAMES) is store.scores
    table = store.table(["count_st", "p_t_given_s", "count_s", "count_t"])
    assert table.dtype == np.float32
    # a count of 0 is one that nobody knows
    nan = np.nan
    np.testing.assert_array_equal(table, np.float32([[3, 0.75, 4, 5], [1, 0.25, 4, nan], [nan, 1.0, nan, 2]]))
    with pytest.raises(SettingsError, match=r"no rule feature is called 'p'; known: p_s_given_t, .*count_st"):
        store.table(["p"])


@pytest.mark.parametrize(
    ("names", "problem"),
    [("count_s,p", "'p' is no feature"), (" , ", "'nothing' is no"), ("count_s,count_s", "named twice")],
)
def test_features_that_do_not_exist_or_come_twice_are_refused(names, problem):
    with pytest.raises(SettingsError, match=problem):
        RuleSettings(rule_features=names)
    assert RuleSettings(rule_features="count_s, lex_t_given_s").features == ("count_s", "lex_t_given_s")
    assert RuleSettings().features == SCORE_NAMES
