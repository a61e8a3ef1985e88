"""Settings of a learner that cross-validation on the list chooses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from toys.lists import flipped

from camber.cli import cli
from camber.errors import SettingsError, TuneError
from camber.files import write_lines
from camber.model.directory import ModelDirectory
from camber.rerank import choice
from camber.rerank.choice import best_settings, combinations
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.settings import ResponseSettings
from camber.rerank.trees import Trees

USEFUL = Trees.settings("trees")


def trees(**more: Any) -> Reranker:
    return Reranker("trees", tokenize="none", trees=6, **more)


def test_every_combination_is_tried_and_the_best_held_out_is_kept(tmp_path: Path) -> None:
    """Two leaves cannot tell the good ones of this list, four can."""
    nbest, references = flipped(60)
    model = trees(grid={"leaves": [2, 4], "tree_keep": [40]}, cautious=False).fit(nbest, references)
    assert [dict(trial.values) for trial in model.trials] == [
        {"leaves": 2, "tree_keep": 40},
        {"leaves": 4, "tree_keep": 40},
    ]
    assert (model.leaves, model.tree_keep) == (4, 40)
    # the score of a trial is that of plain fits, each without its fold
    data = trees().tuning_data(nbest, references)
    for trial, leaves in zip(model.trials, (2, 4), strict=True):
        chosen = np.zeros(len(data), np.int64)
        for fold in range(3):
            seen = [sentence for sentence in range(len(data)) if sentence % 3 != fold]
            texts = [references[sentence] for sentence in seen]
            part = trees(leaves=leaves, tree_keep=40, cautious=False).fit(nbest.of_sentences(seen), texts)
            chosen[fold::3] = nbest.best(part.scores(nbest))[fold::3]
        assert trial.score == pytest.approx(data.score_of(chosen))
    alone = trees(leaves=4, tree_keep=40, cautious=False).fit(nbest, references)
    assert alone.scores(nbest).tobytes() == model.scores(nbest).tobytes()
    model.save(tmp_path / "m")
    assert ModelDirectory.open(tmp_path / "m").settings["bend"]["leaves"] == 4
    assert Reranker.load(tmp_path / "m").scores(nbest).tobytes() == model.scores(nbest).tobytes()


def test_curves_have_settings_to_choose_too_and_held_out_sentences_see_no_choice_of_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nbest, references = flipped(24)
    asked: list[int] = []
    real = choice.best_settings

    def seen(data: Any, *others: Any) -> Any:
        asked.append(len(data))
        return real(data, *others)

    monkeypatch.setattr("camber.rerank.reranker.best_settings", seen)
    reranker = Reranker("lnr", tokenize="none", grid={"bits": [1, 2], "beta": [1.0, 10.0]}, cautious=False)
    report = evaluate(reranker, nbest, references, folds=2, trials=20)
    assert asked == [12, 12, 24]
    assert len(report.trials) == 4
    assert "  bits=1 beta=10: " in "\n".join(report.lines())
    assert json.loads(json.dumps(report.to_dict()))["trials"][3]["values"] == {"bits": 2, "beta": 10.0}


def test_of_equals_the_first_is_kept_and_one_that_fails_is_left() -> None:
    nbest, references = flipped(12)
    data = trees().tuning_data(nbest, references)
    todo = combinations({"leaves": [4, 2, 3, 2]}, ResponseSettings(), USEFUL, "trees")
    assert [settings.leaves for _, settings in todo] == [4, 2, 3]
    line = Reranker(tokenize="none", cautious=False).fit(nbest, references).fitted

    def fitted(part: Any, responses: ResponseSettings) -> Any:
        if responses.leaves == 4:
            raise TuneError("nothing to learn")
        return line

    best, trials = best_settings(data, todo, fitted)
    assert best.leaves == 2
    assert [trial.score is None for trial in trials] == [True, False, False]
    with pytest.raises(TuneError, match="nothing to learn"):
        best_settings(data, todo[:1], fitted)
    with pytest.raises(SettingsError, match="8 sentences are too few to choose among settings; expected at least 10"):
        trees(grid={"leaves": [2]}).fit(*flipped(8))


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({"bits": [2]}, "bits is no setting of the learner trees; there are: trees, leaves, leaf"),
        ({"leaves": []}, "no values for leaves"),
        ({"leaves": [1]}, "leaves is 1; expected at least 2"),
        ({}, "the grid is empty; name values to try of: trees, leaves"),
    ],
)
def test_bad_grids_are_refused(grid: Any, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        combinations(grid, ResponseSettings(), USEFUL, "trees")


def test_the_command_tells_what_it_tried(tmp_path: Path) -> None:
    nbest, references = flipped(30)
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)

    def run(*words: Any) -> Any:
        common = ("rerank", "fit", "--nbest", tmp_path / "list.moses", "--ref", tmp_path / "ref", "--tokenize", "none")
        return CliRunner().invoke(cli, ["--quiet", *map(str, (*common, "--model", tmp_path / "m", *words))])

    done = run("--learner", "trees", "--trees", 3, "--grid", "leaves=2,4 tree_scope=auto,global", "--no-cautious")
    assert done.exit_code == 0, done.output
    assert "leaves=2 tree_scope=auto: " in done.stdout
    assert "leaves=4 tree_scope=global: " in done.stdout
    recorded = ModelDirectory.open(tmp_path / "m").settings["bend"]
    assert recorded["trees"] == 3
    assert recorded["leaves"] in (2, 4)
    for words, told, code in (
        (
            ("--learner", "trees", "--grid", "leaves=2", "--leaves", 3),
            "--leaves makes no difference beside a --grid",
            2,
        ),
        (("--learner", "linear", "--grid", "leaves=2"), "leaves is no setting of the learner linear", 1),
        (("--learner", "trees", "--grid", "leaves=x"), "leaves is 'x'; expected a number", 1),
    ):
        wrong = run(*words)
        assert wrong.exit_code == code
        assert told in wrong.output + str(wrong.exception)
