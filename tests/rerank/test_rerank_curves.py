"""Re-rankers that learn a curve for each feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from toys.lists import with_values

import camber
from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.cli import cli
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.features.feature import Feature, names_of
from camber.features.parts import Parts
from camber.files import write_lines
from camber.model.directory import ModelDirectory
from camber.nbest import NBest
from camber.rerank.binned import Binned, bent_data, in_bins, make_bend, tied
from camber.rerank.learner import Fitting
from camber.rerank.linear import Linear
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.settings import ResponseSettings
from camber.tune import Pro, TuningData
from camber.tune.caution import of_sentences

pytestmark = pytest.mark.slow

BENT = ("bins", "overlap", "lnr", "mnr")
WORDS = [f"w{number}" for number in range(40)]


def shaped(shape: Any, sentences: int = 120, size: int = 10, seed: int = 1, two: bool = False) -> tuple[NBest, Any]:
    """Make a list in which ``shape(x)`` of the feature x is the share of 10 words that are right.

    A flag and the own scores tell nothing. With `two`, a feature y is there and ``shape(x, y)`` counts.
    """
    rng = np.random.default_rng(seed)
    references, texts, rows = [], [], []
    for _ in range(sentences):
        reference = rng.choice(WORDS, 10)
        references.append(" ".join(reference))
        for _ in range(size):
            row = [rng.uniform(-3.0, 3.0), float(rng.integers(0, 2)), *([rng.uniform(-3.0, 3.0)] if two else [])]
            right = int(np.clip(np.round(10 * shape(*row[::2])), 0, 10))
            words = reference.copy()
            words[: 10 - right] = "x"
            texts.append(" ".join(words))
            rows.append(row)
    scores = rng.normal(0.0, 1.0, len(texts))
    names = ("x", "flag", "y") if two else ("x", "flag")
    return NBest.of_hypotheses(names, np.arange(sentences + 1) * size, texts, rows, scores), references


def valley(x: float) -> float:
    """Best at both ends: no line ranks it."""
    return min(1.0, 0.2 + abs(x) / 3.0)


@pytest.mark.parametrize("learner", ["bins", "overlap", "lnr"])
def test_a_valley_is_learnt_that_no_linear_model_can_rank(learner: str) -> None:
    nbest, references = shaped(valley)
    line = evaluate(Reranker(tuner="pro", tokenize="none"), nbest, references, folds=3, trials=200)
    curve = evaluate(Reranker(learner, tokenize="none", bits=3, beta=1.0), nbest, references, folds=3, trials=200)
    assert line.held_out is not None
    assert curve.held_out is not None
    assert curve.held_out.tuned > line.held_out.tuned + 10
    assert curve.held_out.tuned > curve.oracle - 15
    assert curve.bent
    assert line.bent is None


def test_a_response_that_saturates_is_learnt_as_a_monotone_curve() -> None:
    """Below 0 the feature x counts, above only y does: one weight for x is wrong on one of the two sides.

    PRO keeps the pairs that differ most; of so short lists it must keep more to see what decides among the good.
    """
    more = {"samples": 300, "keep": 100}
    nbest, references = shaped(lambda x, y: 0.7 + 0.25 * min(x, 0.0) + 0.1 * y, seed=2, two=True)
    plain = Reranker(tuner="pro", tokenize="none", tuner_settings=more)
    line = evaluate(plain, nbest, references, folds=3, trials=200)
    reranker = Reranker("mnr", tokenize="none", bits=4, beta=100.0, tuner_settings=more)
    curve = evaluate(reranker, nbest, references, folds=3, trials=200)
    assert line.held_out is not None
    assert curve.held_out is not None
    assert curve.held_out.tuned > line.held_out.tuned
    response = next(item for item in reranker.responses() if item.feature == "x")
    assert response.direction == 1
    steps = np.diff(response.values)
    assert steps[:6].mean() > 1.5 * abs(steps[-6:].mean())  # steep where it counts


@pytest.mark.parametrize("tuner", ["pro", "expected-bleu", "likelihood"])
def test_every_tuner_that_can_fits_bins(tuner: str) -> None:
    nbest, references = shaped(valley, sentences=60)
    for learner in ("bins", "mnr"):
        reranker = Reranker(learner, tuner, tokenize="none", bits=3, beta=0.01).fit(nbest, references)
        assert isinstance(reranker.fitted, Binned)
        assert (
            reranker.fitted.bend.width == 16
        )  # 8 of x and 8 of the list's own score; a flag of two values is not bent
        assert np.isfinite(reranker.scores(nbest)).all()


@pytest.mark.parametrize("tuner", ["mert", "mira"])
def test_other_tuners_are_refused_with_a_remedy(tuner: str) -> None:
    nbest, references = shaped(valley, sentences=12)
    with pytest.raises(SettingsError, match=f"{tuner} cannot fit the weights of bins; use pro, expected-bleu"):
        Reranker("mnr", tuner, tokenize="none").fit(nbest, references)
    with pytest.raises(SettingsError, match="bits is 40; expected at most 20"):
        Reranker("bins", tokenize="none", bits=40).fit(nbest, references)


def tuning_data(nbest: NBest, references: Any) -> TuningData:
    return Reranker(tokenize="none").tuning_data(nbest, references)


def test_features_of_two_values_stay_linear_and_all_others_are_there_twice() -> None:
    nbest, references = shaped(valley, sentences=20)
    data = tuning_data(nbest, references)
    bend = make_bend(data, "mnr", 2)
    assert names_of(bend.inputs) == ("x", "flag", "list.score")
    assert bend.names == ("x", "flag", "list.score", *(f"{n}@{k}" for n in ("x", "list.score") for k in range(4)))
    wide = bent_data(data, bend, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(wide.features[:, 2] * 2, data.features[:, 2])
    assert wide.counts is not None
    expected = Bins.make(data.features[:, 0], 2).of(data.features[:, 0])
    np.testing.assert_array_equal(wide.counts.dense()[:, :4].argmax(1), expected)
    assert (wide.counts.dense().sum(1) == 2).all()
    part = of_sentences(wide, np.array([3, 1]))
    assert part.counts is not None
    rows = [*range(30, 40), *range(10, 20)]
    np.testing.assert_array_equal(part.counts.dense(), wide.counts.dense()[rows])


def test_where_nothing_can_bend_the_model_is_the_linear_one() -> None:
    nbest, references = shaped(valley, sentences=20)
    flags = (nbest.hypothesis_features()[:, :1] > 0).astype(float)
    own = (np.arange(nbest.hypotheses) % 2).astype(float)
    few = NBest.of_hypotheses(("flag",), nbest.sentence_offsets, nbest.texts, flags, own)
    bent = Reranker("mnr", tokenize="none").fit(few, references)
    line = Reranker(tuner="pro", tokenize="none").fit(few, references)
    np.testing.assert_allclose(bent.scores(few), line.scores(few))
    assert bent.responses() == []
    assert bent.fitted.step == pytest.approx(line.fitted.step)


@pytest.mark.parametrize("learner", BENT)
def test_a_cautious_fit_falls_back_to_the_linear_model(learner: str) -> None:
    """Quality is a line in the feature, and the list is short: bins can only learn noise."""
    nbest, references = shaped(lambda x: 0.5 + x / 6.0, sentences=30, seed=4)
    bent = Reranker(learner, tokenize="none", bits=6, beta=0.0).fit(nbest, references)
    line = Reranker(tuner="pro", tokenize="none").fit(nbest, references)
    assert isinstance(bent.fitted, Binned)
    if bent.fitted.bent == 0.0:
        assert bent.rerank(nbest).texts == line.rerank(nbest).texts
        assert bent.fitted.step == pytest.approx(line.fitted.step)
    free = Reranker(learner, tokenize="none", bits=6, beta=0.0, cautious=False).fit(nbest, references)
    assert isinstance(free.fitted, Binned)
    assert free.fitted.bent == 1.0


def test_a_list_of_noise_keeps_its_own_order() -> None:
    rng = np.random.default_rng(9)
    nbest, references = shaped(lambda x: rng.uniform(), sentences=60, seed=9)
    ranks = -(np.arange(nbest.hypotheses) % 10).astype(float)
    nbest = NBest.of_hypotheses(nbest.names, nbest.sentence_offsets, nbest.texts, nbest.hypothesis_features(), ranks)
    report = evaluate(Reranker("mnr", tokenize="none"), nbest, references, folds=3, trials=200)
    assert report.held_out is not None
    assert report.held_out.p > 0.05 or report.held_out.difference > 0


@pytest.mark.parametrize("learner", BENT)
def test_a_saved_model_scores_to_the_last_bit(learner: str, tmp_path: Path) -> None:
    nbest, references = shaped(valley, sentences=40)
    reranker = Reranker(learner, tokenize="none", bits=3, beta=2.0, gamma=1.0).fit(nbest, references)
    reranker.save(tmp_path / "m")
    again = camber.Reranker.load(tmp_path / "m")
    assert (again.learner, again.tuner, again.bits, again.beta, again.gamma) == (learner, "pro", 3, 2.0, 1.0)
    assert again.scores(nbest).tobytes() == reranker.scores(nbest).tobytes()
    assert isinstance(again.fitted, Binned)
    assert isinstance(reranker.fitted, Binned)
    assert (again.fitted.step, again.fitted.bent) == (reranker.fitted.step, reranker.fitted.bent)
    again.save(tmp_path / "n")
    assert (tmp_path / "m" / "bins.tsv").read_bytes() == (tmp_path / "n" / "bins.tsv").read_bytes()


def test_scores_are_the_line_plus_the_bin_and_that_is_what_is_drawn(tmp_path: Path) -> None:
    nbest, references = shaped(valley, sentences=60)
    reranker = Reranker("lnr", tokenize="none", bits=3, beta=1.0).fit(nbest, references)
    fitted = reranker.fitted
    assert isinstance(fitted, Binned)
    weights = dict(zip(fitted.bend.names, fitted.weights, strict=True))
    bins = fitted.bend.bins
    expected = np.zeros(nbest.hypotheses)
    assert nbest.scores is not None
    for name, column in (
        ("x", nbest.hypothesis_features()[:, 0]),
        ("flag", nbest.hypothesis_features()[:, 1]),
        ("list.score", nbest.scores),
    ):
        expected += weights[name] * column
        if name in bins:
            expected += [weights[f"{name}@{hit}"] for hit in bins[name].of(column)]
    np.testing.assert_allclose(reranker.scores(nbest), expected, rtol=1e-9, atol=1e-9)
    reranker.save(tmp_path / "m")
    drawn = camber.curves(tmp_path / "m", tmp_path / "curves.html", ["x"])
    middle = 0.5 * (bins["x"].lows + bins["x"].highs)
    whole = [weights["x"] * middle[hit] + weights[f"x@{hit}"] for hit in range(8)]
    np.testing.assert_allclose(drawn[0].values, whole)
    assert drawn[0].values[[0, -1]].min() > drawn[0].values[3:5].max()  # the valley
    assert "bin 1 of 8" in (tmp_path / "curves.html").read_text("utf-8")
    Reranker(tuner="pro", tokenize="none").fit(nbest, references).save(tmp_path / "line")
    with pytest.raises(CamberError, match="camber rerank fit --learner mnr"):
        camber.curves(tmp_path / "line", tmp_path / "none.html")


SHAPES = ({"softness": 0.25}, {"lines": False}, {"lines": False, "softness": 0.25})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("learner", ["bins", "lnr", "mnr"])
def test_bins_with_soft_edges_or_without_lines_learn_a_valley_and_are_kept(
    shape: dict[str, Any], learner: str, tmp_path: Path
) -> None:
    nbest, references = shaped(valley, sentences=60)
    reranker = Reranker(learner, tokenize="none", bits=3, beta=1.0, **shape)
    report = evaluate(reranker, nbest, references, folds=3, trials=200)
    assert report.held_out is not None
    assert report.held_out.tuned > report.oracle - 15
    assert report.bent
    reranker.save(tmp_path / "m")
    again = Reranker.load(tmp_path / "m")
    assert (again.softness, again.lines) == (reranker.softness, reranker.lines)
    assert again.scores(nbest).tobytes() == reranker.scores(nbest).tobytes()
    drawn = camber.curves(tmp_path / "m", tmp_path / "curves.svg", ["x"])[0]
    assert (drawn.curve is not None) == (reranker.softness > 0)
    assert drawn.values[[0, -1]].min() > drawn.values[3:5].max()


@pytest.mark.parametrize("learner", ["bins", "overlap", "lnr"])
@pytest.mark.parametrize("softness", [0.0, 0.25])
def test_a_linear_model_in_bins_scores_nearly_the_same(learner: str, softness: float) -> None:
    """The bound: weight times half the width of the bin, or the mean distance from the middles of soft ones."""
    if softness and learner == "overlap":
        return
    nbest, references = shaped(valley, sentences=60)
    data = tuning_data(nbest, references)
    for bits in (2, 4, 6):
        bend = make_bend(data, learner, bits, softness)
        line = np.concatenate([[0.7, -0.3, 1.4], np.zeros(bend.width)])
        converted = in_bins(bend, line)
        assert converted[:3].tolist() == [0.0, -0.3, 0.0]  # a flag stays as it is
        table = data.present()
        before, after = (bend.rule_worth(table, np.arange(3), weights) for weights in (line, converted))
        counts = bend.counts(Parts.of_dense(bend.inputs, table), np.arange(len(table) + 1)).dense()
        bound, first = np.zeros(len(table)), 0
        for name, column in (("x", 0), ("list.score", 2)):
            bins = bend.bins[name]
            shares = counts[:, first : first + len(bins)] / (3.0 if learner == "overlap" else 1.0)
            middles = 0.5 * (bins.lows + bins.highs)
            far = (shares * np.abs(table[:, column, None] - middles)).sum(1)
            if learner != "overlap" and not softness:
                assert (far <= 0.5 * (bins.highs - bins.lows)[bins.of(table[:, column])] + 1e-12).all()
            bound += abs(line[column]) * far
            first += len(bins)
        if learner == "overlap":  # the outermost bins have one neighbour: only the others are told of here
            inner = (counts.sum(1) == 6.0) & ~counts[:, [0, -1, len(bins), len(bins) - 1]].any(1)
            before, after, bound = before[inner], after[inner], bound[inner]
        assert (np.abs(after - before) <= bound + 1e-6).all()


def test_bins_without_lines_start_from_the_linear_model_and_caution_may_return_to_it() -> None:
    nbest, references = shaped(lambda x: 0.5 + x / 6.0, sentences=30, seed=4)
    line = Reranker(tuner="pro", tokenize="none").fit(nbest, references)
    free = Reranker("bins", tokenize="none", lines=False, cautious=False).fit(nbest, references)
    assert isinstance(free.fitted, Binned)
    weights = dict(zip(free.fitted.bend.names, free.fitted.weights, strict=True))
    assert weights["x"] == weights["list.score"] == 0.0
    assert weights["flag"] != 0.0
    careful = Reranker("bins", tokenize="none", lines=False, bits=6).fit(nbest, references)
    assert careful.fitted.bent == 0.0
    assert careful.rerank(nbest).texts == line.rerank(nbest).texts


def test_one_thread_and_two_give_the_same_bytes() -> None:
    nbest, references = shaped(valley, sentences=40)
    one, two = (Reranker("mnr", tokenize="none", engine=Threads(threads)).fit(nbest, references) for threads in (1, 2))
    assert one.fitted.weights.tobytes() == two.fitted.weights.tobytes()


def test_an_outside_score_can_be_fitted_with_curves() -> None:
    nbest, _ = shaped(valley, sentences=60)
    outside = np.array([valley(x) for x in nbest.hypothesis_features()[:, 0]]) - 2.0
    nbest = nbest.with_extra("comet", outside)
    reranker = Reranker("bins", metric="extra:comet", bits=3).fit(nbest)
    assert isinstance(reranker.fitted, Binned)
    assert reranker.fitted.bent > 0
    chosen = nbest.best(reranker.scores(nbest))
    assert outside[chosen].mean() > outside.reshape(60, 10).max(1).mean() - 0.15


def test_the_command_fits_applies_tells_and_draws(tmp_path: Path) -> None:
    nbest, references = shaped(valley, sentences=40)
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)

    def run(*words: Any) -> Any:
        done = CliRunner().invoke(cli, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.stdout

    shown = run(
        "rerank", "fit", "--nbest", tmp_path / "list.moses", "--ref", tmp_path / "ref", "--tokenize", "none",
        "--learner", "mnr", "--bits", 3, "--beta", 10, "--gamma", 1.5, "--model", tmp_path / "m",
    )  # fmt: skip
    assert "bent responses: " in shown
    best = run("rerank", "apply", tmp_path / "m", "--nbest", tmp_path / "list.moses").splitlines()
    reranker = Reranker.load(tmp_path / "m")
    assert best == reranker.rerank(NBest.read(tmp_path / "list.moses")).best_texts()
    told = run("info", tmp_path / "m", "--verify")
    assert "mnr" in told
    assert "bins" in told
    run("curves", tmp_path / "m", "--out", tmp_path / "c.svg")
    assert "<svg" in (tmp_path / "c.svg").read_text("utf-8")
    wrong = CliRunner().invoke(
        cli,
        ["rerank", "fit", "--nbest", str(tmp_path / "list.moses"), "--ref", str(tmp_path / "ref"), "--learner", "mnr",
         "--tuner", "mert", "--model", str(tmp_path / "x")],
    )  # fmt: skip
    assert wrong.exit_code != 0
    assert not (tmp_path / "x").exists()


@given(st.integers(0, 10**6))
def test_the_penalty_on_whole_responses_has_the_gradient_of_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bins = {"a": Bins.make(rng.standard_normal(30), 3), "c": Bins.make(rng.standard_normal(30), 2)}
    bend = DiscreteBend(tuple(map(Feature, "abc")), bins, "mnr", ("a", "c"))
    penalty = tied(bend, np.array([0.5, 1.0, 2.0]), ResponseSettings(beta=3.0, gamma=1.5))
    assert penalty is not None
    point = rng.standard_normal(3 + 8 + 4)
    value, gradient = penalty.value_and_gradient(point)
    assert value >= 0
    for axis, expected in zip(np.eye(len(point)) * 1e-6, gradient, strict=True):
        change = penalty.value_and_gradient(point + axis)[0] - penalty.value_and_gradient(point - axis)[0]
        assert change / 2e-6 == pytest.approx(expected, rel=1e-4, abs=1e-5)
    # a response that is flat costs nothing
    flat = np.concatenate([[0.0, 7.0, 0.0], np.full(12, 0.3)])
    assert penalty.value_and_gradient(flat)[0] == pytest.approx(0.0, abs=1e-20)


def test_the_linear_learner_goes_as_far_as_it_is_told() -> None:
    nbest, references = shaped(lambda x: 0.5 + x / 6.0, sentences=20)
    data = tuning_data(nbest, references)
    own = data.names.index("list.score")
    full, half = (Linear.fit(data, Fitting("linear", own, "pro"), step) for step in (1.0, 0.5))
    start = np.zeros(3)
    start[own] = 1.0
    np.testing.assert_allclose(half.weights * half.scales, 0.5 * start + 0.5 * full.weights * full.scales)


def test_a_feature_that_lines_leave_out_hits_no_bin_where_it_is_absent(tmp_path: Path) -> None:
    """A rare penalty: hypotheses without it lie at no end of its curve, though 0 is larger than all its values."""
    nbest, references = shaped(valley, sentences=30)
    rare = np.where(np.arange(nbest.hypotheses) % 3 == 0, -1.0 - np.arange(nbest.hypotheses) % 4, 0.0)
    wide = nbest.with_feature("rare", np.where(rare == 0.0, np.nan, rare))
    data = tuning_data(wide, references)
    bend = make_bend(data, "bins", 4)
    assert bend.bins["rare"].highs.tolist() == [-4.0, -3.0, -2.0, -1.0]  # not 0
    dense = tuning_data(nbest.with_feature("rare", rare), references)
    assert make_bend(dense, "bins", 4).bins["rare"].highs[-1] == 0.0  # a dense feature has that value
    counts = bent_data(data, bend, np.ones(len(data.names))).counts
    assert counts is not None
    first = list(bend.bins).index("rare")
    hits = counts.dense()[:, slice(*bend.chains[first])]
    np.testing.assert_array_equal(hits.sum(1), rare != 0.0)
    np.testing.assert_array_equal(hits[rare != 0.0].argmax(1), bend.bins["rare"].of(rare[rare != 0.0]))

    # the fitted model keeps to it, also when it is opened again or a list lacks the feature altogether
    reranker = Reranker("bins", tokenize="none", bits=3, cautious=False).fit(wide, references)
    reranker.save(tmp_path / "m")
    again = camber.Reranker.load(tmp_path / "m")
    assert again.scores(wide).tobytes() == reranker.scores(wide).tobytes()
    fitted = reranker.fitted
    assert isinstance(fitted, Binned)
    assert ModelDirectory.open(tmp_path / "m").settings["rerank"]["sparse"] == ["rare"]
    without = reranker.scores(nbest)
    kept = rare == 0.0
    np.testing.assert_allclose(without[kept], reranker.scores(wide)[kept], atol=1e-12)
    weights = dict(zip(fitted.bend.names, fitted.weights, strict=True))
    row = int(np.flatnonzero(rare == -2.0)[0])
    worth = weights[f"rare@{fitted.bend.bins['rare'].of(-2.0)}"] - 2.0 * weights["rare"]
    assert reranker.scores(wide)[row] - without[row] == pytest.approx(worth)


def test_a_feature_that_only_a_later_list_leaves_out_is_absent_there() -> None:
    nbest, references = shaped(valley, sentences=30)
    reranker = Reranker("bins", tokenize="none", bits=3, cautious=False).fit(nbest, references)
    table = nbest.hypothesis_features()
    table[5, 0] = 0.0
    dense = with_values(nbest, table.copy())
    table[5, 0] = np.nan
    later = with_values(nbest, table)
    fitted = reranker.fitted
    assert isinstance(fitted, Binned)
    zero = fitted.weights[list(fitted.bend.names).index(f"x@{fitted.bend.bins['x'].of(0.0)}")]
    assert zero != 0.0
    difference = reranker.scores(dense) - reranker.scores(later)
    assert difference[5] == pytest.approx(zero)
    assert np.delete(difference, 5).any() == np.False_


def test_ties_of_responses_are_known_to_the_descent() -> None:
    """A stiff monotone penalty is minimised in the steps that it has, only if its chains are seen."""
    nbest, references = shaped(lambda x: 0.5 + x / 6.0, sentences=40)
    data = tuning_data(nbest, references)
    bend = make_bend(data, "mnr", 6)
    scales = data.scales()
    penalty = tied(bend, scales, ResponseSettings(bits=6, beta=1e5))
    assert penalty is not None
    shown = [(tie.first, tie.first + tie.bands.shape[1], tie.bands.max()) for tie in penalty.ties()]
    assert shown == [(first, last, 3e5) for first, last in (bend.chains + len(bend.linear)).tolist()]
    wide = bent_data(data, bend, scales)
    start = np.concatenate([np.eye(len(data.names))[-1], np.zeros(bend.width)])
    fits = [Pro(steps=steps).fit(wide, start, seed=1, regulariser=penalty).objective for steps in (1, 5000)]
    assert fits[0] < 1.02 * fits[1]  # the thousand steps that tied bins have at least are enough
