"""Re-rankers that learn kernels in the space of the features."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from naive import mixtures as naive
from toys.islands import island, nowhere
from toys.lists import with_values

from camber.cli import cli
from camber.engine import Threads
from camber.errors import CamberError, InputError, SettingsError, TuneError
from camber.files import write_lines
from camber.model.directory import ModelDirectory
from camber.nbest import NBest
from camber.rerank.linear import Linear
from camber.rerank.mixture import Mixed, Prior
from camber.rerank.own_order import unless_worse
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker

PERCEPTRON: dict[str, Any] = {"kernel_kind": "perceptron", "kernels": 400}


def mixed(reranker: Reranker) -> Mixed:
    assert isinstance(reranker.fitted, Mixed)
    return reranker.fitted


def made(**more: Any) -> Reranker:
    return Reranker("mixture", tokenize="none", **more)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{"kernels": 64}, PERCEPTRON, {"kernels": 8, "reestimate": 3}])
def test_an_island_is_learnt_that_no_linear_model_can_rank(kind: dict[str, Any]) -> None:
    nbest, references = island()
    line = evaluate(Reranker(tokenize="none"), nbest, references, folds=3, trials=100)
    kernels = evaluate(made(**kind), nbest, references, folds=3, trials=100)
    assert line.held_out is not None
    assert kernels.held_out is not None
    assert kernels.held_out.tuned > line.held_out.tuned + 12
    assert kernels.held_out.tuned > kernels.oracle - 10
    assert kernels.bent


@pytest.mark.parametrize("kind", [{"kernels": 32}, PERCEPTRON])
def test_what_was_learnt_ranks_another_list(kind: dict[str, Any]) -> None:
    reranker = made(bandwidth="0.5", **kind).fit(*island(90))
    other, references = island(seed=2)
    right = [
        sum(a == b for a, b in zip(best.split(), reference.split(), strict=True))
        for best, reference in zip(reranker.rerank(other).best_texts(), references, strict=True)
    ]
    assert np.mean(right) > 6.3  # nine words of a hypothesis on the island, which 1 sentence in 3 lacks, four of others
    assert mixed(reranker).bent


def test_the_score_is_that_of_a_slow_twin() -> None:
    nbest, references = island(40)
    reranker = made(kernels=8, mass=1.0, bandwidth="0.7", cautious=False).fit(nbest, references)
    fitted = mixed(reranker)
    table = reranker.with_features(nbest).hypothesis_features()
    mixture = fitted.bend.kernels
    expected = []
    for row, point in zip(table.tolist(), ((table - table.mean(0)) / table.std(0)).tolist(), strict=True):
        shares, _ = naive.posteriors(
            point, mixture.means.tolist(), mixture.variances.tolist(), mixture.log_priors.tolist(), 0.7
        )
        expected.append(np.dot(fitted.weights[:3], row) + np.dot(fitted.weights[3:], shares))
    np.testing.assert_allclose(fitted.scores(table), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("leave_out", [True, False])
def test_a_best_hypothesis_recognises_itself_only_if_its_kernel_is_left_in(leave_out: bool) -> None:
    """Features tell nothing, and kernels are narrow: what is learnt of the list cannot be true of another."""
    nbest, references = nowhere()
    reranker = made(bandwidth="0.1", prior=0.0, leave_out=leave_out, cautious=False, **PERCEPTRON)
    report = evaluate(reranker, nbest, references, folds=3, trials=100)
    assert report.held_out is not None
    assert report.held_out.tuned < report.one_best + 5
    recognised = (report.tuned - report.one_best) / (report.oracle - report.one_best)
    assert recognised < 0.6 if leave_out else recognised > 0.7
    if not leave_out:
        assert report.tuned > report.held_out.tuned + 15


def test_what_is_cut_off_is_reported_and_recorded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nbest, references = island(40)
    reranker = made(mass=0.6, kernels=32, bandwidth="1", cautious=False)
    with caplog.at_level(logging.INFO, "camber"):
        report = evaluate(reranker, nbest, references)
    share = mixed(reranker).dropped
    assert 0.05 < share < 0.4
    table = reranker.with_features(nbest).hypothesis_features()
    assert share == pytest.approx(float(mixed(reranker).bend.posteriors(table).dropped.mean()))
    assert f"kernels: bandwidth 1; {100 * share:.2f} % of the mass of posteriors was dropped" in report.lines()
    assert report.to_dict()["learnt"]["dropped"] == share
    assert f"{100 * share:.2f} % of the posteriors' mass dropped" in caplog.text
    reranker.save(tmp_path / "m")
    assert ModelDirectory.open(tmp_path / "m").settings["rerank"]["dropped"] == share


@pytest.mark.parametrize("kind", [{"kernels": 16}, PERCEPTRON])
def test_a_stored_model_scores_alike(kind: dict[str, Any], tmp_path: Path) -> None:
    nbest, references = island(60)
    reranker = made(bandwidth="0.5,1", prior=50.0, mass=0.95, cautious=False, **kind).fit(nbest, references)
    reranker.save(tmp_path / "m")
    again = Reranker.load(tmp_path / "m")
    assert again.scores(nbest).tobytes() == reranker.scores(nbest).tobytes()
    one, two = mixed(reranker), mixed(again)
    assert one.record() == two.record()
    assert one.moved.features.tobytes() == two.moved.features.tobytes()
    assert (one.moved.changed, one.moved.gains.tolist()) == (two.moved.changed, two.moved.gains.tolist())
    directory = ModelDirectory.open(tmp_path / "m", verify=True)
    assert directory.settings["bend"] == {
        "kernels": kind["kernels"], "kernel_kind": kind.get("kernel_kind", "ml"), "bandwidth": "0.5,1", "mass": 0.95,
        "prior": 50.0, "reestimate": 0, "leave_out": True,
    }  # fmt: skip
    assert 1 <= directory.sizes["kernels"] == one.bend.width <= kind["kernels"]
    assert len(directory.file("kernels.tsv").read_text().splitlines()) == 2 + one.bend.width


def test_a_damaged_sample_is_refused(tmp_path: Path) -> None:
    reranker = made(kernels=8, bandwidth="1", cautious=False).fit(*island(30))
    file = tmp_path / "moved.tsv"
    moved = mixed(reranker).moved
    names = ("x", "y", "list.score")
    moved.write(file, names)
    assert type(moved).read(file, names).gains.tolist() == moved.gains.tolist()
    lines = file.read_text().splitlines()
    for damaged, told in (
        (lines[:-1], "lacks the one that it is compared with"),
        ([*lines[:3], lines[3].replace("before", "between"), *lines[4:]], "is no hypothesis with 3 features"),
        (["# other", *lines[1:]], "no hypotheses with the features of this model"),
    ):
        file.write_text("\n".join(damaged) + "\n")
        with pytest.raises(InputError, match=told):
            type(moved).read(file, names)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [{"kernels": 16, "reestimate": 2}, PERCEPTRON])
def test_the_same_bytes_come_of_any_engine(kind: dict[str, Any], tmp_path: Path) -> None:
    nbest, references = island(60)
    for threads in (1, 2):
        made(engine=Threads(threads), **kind).fit(nbest, references).save(tmp_path / str(threads))
    one, two = (ModelDirectory.open(tmp_path / threads) for threads in ("1", "2"))
    assert "kernels.means.npy" in one
    assert set(one.files) == set(two.files)
    assert all(one.file(name).read_bytes() == two.file(name).read_bytes() for name in one.files)


def test_noise_leaves_the_own_order() -> None:
    nbest, references = nowhere(own=True)
    report = evaluate(reranker := made(kernels=16), nbest, references, folds=3, trials=100)
    assert report.tuned >= report.one_best
    assert report.held_out is not None
    assert report.held_out.tuned > report.one_best - 1
    assert report.bent == 0.0
    assert reranker.fitted.sizes() == {"kernels": 0}
    assert "bandwidth" not in report.learnt


def test_where_no_kernel_is_confirmed_the_model_is_the_linear_one(tmp_path: Path) -> None:
    nbest, references = nowhere(own=True)
    kernels = made(kernels=16).fit(nbest, references)
    line = Reranker(tuner="expected-bleu", tokenize="none", tuner_settings={"steps": 50}).fit(nbest, references)
    assert isinstance(line.fitted, Linear)
    assert kernels.fitted.step == line.fitted.step
    assert kernels.rerank(nbest).texts == line.rerank(nbest).texts
    kernels.save(tmp_path / "m")
    assert Reranker.load(tmp_path / "m").scores(nbest).tobytes() == kernels.scores(nbest).tobytes()


def test_kernels_that_do_harm_are_dropped_for_the_own_order() -> None:
    nbest, references = island(60)
    reranker = made(kernels=16, cautious=False)
    data = reranker.tuning_data(nbest, references)
    fitted = mixed(reranker.fit_data(data))
    kept = unless_worse(replace(fitted, weights=-fitted.weights), data, data.names.index("list.score"))
    assert kept.step == kept.bent == 0.0
    assert kept.sizes() == {"kernels": 0}
    assert nbest.scores is not None
    assert np.array_equal(data.best_by(kept.scores(data.present())), data.best_by(nbest.scores))


@pytest.mark.parametrize("kind", [{"kernels": 16}, PERCEPTRON])
def test_units_and_the_order_of_features_make_no_difference(kind: dict[str, Any]) -> None:
    nbest, references = island(60)
    table = nbest.hypothesis_features()
    scaled = with_values(nbest, table * [1024.0, 2.0**-12])  # powers of two: not even rounding differs
    swapped = NBest.of_hypotheses(("y", "x"), nbest.sentence_offsets, nbest.texts, table[:, ::-1], nbest.scores)
    one, two, three = (
        made(bandwidth="1", cautious=False, **kind).fit(other, references) for other in (nbest, scaled, swapped)
    )
    assert one.rerank(nbest).texts == two.rerank(scaled).texts
    if kind is PERCEPTRON:  # EM shifts the halves of a kernel by features in turn, so another order is another split
        assert one.rerank(nbest).texts == three.rerank(swapped).texts
    np.testing.assert_allclose(one.scores(nbest), two.scores(scaled), atol=1e-9)


def test_an_absent_feature_counts_as_its_mean() -> None:
    nbest, references = island(60)
    table = nbest.hypothesis_features()
    table[::7, 0] = np.nan
    sparse = with_values(nbest, table)
    reranker = made(kernels=16, bandwidth="1", cautious=False).fit(sparse, references)
    fitted, filled = mixed(reranker), reranker.with_features(sparse).hypothesis_features()
    worth = fitted.bend.kernel_worth(filled, fitted.weights[3:])
    filled[::7, 0] = np.nanmean(table[:, 0])
    np.testing.assert_allclose(fitted.bend.kernel_worth(filled, fitted.weights[3:]), worth, atol=1e-9)


def test_sentences_with_one_hypothesis_or_none_are_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    nbest, references = island(40)
    offsets = np.concatenate([nbest.sentence_offsets, [nbest.hypotheses, nbest.hypotheses + 1]])
    table = np.vstack([nbest.hypothesis_features(), [[0.0, 0.0]]])
    scores = np.append(np.asarray(nbest.scores), 1.0)
    longer = NBest.of_hypotheses(("x", "y"), offsets, [*nbest.texts, "a b c"], table, scores)
    references = [*references, "nothing", "a b c"]
    for kind in ({"kernels": 16}, PERCEPTRON):
        report = evaluate(made(**kind), longer, references, folds=3, trials=50)
        assert report.tuned > report.one_best
    assert "1 of 42 sentences have no hypotheses" in caplog.text


def test_a_list_with_nothing_to_choose_from_is_refused() -> None:
    alone = NBest.of_hypotheses(("x",), np.arange(13), ["a b c d"] * 12, np.zeros((12, 1)), np.zeros(12))
    with pytest.raises(TuneError, match="no sentence has more than one hypothesis"):
        made().fit(alone, ["a b c d"] * 12)
    empty = NBest.of_hypotheses(("x",), np.zeros(4, np.int64), [], np.zeros((0, 1)), np.zeros(0))
    with pytest.raises(CamberError, match="no hypotheses at all"):
        made().fit(empty, ["a", "b", "c"])


def test_where_the_best_hypotheses_are_first_already_there_are_no_perceptron_kernels() -> None:
    nbest, references = island(30)
    right = np.array([float(10 - text.split().count("x")) for text in nbest.texts])
    right -= np.arange(len(right)) * 1e-6  # of equals, the first
    fitted = mixed(made(cautious=False, bandwidth="1", **PERCEPTRON).fit(replace(nbest, scores=right), references))
    assert fitted.bend.width == 0
    assert fitted.bent == 0.0


def test_few_sentences_confirm_no_kernels() -> None:
    assert made(kernels=4).fit(*island(8, 20)).fitted.bent == 0.0
    assert made(kernels=4, cautious=False).fit(*island(8, 20)).fitted.bent == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("tuner", ["pro", "likelihood"])
def test_outside_scores_are_learnt_by_tuners_that_take_them(tuner: str) -> None:
    nbest, _ = island()
    outside = [-0.01 * text.split().count("x") for text in nbest.texts]
    reranker = made(metric="extra:comet", tuner=tuner, kernels=32)
    report = evaluate(reranker, nbest.with_extra("comet", outside), folds=3, trials=100)
    assert report.held_out is not None
    assert report.held_out.difference > 0.005
    with pytest.raises(SettingsError, match="expected-bleu cannot fit the weights of kernels for comet; use pro or"):
        made(metric="extra:comet", tuner="expected-bleu").fit(nbest.with_extra("comet", outside))
    assert made(metric="extra:comet").tuner == "pro"


def test_the_prior_pulls_weights_of_kernels_to_0_and_its_gradient_is_right() -> None:
    nbest, references = island(40)
    sizes = []
    for prior in (0.01, 100.0):
        fitted = mixed(made(kernels=16, bandwidth="1", prior=prior, cautious=False).fit(nbest, references))
        sizes.append(np.abs(fitted.weights[3:] - fitted.weights[3:].mean()).max())
    assert sizes[0] < 0.3 * sizes[1]
    rng = np.random.default_rng(1)
    penalty, point, step = Prior(3.0, 2), rng.normal(size=5), 1e-6
    for k, slope in enumerate(penalty.value_and_gradient(point)[1].tolist()):
        ends = [penalty.value_and_gradient(point + sign * step * np.eye(5)[k])[0] for sign in (1.0, -1.0)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)


def test_the_sample_of_moved_hypotheses_is_what_changed() -> None:
    nbest, references = island(60)
    reranker = made(kernels=32, bandwidth="0.5", cautious=False)
    data = reranker.tuning_data(nbest, references)
    moved = mixed(reranker.fit_data(data)).moved
    assert 10 < moved.changed == len(moved) <= 60
    quality = data.sentence_scores()
    assert moved.gains.sum() > 0
    for sentence, gain, (before, after) in zip(moved.sentences, moved.gains, moved.features, strict=True):
        rows = range(int(data.sentence_offsets[sentence]), int(data.sentence_offsets[sentence + 1]))
        (one,), (two,) = ([k for k in rows if (data.features[k] == row).all()] for row in (before, after))
        assert one != two
        assert gain == pytest.approx(quality[two] - quality[one])


def test_the_command_fits_applies_tells_and_draws(tmp_path: Path) -> None:
    nbest, references = island(60)
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)

    def run(*words: Any) -> str:
        done = CliRunner().invoke(cli, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.stdout

    told = run(
        "rerank", "fit", "--nbest", tmp_path / "list.moses", "--ref", tmp_path / "ref", "--tokenize", "none",
        "--learner", "mixture", "--kernel-kind", "perceptron", "--kernels", 200, "--bandwidth", "0.5", "--leave-out",
        "--no-cautious", "--mass", 0.9, "--prior", 10, "--model", tmp_path / "m",
    )  # fmt: skip
    assert "kernels: bandwidth 0.5; " in told
    best = run("rerank", "apply", tmp_path / "m", "--nbest", tmp_path / "list.moses").splitlines()
    assert best == Reranker.load(tmp_path / "m").rerank(NBest.read(tmp_path / "list.moses")).best_texts()
    assert best != nbest.best_texts()
    told = run("info", tmp_path / "m", "--verify")
    assert "bend: mixture" in told
    assert " kernels, bandwidth 0.5, posteriors cut to 90 % of their mass" in told
    assert "  dropped " in told
    assert json.loads(run("info", tmp_path / "m", "--json"))["bend"]["kind"] == "mixture"
    told = run("curves", tmp_path / "m", "--out", tmp_path / "map.html")
    assert "of the variance of what kernels add" in told
    assert (tmp_path / "map.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("learner", "flag"),
    [("mixture", "--bits=3"), ("mixture", "--trees=3"), ("linear", "--kernels=3"), ("mnr", "--leave-in")],
)
def test_flags_that_make_no_difference_are_refused(learner: str, flag: str, tmp_path: Path) -> None:
    words = ["rerank", "fit", "--nbest", str(tmp_path / "list"), "--model", str(tmp_path / "m"), "--learner", learner]
    done = CliRunner().invoke(cli, [*words, flag])
    assert done.exit_code == 2
    assert f"makes no difference to --learner {learner}" in done.output


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--bandwidth", "wide"], "--bandwidth is 'wide'; expected numbers above 0, such as 0.5,1"),
        (["--bandwidth", "1,0"], "--bandwidth is '1,0'"),
        (["--mass", "1.5"], "--mass"),
        (["--kernels", "0"], "--kernels"),
        (["--kernel-kind", "round"], "--kernel-kind"),
        (["--leave-in"], "which makes no difference to ml kernels"),
    ],
)
def test_bad_settings_are_wrong_usage(flags: list[str], told: str, tmp_path: Path) -> None:
    nbest, references = island(12)
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)
    words = ["rerank", "fit", "--nbest", tmp_path / "list.moses", "--ref", tmp_path / "ref", "--model", tmp_path / "m"]
    done = CliRunner().invoke(cli, [*map(str, words), "--learner", "mixture", *flags])
    assert done.exit_code == 2
    assert told in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "m").exists()


def test_only_some_tuners_weigh_kernels_and_only_expected_bleu_moves_them() -> None:
    with pytest.raises(
        SettingsError,
        match="mert cannot fit the weights of kernels; use pro, expected-bleu, held-bleu, blend or",
    ):
        made(tuner="mert").fit(*island(12))
    with pytest.raises(SettingsError, match="only by the tuner expected-bleu, not pro"):
        made(tuner="pro", reestimate=1).fit(*island(12))
