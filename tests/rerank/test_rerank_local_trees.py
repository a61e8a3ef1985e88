"""Re-rankers whose trees look at the parts of a hypothesis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from naive.regression_trees import tree_value
from toys.lists import PLANTED, planted, with_values

from camber.bend.trees.document import forest_to_json
from camber.cli import cli
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.features.feature import Feature
from camber.files import read_lines, write_lines
from camber.model.directory import ModelDirectory
from camber.nbest import NBest
from camber.rerank.report import evaluate
from camber.rerank.reranker import Reranker
from camber.rerank.trees import Trees


def as_hypotheses(nbest: NBest) -> NBest:
    """Return the list as formats hold it that know no parts."""
    return NBest.of_hypotheses(
        nbest.names, nbest.sentence_offsets, nbest.texts, nbest.hypothesis_features(), nbest.scores
    )


def reranker(**more: Any) -> Reranker:
    """Make a re-ranker with trees that can ask two questions on the way to a leaf."""
    return Reranker("trees", tokenize="none", leaves=4, **more)


def trees_of(fitted: Any) -> Trees:
    assert isinstance(fitted, Trees)
    return fitted


def test_the_planted_list_has_parts_and_its_hypotheses_tell_nothing() -> None:
    nbest, _ = planted(5)
    assert nbest.has_parts
    assert nbest.parts.rules.min() == -1
    assert not nbest.hypothesis_features().any()
    assert not as_hypotheses(nbest).has_parts


@pytest.mark.slow
def test_a_conjunction_on_parts_is_learnt_that_no_tree_on_whole_hypotheses_can_see() -> None:
    nbest, references = planted(150)
    local, whole = (
        evaluate(reranker(tree_scope=scope), nbest, references, folds=3, trials=200) for scope in ("auto", "global")
    )
    assert local.held_out is not None
    assert whole.held_out is not None
    assert whole.bent == 0.0
    assert local.held_out.tuned > whole.held_out.tuned + 10
    assert local.held_out.tuned > local.oracle - 10
    assert local.bent


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_the_score_is_the_line_and_the_plain_sum_over_parts(leaf: str) -> None:
    nbest, references = planted(40)
    model = reranker(leaf=leaf, trees=5, cautious=False).fit(nbest, references)
    fitted = trees_of(model.fitted)
    assert fitted.scope == "local"
    weights = dict(zip(fitted.bend.names, fitted.weights.tolist(), strict=True))
    trees = forest_to_json(fitted.bend.forest)["trees"]
    assert trees
    assert nbest.scores is not None
    dense, rules = nbest.parts.dense().tolist(), nbest.parts.rules.tolist()
    for hypothesis, score in enumerate(model.scores(nbest).tolist()):
        expected = weights["list.score"] * nbest.scores[hypothesis]
        for part in range(*nbest.part_offsets[hypothesis : hypothesis + 2]):
            row = dict(zip("xy", dense[part], strict=True))
            expected += sum(weights[name] * value for name, value in row.items())
            if rules[part] >= 0:
                expected += sum(
                    weights[tree["name"]] * tree_value(tree["root"], row, tree["linear in"]) for tree in trees
                )
        assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_trees_tell_what_they_did_to_parts_and_sentences() -> None:
    nbest, references = planted(40)
    model = reranker(trees=5, cautious=False)
    data = model.tuning_data(nbest, references)
    fitted = trees_of(model.fit_data(data).watch(data, nbest).fitted)
    scores = model.scores(nbest)
    for number, tree in enumerate(fitted.trees()):
        acts = tree.tree.acts
        assert acts is not None
        assert (acts.of_parts, acts.of_sentences) == (int((nbest.parts.rules >= 0).sum()), 40)
        weights = fitted.weights.copy()
        weights[len(fitted.names) + number] = 0.0
        without = replace(fitted, weights=weights).scores(data.present(), data.parts)
        texts = [[nbest.texts[best] for best in data.best_by(ranking)] for ranking in (scores, without)]
        assert acts.sentences == sum(one != two for one, two in zip(*texts, strict=True))


def test_trees_that_were_learnt_rank_another_list() -> None:
    model = reranker().fit(*planted())
    other, references = planted(seed=2)
    best = model.rerank(other).best_texts()
    right = [sum(a == b for a, b in zip(x.split(), y.split(), strict=True)) for x, y in
             zip(best, references, strict=True)]  # fmt: skip
    assert np.mean(right) > 9
    ranked = model.rerank(other)
    assert ranked.has_parts
    assert len(ranked.parts) == len(other.parts)


def test_a_stored_model_scores_alike_and_says_what_trees_look_at(tmp_path: Path) -> None:
    nbest, references = planted()
    model = reranker(trees=5).fit(nbest, references)
    model.save(tmp_path / "m")
    again = Reranker.load(tmp_path / "m")
    assert again.scores(nbest).tobytes() == model.scores(nbest).tobytes()
    assert trees_of(again.fitted).scope == "local"
    directory = ModelDirectory.open(tmp_path / "m", verify=True)
    assert directory.settings["rerank"]["scope"] == "local"
    assert directory.settings["bend"]["tree_scope"] == "auto"
    nbest.write(tmp_path / "list.jsonl")
    assert again.scores(NBest.read(tmp_path / "list.jsonl")).tobytes() == model.scores(nbest).tobytes()


@pytest.mark.slow
def test_the_same_bytes_come_of_any_engine(tmp_path: Path) -> None:
    nbest, references = planted()
    for threads in (1, 2):
        reranker(engine=Threads(threads)).fit(nbest, references).save(tmp_path / str(threads))
    for name in ("trees.json", "weights.tsv"):
        one, two = (ModelDirectory.open(tmp_path / threads).file(name).read_bytes() for threads in ("1", "2"))
        assert one == two


def test_a_list_without_parts_is_refused_by_trees_that_look_at_them() -> None:
    nbest, references = planted()
    model = reranker(cautious=False, trees=2).fit(nbest, references)
    with pytest.raises(CamberError, match="look at the parts of hypotheses, and the list has none; give JSON Lines"):
        model.scores(as_hypotheses(nbest))
    with pytest.raises(SettingsError, match="tree_scope is local, but the list has no parts; give JSON Lines"):
        reranker(tree_scope="local").fit(as_hypotheses(nbest), references)
    no_rules = replace(nbest, parts=replace(nbest.parts, rules=np.full(len(nbest.parts), -1)))
    with pytest.raises(SettingsError, match="tree_scope is local, but no part of the list is a rule"):
        reranker(tree_scope="local").fit(no_rules, references)
    # a list of words that are all passed through has parts, and trees give them nothing
    assert len(model.scores(no_rules)) == nbest.hypotheses


def test_trees_on_whole_hypotheses_take_lists_with_and_without_parts() -> None:
    nbest, references = planted()
    values = nbest.parts.dense()
    first = nbest.part_offsets[:-1]
    middling = {0: 5.0, 3: 0.0, 6: 9.0, 8: 1.0}  # the best have a value between those of others: no line ranks them
    values[first, 0] += [middling[text.split().count("x")] for text in nbest.texts]
    telling = with_values(nbest, values)
    model = reranker(tree_scope="global", cautious=False, trees=3).fit(telling, references)
    alike = reranker(cautious=False, trees=3).fit(as_hypotheses(telling), references)
    assert trees_of(model.fitted).scope == trees_of(alike.fitted).scope == "global"
    assert len(trees_of(model.fitted).bend.forest)
    for one in (telling, as_hypotheses(telling)):
        assert model.scores(one).tobytes() == alike.scores(one).tobytes()


def test_noise_on_parts_leaves_the_linear_model() -> None:
    nbest, references = planted(60)
    right = np.array([10 - text.split().count("x") for text in nbest.texts], float)
    rng = np.random.default_rng(3)
    noisy = replace(with_values(nbest, rng.permutation(nbest.parts.dense())), scores=right)
    report = evaluate(model := reranker(), noisy, references, folds=3, trials=100)
    assert report.held_out is not None
    assert report.held_out.tuned == report.one_best
    assert trees_of(model.fitted).sizes() == {"trees": 0}
    assert len(model.scores(as_hypotheses(noisy))) == noisy.hypotheses  # without trees, parts are not missed


def test_a_feature_that_another_list_lacks_is_absent_there_and_one_of_another_kind_is_refused() -> None:
    nbest, references = planted()
    values = nbest.parts.dense()
    values[values[:, 1] < 0.25, 1] = np.nan
    values[nbest.part_offsets[0] : nbest.part_offsets[1], 1] = np.nan  # one hypothesis lacks it in all parts
    sparse = with_values(nbest, values)
    model = reranker(cautious=False).fit(sparse, references)
    forest = trees_of(model.fitted).bend.forest
    assert "y" in {name for tree in range(len(forest)) for name in forest.names_used(tree)}
    lacking = replace(sparse, parts=sparse.parts.select([0]))
    without = with_values(sparse, np.column_stack([values[:, 0], np.full(len(values), np.nan)]))
    assert model.scores(lacking).tobytes() == model.scores(without).tobytes()
    turned = replace(sparse, parts=sparse.parts.select([1, 0]))
    np.testing.assert_allclose(model.scores(turned), model.scores(sparse), rtol=1e-12)
    logarithms = replace(sparse.parts, features=(Feature("x", "probability", "rule"), PLANTED[1]))
    with pytest.raises(CamberError, match=r"x of parts is a probability \(rule\) here, expected a number \(rule\)"):
        model.scores(replace(sparse, parts=logarithms))


def run(*words: Any) -> Any:
    return CliRunner().invoke(cli, ["--quiet", *map(str, words)])


@pytest.mark.slow
def test_the_command_fits_and_applies_and_refuses(tmp_path: Path) -> None:
    nbest, references = planted()
    nbest.write(tmp_path / "list.jsonl")
    nbest.write(tmp_path / "list.moses")
    write_lines(tmp_path / "ref", references)
    common = ("--ref", tmp_path / "ref", "--tokenize", "none", "--learner", "trees", "--leaves", 4, "--trees", 9)
    for scope, expected in (("auto", "local"), ("local", "local"), ("global", "global")):
        model = tmp_path / scope
        done = run(
            "rerank", "fit", "--nbest", tmp_path / "list.jsonl", *common, "--tree-scope", scope, "--model", model,
            "--held-out", 2,
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert ModelDirectory.open(model).settings["rerank"]["scope"] == expected
        assert "tuned, held out (2 folds)" in done.stdout
    best = run("rerank", "apply", tmp_path / "auto", "--nbest", tmp_path / "list.jsonl").stdout.splitlines()
    assert best == Reranker.load(tmp_path / "auto").rerank(nbest).best_texts() != nbest.best_texts()
    assert run("rerank", "apply", tmp_path / "local", "--nbest", tmp_path / "list.jsonl").stdout.splitlines() == best
    wrong = run("rerank", "apply", tmp_path / "auto", "--nbest", tmp_path / "list.moses")
    assert wrong.exit_code == 1
    assert "the list has none" in str(wrong.exception)
    assert run("rerank", "apply", tmp_path / "global", "--nbest", tmp_path / "list.moses").exit_code == 0
    wrong = run(
        "rerank", "fit", "--nbest", tmp_path / "list.moses", *common, "--tree-scope", "local", "--model",
        tmp_path / "none",
    )  # fmt: skip
    assert wrong.exit_code == 1
    assert "tree_scope is local, but the list has no parts" in str(wrong.exception)
    idle = run("rerank", "fit", "--nbest", "n", "--model", tmp_path / "none", "--tree-scope", "local")
    assert idle.exit_code == 2
    assert "--tree-scope makes no difference to --learner linear" in idle.output


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["phrase", "hiero"])
def test_lists_of_our_own_translators_are_boosted_part_by_part(
    kind: str, hotel_model: Path, hotel_hiero: Path, hotel_files: Path, tmp_path: Path
) -> None:
    model, lists = (hotel_model if kind == "phrase" else hotel_hiero), tmp_path / "list.jsonl"
    done = run(
        "translate", model, "--input", hotel_files / "dev.es", "--nbest", 20, "--nbest-file", lists, "--output",
        tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    done = run(
        "rerank", "fit", "--nbest", lists, "--ref", hotel_files / "dev.en", "--learner", "trees", "--trees", 3,
        "--no-cautious", "--length", "--model", tmp_path / "m",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert ModelDirectory.open(tmp_path / "m").settings["rerank"]["scope"] == "local"
    applied = run("rerank", "apply", tmp_path / "m", "--nbest", lists)
    assert applied.exit_code == 0, applied.output
    assert len(applied.stdout.splitlines()) == len(read_lines(hotel_files / "dev.es"))
    assert "bend: trees" in run("info", tmp_path / "m").output
