"""Re-rankers that learn trees over the features of a hypothesis."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from toys.lists import flipped, with_values

import camber
from camber.bend.settings import TreeSettings
from camber.bend.trees.document import read_forest
from camber.cli import cli
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.files import write_lines
from camber.model.directory import ModelDirectory
from camber.nbest import NBest
from camber.rerank.linear import Linear
from camber.rerank.own_order import unless_worse
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.trees import Trees


def noise(sentences: int = 60, size: int = 6, seed: int = 3) -> tuple[NBest, list[str]]:
    """Make a list whose features tell nothing, and whose own order is right."""
    rng = np.random.default_rng(seed)
    nbest, references = flipped(sentences, size, seed)
    right = np.array([10 - text.split().count("x") for text in nbest.texts])
    own = right + rng.normal(0.0, 0.5, len(right))
    return replace(with_values(nbest, rng.normal(size=(len(right), 2))), scores=own), references


def of_four_leaves(**more: Any) -> Reranker:
    """Make a re-ranker with trees that can ask two questions on the way to a leaf."""
    return Reranker("trees", tokenize="none", leaves=4, **more)


@pytest.mark.slow
def test_a_conjunction_is_learnt_that_no_linear_model_can_rank() -> None:
    nbest, references = flipped(120)
    line = evaluate(Reranker(tokenize="none"), nbest, references, folds=3, trials=200)
    trees = evaluate(Reranker("trees", tokenize="none"), nbest, references, folds=3, trials=200)  # as they usually are
    assert line.held_out is not None
    assert trees.held_out is not None
    assert trees.held_out.tuned > line.held_out.tuned + 10
    assert trees.held_out.tuned > trees.oracle - 10
    assert trees.bent


def test_trees_that_were_learnt_rank_another_list() -> None:
    reranker = of_four_leaves().fit(*flipped())
    other, references = flipped(seed=2)
    right = [sum(a == b for a, b in zip(x.split(), y.split(), strict=True)) for x, y in
             zip(reranker.rerank(other).best_texts(), references, strict=True)]  # fmt: skip
    assert np.mean(right) > 8
    fitted = reranker.fitted
    assert isinstance(fitted, Trees)
    assert {name for tree in range(len(fitted.bend.forest)) for name in fitted.bend.forest.names_used(tree)} >= {
        "x", "kind",
    }  # fmt: skip


def test_the_score_is_the_line_and_the_weighted_trees() -> None:
    nbest, references = flipped()
    reranker = of_four_leaves(leaf="linear").fit(nbest, references)
    fitted = reranker.fitted
    assert isinstance(fitted, Trees)
    table = reranker.with_features(nbest).hypothesis_features()
    width = len(fitted.names)
    expected = table @ fitted.weights[:width] + fitted.bend.forest.values(table) @ fitted.weights[width:]
    np.testing.assert_allclose(fitted.scores(table), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_stored_model_scores_alike(leaf: str, tmp_path: Path) -> None:
    nbest, references = flipped()
    reranker = of_four_leaves(leaf=leaf, trees=7).fit(nbest, references)
    reranker.save(tmp_path / "m")
    again = Reranker.load(tmp_path / "m")
    assert again.scores(nbest).tobytes() == reranker.scores(nbest).tobytes()
    assert (again.trees, again.leaves, again.leaf) == (7, 4, leaf)
    assert (again.fitted.step, again.fitted.bent) == (reranker.fitted.step, reranker.fitted.bent)
    directory = ModelDirectory.open(tmp_path / "m", verify=True)
    chosen = TreeSettings(trees=7, leaves=4, leaf=leaf).to_dict()
    assert directory.settings["bend"] == chosen | {"tree_scope": "auto"}
    assert directory.settings["rerank"]["scope"] == "global"
    assert 1 <= directory.sizes["trees"] == len(read_forest(directory.file("trees.json"))) <= 7


@pytest.mark.slow
def test_the_same_bytes_come_of_any_engine(tmp_path: Path) -> None:
    nbest, references = flipped()
    for threads in (1, 2):
        of_four_leaves(engine=Threads(threads)).fit(nbest, references).save(tmp_path / str(threads))
    for name in ("trees.json", "weights.tsv"):
        one, two = (ModelDirectory.open(tmp_path / threads).file(name).read_bytes() for threads in ("1", "2"))
        assert one == two


def test_noise_leaves_the_own_order() -> None:
    nbest, references = noise()
    report = evaluate(reranker := of_four_leaves(), nbest, references, folds=3, trials=100)
    assert report.tuned >= report.one_best
    assert report.held_out is not None
    assert report.held_out.tuned > report.one_best - 1
    assert report.bent == 0.0
    assert reranker.fitted.sizes() == {"trees": 0}


def test_without_caution_trees_go_all_the_way() -> None:
    fitted = of_four_leaves(cautious=False).fit(*flipped()).fitted
    assert (fitted.step, fitted.bent) == (1.0, 1.0)


def test_where_no_tree_is_confirmed_the_model_is_the_linear_one() -> None:
    nbest, references = noise()
    line, trees = Reranker(tokenize="none").fit(nbest, references), of_four_leaves().fit(nbest, references)
    assert isinstance(line.fitted, Linear)
    assert trees.fitted.step == line.fitted.step
    assert trees.rerank(nbest).texts == line.rerank(nbest).texts


def test_trees_that_do_harm_are_dropped_for_the_own_order() -> None:
    nbest, references = flipped()
    reranker = of_four_leaves()
    data = reranker.tuning_data(nbest, references)
    fitted = reranker.fit_data(data).fitted
    assert isinstance(fitted, Trees)
    harmful = replace(fitted, weights=-fitted.weights)
    kept = unless_worse(harmful, data, data.names.index("list.score"))
    assert kept.step == kept.bent == 0.0
    assert kept.sizes() == {"trees": 0}
    assert nbest.scores is not None
    scores = kept.scores(data.present())
    assert np.array_equal(data.best_by(scores), data.best_by(nbest.scores))


@pytest.mark.slow
def test_features_that_lines_leave_out_are_a_side_of_their_own() -> None:
    """Where the kind is absent instead of 0, trees learn the same."""
    nbest, references = flipped(120)
    table = nbest.hypothesis_features()
    table[table[:, 1] == 0.0, 1] = np.nan
    sparse = with_values(nbest, table)
    report = evaluate(of_four_leaves(), sparse, references, folds=3, trials=100)
    assert report.held_out is not None
    assert report.held_out.tuned > report.one_best + 15


def test_few_sentences_are_not_split() -> None:
    nbest, references = flipped(8, 20)
    fitted = of_four_leaves(trees=3).fit(nbest, references).fitted
    assert fitted.sizes()["trees"] <= 3
    assert fitted.step in (0.0, 1.0)


@pytest.mark.slow
def test_outside_scores_are_learnt_too() -> None:
    nbest, _ = flipped()
    outside = [-0.01 * text.split().count("x") for text in nbest.texts]
    report = evaluate(of_four_leaves(metric="extra:comet"), nbest.with_extra("comet", outside), folds=3, trials=100)
    assert report.held_out is not None
    assert report.held_out.difference > 0.01
    assert report.bent


def test_the_command_fits_applies_tells_and_draws(tmp_path: Path) -> None:
    nbest, references = flipped()
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)

    def run(*words: Any) -> str:
        done = CliRunner().invoke(cli, [str(word) for word in words])
        assert done.exit_code == 0, done.output
        return done.stdout

    report = run(
        "rerank", "fit", "--nbest", tmp_path / "list.moses", "--ref", tmp_path / "ref", "--tokenize", "none",
        "--learner", "trees", "--trees", 9, "--leaves", 4, "--leaf", "constant", "--model", tmp_path / "m", "--json",
    )  # fmt: skip
    best = run("rerank", "apply", tmp_path / "m", "--nbest", tmp_path / "list.moses").splitlines()
    reranker = Reranker.load(tmp_path / "m")
    assert best == reranker.rerank(NBest.read(tmp_path / "list.moses")).best_texts()
    assert best != nbest.best_texts()
    told = run("info", tmp_path / "m", "--verify")
    assert "bend: trees" in told
    assert "tree1, weight " in told
    assert "kind < " in told
    assert "changed " in told
    assert ", without it: " in told
    facts = json.loads(run("info", tmp_path / "m", "--json"))["bend"]
    assert facts["kind"] == "trees"
    assert json.loads(report)["trees"] == facts["trees"]
    assert [tree["weight"] for tree in facts["trees"]] == [tree.weight for tree in reranker.fitted.trees()]
    assert all(tree["acted"]["sentences"]["of"] == len(nbest) for tree in facts["trees"])
    drawn = run("curves", tmp_path / "m", "--out", tmp_path / "c.html")
    assert "tree1  asks about " in drawn
    page = (tmp_path / "c.html").read_text("utf-8")
    assert "What the trees of m learnt" in page
    assert "kind &lt; 0.5" in page
    assert [tree.name for tree in camber.curves(reranker, tmp_path / "c.svg", ["kind"])] == [
        tree.name for tree in reranker.fitted.trees() if "kind" in tree.asks_about
    ]


def test_what_trees_did_to_the_list_is_what_ranking_without_them_does() -> None:
    nbest, references = flipped()
    sources = [f"source {number}" for number in range(len(nbest))]
    reranker = of_four_leaves().fit(nbest, references, sources)
    fitted, best = reranker.fitted, reranker.rerank(nbest).best_texts()
    assert isinstance(fitted, Trees)
    for number, tree in enumerate(fitted.trees()):
        weights = fitted.weights.copy()
        weights[len(fitted.names) + number] = 0.0
        reranker._fitted = replace(fitted, weights=weights)
        others = reranker.rerank(nbest).best_texts()
        changed = [place for place, (one, two) in enumerate(zip(best, others, strict=True)) if one != two]
        acts = tree.tree.acts
        assert acts is not None
        assert (acts.sentences, acts.of_sentences, acts.of_parts) == (len(changed), len(nbest), nbest.hypotheses)
        assert len(acts.examples) == min(3, len(changed))
        for example in acts.examples:
            place = example.sentence - 1
            assert (example.source, example.with_tree, example.without) == (sources[place], best[place], others[place])
            right, wrong = (text.split().count("x") for text in (example.with_tree, example.without))
            assert (example.change > 0) == (right < wrong)
    assert sum(tree.tree.acts.sentences for tree in fitted.trees() if tree.tree.acts) > 0


def test_a_model_without_any_tree_has_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(CamberError, match="it has no trees: there is nothing to draw"):
        camber.curves(of_four_leaves().fit(*noise()), tmp_path / "c.html")
    assert not (tmp_path / "c.html").exists()


@pytest.mark.parametrize(
    ("learner", "flag"),
    [
        ("trees", "--bits=3"),
        ("trees", "--beta=3"),
        ("trees", "--gamma=1"),
        ("mnr", "--leaves=3"),
        ("linear", "--trees=3"),
        ("linear", "--tree-keep=3"),
        ("mnr", "--tree-refit"),
    ],
)
def test_flags_that_make_no_difference_are_refused(learner: str, flag: str, tmp_path: Path) -> None:
    words = ["rerank", "fit", "--nbest", str(tmp_path / "list"), "--model", str(tmp_path / "m"), "--learner", learner]
    done = CliRunner().invoke(cli, [*words, flag])
    assert done.exit_code == 2
    assert f"{flag.split('=')[0]} makes no difference to --learner {learner}" in done.output


def test_settings_that_exclude_each_other_are_refused_by_their_flags(tmp_path: Path) -> None:
    words = ["rerank", "fit", "--nbest", str(tmp_path / "list"), "--model", str(tmp_path / "m"), "--learner", "trees"]
    for more, told in (
        (["--tree-refit", "--tree-shrinkage=0.5"], "--tree-shrinkage is 0.5, which makes no difference"),
        (["--tree-split=pairs", "--leaf=linear"], "--leaf is linear, but where splits are scored by pairs"),
        (["--metric=chrf", "--tree-alpha=2"], "--tree-alpha makes no difference to --metric chrf"),
    ):
        done = CliRunner().invoke(cli, [*words, *more])
        assert done.exit_code == 2
        assert told in " ".join(done.output.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tree_split", "pairs"),
        ("tree_pairs", "uniform"),
        ("tree_keep", 3),
        ("tree_alpha", 0.01),
        ("tree_shrinkage", 0.5),
        ("tree_refit", True),
    ],
)
def test_every_choice_of_boosting_makes_a_difference_and_is_stored(name: str, value: Any, tmp_path: Path) -> None:
    nbest, references = flipped()
    usual, other = (
        of_four_leaves(trees=4, cautious=False, **chosen).fit(nbest, references) for chosen in ({}, {name: value})
    )
    assert usual.scores(nbest).tobytes() != other.scores(nbest).tobytes()
    other.save(tmp_path / "m")
    assert ModelDirectory.open(tmp_path / "m").settings["bend"][name] == value
    assert getattr(Reranker.load(tmp_path / "m"), name) == value


def test_settings_are_checked() -> None:
    nbest, references = flipped(12)
    with pytest.raises(SettingsError, match="leaves is 1; expected at least 2"):
        Reranker("trees", leaves=1, tokenize="none").fit(nbest, references)
    with pytest.raises(SettingsError, match="leaf is 'round'; expected one of constant, linear"):
        Reranker("trees", leaf="round", tokenize="none").fit(nbest, references)
