"""Kernels as a bend: scores by the definition, files that come back, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import mixtures as naive

from camber.bend.bend import GLOBAL
from camber.bend.kinds import BENDS, GLOBAL_BENDS, bend_class
from camber.bend.mixtures.bend import MixtureBend
from camber.bend.mixtures.mixture import Mixture
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.errors import CamberError, InputError, SettingsError
from camber.features.feature import Feature
from camber.features.parts import Parts


def drawn(seed: int, kernels: int = 5, features: int = 3, *, shared: bool = False) -> tuple[MixtureBend, np.ndarray]:
    """Make a bend that keeps all posteriors, and weights."""
    rng = np.random.default_rng(seed)
    mixture = Mixture(
        rng.normal(size=(kernels, features)),
        rng.uniform(0.2, 2.0, (1 if shared else kernels, features)),
        np.log(rng.dirichlet(np.ones(kernels))),
    )
    inputs = tuple(Feature(f"f{k}") for k in range(features))
    centre, scale = rng.normal(size=features), rng.uniform(0.5, 20.0, features)
    bend = MixtureBend(inputs, mixture, centre, scale, bandwidth=float(rng.uniform(0.3, 2.0)), mass=1.0, most=1000)
    return bend, rng.normal(size=len(bend.names))


def slow_score(bend: MixtureBend, weights: np.ndarray, row: list[float]) -> float:
    """Weigh a hypothesis as one would by hand."""
    total = sum(weight * value for weight, value in zip(weights, row, strict=False) if value == value)
    point = [
        0.0 if value != value else (value - centre) / scale
        for value, centre, scale in zip(row, bend.centre.tolist(), bend.scale.tolist(), strict=True)
    ]
    mixture = bend.kernels
    variances = np.broadcast_to(mixture.variances, mixture.means.shape).tolist()
    shares, _ = naive.posteriors(point, mixture.means.tolist(), variances, mixture.log_priors.tolist(), bend.bandwidth)
    return total + sum(share * weight for share, weight in zip(shares, weights[len(row) :], strict=True))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 4), st.booleans())
def test_scores_are_those_of_the_definition(seed: int, kernels: int, features: int, shared: bool) -> None:
    bend, weights = drawn(seed, kernels, features, shared=shared)
    rng = np.random.default_rng(seed + 1)
    values = bend.centre + bend.scale * rng.normal(size=(20, features))
    values[rng.random(values.shape) < 0.2] = np.nan
    expected = [slow_score(bend, weights, row) for row in values.tolist()]
    found = bend.rule_worth(values, np.arange(features), weights)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)  # posteriors are kept in single precision
    parts = Parts.of_dense(bend.inputs, values)
    weighing = Weighing(bend, dict(zip(bend.names, weights.tolist(), strict=True)))
    np.testing.assert_allclose(weighing.scores(parts, np.arange(21)), found, rtol=1e-9, atol=1e-9)


def test_kernels_see_the_sums_of_parts() -> None:
    bend, weights = drawn(1)
    values = bend.centre + bend.scale * np.random.default_rng(2).normal(size=(6, 3))
    weighing = Weighing(bend, dict(zip(bend.names, weights.tolist(), strict=True)))
    whole = weighing.scores(Parts.of_dense(bend.inputs, values), np.array([0, 2, 6]))
    sums = np.array([values[:2].sum(0), values[2:].sum(0)])
    np.testing.assert_allclose(whole, bend.rule_worth(sums, np.arange(3), weights), rtol=1e-9)


def test_no_unit_matters_to_kernels_nor_where_its_zero_is() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(50, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    inputs = [Feature(name) for name in "abc"]
    one = MixtureBend.without_kernels(inputs, values)
    other = values * [1e-6, 3.0, 1e6] + [5.0, 0.0, -7.0]
    two = MixtureBend.without_kernels(inputs, other)
    np.testing.assert_allclose(one.points(values), two.points(other), atol=1e-9)
    assert (one.points(values)[np.isnan(values)] == 0.0).all()
    np.testing.assert_allclose(np.nanmean((values - one.centre) / one.scale, 0), 0.0, atol=1e-12)


def test_a_feature_that_never_varies_tells_nothing() -> None:
    values = np.column_stack([np.arange(4.0), np.full(4, 0.1), np.full(4, np.nan)])
    bend = MixtureBend.without_kernels([Feature(name) for name in "abc"], values)
    np.testing.assert_allclose(bend.points(values)[:, 1:], 0.0, atol=1e-12)


def test_what_is_cut_off_is_told() -> None:
    bend, weights = drawn(3, kernels=30)
    values = bend.centre + bend.scale * np.random.default_rng(4).normal(size=(10, 3))
    cut = replace(bend, mass=0.7)
    kept = cut.posteriors(values)
    assert (kept.dropped > 0.0).all()
    assert (kept.dropped < 0.3).all()
    np.testing.assert_allclose(kept.sparse.dense().sum(1), 1.0 - kept.dropped, atol=1e-4)
    assert not np.allclose(cut.kernel_worth(values, weights[3:]), bend.kernel_worth(values, weights[3:]), atol=1e-3)
    few = replace(bend, most=2).posteriors(values).sparse
    assert np.diff(few.offsets).max() == 2


@pytest.mark.parametrize("shared", [False, True])
def test_files_come_back_to_the_last_bit(shared: bool, tmp_path: Path) -> None:
    bend, weights = drawn(5, shared=shared)
    bend.write(tmp_path / MixtureBend.FILE)
    again = MixtureBend.read(tmp_path / MixtureBend.FILE)
    values = np.random.default_rng(6).normal(size=(9, 3))
    one, two = (each.rule_worth(values, np.arange(3), weights) for each in (bend, again))
    assert one.tobytes() == two.tobytes()
    assert (again.names, again.bandwidth, again.mass, again.most) == (bend.names, bend.bandwidth, 1.0, 1000)
    nothing = MixtureBend.without_kernels(bend.inputs, values)
    nothing.write(tmp_path / "none.tsv")
    assert MixtureBend.read(tmp_path / "none.tsv").names == ("f0", "f1", "f2")


def broken(folder: Path, what: str) -> None:
    """Damage one of the files of a mixture."""
    file, means = folder / MixtureBend.FILE, folder / "kernels.means.npy"
    lines = file.read_text().splitlines()
    if what == "header":
        lines[0] = "# something else"
    elif what == "bandwidth":
        lines[2] = "# bandwidth wide"
    elif what == "feature":
        lines[7] = "f0\t1.0"
    elif what == "scale":
        lines[7] = "f0\t1.0\t0.0"
    elif what == "shape":
        np.save(means, np.zeros((4, 3)))
    elif what == "finite":
        np.save(means, np.full((5, 3), np.nan))
    elif what == "variance":
        np.save(folder / "kernels.variances.npy", np.zeros((5, 3)))
    elif what == "type":
        np.save(means, np.zeros((5, 3), np.int64))
    elif what == "array":
        means.write_bytes(b"no array")
    else:
        means.unlink()
    file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("header", "no mixture of ours"),
        ("bandwidth", "expected '# bandwidth' and a number"),
        ("feature", "is no feature, its centre and its scale"),
        ("scale", "their scales finite and above 0"),
        ("shape", "expected 5 kernels over 3 features"),
        ("finite", "no mixture: "),
        ("variance", "a variance that is not above 0"),
        ("type", "numbers of type int64"),
        ("array", "cannot be read as an array"),
        ("missing", "cannot be read as an array"),
    ],
)
def test_a_damaged_mixture_is_refused(what: str, told: str, tmp_path: Path) -> None:
    drawn(5)[0].write(tmp_path / MixtureBend.FILE)
    broken(tmp_path, what)
    with pytest.raises(InputError, match=told):
        MixtureBend.read(tmp_path / MixtureBend.FILE)


def test_features_of_another_model_are_refused(tmp_path: Path) -> None:
    drawn(5)[0].write(tmp_path / MixtureBend.FILE)
    with pytest.raises(InputError, match="kernels over f0, f1, f2, but the features are a"):
        MixtureBend.read(tmp_path / MixtureBend.FILE, [Feature("a")])


def test_it_is_global_and_no_decoder_takes_it() -> None:
    bend, weights = drawn(7)
    assert bend.scope == GLOBAL
    assert [*GLOBAL_BENDS] == ["mixture"]
    assert "mixture" not in BENDS
    assert bend_class("mixture") is MixtureBend
    weighing = Weighing(bend, dict(zip(bend.names, weights.tolist(), strict=True)))
    with pytest.raises(CamberError, match="a mixture looks at whole hypotheses: it can re-rank, but not translate"):
        weighing.check_inputs(bend.inputs)
    with pytest.raises(SettingsError, match="kernels are made from n-best lists"):
        MixtureBend.make("mixture", bend.inputs, {}, BendSettings())


def test_a_feature_must_not_be_called_like_a_kernel() -> None:
    bend, _ = drawn(8)
    with pytest.raises(CamberError, match="a feature is called 'kernel2'"):
        replace(bend, inputs=(Feature("kernel2"), *bend.inputs[1:]))


def test_it_tells_which_kernels_count_and_where_they_are() -> None:
    bend, _ = drawn(9, kernels=4)
    weights = dict.fromkeys(bend.names, 1.0) | {"kernel3": 8.0}
    first, second, third, *_ = bend.told(weights)
    assert first.startswith("4 kernels, bandwidth ")
    assert second == "the 4 kernels whose weights differ most from the others, and where they are:"
    assert third.split()[:3] == ["kernel3", "weight", "+8"]
    assert f"f0 {bend.raw_means(np.array([2]))[0, 0]:.4g} " in third
    assert bend.told(dict.fromkeys(bend.names, 0.0))[1] == "all kernels have the weight 0: the model is linear"
