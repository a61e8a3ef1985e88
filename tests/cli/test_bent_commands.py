"""Bent features, as a user of the command meets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import camber
from camber.cli import cli
from camber.files import read_lines
from camber.nbest.nbest import NBest

pytestmark = pytest.mark.slow

PRO = ("--iterations", 2, "--nbest", 10, "--tuner", "pro")
QUICK = (*PRO, "--bits", 3, "--no-cautious")


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_a_model_is_bent_described_drawn_used_and_straightened(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    bent, straight, out = tmp_path / "bent", tmp_path / "straight", tmp_path / "out"
    dev = ("--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en")
    done = run("tune", hotel_model, *dev, "--out", bent, "--bend", "mnr", "--beta", 1000, *QUICK)
    assert done.exit_code == 0, done.output
    assert not (hotel_model / "bins.tsv").exists()

    shown = run("info", bent, "--verify").output
    assert "bend: mnr" in shown
    assert "@" not in shown.split("weights")[-1]  # the weights of bins are left to the picture
    facts = json.loads(run("info", bent, "--json").output)
    assert facts["bend"]["kind"] == "mnr"
    assert 1 <= facts["bend"]["bins"]["p_t_given_s"] <= 8
    assert "p_t_given_s@0" in facts["weights"]
    assert json.loads(run("info", hotel_model, "--json").output)["bend"] is None

    drawn = run("curves", bent, "--out", tmp_path / "curves.html")
    assert drawn.exit_code == 0, drawn.output
    assert "p_t_given_s" in (tmp_path / "curves.html").read_text()

    nbest = tmp_path / "list"
    done = run(
        "translate", bent, "--input", hotel_files / "test.es", "--output", out, "--nbest", 5, "--nbest-file", nbest
    )
    assert done.exit_code == 0, done.output
    assert len(read_lines(out)) == 40
    listed, weights = NBest.read(nbest), camber.load(bent).weights  # it holds what the weights multiply
    assert "p_t_given_s" not in listed.names
    vector = np.array([weights[name] for name in listed.names])
    np.testing.assert_allclose(np.nan_to_num(listed.hypothesis_features()) @ vector, listed.scores, atol=1e-6)
    done = run(
        "translate", bent, "--input", hotel_files / "test.es", "--output", out, "--nbest", 5, "--nbest-file",
        nbest.with_suffix(".jsonl"),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    raw = NBest.read(nbest.with_suffix(".jsonl"))
    assert "p_t_given_s" in raw.names  # raw values, before the bend
    assert not any("@" in name for name in raw.names)

    done = run("tune", bent, *dev, "--out", straight, "--bend", "none", *PRO)
    assert done.exit_code == 0, done.output
    assert not (straight / "bins.tsv").exists()


def test_training_can_bend_at_once(hotel_files: Path, tmp_path: Path) -> None:
    done = run(
        "train", "--source", hotel_files / "dev.es", "--target", hotel_files / "dev.en", "--model", tmp_path / "m",
        "--dev-source", hotel_files / "test.es", "--dev-target", hotel_files / "test.en", "--method", "hiero",
        "--bend", "lnr", "--align-model", "quick", *QUICK,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m" / "bins.tsv").is_file()
    done = run("translate", tmp_path / "m", "--input", hotel_files / "test.es", "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output


def test_a_tuner_that_cannot_tune_bins_says_which_can(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    for tuner in ("mert", "mira"):
        done = run(
            "tune", hotel_model, "--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en",
            "--out", tmp_path / "m", "--tuner", tuner, "--bend", "bins",
        )  # fmt: skip
        assert done.exit_code == 1
        assert "use pro, expected-bleu, held-bleu, blend or likelihood" in str(done.exception) + done.output
    assert not (tmp_path / "m").exists()


def test_flags_that_make_no_difference_are_refused(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    dev = ("--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en")
    bent, other = tmp_path / "bent", tmp_path / "other"
    assert run("tune", hotel_model, *dev, "--out", bent, "--bend", "lnr", *QUICK).exit_code == 0
    text = ("--source", hotel_files / "dev.es", "--target", hotel_files / "dev.en", "--model", other)
    grid = ("--hyper-source", "h", "--hyper-target", "h", "--grid", "bits=2,3")
    for words, told in (
        (("tune", hotel_model, *dev, "--bits", 4), "--bits makes no difference to a model without bins or trees; name"),
        (("tune", hotel_model, *dev, "--tree-keep", 4), "--tree-keep makes no difference to a model without bins or"),
        (
            ("tune", hotel_model, *dev, "--bend", "mnr", "--tree-refit"),
            "--tree-refit makes no difference to --bend mnr",
        ),
        (("train", *text, "--bend", "bins", "--tree-alpha", 4), "--tree-alpha makes no difference to --bend bins"),
        (
            ("train", *text, "--bend", "trees", "--leaf", "linear", "--tree-split", "pairs"),
            "--leaf is linear, but where splits are scored by pairs, leaves are constants; leave it out, or "
            "--tree-split",
        ),
        (
            ("tune", hotel_model, *dev, "--bend", "trees", "--tree-refit", "--tree-shrinkage", 0.5),
            "--tree-shrinkage is 0.5, which makes no difference where all weights are fitted again; leave it out, or "
            "--tree-refit",
        ),
        (("tune", hotel_model, *dev, "--bend", "raw", "--beta", 4), "--beta makes no difference to --bend raw"),
        (("tune", hotel_model, *dev, "--bend", "lnr", "--gamma", 4), "--gamma makes no difference to --bend lnr"),
        (("tune", bent, *dev, "--bits", 4), "--bits makes no difference to bins (lnr); name a bend"),
        (("train", *text, "--bits", 4), "--bits makes no difference to --bend keep"),
        (("train", *text, "--bend", "bins", "--beta", 4), "--beta makes no difference to --bend bins"),
        (("train", *text, "--hiero-samples", 4), "--hiero-samples makes no difference to --method phrase"),
        (("train", *text, "--method", "hiero", "--options", 4), "--options makes no difference to --method hiero"),
        (
            ("tune", hotel_model, *dev, *grid, "--bend", "bins", "--bits", 4),
            "--bits makes no difference beside a --grid",
        ),
        (("rerank", "fit", "--nbest", "n", "--model", other, "--bits", 4), "--bits makes no difference to --learner"),
    ):
        done = run(*words)
        assert done.exit_code == 2, words
        assert told in " ".join(done.output.split()), words
    assert not other.exists()
    done = run("tune", bent, *dev, "--out", other, "--beta", 10, *PRO)  # how bins are tied may change
    assert done.exit_code == 0, done.output
