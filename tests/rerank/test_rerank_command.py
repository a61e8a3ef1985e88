"""camber rerank: from a list to a model and back to text."""

import hashlib
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from camber.cli.curves import command as curves
from camber.cli.lm import command as lm
from camber.cli.rerank import command
from camber.errors import CamberError, InputError, ModelError, SettingsError
from camber.files import read_lines, write_lines
from camber.lm.kneser_ney import LmSettings, estimate_arpa
from camber.metrics import BLEU
from camber.nbest import NBest
from camber.rerank.reranker import Reranker

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
RIGHT = ["the old man sees a cat", "a dog likes the house", "the man finds a tree", "a cat likes the old man"]


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(2)
    texts, rows = [], []
    references = [RIGHT[k % 4] for k in range(24)]
    for reference in references:
        for _ in range(5):
            words = reference.split()
            wrong = rng.integers(0, 4)
            for place in rng.choice(len(words), wrong, replace=False):
                words[place] = "zzz"
            texts.append(" ".join(words))
            rows.append([-wrong + rng.normal(0, 0.3)])
    nbest = NBest.of_hypotheses(("f",), np.arange(25) * 5, texts, rows)
    nbest.write(tmp_path / "list")
    (tmp_path / "ref").write_text("".join(line + "\n" for line in references))
    (tmp_path / "src").write_text("".join(line.upper() + "\n" for line in references))
    (tmp_path / "text").write_text("".join(line + "\n" for line in RIGHT) * 3)
    estimate_arpa(tmp_path / "text", tmp_path / "arpa", LmSettings(order=3))
    return tmp_path


def run(folder, *arguments):
    return CliRunner().invoke(command, [a.replace("@", f"{folder}/") for a in arguments])


FIT = ("fit", "--nbest", "@list", "--ref", "@ref", "--model", "@model", "--tokenize", "none")


def test_fit_reports_and_apply_writes_the_best_texts(files):
    result = run(files, *FIT, "--held-out", "4", "--lm", "@arpa", "--length", "--source", "@src")
    assert result.exit_code == 0, result.output
    for name in ("1-best", "tuned, on the training list", "tuned, held out (4 folds)", "oracle", "anti-oracle"):
        assert any(line.startswith(name) for line in result.stdout.splitlines()), name
    assert "Re-ranking helps on sentences that it had not seen" in result.stdout
    assert (files / "model" / "report.txt").read_text() == result.stdout
    (files / "arpa").unlink()  # the model has its own copy
    applied = run(files, "apply", "@model", "--nbest", "@list", "--source", "@src", "--nbest-out", "@out.jsonl")
    assert applied.exit_code == 0, applied.output
    lines = applied.stdout.splitlines()
    assert lines == NBest.read(files / "out.jsonl").best_texts()
    references = (files / "ref").read_text().splitlines()
    first = NBest.read(files / "list").best_texts()
    right = [sum(a == b for a, b in zip(texts, references, strict=True)) for texts in (lines, first)]
    assert right[0] > right[1]
    with pytest.raises(CamberError, match=r"length\.ratio; .*give the sources as when it was fitted"):
        raise run(files, "apply", "@model", "--nbest", "@list").exception


def test_pages_tell_what_fitting_gained_and_applying_changed(files):
    result = run(files, *FIT, "--held-out", "4", "--learner", "mnr", "--report", "@fit.html", "--json")
    assert result.exit_code == 0, result.output
    page, told = (files / "fit.html").read_text(), json.loads(result.stdout)
    assert f"{told['one_best']:.2f} → {told['held_out']['tuned']:.2f}" in page
    assert "held out against 1-best" in page
    assert "learnt response of f" in page
    assert "chosen" not in told
    applied = run(files, "apply", "@model", "--nbest", "@list", "--report", "@changed.html", "--output", "@out")
    assert applied.exit_code == 0, applied.output
    own, best = NBest.read(files / "list").best_texts(), read_lines(files / "out")
    changed = sum(a != b for a, b in zip(own, best, strict=True))
    assert f"<b>{changed}</b>" in (files / "changed.html").read_text()
    run(files, "apply", "@model", "--nbest", "@list", "--ref", "@ref", "--report", "@gain.html", "--output", "@out")
    scores = [
        BLEU("none").score(BLEU("none").statistics(side, [read_lines(files / "ref")]).sum(0)) for side in (own, best)
    ]
    assert f"{scores[0]:.2f} → {scores[1]:.2f}" in (files / "gain.html").read_text()
    assert run(files, "apply", "@model", "--nbest", "@list", "--ref", "@ref").exit_code == 2


def test_settings_of_the_tuner_are_checked_used_and_recorded(files):
    result = run(files, *FIT, "--tuner", "expected-bleu", "--tuner-options", "variance=10 brevity=capped")
    assert result.exit_code == 0, result.output
    recorded = tomllib.loads((files / "model" / "model.toml").read_text())["settings"]
    assert recorded["tuner"] == {"variance": 10.0, "brevity": "capped"}
    assert Reranker.load(files / "model").tuner_settings == {"variance": 10.0, "brevity": "capped"}
    with pytest.raises(SettingsError, match="unknown setting 'sharpness' for Mert; known: restarts, directions"):
        raise run(files, *FIT, "--tuner", "mert", "--tuner-options", "sharpness=3").exception


def test_the_shortest_of_several_references_can_be_asked_for(files):
    short = [" ".join(line.split()[:3]) for line in (files / "ref").read_text().splitlines()]
    (files / "short").write_text("".join(line + "\n" for line in short))
    result = run(files, *FIT, "--ref", "@short", "--reference-length", "shortest")
    assert result.exit_code == 0, result.output
    assert "BLEU|length:shortest|nrefs:2" in result.stdout
    assert Reranker.load(files / "model").make_metric().signature(2).startswith("length:shortest|")
    model = files / "model" / "model.toml"
    body = "".join(f"{line}\n" for line in model.read_text().splitlines()[:-1] if "reference_length" not in line)
    seal = model.read_text().splitlines()[-1].rpartition(" ")[0]
    model.write_text(f"{body}{seal} {hashlib.sha256(body.encode()).hexdigest()}\n")
    assert Reranker.load(files / "model").reference_length == "closest"  # as in older models


def test_the_report_comes_as_json_too(files):
    report = json.loads(run(files, *FIT, "--json", "--metric", "chrf", "--held-out", "2").stdout)
    assert report["metric"] == "chrF2"
    assert report["anti_oracle"] <= report["one_best"] <= report["tuned"] <= report["oracle"]
    assert report["held_out"]["folds"] == 2
    assert report["summary"]


def test_outside_scores_come_from_a_file(files):
    nbest = NBest.read(files / "list")
    (files / "comet").write_text("".join(f"{1 - text.split().count('zzz') / 6}\n" for text in nbest.texts))
    arguments = ("fit", "--nbest", "@list", "--model", "@model", "--metric", "extra:comet", "--json")
    result = run(files, *arguments, "--extra", "comet=@comet")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["metric"] == "comet"
    assert "expected NAME=FILE" in run(files, *arguments, "--extra", "comet").output
    (files / "comet").write_text("1\n")
    with pytest.raises(CamberError, match="comet:2: 1 scores comet for 120 hypotheses"):
        raise run(files, *arguments, "--extra", "comet=@comet").exception


def test_missing_groups_give_empty_lines(files):
    assert run(files, *FIT).exit_code == 0
    lines = (files / "list").read_text().splitlines(keepends=True)
    (files / "holes").write_text("".join(line for line in lines if not line.startswith(("0 ", "23 "))))
    result = run(files, "apply", "@model", "--nbest", "@holes", "--source", "@src")
    found = result.stdout.split("\n")[:-1]
    assert len(found) == 24
    assert (found[0], found[23]) == ("", "")
    assert all(found[1:23])


def test_problems_are_told(files):
    (files / "list2").write_text("0 ||| a ||| g= 1\n0 ||| b ||| g= 2\n")
    assert run(files, *FIT).exit_code == 0
    for arguments, kind, message in (
        (("apply", "@model", "--nbest", "@list2"), CamberError, "lacks features that the model was fitted on: f"),
        (("apply", "@list", "--nbest", "@list"), ModelError, "not a Camber model"),
        (("apply", "@model", "--nbest", "@absent"), InputError, "no such file"),
        (("apply", "@absent", "--nbest", "@list", "--output", "@model"), InputError, "it is a folder"),
        (("apply", "@absent", "--nbest", "@list", "--nbest-out", "@no/f"), InputError, "there is no such folder"),
        (("fit", "--nbest", "@list", "--ref", "@text", "--model", "@m"), InputError, "12 lines, but the list has the"),
        (("fit", "--nbest", "@list", "--model", "@m"), CamberError, "BLEU needs references"),
        (("fit", "--nbest", "@list", "--ref", "@ref", "--model", "@list"), ModelError, "a file of that name"),
    ):
        with pytest.raises(kind, match=message):
            raise run(files, *arguments).exception


@pytest.mark.parametrize("flag", ["--lm-language=en", "--lm-lowercase"])
def test_settings_of_a_language_model_without_one_are_refused(files, flag):
    result = run(files, *FIT, flag)
    assert result.exit_code == 2
    assert "makes no difference without --lm" in result.output
    assert not (files / "model").exists()
    assert run(files, *FIT, flag, "--lm", "@arpa").exit_code == 0


def test_curves_of_a_bend_that_was_rejected_are_called_straight(files):
    """The quality falls in a straight line with the only feature."""
    assert run(files, *FIT, "--learner", "lnr", "--json").exit_code == 0
    told = "a straight line"
    for bent in (False, True):
        shown = CliRunner().invoke(curves, [str(files / "model"), "--out", str(files / "c.html")])
        assert shown.exit_code == 0, shown.output
        assert (told in shown.stdout) != bent
        assert (files / "c.html").is_file()
        (files / "c.html").unlink()
        assert run(files, *FIT, "--learner", "lnr", "--no-cautious").exit_code == 0


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_reranking_a_real_list_does_not_fall_below_the_1_best(tmp_path):
    folder = SHARED / "data" / "nbest" / "moses-europarl-100x100"
    result = run(
        tmp_path, "fit", "--nbest", str(folder / "nbest.moses"), "--ref", str(folder / "ref.en"), "--model", "@m",
        "--tokenize", "none", "--held-out", "5", "--tuner", "mira", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["sentences"], report["hypotheses"]) == (100, 10_000)
    assert report["held_out"]["difference"] > 0 or report["held_out"]["p"] > 0.05


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_the_recipe_of_the_readme_gains_on_sentences_that_it_has_not_seen(tmp_path):
    """The first half of a neural engine's lists and their references, raw text for a language model, no other tool."""
    data = SHARED / "data"
    folder = data / "nbest" / "t5-tatoeba-en-fr-pool"
    lines, references = read_lines(folder / "nbest"), read_lines(folder / "ref.fr")
    halves = [[], []]
    for line in lines:
        halves[int(line.split()[0]) >= 1250].append(line)
    for name, half in zip(("dev.nbest", "test.nbest"), halves, strict=True):
        write_lines(tmp_path / name, half)
    text = str(data / "tatoeba-fr-en" / "train.fr")
    made = CliRunner().invoke(lm, ["--text", text, "--language", "fr", "--arpa", str(tmp_path / "arpa")])
    assert made.exit_code == 0, made.output
    fitted = run(
        tmp_path, "fit", "--nbest", "@dev.nbest", "--ref", str(folder / "ref.fr"), "--lm", "@arpa",
        "--lm-language", "fr", "--length", "--model", "@m", "--json",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert json.loads(fitted.stdout)["sentences"] == 1250
    best = run(tmp_path, "apply", "@m", "--nbest", "@test.nbest").stdout.splitlines()
    own = NBest.read(tmp_path / "test.nbest").covered().best_texts()
    bleu = BLEU()
    before, after = (bleu.score(bleu.statistics(texts, [references[1250:]]).sum(0)) for texts in (own, best))
    assert before == pytest.approx(42.91, abs=0.005)
    assert after > before + 0.9
