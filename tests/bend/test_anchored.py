"""Curves that are anchored to lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from camber.bend.anchored import AnchoredBend
from camber.bend.bins import Bins
from camber.bend.kinds import make_bend
from camber.bend.log import LogBend
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.errors import InputError, SettingsError
from camber.features.feature import CONTEXT, COUNT, NUMBER, PROBABILITY, RULE, Feature, names_of
from camber.features.parts import Parts
from camber.metrics import BLEU
from camber.tune.data import TuningData
from camber.tune.pro import Pro

INPUTS = (
    Feature("p", PROBABILITY, RULE),
    Feature("count", COUNT, RULE, plus=1.0),
    Feature("words", NUMBER, RULE),
    Feature("lm", NUMBER, CONTEXT),
)
LINES = {"p": 0.8, "count": 0.2, "words": -0.5, "lm": 1.0}


def seen_of(rng: np.random.Generator, rules: int = 200) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    columns = {"p": rng.random(rules), "count": rng.integers(1, 50, rules) * 1.0, "words": -rng.integers(1, 4, rules)}
    tallies = {name: np.unique(np.asarray(column, np.float64), return_counts=True) for name, column in columns.items()}
    return {name: (values, often.astype(np.int64)) for name, (values, often) in tallies.items()}


def parts_of(rng: np.random.Generator, parts: int) -> Parts:
    columns = [rng.random(parts), rng.integers(1, 50, parts), -rng.integers(1, 4, parts), rng.normal(size=parts)]
    return Parts.of_dense(INPUTS, np.column_stack(columns).astype(np.float64), np.arange(parts))


@pytest.mark.parametrize("kind", ["anchored", "isotonic"])
def test_it_starts_as_the_very_model_of_logarithms(kind: str) -> None:
    rng = np.random.default_rng(1)
    seen = seen_of(rng)
    old = Weighing(LogBend(INPUTS), LINES)
    bend = make_bend(kind, INPUTS, seen, BendSettings(bits=3))
    assert bend.names[:4] == names_of(INPUTS)
    new = Weighing(bend, bend.start(old, seen))
    parts = parts_of(rng, 40)
    np.testing.assert_allclose(new.scores(parts, np.arange(41)), old.scores(parts, np.arange(41)), atol=1e-12)
    # … and from other bins it starts where their values were worth what they were
    bins = make_bend("bins", INPUTS, seen, BendSettings(bits=2))
    bent = Weighing(bins, bins.start(old, seen))
    again = Weighing(bend, bend.start(bent, seen))
    values = bend.bins["p"].lows[[0, 3, -1]]
    gap = again.worth("p", values) - bent.worth("p", values)
    assert np.abs(gap).max() < 0.7 * np.ptp(bent.worth("p", values))


def list_of(rng: np.random.Generator, bend: AnchoredBend | LogBend, curve: bool) -> TuningData:
    """Lists whose best hypotheses are those with good parts: by the logarithm of p, or by a curve that it is not."""
    sentences, size, each = 60, 12, 4
    hypotheses = sentences * size
    parts = parts_of(rng, hypotheses * each)
    offsets = np.arange(0, len(parts) + 1, each)
    p = parts.dense()[:, 0]
    worth = np.where(p > 0.5, 3.0, -3.0) if curve else np.log(p)
    quality = np.add.reduceat(worth + rng.normal(0.0, 0.3, len(p)), offsets[:-1]).reshape(sentences, size)
    rank = quality.argsort(1).argsort(1).ravel()  # 0 … 11
    statistics = np.zeros((hypotheses, 10))
    statistics[:, :2] = 20
    statistics[:, 6:] = 20 - np.arange(4)  # n-grams of each hypothesis, of which the better ones have more right
    statistics[:, 2:6] = np.maximum(0, rank[:, None] + 3 - np.arange(4))
    design = bend.design(parts, offsets)
    return TuningData(
        bend.names, design.dense, np.arange(0, hypotheses + 1, size), statistics, BLEU("none"), counts=design.sparse
    )


@pytest.mark.parametrize("bits", [2, 5])
def test_held_strongly_it_is_the_classical_model(bits: int) -> None:
    seen = seen_of(np.random.default_rng(3))
    bend = make_bend("anchored", INPUTS, seen, BendSettings(bits=bits))
    bent, line = (
        list_of(np.random.default_rng(4), bend, False),
        list_of(np.random.default_rng(4), LogBend(INPUTS), False),
    )
    start = Weighing(bend, bend.start(Weighing(LogBend(INPUTS), LINES), seen)).weights
    walk = bend.penalty(BendSettings(beta=1e9), bend.names)
    tied = Pro().fit(bent, start, seed=1, regulariser=walk).weights
    classical = Pro().fit(line, start[:4], seed=1).weights
    for first, last in bend.steps.chains.tolist():
        assert np.ptp(tied[4 + first : 4 + last]) < 1e-5
    np.testing.assert_allclose(tied[:4], classical, atol=0.01 * np.abs(classical).max())


def test_it_learns_what_a_line_cannot_and_keeps_its_direction_where_it_must() -> None:
    seen = seen_of(np.random.default_rng(3))
    scores = {}
    line = list_of(np.random.default_rng(4), LogBend(INPUTS), True)
    scores["line"] = Pro().fit(line, np.array([*LINES.values()]), seed=1).metric
    for kind in ("anchored", "isotonic"):
        bend = make_bend(kind, INPUTS, seen, BendSettings(bits=4))
        data = list_of(np.random.default_rng(4), bend, True)
        start = Weighing(bend, bend.start(Weighing(LogBend(INPUTS), LINES), seen)).weights
        held = bend.penalty(BendSettings(beta=0.1), bend.names)
        tuned = Pro().fit(data, start, seed=1, regulariser=held)
        scores[kind] = tuned.metric
        shown = {one.feature: one for one in bend.show(dict(zip(bend.names, tuned.weights.tolist(), strict=True)))}
        assert np.ptp(shown["p"].values) > 0.0
        if kind == "isotonic":
            steps = np.diff(shown["p"].values) * np.sign(tuned.weights[0])
            assert steps.min() > -0.01 * np.ptp(shown["p"].values)
    assert scores["anchored"] > scores["line"] + 1.0
    assert scores["isotonic"] > scores["line"] + 1.0


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    bend = make_bend("isotonic", INPUTS, seen_of(np.random.default_rng(5)), BendSettings(bits=3))
    bend.write(tmp_path / "bins.tsv")
    again = AnchoredBend.read(tmp_path / "bins.tsv", INPUTS)
    assert (again.kind, again.names, again.inputs) == ("isotonic", bend.names, INPUTS)
    weights = np.random.default_rng(6).normal(size=len(bend.names))
    parts = parts_of(np.random.default_rng(7), 30)
    one, two = (Weighing(each, dict(zip(bend.names, weights, strict=True))) for each in (bend, again))
    assert one.scores(parts, np.array([0, 30])).tolist() == two.scores(parts, np.array([0, 30])).tolist()
    (tmp_path / "bins.tsv").write_text((tmp_path / "bins.tsv").read_text().replace("isotonic", "wavy"))
    with pytest.raises(InputError, match="lines and bins is called 'wavy'"):
        AnchoredBend.read(tmp_path / "bins.tsv", INPUTS)


def test_a_feature_with_one_value_is_not_bent_and_wrong_strengths_are_told() -> None:
    bend = make_bend("anchored", INPUTS, {"p": (np.array([0.5]), np.array([9]))}, BendSettings())
    assert (bend.names, bend.width, bend.penalty(BendSettings(), bend.names)) == (names_of(INPUTS), 0, None)
    with pytest.raises(SettingsError, match=r"beta is -0\.5; expected at least 0, or -1"):
        BendSettings(beta=-0.5)
    with pytest.raises(SettingsError, match="bins for q"):
        AnchoredBend(INPUTS, {"q": Bins.make([1.0, 2.0], 1)})
