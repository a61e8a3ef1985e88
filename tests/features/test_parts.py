"""Parts: a table of distinct rules and columns of context hold what a plain matrix holds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.errors import CamberError
from camber.features.feature import CONTEXT, COUNT, INDICATOR, NUMBER, PROBABILITY, RULE, Feature, linear_table
from camber.features.parts import HypothesisParts, Parts, distinct_rows

FEATURES = (
    Feature("p", PROBABILITY, RULE),
    Feature("lm", NUMBER, CONTEXT),
    Feature("count", COUNT, RULE, plus=1.0),
    Feature("known", INDICATOR, RULE),
    Feature("orientation", PROBABILITY, CONTEXT, least=-3.0),
)
VALUES = st.sampled_from([0.0, 0.25, 1.0, math.nan])
ROWS = st.lists(st.tuples(*[VALUES] * len(FEATURES)), max_size=12)


def linear(feature: Feature, value: float) -> float:
    """The textbook version: a logarithm of probabilities and counts, the others as they are."""
    if feature.kind in (PROBABILITY, COUNT):
        value += feature.plus if feature.kind == COUNT else 0.0
        return max(math.log(value), feature.least) if value > 0 else feature.least
    return value


@given(ROWS)
def test_a_table_and_columns_hold_what_a_matrix_holds(rows):
    values = np.array(rows, np.float64).reshape(-1, len(FEATURES))
    parts = Parts.of_dense(FEATURES, values, np.arange(len(values)) - 1)
    assert np.array_equal(parts.dense(), values, equal_nan=True)
    assert len(parts.table) == len({tuple(map(str, (row[0], row[2], row[3]))) for row in rows})
    for place, feature in enumerate(FEATURES):
        assert np.array_equal(parts.column(feature.name), values[:, place], equal_nan=True)
    assert parts.rules.tolist() == list(range(-1, len(values) - 1))


@given(st.lists(ROWS, max_size=4))
def test_sums_are_those_of_a_plain_loop_and_what_all_parts_lack_is_absent(hypotheses):
    flat = [row for rows in hypotheses for row in rows]
    parts = Parts.of_dense(FEATURES, np.array(flat).reshape(-1, len(FEATURES)))
    offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in hypotheses], dtype=np.int64)])
    sums = parts.linear_sums(offsets)
    for rows, total in zip(hypotheses, sums, strict=True):
        for place, feature in enumerate(FEATURES):
            there = [linear(feature, row[place]) for row in rows if not math.isnan(row[place])]
            expected = sum(there) if there or not rows else math.nan
            assert total[place] == pytest.approx(expected, nan_ok=True)
    assert np.array_equal(parts.linear_sums(offsets, [3, 1]), sums[:, [3, 1]], equal_nan=True)


@given(ROWS, ROWS)
def test_joining_and_taking_undo_each_other(first, second):
    one, two = (Parts.of_dense(FEATURES, np.array(rows).reshape(-1, len(FEATURES))) for rows in (first, second))
    both = Parts.join([one, two])
    assert np.array_equal(both.dense(), np.concatenate([one.dense(), two.dense()]), equal_nan=True)
    assert np.array_equal(both.take(np.arange(len(one), len(both))).dense(), two.dense(), equal_nan=True)
    assert len(both.table) == len(distinct_rows(both.table)[0])


@given(ROWS, st.permutations(range(len(FEATURES))), st.integers(0, len(FEATURES)))
def test_some_features_are_those_of_a_matrix(rows, order, count):
    values = np.array(rows).reshape(-1, len(FEATURES))
    chosen = order[:count]
    parts = Parts.of_dense(FEATURES, values, np.arange(len(values))).select(chosen)
    assert parts.features == tuple(FEATURES[column] for column in chosen)
    assert np.array_equal(parts.dense(), values[:, chosen], equal_nan=True)
    assert parts.rules.tolist() == list(range(len(values)))
    assert len(parts.table) == len(distinct_rows(parts.table)[0])


@given(ROWS, st.permutations(range(len(FEATURES))), st.integers(0, len(FEATURES)), st.integers(0, len(FEATURES)))
def test_features_are_arranged_by_name_and_those_that_are_not_there_are_absent(rows, order, count, known):
    values = np.array(rows).reshape(-1, len(FEATURES))
    parts = Parts.of_dense(FEATURES[:known], values[:, :known], np.arange(len(values)))
    chosen = order[:count]
    arranged = parts.arranged([FEATURES[column] for column in chosen])
    assert arranged.features == tuple(FEATURES[column] for column in chosen)
    expected = np.where(np.arange(len(FEATURES)) < known, values, np.nan)[:, chosen]
    assert np.array_equal(arranged.dense(), expected, equal_nan=True)
    assert arranged.rules.tolist() == list(range(len(values)))


def test_a_feature_of_another_kind_is_not_taken_for_one_of_the_same_name():
    parts = Parts.of_dense((Feature("p", NUMBER, RULE),), [[-1.0]])
    with pytest.raises(CamberError, match=r"p of parts is a number \(rule\) here, expected a probability \(rule\)"):
        parts.arranged([Feature("p", PROBABILITY, RULE)])


@given(st.lists(st.lists(st.sampled_from([-1, 5]), max_size=4), max_size=6), st.data())
def test_rules_of_some_hypotheses_are_those_of_a_plain_loop(hypotheses, data):
    flat = [rule for rules in hypotheses for rule in rules]
    parts = Parts.of_dense((Feature("place"),), np.arange(len(flat))[:, None], flat)
    offsets = np.concatenate([[0], np.cumsum([len(rules) for rules in hypotheses], dtype=np.int64)])
    places = st.integers(0, len(hypotheses) - 1)
    chosen = data.draw(st.lists(places, max_size=8)) if hypotheses else []
    some = HypothesisParts.of(parts, offsets).take(np.array(chosen, np.int64))
    expected = [[offsets[h] + at for at, rule in enumerate(hypotheses[h]) if rule >= 0] for h in chosen]
    rules, ends = some.of_rules()
    assert len(some) == len(chosen)
    assert some.any_rule() == any(expected)
    assert np.diff(ends).tolist() == [len(places) for places in expected]
    assert rules.column("place").tolist() == [place for places in expected for place in places]


def test_nothing_is_joined_to_nothing():
    empty = Parts.join([], FEATURES)
    assert len(empty) == 0
    assert empty.linear_sums(np.zeros(1, np.int64)).shape == (0, len(FEATURES))


def test_many_parts_of_few_rules_take_room_for_their_context_alone():
    features = (*(Feature(f"f{k}", NUMBER, RULE) for k in range(190)), Feature("lm", NUMBER, CONTEXT))
    table = np.random.default_rng(1).random((10, 190))
    rows = np.arange(10_000) % 10
    parts = Parts(features, table, rows, np.zeros((10_000, 1)), rows)
    assert parts.nbytes < 10_000 * 20
    assert parts.linear_sums(np.array([0, 10_000]))[0, 5] == pytest.approx(1000 * table[:, 5].sum())


def test_one_more_feature_may_be_of_rules_or_of_context():
    parts = Parts.of_dense(FEATURES, np.ones((3, len(FEATURES))))
    for scope in (RULE, CONTEXT):
        more = parts.with_feature(Feature("new", NUMBER, scope), [1.0, 2.0, 2.0])
        assert more.column("new").tolist() == [1.0, 2.0, 2.0]
        assert more.names == (*parts.names, "new")
    with pytest.raises(CamberError, match="no feature 'new'"):
        parts.column("new")


def test_an_indicator_of_0_never_becomes_the_logarithm_of_0():
    values = np.array([[0.0], [1.0]])
    assert linear_table([Feature("known", INDICATOR, RULE)], values).tolist() == values.tolist()
    assert linear_table([Feature("p", PROBABILITY, RULE)], values).tolist() == [[-100.0], [0.0]]


def test_kinds_and_scopes_that_do_not_exist_are_refused():
    with pytest.raises(CamberError, match="kind 'colour'"):
        Feature("p", "colour")
    with pytest.raises(CamberError, match="scope 'here'"):
        Feature("p", NUMBER, "here")


def test_parts_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="outside the 1 rows"):
        Parts(FEATURES[:1], np.ones((1, 1)), np.array([1]), np.ones((1, 0)), np.array([0]))
    with pytest.raises(ValueError, match="context"):
        Parts(FEATURES[:2], np.ones((1, 1)), np.array([0]), np.ones((1, 2)), np.array([0]))


def test_parts_whose_features_come_in_another_order_are_not_joined():
    one = Parts.of_dense(FEATURES, [[0.5, -1.0, 2.0, 1.0, 0.25]])
    other = Parts.of_dense(FEATURES[::-1], [[0.25, 1.0, 2.0, -1.0, 0.5]])
    assert set(one.features) == set(other.features)
    with pytest.raises(CamberError, match="different features"):
        Parts.join([one, other])
    with pytest.raises(CamberError, match="different features"):
        Parts.join([one, one, other])
    assert len(Parts.join([one, one])) == 2
