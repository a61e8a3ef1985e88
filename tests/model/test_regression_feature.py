"""Phrase models with a regression as one more feature: trained, tuned, added to, listed, and used for re-ranking."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import camber
from camber.cli.info import command as info
from camber.cli.nbest_folds import command as nbest_folds
from camber.cli.rerank import command as rerank
from camber.cli.train import command as train_command
from camber.errors import CamberError, ModelError
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.model.regression import ModelRegression
from camber.nbest import NBest
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import tune_translator
from camber.regress.scorer import word_numbers
from camber.regress.scores import text_scores
from camber.rerank.reranker import Reranker
from camber.tune.loop import TuneSettings

SETTINGS = {"lm": {"order": 3}, "align": {"model": "quick"}}


@pytest.fixture(scope="module")
def trained(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A phrase model with the feature."""
    return make(hotel_files, tmp_path_factory.mktemp("regression") / "m", "lsr")


def make(files: Path, path: Path, regression: str, method: str = "phrase") -> Path:
    tables = {**SETTINGS, "regression": {"regression": regression}} if regression else SETTINGS
    settings = TrainSettings.from_dict(tables)
    camber.train(
        files / "train.es", files / "train.en", path, method=method, tuned=False, held_out=0, settings=settings
    )
    return path


@pytest.fixture(scope="module")
def dev(hotel_files: Path) -> tuple[list[str], list[str]]:
    """Forty lines of one sentence each: those of several are translated sentence by sentence."""
    lines = zip(*(read_lines(hotel_files / f"dev.{side}") for side in ("es", "en")), strict=True)
    alone = [pair for pair in lines if not any(f"{mark} " in line for mark in ".?!" for line in pair)][:40]
    return [source for source, _ in alone], [target for _, target in alone]


def product(model: Path, line: str, text: str) -> float:
    """Return ⟨φ(y), W φ(x)⟩ of a text."""
    opened = ModelRegression.open(model)
    sentence = word_numbers(opened.text.prepare(line).tokens, opened.source_words)
    hypothesis = word_numbers(opened.text.target_tokens(text), opened.target_words)
    scores, norms = text_scores(opened.regression, sentence, [hypothesis])
    return float(scores[0] + norms[0]) / 2


@pytest.mark.slow
def test_a_model_with_the_feature_lists_products_with_predictions_and_tells_of_it(trained: Path, dev) -> None:  # type: ignore[no-untyped-def]
    model = camber.load(trained)
    assert model.decoder.names[-1] == "regression"
    for line, best in zip(dev[0][:5], model.translations(dev[0][:5], nbest=3), strict=True):
        for item in best:
            value = item.derivation.linear_sums[-1]
            assert value == pytest.approx(product(trained, line, item.text), abs=0.1)
            assert item.derivation.linear_sums @ model.decoder.weights == pytest.approx(item.derivation.score)
    told = CliRunner().invoke(info, [str(trained), "--verify"]).output
    assert "regression_source_ngrams" in told
    assert "regression                        lsr" in told


@pytest.mark.slow
@pytest.mark.parametrize("tuner", ["mert", "pro"])
def test_its_weight_is_tuned_with_the_others(trained: Path, dev, tuner: str) -> None:  # type: ignore[no-untyped-def]
    model = camber.load(trained)
    poor = Weights({**model.weights.values, "lm": 0.05, "word_penalty": 0.2, "regression": -0.2})
    start = model.shaped(model.decoder.reweighted(poor.values), poor)
    settings = TuneSettings(tuner=tuner, iterations=3, nbest=20, bend="mnr" if tuner == "pro" else "none", bits=2)
    outcome = tune_translator(start, dev[0], [dev[1]], settings)
    assert outcome.weights["regression"] > -0.2
    assert outcome.decoder.inputs[-1].name == "regression"


@pytest.mark.slow
def test_added_pairs_join_the_regression_at_once(trained: Path, tmp_path: Path, hotel_files: Path) -> None:
    path = make(hotel_files, tmp_path / "m", "lsr")
    line, target = "la zorra verde duerme", "the green vixen sleeps"
    before = product(path, line, target)
    camber.add(path, [line] * 2, [target] * 2)
    assert product(path, line, target) > before + 1.0
    (best,) = next(camber.load(path).translations([line + " ."]))
    assert best.derivation.linear_sums[-1] == pytest.approx(product(path, line + " .", best.text), abs=0.1)


@pytest.mark.slow
def test_without_it_a_model_is_what_it_was(hotel_files: Path, tmp_path: Path, dev) -> None:  # type: ignore[no-untyped-def]
    plain = make(hotel_files, tmp_path / "m", "")
    model = camber.load(plain)
    assert "regression" not in model.decoder.names
    assert model.decoder.scorer is None
    assert not (plain / "rules" / "pairs").exists()
    with pytest.raises(ModelError, match="without a regression"):
        ModelRegression.open(plain)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lsr", "mmr", "kernel"])
def test_rerankers_have_the_exact_score_and_ask_for_the_model_again(  # type: ignore[no-untyped-def]
    hotel_files: Path, trained: Path, tmp_path: Path, dev, kind: str
) -> None:
    model = trained
    if kind == "mmr":
        model = make(hotel_files, tmp_path / "m", "mmr")
    elif kind == "kernel":
        model = make(hotel_files, tmp_path / "m", "", method="kernel")
    lists = camber.load(model).translations(dev[0], nbest=6)
    texts = [[item.text for item in best] for best in lists]
    offsets = np.cumsum([0, *map(len, texts)])
    nbest = NBest.of_hypotheses((), offsets, [text for some in texts for text in some], np.zeros((offsets[-1], 0)))
    for name, value in (("es", dev[0]), ("en", dev[1])):
        write_lines(tmp_path / name, value)
    nbest.write(tmp_path / "list.jsonl")
    where = ["--nbest", str(tmp_path / "list.jsonl"), "--source", str(tmp_path / "es")]
    regression = ["--regression", str(model)]
    fit = ["fit", *where, "--ref", str(tmp_path / "en"), "--model", str(tmp_path / "r")]
    result = CliRunner().invoke(rerank, [*fit, *regression])
    assert result.exit_code == 0, result.output
    reranker = Reranker.load(tmp_path / "r")
    reranker.regression = model
    wide = reranker.with_features(nbest, dev[0])
    name = "regression.mmr" if kind == "mmr" else "regression.lsr"
    assert ("regression.norm" in wide.names) == (kind != "mmr")
    column = wide.hypothesis_features()[:, wide.names.index(name)]
    if kind == "kernel":  # the pre-image search gave these texts these very scores
        opened = camber.load(model)
        lists = zip(dev[0], opened.translations(dev[0], nbest=6), strict=True)
        items = [(line, item) for line, best in lists for item in best]
        # odd texts may not come apart as they were put together: "the. word", a full stop and no capital behind it
        same = [opened.text.target_tokens(item.text, line) == list(item.derivation.words) for line, item in items]
        assert sum(same) > 0.8 * len(same)
        scores = np.array([item.derivation.score for _, item in items])
        np.testing.assert_allclose(column[same], scores[same], atol=0.2)
    applied = CliRunner().invoke(rerank, ["apply", str(tmp_path / "r"), *where, *regression])
    assert applied.exit_code == 0, applied.output
    assert len(applied.stdout.splitlines()) == len(dev[0])
    with pytest.raises(CamberError, match="give the model of its regression"):
        Reranker.load(tmp_path / "r").rerank(nbest, dev[0])
    reranker.regression = model
    with pytest.raises(CamberError, match="give them \\(--source\\)"):
        reranker.rerank(nbest)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--kernel-order", "2"], "--kernel-order makes no difference without --regression"),
        (["--regression", "lsr", "--kernel-regression", "mmr"], "--kernel-regression makes no difference beside"),
        (["--regression", "mmr", "--kernel-ridge", "1"], "--kernel-ridge makes no difference to --regression mmr"),
        (["--method", "kernel", "--regression", "lsr"], "--regression makes no difference to --method kernel"),
        (["--method", "hiero", "--regression", "lsr"], "--regression makes no difference to --method hiero"),
    ],
)
def test_flags_that_make_no_difference_are_refused(flags: list[str], told: str) -> None:
    result = CliRunner().invoke(train_command, ["--source", "a", "--target", "b", "--model", "c", *flags])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())


def test_folds_refuse_them_too() -> None:
    flags = ["--source", "a", "--target", "b", "--out", "c", "--kernel-order", "2"]
    assert "makes no difference without --regression" in " ".join(CliRunner().invoke(nbest_folds, flags).output.split())
