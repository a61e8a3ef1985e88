"""Bins with soft edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive.soft_bins import memberships

from camber.bend.bend import GLOBAL
from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.bend.soft import REACH, SoftEdges
from camber.errors import CamberError, InputError, SettingsError
from camber.features.feature import Feature
from camber.features.parts import Parts

NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.floats(0.0, 1.0), st.integers(-9, 9).map(float))
SOFTNESS = st.sampled_from([1e-3, 0.1, 0.25, 1.0])


@given(
    st.lists(st.lists(NUMBERS, max_size=30), min_size=1, max_size=3), st.lists(NUMBERS, max_size=10), SOFTNESS,
    st.integers(0, 4),
)  # fmt: skip
@example([[0.0, 5e-324, 1.0]], [0.5], 0.25, 4)
@settings(deadline=None, max_examples=200)
def test_shares_are_those_of_the_sigmoids_and_sum_to_1(features: Any, more: Any, softness: float, bits: int) -> None:
    all_bins = [Bins.make(values, bits) for values in features]
    soft = SoftEdges.of(all_bins, softness)
    probes = np.array([*(value for values in features for value in values), *more, -1e9, 1e9, np.nan])
    table = np.repeat(probes[:, None], len(all_bins), axis=1)
    shares = soft.memberships(table).dense()
    weights = np.random.default_rng(1).standard_normal(shares.shape[1])
    worth = soft.worth(table, weights)
    for row, x in enumerate(probes.tolist()):
        first, total = 0, 0.0
        for bins in all_bins:
            expected = memberships(bins.lows.tolist(), bins.highs.tolist(), softness, REACH, x)
            own = shares[row, first : first + len(bins)]
            np.testing.assert_allclose(own, expected, rtol=1e-6, atol=1e-7)
            assert (own >= 0.0).all()
            assert own.sum() == pytest.approx(float(len(bins) > 0 and x == x), abs=1e-6)
            total += sum(w * share for w, share in zip(weights[first : first + len(bins)], expected, strict=True))
            first += len(bins)
        assert worth[row] == pytest.approx(total, abs=1e-6)


@given(st.lists(NUMBERS, min_size=2, max_size=40, unique=True), SOFTNESS)
@settings(deadline=None)
def test_edges_that_lie_lower_are_passed_first_so_that_no_share_is_negative(values: Any, softness: float) -> None:
    """Sigmoids of any two widths cross; these do so only where both are cut off."""
    bins = Bins.make(values, 3)
    soft = SoftEdges.of([bins], softness)
    gaps = np.subtract.outer(soft.edges, soft.edges)
    steps = np.subtract.outer(soft.widths, soft.widths)
    assert (steps <= np.abs(gaps) / REACH * (1 + 1e-9) + 1e-300).all()
    assert (soft.memberships(np.linspace(-2e6, 2e6, 101)[:, None]).values > 0.0).all()


def test_edges_harden_as_they_get_narrower() -> None:
    values = np.random.default_rng(2).standard_normal(500)
    bins = Bins.make(values, 3)
    hard = np.eye(8)[bins.of(values)]
    away = [np.abs(SoftEdges.of([bins], s).memberships(values[:, None]).dense() - hard).max(1).mean()
            for s in (0.5, 0.25, 0.05, 1e-6)]  # fmt: skip
    assert away == sorted(away, reverse=True)
    assert away[-1] < 1e-6


def test_a_response_with_soft_edges_has_no_steps() -> None:
    values = np.random.default_rng(3).standard_normal(500)
    soft = SoftEdges.of([Bins.make(values, 4)], 0.25)
    worth = soft.worth(np.linspace(-4, 4, 80_001)[:, None], np.random.default_rng(4).standard_normal(16))
    hard = np.ptp(worth) / 20  # hard edges have steps of about the spread of the bins
    assert np.abs(np.diff(worth)).max() < hard


def bend(softness: float = 0.25, kind: str = "lnr", copied: tuple[str, ...] = ("x",)) -> DiscreteBend:
    rng = np.random.default_rng(5)
    bins = {name: Bins.make(rng.standard_normal(300), 3) for name in ("x", "y")}
    return DiscreteBend(tuple(map(Feature, ("x", "flag", "y"))), bins, kind, copied, softness)


def test_scores_are_lines_plus_shares_of_bins() -> None:
    some = bend()
    rng = np.random.default_rng(6)
    weights, table = rng.standard_normal(len(some.names)), rng.standard_normal((50, 3))
    table[3, 0] = table[4, 1] = table[5, 2] = np.nan
    design = some.design(Parts.of_dense(some.inputs, table), np.arange(51))
    assert design.sparse is not None
    assert some.names[:2] == ("x", "flag")
    expected = design.dense @ weights[:2] + design.sparse.dense() @ weights[2:]
    np.testing.assert_allclose(some.rule_worth(table, np.arange(3), weights), expected, atol=1e-6)
    apart = sum(np.nan_to_num(some.worth(name, table[:, k], weights)) for k, name in enumerate(("x", "flag", "y")))
    keep = ~np.isnan(table).any(1)
    np.testing.assert_allclose(np.asarray(apart)[keep], expected[keep], atol=1e-6)
    few = some.rule_worth(table[:, 2:], np.array([2]), weights)  # a table without the other features
    np.testing.assert_allclose(few, np.where(np.isnan(table[:, 2]), 0.0, some.worth("y", table[:, 2], weights)))


def test_soft_edges_are_for_whole_hypotheses() -> None:
    some = bend()
    assert some.scope == GLOBAL
    with pytest.raises(CamberError, match="have several parts"):
        some.counts(Parts.of_dense(some.inputs, np.zeros((4, 3))), np.array([0, 2, 4]))
    with pytest.raises(SettingsError, match="overlapping bins cannot have soft edges"):
        bend(kind="overlap")
    with pytest.raises(SettingsError, match=r"softness 1\.5; expected 0 to 1"):
        bend(softness=1.5)
    ends = np.array([-1.7e308, 1.7e308])
    with pytest.raises(CamberError, match="too far apart for soft edges"):
        SoftEdges.of([Bins(ends, ends, np.ones(2, np.int64))], 0.25)


def test_the_file_of_bins_keeps_the_softness(tmp_path: Path) -> None:
    some = bend(softness=0.3)
    some.write(tmp_path / "bins.tsv")
    again = DiscreteBend.read(tmp_path / "bins.tsv")
    assert (again.softness, again.kind, again.copied) == (0.3, "lnr", ("x",))
    bend(softness=0.0).write(tmp_path / "hard.tsv")
    assert (tmp_path / "hard.tsv").read_text().splitlines()[0] == "# camber bins 1 lnr"
    text = (tmp_path / "bins.tsv").read_text()
    for old, new, told in (
        ("soft 0.3", "soft x", "softness 'x'"),
        ("soft 0.3", "firm 0.3", "is called 'lnr firm 0.3'"),
    ):
        (tmp_path / "bad.tsv").write_text(text.replace(old, new))
        with pytest.raises(InputError, match=told):
            DiscreteBend.read(tmp_path / "bad.tsv")


def test_the_shown_response_is_what_scores_have() -> None:
    some = bend()
    weights = np.random.default_rng(7).standard_normal(len(some.names))
    for response in some.show(dict(zip(some.names, weights.tolist(), strict=True))):
        bins = some.bins[response.feature]
        middles = 0.5 * (bins.lows + bins.highs)
        np.testing.assert_allclose(response.values, some.worth(response.feature, middles, weights))
        assert response.curve is not None
        assert response.to_dict()["curve"] == response.curve.tolist()
        assert (np.diff(response.curve[:, 0]) > 0).all()
        assert response.curve[[0, -1], 0].tolist() == [bins.lows[0], bins.highs[-1]]
        np.testing.assert_allclose(response.curve[:, 1], some.worth(response.feature, response.curve[:, 0], weights))
