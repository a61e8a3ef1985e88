"""Hyper-parameters that a third set chooses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import camber
from camber.cli import cli
from camber.engine import Threads
from camber.errors import SettingsError, TuneError
from camber.features.weights import Weights
from camber.files import read_lines
from camber.model.directory import ModelDirectory
from camber.pipeline.rewrite import GRID
from camber.pipeline.tune import dev_set, tune_model, tune_translator
from camber.rules.hiero.extraction import HieroExtractor
from camber.tune import grid as module
from camber.tune import growing
from camber.tune.grid import GridOutcome, combinations, parse_grid
from camber.tune.loop import TuneSettings
from camber.tune.preferences import Preferences

pytestmark = pytest.mark.slow

QUICK: dict[str, Any] = {"tuner": "pro", "iterations": 2, "nbest": 10, "cautious": False}
MNR = TuneSettings(bend="mnr", **QUICK)


@pytest.fixture(scope="module")
def sets(hotel_files: Path) -> list[list[str]]:
    """Dev source and target, hyper source and target."""
    return [read_lines(hotel_files / name)[:20] for name in ("dev.es", "dev.en", "test.es", "test.en")]


def run(translator: Any, sets: list[list[str]], grid: dict[str, list[Any]], **more: Any) -> GridOutcome:
    dev, references, hyper, hyper_references = sets
    settings = more.pop("settings", TuneSettings())
    outcome = tune_translator(
        translator, dev, [references], settings, grid=grid, hyper=(hyper, [hyper_references]), **more
    )
    assert isinstance(outcome, GridOutcome)
    return outcome


def test_every_combination_is_tuned_and_the_best_on_the_hyper_set_is_kept(
    hotel_model: Path, sets: list[list[str]]
) -> None:
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    outcome = run(translator, sets, {"bits": [1, 3], "beta": [1, 1000]}, settings=MNR)
    tried = [(trial.values["bits"], trial.values["beta"]) for trial in outcome.trials]
    assert tried == [(1, 1), (1, 1000), (3, 1), (3, 1000)]
    assert outcome.best.hyper == max(trial.hyper for trial in outcome.trials)
    assert (outcome.settings.bits, outcome.settings.beta) == (outcome.best.values["bits"], outcome.best.values["beta"])
    assert outcome.trials[0].features == outcome.trials[1].features < outcome.trials[2].features
    assert len(outcome.weights) == outcome.best.features
    assert f"hyper:{outcome.best.hyper:.2f}" in outcome.weights.signature
    assert [line.startswith("*") for line in outcome.lines()[1:]].count(True) == 1
    # the score is that of the model which is returned, on the hyper set as the model sees it
    hyper = dev_set(translator, sets[2], [sets[3]], "bleu")
    columns = outcome.decoder.decode_columns(hyper.inputs, hyper.vocabulary, 1, Threads(1))
    assert hyper.metric.score(hyper.statistics(columns).sum(0)) == pytest.approx(outcome.best.hyper)


def test_the_hyper_set_chooses_and_not_dev(
    hotel_model: Path, sets: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With l2 = 1 the weights are tuned; with l2 = 2 they are others, which translate dev badly."""
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    real = module.tune_bent
    short = {**translator.weights.values, "word_penalty": 30.0}

    def rigged(decoder: Any, dev: Any, settings: Any, seed: int, engine: Any, tuner: Any) -> Any:
        outcome = real(decoder, dev, settings, seed, engine, tuner)
        if tuner.l2 == 1.0:
            return outcome
        return type(outcome)(Weights(short), outcome.replicas, decoder.reweighted(short))

    monkeypatch.setattr(module, "tune_bent", rigged)
    settings = TuneSettings(**QUICK)
    assert run(translator, sets, {"l2": [1, 2]}, settings=settings).best.values == {"l2": 1}
    clipped = camber.load(hotel_model).searching({"pop_limit": 20}).reweighted(Weights(short)).translate(sets[2])
    other = run(translator, [*sets[:3], clipped], {"l2": [1, 2]}, settings=settings)
    assert other.best.values == {"l2": 2}
    assert other.weights.values == short


def test_a_grid_with_replicas_gives_the_same_bytes_on_one_thread_and_on_two(
    hotel_model: Path, sets: list[list[str]]
) -> None:
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    settings = TuneSettings(bend="lnr", replicas=2, **QUICK)
    one, two = (
        run(translator, sets, {"beta": [1, 100]}, settings=settings, engine=Threads(threads)) for threads in (1, 2)
    )
    assert len(one.scores) == 2
    assert one.weights.values == two.weights.values
    assert one.trials == two.trials


def test_a_hierarchical_model_extracts_the_rules_of_a_sentence_once(
    hotel_hiero: Path, sets: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    real = HieroExtractor._extract

    def extract(self: Any, sentence: Any) -> Any:
        asked.append(tuple(sentence))
        return real(self, sentence)

    monkeypatch.setattr(HieroExtractor, "_extract", extract)
    translator = camber.load(hotel_hiero).searching({"pop_limit": 20})
    few = [lines[:8] for lines in sets]
    outcome = run(translator, few, {"bits": [2, 4], "beta": [1, 10]}, settings=MNR, engine=Threads(1))
    assert len(outcome.trials) == 4
    sentences = {tuple(translator.source_tokens(line)) for line in (*few[0], *few[2])}
    assert sorted(sentence for sentence in asked if sentence) == sorted(sentences)


def test_what_makes_no_difference_is_not_multiplied_out() -> None:
    grid = {"bits": [4, 8], "beta": [1, 10], "gamma": [1, 2], "l2": [1, 1, 3]}

    def tried(bend: str, kind: str | None = None) -> list[dict[str, float]]:
        return [values for values, _, _ in combinations(grid, TuneSettings(bend=bend, tuner="pro"), kind or bend)]

    assert len(tried("mnr")) == 2 * 2 * 2 * 2  # a value that is named twice is one
    assert len(tried("lnr")) == 2 * 2 * 2
    assert len(tried("overlap")) == 2 * 2
    assert tried("none") == [{"l2": 1}, {"l2": 3}]
    assert len(tried("keep", "mnr")) == 2 * 2 * 2  # the bins are there
    values, settings, tuner = combinations(grid, TuneSettings(bend="mnr", tuner="pro"), "mnr")[-1]
    assert (settings.bits, settings.beta, settings.gamma, tuner.l2) == (8, 10, 2, 3)  # type: ignore[attr-defined]
    assert values == {"bits": 8, "beta": 10, "gamma": 2, "l2": 3}


@pytest.mark.parametrize(
    ("grid", "bend", "problem"),
    [
        ("bots=4", "mnr", "no hyper-parameter bots; there are bits, beta, gamma, trees, .*, l2"),
        ("bits=4.5", "mnr", "bits is 4.5; expected int"),
        ("bits=99", "mnr", "bits is 99; expected at most 20"),
        ("beta=-2", "mnr", "beta is -2.0; expected at least -1"),
        ("beta=nan", "mnr", "beta is nan"),
        ("l2=-1", "mnr", "l2 is -1.0; expected at least 0"),
        ("gamma=1,0", "lnr", "gamma is 0.0; expected at least"),
        ("bits=4 gamma=1", "none", "bits, gamma makes no difference to bend none"),
        ("", "mnr", "the grid is empty"),
        ("leaves=1,2", "trees", "leaves is 1; expected at least 2"),
        ("leaf=constant,round", "trees", "leaf is 'round'; expected one of constant, linear"),
        ("tree_refit=yes", "trees", "tree_refit is 'yes'; expected true or false"),
        ("tree_refit=true tree_shrinkage=0.1", "trees", "tree_shrinkage is 0.1, which makes no difference"),
        ("leaves=2,4 tree_keep=9", "mnr", "leaves, tree_keep makes no difference to bend mnr"),
    ],
)
def test_bad_grids_are_told_before_anything_is_tuned(grid: str, bend: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        combinations(parse_grid(grid), TuneSettings(bend=bend, tuner="pro"), bend)


def test_grids_are_read_from_a_line() -> None:
    assert parse_grid("bits=4,8  beta=10,1e5") == {"bits": [4, 8], "beta": [10, 1e5]}
    assert parse_grid("leaf=linear,constant tree_refit=false,true") == {
        "leaf": ["linear", "constant"],
        "tree_refit": [False, True],
    }
    for bad in ("bits", "bits=", "beta=x", "bits=4,,8", "bits=4 bits=8", "leaf=constant,,linear"):
        with pytest.raises(SettingsError, match="grid: "):
            parse_grid(bad)
    with pytest.raises(SettingsError, match="mira has no L2 penalty"):
        combinations({"l2": [1]}, TuneSettings(tuner="mira"), "none")
    tuners = [tuner for _, _, tuner in combinations({"l2": [0, 4]}, TuneSettings(tuner="expected-bleu"), "none")]
    assert [tuner.variance for tuner in tuners] == [0.0, 0.25]  # type: ignore[attr-defined]
    with pytest.raises(SettingsError, match="l2 is -1; expected at least 0"):
        combinations({"l2": [-1]}, TuneSettings(tuner="expected-bleu"), "none")
    with pytest.raises(SettingsError, match="no values for bits"):
        combinations({"bits": []}, MNR, "mnr")


def test_settings_of_trees_are_chosen_too(
    hotel_model: Path, sets: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "ASIDE", 10**9)  # so little text confirms hardly any tree
    grown: list[tuple[Any, ...]] = []
    real = growing.Boost.fit

    def fit(self: growing.Boost, *given: Any, **more: Any) -> Any:
        grown.append((self.leaves, self.leaf, self.keep, self.alpha))
        return real(self, *given, **more)

    monkeypatch.setattr(growing.Boost, "fit", fit)
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    settings = TuneSettings(bend="trees", trees=2, **QUICK)
    grid = parse_grid("leaf=constant,linear tree_keep=20,40 tree_alpha=0.1 l2=1,2")
    outcome = run(translator, sets, grid, settings=settings)
    shapes = [(leaf, keep) for leaf in ("constant", "linear") for keep in (20, 40)]
    assert grown == [(2, leaf, keep, 0.1) for leaf, keep in shapes]  # once for both penalties
    assert [(trial.values["leaf"], trial.values["tree_keep"]) for trial in outcome.trials[::2]] == shapes
    assert (outcome.settings.leaf, outcome.settings.tree_keep) == (
        outcome.best.values["leaf"], outcome.best.values["tree_keep"],
    )  # fmt: skip
    assert outcome.settings.tree_alpha == 0.1
    assert outcome.lines()[0].split()[:2] == ["leaf", "tree_keep"]
    assert [row.split("\t")[0] for row in outcome.to_grid()[1:3]] == ["constant", "constant"]
    assert f"leaf={outcome.settings.leaf},tree_keep={outcome.settings.tree_keep}" in outcome.weights.signature


def test_where_no_tree_can_be_grown_the_other_combinations_go_on(
    hotel_model: Path, sets: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Preferences.draw

    def draw(self: Preferences, data: Any, seed: int) -> Any:
        return real(self, data, seed)[: 0 if self.alpha == 0.0 else None]

    monkeypatch.setattr(Preferences, "draw", draw)
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    settings = TuneSettings(bend="trees", trees=1, **QUICK)
    outcome = run(translator, sets, {"tree_alpha": [0.0, 1.0]}, settings=settings)
    assert "no pair of hypotheses differs" in outcome.trials[0].failure
    assert outcome.trials[0].features == 0
    assert outcome.settings.tree_alpha == 1.0


def test_trees_that_are_kept_are_not_chosen_again() -> None:
    grid = {"leaves": [2, 3], "l2": [1, 2]}
    kept = combinations(grid, TuneSettings(bend="keep", tuner="pro"), "trees")
    assert [values for values, _, _ in kept] == [{"l2": 1}, {"l2": 2}]


def test_a_combination_that_fails_is_recorded_and_others_go_on(
    hotel_model: Path, sets: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = camber.load(hotel_model).searching({"pop_limit": 20})
    real = module.tune_bent

    def failing(*given: Any) -> Any:
        if given[2].beta == 1.0:
            raise TuneError("nothing moved")
        return real(*given)

    monkeypatch.setattr(module, "tune_bent", failing)
    outcome = run(translator, sets, {"beta": [1, 10]}, settings=MNR)
    assert (outcome.trials[0].failure, outcome.best.values) == ("nothing moved", {"beta": 10})
    assert np.isnan(outcome.trials[0].hyper)
    assert "failed" in outcome.lines()[1]
    with pytest.raises(TuneError, match="nothing moved"):
        run(translator, sets, {"beta": [1]}, settings=MNR)


def test_the_command_writes_the_table_and_the_settings_it_chose(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    dev = ["--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en"]
    hyper = ["--hyper-source", hotel_files / "test.es", "--hyper-target", hotel_files / "test.en"]
    quick = [
        "--bend",
        "bins",
        "--no-cautious",
        "--tuner",
        "pro",
        "--iterations",
        2,
        "--nbest",
        10,
        "--out",
        tmp_path / "tuned",
    ]

    def tune(*words: Any) -> Any:
        return CliRunner().invoke(cli, [str(word) for word in ("tune", hotel_model, *dev, *quick, *words)])

    done = tune(*hyper, "--grid", "bits=2,3", "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert [trial["bits"] for trial in facts["grid"]] == [2, 3]
    kept = max(facts["grid"], key=lambda trial: trial["hyper"])
    directory = ModelDirectory.open(tmp_path / "tuned")
    assert directory.settings["tune"]["bits"] == kept["bits"]
    rows = read_lines(directory.file(GRID))
    assert rows[0].split("\t") == ["bits", "features", "dev", "hyper", "kept"]
    assert [row.split("\t")[0] for row in rows if row.endswith("\tyes")] == [str(kept["bits"])]
    assert len(camber.load(tmp_path / "tuned").weights) == kept["features"]
    table = tune(*hyper, "--grid", "bits=2")
    assert table.stdout.splitlines()[0].split() == ["bits", "features", "dev", "hyper"]
    # another tuning, without a grid, leaves no table of this one
    tune_model(tmp_path / "tuned", *(dev[1], dev[3]), settings=TuneSettings(**QUICK))
    assert GRID not in ModelDirectory.open(tmp_path / "tuned")

    for words, remedy in ((["--grid", "bits=2"], "give --hyper-source and --hyper-target"), (hyper, "--grid")):
        wrong = tune(*words)
        assert wrong.exit_code == 2
        assert remedy in wrong.stderr
    with pytest.raises(SettingsError, match="give all three"):
        tune_model(hotel_model, *(dev[1], dev[3]), grid={"bits": [2]}, hyper_source=hyper[1])


def test_an_interrupted_grid_leaves_the_old_model(
    hotel_model: Path, hotel_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tune_model(
        hotel_model, hotel_files / "dev.es", hotel_files / "dev.en", out=tmp_path / "m",
        settings=TuneSettings(iterations=1, tuner="pro", nbest=5),
    )  # fmt: skip
    before = ModelDirectory.open(tmp_path / "m").signature, (tmp_path / "m" / "weights.tsv").read_bytes()
    real, calls = module.tune_bent, []

    def interrupted(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(module, "tune_bent", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune_model(
            tmp_path / "m", hotel_files / "dev.es", hotel_files / "dev.en", grid={"bits": [2, 3]}, settings=MNR,
            hyper_source=hotel_files / "test.es", hyper_target=hotel_files / "test.en",
        )  # fmt: skip
    after = ModelDirectory.open(tmp_path / "m", verify=True).signature, (tmp_path / "m" / "weights.tsv").read_bytes()
    assert after == before
