"""Equal parts are one row, and indicators are lists: neither changes what a tree can see."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.bend.trees.collapse import collapse
from camber.bend.trees.rows import DENSEST, Rows
from camber.features.feature import Feature
from camber.features.parts import Parts

FEATURES = (
    Feature("p", "probability", "rule"),
    Feature("lm", "number", "context"),
    Feature("is_rare", "indicator", "rule"),
    Feature("is_first", "indicator", "context"),
)
VALUE = st.sampled_from([0.25, 0.5, 1.0, float("nan")])
FLAG = st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, float("nan")])
TABLES = st.lists(st.tuples(VALUE, VALUE, FLAG, FLAG), min_size=1, max_size=60)


@given(TABLES)
def test_parts_have_one_number_if_they_are_equal(table: list[tuple[float, ...]]) -> None:
    parts = Parts.of_dense(FEATURES, table)
    same = collapse(parts)
    keys = [str(row) for row in table]
    assert len(same.firsts) == len(set(keys))
    assert [keys[first] for first in same.firsts[same.numbers]] == keys
    assert same.counts.tolist() == [keys.count(keys[first]) for first in same.firsts]


def test_many_distinct_parts_outgrow_the_first_table() -> None:
    values = np.random.default_rng(1).integers(0, 60, size=(20_000, 2)).astype(float)
    parts = Parts.of_dense((Feature("a", "number", "context"), Feature("b", "number", "context")), values)
    same = collapse(parts)
    assert len(same.firsts) == len(np.unique(values, axis=0))
    assert np.array_equal(values[same.firsts][same.numbers], values)


@given(TABLES)
@settings(max_examples=60)
def test_rows_of_parts_hold_the_codes_of_every_part(table: list[tuple[float, ...]]) -> None:
    parts = Parts.of_dense(FEATURES, table)
    rows = Rows.of_parts(parts)
    assert rows.parts == len(table)
    assert rows.numbers is not None
    for feature, edges in enumerate(rows.edges):
        for edge, threshold in enumerate(edges.tolist()):
            for absent_left in (True, False):
                left = rows.goes_left(feature, edge, absent_left=absent_left)[rows.numbers]
                listed = feature in rows.indicators
                expected = [
                    row[feature] < threshold if row[feature] == row[feature] else absent_left or listed for row in table
                ]
                assert left.tolist() == expected


def test_only_rare_indicators_are_lists() -> None:
    values = np.zeros((100, 2))
    values[:5, 0] = 1.0
    values[: int(200 * DENSEST), 1] = 1.0
    rows = Rows.of_dense((Feature("rare", "indicator"), Feature("often", "indicator")), values)
    assert rows.indicators.tolist() == [0]
    assert rows.on(0).tolist() == [0, 1, 2, 3, 4]
    assert rows.columns.tolist() == [1]
    starts, turned = rows.by_row
    assert np.diff(starts)[:6].tolist() == [1, 1, 1, 1, 1, 0]
    assert turned.tolist() == [0] * 5
