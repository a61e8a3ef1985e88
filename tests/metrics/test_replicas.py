"""Systems with several optimiser runs: the stratified test, Wilcoxon's, and the table of MultEval's example."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.oracle import dealt

from camber.cli.score import command
from camber.errors import CamberError, InputError
from camber.metrics import BLEU, TER, Outside, make_metric
from camber.metrics.compare import compare
from camber.metrics.significance import (
    _deal,
    paired_bootstrap,
    paired_randomisation,
    stratified_randomisation,
    wilcoxon_of_batches,
)

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def ter_rows(edits):
    return np.stack([np.asarray(edits, float), np.full(len(edits), 10.0)], axis=1)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_dealing_gives_every_run_one_output_of_every_sentence(runs, sentences, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 9, (sentences, runs, 3)).astype(float)
    draws = rng.random((2, sentences, runs - 1))
    sums = np.zeros((2, runs, 3))
    _deal(rows, draws, np.zeros(runs, np.int64), sums)
    for trial in range(2):
        assert np.array_equal(sums[trial], dealt(rows, draws[trial]))
        assert np.array_equal(sums[trial].sum(0), rows.sum((0, 1)))


def test_with_one_run_each_the_stratified_test_is_the_paired_one():
    rng = np.random.default_rng(4)
    first, second = ter_rows(rng.integers(0, 9, 60)), ter_rows(rng.integers(0, 8, 60))
    expected = paired_randomisation(TER(), first, second, 20_000)
    assert stratified_randomisation(TER(), [first], [second], 20_000) == pytest.approx(expected, abs=0.02)


def test_a_system_does_not_differ_from_runs_of_itself_but_a_clear_gain_is_found():
    rng = np.random.default_rng(5)
    base = rng.integers(3, 9, 150)

    def runs(shift):
        return [ter_rows(base + shift + rng.integers(-1, 2, 150)) for _ in range(3)]

    one, two, better = runs(0), runs(0), runs(-1)
    assert stratified_randomisation(TER(), one, one, 500) == 1.0
    assert stratified_randomisation(TER(), one, two, 2000) > 0.05
    assert stratified_randomisation(TER(), one, better, 2000) < 0.01
    assert stratified_randomisation(TER(), one, better[:2], 2000) < 0.01  # other numbers of runs
    boot = paired_bootstrap(TER(), one, better)
    assert boot.p < 0.01
    assert boot.wins == 1.0
    assert wilcoxon_of_batches(TER(), one, better) < 0.01


def test_the_stratified_test_is_the_same_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(3)
    one, two = ([ter_rows(rng.integers(0, 9, 30)) for _ in range(2)] for _ in range(2))
    whole = stratified_randomisation(TER(), one, two, 99)
    monkeypatch.setattr("camber.metrics.significance._CELLS", 500)
    assert stratified_randomisation(TER(), one, two, 99) == whole


def test_wilcoxon_compares_batches():
    from scipy.stats import wilcoxon

    rng = np.random.default_rng(6)
    first, second = rng.integers(0, 9, 95), rng.integers(0, 9, 95)
    scores = [[100 * part.sum() / (10 * len(part)) for part in np.split(e, range(10, 95, 10))] for e in (first, second)]
    expected = wilcoxon(np.array(scores[1]) - np.array(scores[0])).pvalue
    assert wilcoxon_of_batches(TER(), ter_rows(first), ter_rows(second)) == pytest.approx(expected)
    assert wilcoxon_of_batches(TER(), ter_rows(first), ter_rows(first)) == 1.0
    with pytest.raises(CamberError, match="batches of 0"):
        wilcoxon_of_batches(TER(), ter_rows(first), ter_rows(first), 0)


LINES = {"ref": ["a b c d e", "f g h i j"], "good": ["a b c d e", "f g h i x"], "bad": ["a b x y z", "f g h z j"]}


@pytest.fixture
def files(tmp_path):
    for name, lines in LINES.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    (tmp_path / "one.comet").write_text("0.5\n0.75\n")
    (tmp_path / "two.comet").write_text("0.25\n0.5\n")
    return tmp_path


def run(folder, *arguments):
    return CliRunner().invoke(command, [a.replace("@", f"{folder}/") for a in arguments])


def test_runs_give_mean_and_standard_deviation(files):
    arguments = ["--ref", "@ref", "--system", "base=@bad,@bad", "--system", "new=@good,@bad", "--trials", "99"]
    result = run(files, *arguments, "--json")
    assert result.exit_code == 0, result.output
    base, new = json.loads(result.stdout)
    bleu = BLEU()
    single = {name: float(bleu.score(bleu.statistics(LINES[name], [LINES["ref"]]).sum(0))) for name in LINES}
    assert base["score"] == pytest.approx(single["bad"])
    assert base["run_sd"] == 0
    assert new["score"] == pytest.approx((single["good"] + single["bad"]) / 2)
    assert new["run_scores"] == pytest.approx([single["good"], single["bad"]])
    assert new["run_sd"] == pytest.approx(np.std([single["good"], single["bad"]], ddof=1))
    assert new["difference"] == pytest.approx(new["score"] - base["score"])
    assert new["signature"].endswith("|bs:1000|sar:99|seed:1")
    head = run(files, *arguments).stdout.splitlines()[0]
    assert " ".join(head.split()) == (
        "BLEU runs sd runs sd test 95 % interval difference p bootstrap p random. p Wilcoxon"
    )


def test_a_latex_table_has_a_row_per_system(files):
    result = run(files, "--ref", "@ref", "--system", "a_b=@bad,@bad", "@good", "--latex", "--metric", "bleu,ter")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("% BLEU|nrefs:1|")
    assert r"\begin{tabular}{lrrrrrrrr}" in lines
    assert sum(line.startswith((r"a\_b & ", str(files).replace("_", r"\_"))) for line in lines) == 2
    assert lines[-1] == r"\end{tabular}"


def test_outside_scores_are_compared_like_any_metric(files):
    arguments = ["--ref", "@ref", "@bad", "@good", "--metric", "extra:comet", "--json"]
    result = run(files, *arguments, "--extra", "comet=@two.comet,@one.comet")
    assert result.exit_code == 0, result.output
    bad, good = json.loads(result.stdout)
    assert (bad["metric"], bad["score"], good["score"], good["difference"]) == ("comet", 0.375, 0.625, 0.25)
    assert "1 files for 2 outputs" in run(files, *arguments, "--extra", "comet=@two.comet").output
    assert isinstance(run(files, *arguments).exception, CamberError)
    (files / "two.comet").write_text("0.25\nnan\n")
    with pytest.raises(InputError, match=r"two.comet:2: comet is nan"):
        raise run(files, *arguments, "--extra", "comet=@two.comet,@one.comet").exception


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ref", "@ref"], "nothing to score"),
        (["--ref", "@ref", "--system", "base"], "expected NAME=FILE"),
        (["--ref", "@ref", "--system", "a=@bad", "--system", "a=@good"], "two systems are named a"),
        (["--ref", "@ref", "@good", "--json", "--latex"], "exclude each other"),
    ],
)
def test_wrong_usage_is_told(files, arguments, message):
    result = run(files, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_the_shortest_reference_may_count(files):
    (files / "long").write_text("a b c d e f g\nf g h i j k l\n")
    result = run(files, "--ref", "@ref", "--ref", "@long", "@good", "--reference-length", "shortest")
    assert "length:shortest" in result.stdout


def test_metrics_by_name():
    assert isinstance(make_metric("extra:comet"), Outside)
    assert make_metric("extra:-mqm").higher_is_better is False
    with pytest.raises(CamberError, match="unknown metric 'extra:'; known: bleu, sbp, chrf, ter, extra:NAME"):
        make_metric("extra:")


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_multevals_example_is_reproduced():
    folder = SHARED / "data" / "eval-multeval"
    read = lambda name: (folder / name).read_text("utf-8").splitlines()  # noqa: E731
    systems = {name: [read(f"hyp.{name}.opt{run}.en") for run in range(3)] for name in ("baseline", "sys1")}
    base, new = compare(systems, [read("ref.en")], tokenize="none", trials=1000)
    gold = float((folder / "baseline.opt0.bleu.gold").read_text())
    assert base.run_scores[0] == pytest.approx(gold, abs=0.005)
    assert (round(base.score, 2), round(new.score, 2)) == (18.53, 18.81)
    assert (round(base.run_sd, 2), round(new.run_sd, 2)) == (0.06, 0.29)
    assert new.randomisation_p < 0.01
    assert new.bootstrap_p < 0.05


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_ter_is_that_of_sacrebleu_on_multevals_example():
    import sacrebleu.metrics

    folder = SHARED / "data" / "eval-multeval"
    hypotheses, references = (
        (folder / name).read_text("utf-8").splitlines()[:60] for name in ("hyp.baseline.opt0.en", "ref.en")
    )
    ter = TER()
    expected = sacrebleu.metrics.TER().corpus_score(hypotheses, [references]).score
    assert ter.score(ter.statistics(hypotheses, [references]).sum(0)) == pytest.approx(expected)
