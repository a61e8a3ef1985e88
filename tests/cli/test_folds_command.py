"""`camber nbest-folds`, from two files to a re-ranker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from camber.cli import cli
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.nbest import NBest

pytestmark = pytest.mark.slow


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def text(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """The flags of a small corpus and a quick training."""
    folder = tmp_path_factory.mktemp("text")
    for side in ("es", "en"):
        write_lines(folder / f"train.{side}", read_lines(hotel_files / f"train.{side}")[:120])
    sides = ("--source", folder / "train.es", "--target", folder / "train.en")
    return (*sides, "--folds", 3, "--lm-order", 3, "--align-model", "quick", "--threads", 1)


def test_a_corpus_becomes_a_list_that_a_re_ranker_is_fitted_to(text: tuple[object, ...], tmp_path: Path) -> None:
    out, config = tmp_path / "list.jsonl.gz", tmp_path / "config.toml"
    config.write_text('[tune]\nnbest = 5\ntuner = "pro"\niterations = 4\n[clean]\nmax_length = 20\n')
    done = run("nbest-folds", *text, "--rounds", 2, "--tuner", "mira", "--config", config, "--out", out)
    assert done.exit_code == 0, done.output
    assert "tune.iterations" in done.stderr
    assert "tune.nbest" not in done.stderr
    nbest = NBest.read(out, sentences=120)
    weights = Weights.read(f"{out}.weights.tsv", nbest.names)
    assert weights.signature.startswith("tuner:mira|folds:3|rounds:2|nbest:5|")
    fitted = run("rerank", "fit", "--nbest", out, "--ref", f"{out}.ref", "--model", tmp_path / "reranker")
    assert fitted.exit_code == 0, fitted.output
    applied = run("rerank", "apply", tmp_path / "reranker", "--nbest", out, "--output", tmp_path / "best")
    assert applied.exit_code == 0, applied.output


def test_the_format_and_the_work_folder_can_be_named(text: tuple[object, ...], tmp_path: Path) -> None:
    out, work = tmp_path / "list", tmp_path / "elsewhere" / "work"
    flags = ("--nbest-format", "tsv", "--nbest", 3, "--rounds", 1, "--work", work, "--no-keep-work")
    done = run("nbest-folds", *text, *flags, "--method", "hiero", "--out", out)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "list", "list.ref", "list.weights.tsv"]
    assert not work.exists()
    assert out.read_text("utf-8").startswith("sentence\ttext\t")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--folds", 1), "--folds"),
        (("--tuner", "none"), "--tuner"),
        (("--chart-pop-limit", 5), "makes no difference to --method phrase"),
        (("--bend", "mnr"), "No such option"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(
    flags: tuple[object, ...], told: str, text: tuple[object, ...], tmp_path: Path
) -> None:
    done = run("nbest-folds", *text, "--out", tmp_path / "list", *flags)
    assert done.exit_code == 2
    assert told in done.output
    assert list(tmp_path.iterdir()) == []
