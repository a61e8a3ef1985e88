"""Sparse rows against the matrix that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive import sparse_rows

from camber.arrays.sparse import Counts


@st.composite
def matrices(draw: st.DrawFn, rows: int = 6, width: int | None = None) -> np.ndarray[Any, Any]:
    """Small whole numbers, most of them 0; no rows or no columns, too."""
    height = draw(st.integers(0, rows))
    width = draw(st.integers(0, 5)) if width is None else width
    cells = st.sampled_from([0, 0, 0, 1, 1, 2, 7])
    return np.array(draw(st.lists(cells, min_size=height * width, max_size=height * width)), float).reshape(
        height, width
    )


def cuts(draw: st.DrawFn, size: int) -> list[int]:
    """Offsets of groups of `size` things, empty ones among them."""
    inner = sorted(draw(st.lists(st.integers(0, size), max_size=4)))
    return [0, *inner, size]


@given(matrices())
def test_a_matrix_comes_back(table: np.ndarray[Any, Any]) -> None:
    counts = Counts.of_dense(table)
    assert len(counts) == len(table)
    np.testing.assert_array_equal(counts.dense(), table)
    assert counts.nbytes == counts.offsets.nbytes + counts.columns.nbytes + counts.values.nbytes
    assert np.count_nonzero(table) == len(counts.columns)


@given(st.data())
def test_gathering_counts_what_is_named(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 6))
    keys = data.draw(st.lists(st.integers(-1, width - 1), max_size=20))
    offsets = cuts(data.draw, len(keys))
    given_keys = np.array(keys, np.int64)
    counts = Counts.gather(given_keys, np.array(offsets), width)
    assert counts.dense().tolist() == sparse_rows.gather(keys, offsets, width)
    assert given_keys.tolist() == keys  # the input is left as it was
    for first, last in zip(counts.offsets, counts.offsets[1:], strict=False):
        assert (np.diff(counts.columns[first:last]) > 0).all()


@given(st.data(), st.integers(0, 4))
def test_joining_puts_rows_behind_each_other(data: st.DataObject, width: int) -> None:
    tables = [data.draw(matrices(width=width)) for _ in range(data.draw(st.integers(0, 3)))]
    joined = Counts.join([Counts.of_dense(table) for table in tables], width)
    np.testing.assert_array_equal(joined.dense(), np.concatenate([np.zeros((0, width)), *tables]))


@given(matrices(), st.data())
def test_taking_rows_in_any_order(table: np.ndarray[Any, Any], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=8)) if len(table) else []
    chosen = np.array(rows, np.int64)
    np.testing.assert_array_equal(Counts.of_dense(table).take(chosen).dense(), table[chosen])


@given(matrices(), st.integers(0, 10**6))
def test_products_with_weights_and_their_transpose(table: np.ndarray[Any, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, slopes = rng.standard_normal(table.shape[1]), rng.standard_normal(len(table))
    counts = Counts.of_dense(table)
    np.testing.assert_allclose(counts.products(weights), sparse_rows.products(table.tolist(), weights), atol=1e-12)
    before = rng.standard_normal(len(table))
    scores = before.copy()
    counts.add_products(weights, scores)
    np.testing.assert_allclose(scores - before, counts.products(weights), atol=1e-12)
    expected = sparse_rows.project(table.tolist(), slopes, table.shape[1])
    np.testing.assert_allclose(counts.project(slopes), expected, atol=1e-12)


@given(matrices(), st.data())
def test_differences_of_rows_hold_nothing_that_cancels(table: np.ndarray[Any, Any], data: st.DataObject) -> None:
    pick = st.integers(0, len(table) - 1)
    pairs = data.draw(st.lists(st.tuples(pick, pick), max_size=6)) if len(table) else []
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    differences = Counts.of_dense(table).differences(left, right)
    expected = sparse_rows.differences(table.tolist(), left.tolist(), right.tolist())
    np.testing.assert_array_equal(differences.dense(), np.array(expected).reshape(len(pairs), table.shape[1]))
    assert (differences.values != 0).all()


@given(matrices(rows=8), st.data())
def test_spreads_are_standard_deviations_around_the_means_of_groups(
    table: np.ndarray[Any, Any], data: st.DataObject
) -> None:
    offsets = cuts(data.draw, len(table))
    spreads = Counts.of_dense(table).spreads(np.array(offsets))
    np.testing.assert_allclose(spreads, sparse_rows.spreads(table.tolist(), offsets, table.shape[1]), atol=1e-7)


@given(matrices(rows=8))
def test_fingerprints_tell_rows_apart_and_equal_rows_not(table: np.ndarray[Any, Any]) -> None:
    marks = Counts.of_dense(table).fingerprints()
    assert marks.shape == (len(table), 2)
    for i in range(len(table)):
        for j in range(len(table)):
            assert (marks[i] == marks[j]).all() == (table[i] == table[j]).all()
