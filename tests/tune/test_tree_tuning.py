"""Trees from the lists of a dev set to a model that translates with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import camber
from camber.bend.response import Response
from camber.bend.settings import TREE_SETTINGS, BendSettings
from camber.bend.trees.description import WeighedTree
from camber.bend.trees.document import forest_to_json
from camber.bend.weighing import Weighing
from camber.cli import cli
from camber.decode.lists import as_weighed
from camber.engine import Threads
from camber.errors import InputError
from camber.files import read_lines
from camber.model.directory import ModelDirectory
from camber.model.translator import Translator
from camber.nbest import NBest
from camber.pipeline.settings import TrainSettings, read_config
from camber.pipeline.tune import dev_set
from camber.tune import acting, growing
from camber.tune.bending import bent_decoder
from camber.tune.loop import FIXED, TuneSettings

pytestmark = pytest.mark.slow

QUICK = {"tuner": "pro", "iterations": 4, "nbest": 20, "trees": 4, "cautious": False}


@pytest.fixture(autouse=True)
def all_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set no sentences aside: so little text confirms hardly any tree."""
    monkeypatch.setattr(growing, "ASIDE", 10**9)


@pytest.fixture(params=["phrase", "hiero"])
def folder(request: pytest.FixtureRequest, hotel_model: Path, hotel_hiero: Path) -> Path:
    """A model of either kind."""
    return hotel_model if request.param == "phrase" else hotel_hiero


def tuned(model: Path, files: Path, out: Path, **values: object) -> Translator:
    settings = TuneSettings.from_dict({**QUICK, **values})
    camber.tune_model(model, files / "dev.es", files / "dev.en", out=out, settings=settings, engine=Threads(2))
    return camber.load(out, verify=True)


def test_growing_alone_changes_no_translation(folder: Path, hotel_files: Path) -> None:
    """Weights fitted to one list may lead the search astray: the loop goes there step by step, from the old ones."""
    model = camber.load(folder)
    source, target = (read_lines(hotel_files / f"dev.{language}") for language in ("es", "en"))
    dev = dev_set(model, source, [target])
    empty = bent_decoder(model.decoder, dev.inputs, "trees", BendSettings())
    grown = growing.grown_decoder(empty, dev, BendSettings(trees=4), 20, FIXED, engine=Threads(1))
    assert 1 <= len(grown.bend.forest) <= 4
    before, after = (
        [best[0] for best in decoder.decode(dev.inputs, engine=Threads(1))] for decoder in (model.decoder, grown)
    )
    assert [one.words for one in after] == [one.words for one in before]
    np.testing.assert_allclose([one.score for one in after], [one.score for one in before], atol=1e-9)


def test_lists_are_the_same_whatever_is_made_at_a_time(
    folder: Path, hotel_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = camber.load(folder)
    source, target = (read_lines(hotel_files / f"dev.{language}")[:20] for language in ("es", "en"))
    dev = dev_set(model, source, [target])
    whole = growing.lists_of(model.decoder, dev, 10, FIXED, Threads(1))
    monkeypatch.setattr(growing, "CHUNK", 7)
    again = growing.lists_of(model.decoder, dev, 10, FIXED, Threads(1))
    for one, two in (
        (whole.parts.dense(), again.parts.dense()),
        (whole.parts.rules, again.parts.rules),
        (whole.part_offsets, again.part_offsets),
        (whole.data.features, again.data.features),
        (whole.data.statistics, again.data.statistics),
        (whole.data.sentence_offsets, again.data.sentence_offsets),
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_model_with_trees_is_kept_tuned_again_and_its_lists_give_its_scores(
    folder: Path, hotel_files: Path, tmp_path: Path, leaf: str
) -> None:
    model = tuned(folder, hotel_files, tmp_path / "a", bend="trees", leaf=leaf, leaves=3)
    bend = model.decoder.bend
    assert bend.kind == "trees"
    trees = json.loads((tmp_path / "a" / "trees.json").read_text())["trees"]
    assert 1 <= len(trees) == len([name for name in model.weights.names if name.startswith("tree")]) <= 4
    assert any(model.weights[name] for name in bend.forest.names)
    lines = read_lines(hotel_files / "test.es")
    found = list(model.translations(lines[:15], nbest=10))
    nbest = model.to_nbest(found)
    nbest.write(tmp_path / "list.jsonl")
    again = NBest.read(tmp_path / "list.jsonl")
    assert nbest.scores is not None
    np.testing.assert_allclose(model.decoder.weighing.scores(again.parts, again.part_offsets), nbest.scores, atol=1e-6)
    weighed = as_weighed(nbest, bend)
    vector = np.array([model.weights[name] for name in weighed.names])
    np.testing.assert_allclose(np.nan_to_num(weighed.hypothesis_features()) @ vector, nbest.scores, atol=1e-6)

    kept = tuned(tmp_path / "a", hotel_files, tmp_path / "b", bend="keep")
    documents = [json.loads((tmp_path / name / "trees.json").read_text("utf-8")) for name in "ab"]
    acts = [[tree.pop("acted") for tree in document["trees"]] for document in documents]
    assert documents[0] == documents[1]  # the same trees; what they do depends on the weights
    assert all(one["sentences"]["of"] == len(read_lines(hotel_files / "dev.es")) for did in acts for one in did)
    assert kept.decoder.names == model.decoder.names
    straight = tuned(tmp_path / "b", hotel_files, tmp_path / "c", bend="none")
    assert straight.decoder.bend.kind == "none"
    assert not (tmp_path / "c" / "trees.json").exists()
    for one in (model, kept, straight):
        assert all(one.translate(lines))


def test_trees_and_bins_are_tuned_together(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    model = tuned(hotel_model, hotel_files, tmp_path / "a", bend="mnr+trees", bits=3)
    assert (model.decoder.bend.kind, model.decoder.bend.width > 0) == ("mnr+trees", True)
    assert ModelDirectory.open(tmp_path / "a").settings["bent"] == {"kind": "mnr+trees"}
    assert {"bins.tsv", "trees.json"} <= set(ModelDirectory.open(tmp_path / "a").files)
    drawn = camber.curves(tmp_path / "a", tmp_path / "a.svg")
    assert [type(item) for item in drawn] == [*[Response] * len(model.decoder.bend.base.bins), *[WeighedTree] * 4]
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert ">p_t_given_s<" in text
    assert ">tree4<" in text
    straight = tuned(tmp_path / "a", hotel_files, tmp_path / "b", bend="raw")
    assert straight.decoder.bend.kind == "raw"
    assert "trees.json" not in ModelDirectory.open(tmp_path / "b")


def test_the_same_trees_grow_on_one_thread_and_on_two(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    for threads in (1, 2):
        camber.tune_model(
            hotel_model, hotel_files / "dev.es", hotel_files / "dev.en", out=tmp_path / str(threads),
            settings={**QUICK, "bend": "trees"}, engine=Threads(threads),
        )  # fmt: skip
    for name in ("trees.json", "weights.tsv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def numberless(text: str) -> str:
    """Leave open which number is where: equal words may come with other links, by which numbers find their places."""
    return re.sub(r"\d+", "0", text)


@pytest.mark.parametrize("replicas", [1, 2])
def test_what_trees_did_is_what_lists_without_them_say(
    folder: Path, hotel_files: Path, tmp_path: Path, replicas: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of the tuned model, scored anew with the weight of one tree at 0; its texts are those of translations."""
    monkeypatch.setattr(acting, "CHUNK", 7)
    model = tuned(folder, hotel_files, tmp_path / "a", bend="trees", leaves=3, replicas=replicas)
    lines = read_lines(hotel_files / "dev.es")
    weighing = model.decoder.weighing
    whole = model.reading({"split": False})  # tuning does not cut lines into sentences
    lists = [model.to_nbest([best]) for best in whole.translations(lines, nbest=20, engine=Threads(1))]
    active = 0
    for tree in model.decoder.bend.trees(model.weights.values):
        without = Weighing(weighing.bend, {**weighing.by_name(), tree.name: 0.0})
        changed = {}
        for place, nbest in enumerate(lists):
            scores = without.scores(nbest.parts, nbest.part_offsets)
            if scores.max() > scores[0] + 1e-6:
                best = {numberless(nbest.texts[at]) for at in np.flatnonzero(scores > scores.max() - 1e-6)}
                changed[place + 1] = (lines[place], nbest.texts[0], best)
        acts = tree.tree.acts
        assert acts is not None
        assert (acts.sentences, acts.of_sentences) == (len(changed), len(lines))
        assert acts.better + acts.worse <= acts.sentences
        assert len(acts.examples) == min(3, len(changed))
        for example in acts.examples:
            source, text, best = changed[example.sentence]
            assert (example.source, example.with_tree) == (source, text)
            assert numberless(example.without) in best
        active += len(changed)
    assert active


#: every choice of boosting → a value that is not the usual one
CHOICES: dict[str, object] = {
    "leaves": 4, "leaf": "linear", "tree_split": "pairs", "tree_pairs": "uniform", "tree_keep": 7, "tree_alpha": 0.01,
    "tree_shrinkage": 0.5, "tree_refit": True,
}  # fmt: skip


def test_every_choice_of_boosting_makes_a_difference_and_is_recorded(
    hotel_model: Path, hotel_files: Path, tmp_path: Path
) -> None:
    assert {"trees", *CHOICES} == set(TREE_SETTINGS)
    model = camber.load(hotel_model)
    source, target = (read_lines(hotel_files / f"dev.{language}") for language in ("es", "en"))
    dev = dev_set(model, source, [target])
    empty = bent_decoder(model.decoder, dev.inputs, "trees", BendSettings())

    def grown(**chosen: Any) -> dict[str, Any]:
        settings = BendSettings(trees=3, **chosen)
        decoder = growing.grown_decoder(empty, dev, settings, 20, FIXED, engine=Threads(1))
        return forest_to_json(decoder.bend.forest)

    usual = grown()
    for name, value in CHOICES.items():
        assert getattr(BendSettings(), name) != value
        assert grown(**{name: value}) != usual, name
    # shrinkage has no use for a refit, and pairs none for lines
    named = {name: value for name, value in CHOICES.items() if name not in ("tree_refit", "leaf")}
    tuned(hotel_model, hotel_files, tmp_path / "a", bend="trees", **named)
    tuned(tmp_path / "a", hotel_files, tmp_path / "b", bend="keep")
    for out in ("a", "b"):  # trees that are kept were still grown so
        recorded = ModelDirectory.open(tmp_path / out).settings["tune"]
        assert {name: recorded[name] for name in named} == named


def test_training_takes_the_choices_from_a_file(tmp_path: Path) -> None:
    lines = [
        f"{name} = {json.dumps(value)}" for name, value in CHOICES.items() if name not in ("tree_shrinkage", "leaf")
    ]
    (tmp_path / "c.toml").write_text("\n".join(["[tune]", 'bend = "trees"', *lines]), "utf-8")
    settings = TrainSettings.from_dict(read_config(tmp_path / "c.toml")).tune
    boost = growing.Boost.of(settings, patience=3)
    assert boost == growing.Boost(
        leaves=4, split="pairs", choice="uniform", keep=7, alpha=0.01, refit=True, patience=3
    )  # fmt: skip
    (tmp_path / "c.toml").write_text("[tune]\ntree_refit = true\ntree_shrinkage = 0.5\n", "utf-8")
    with pytest.raises(InputError, match=r"tree_shrinkage is 0.5, which makes no difference"):
        read_config(tmp_path / "c.toml")


def test_commands_grow_show_and_refuse(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    def run(*words: object) -> object:
        return CliRunner().invoke(cli, ["--quiet", *map(str, words)])

    dev = ("--dev-source", hotel_files / "dev.es", "--dev-target", hotel_files / "dev.en")
    quick = ("--tuner", "mert", "--iterations", 2, "--nbest", 20, "--no-cautious")
    done = run("tune", hotel_model, *dev, *quick, "--bend", "trees", "--trees", 3, "--out", tmp_path / "m")
    assert done.exit_code == 0, done.output
    shown = run("info", tmp_path / "m").output
    assert "bend: trees" in shown
    assert "tree1, weight" in shown
    assert "% of parts)" in shown
    wrong = run("tune", tmp_path / "m", *dev, "--leaves", 3)
    assert (wrong.exit_code, "--leaves makes no difference to trees that are kept" in wrong.stderr) == (2, True)
    wrong = run("tune", hotel_model, *dev, "--bend", "mnr", "--trees", 3)
    assert (wrong.exit_code, "--trees makes no difference to --bend mnr" in wrong.stderr) == (2, True)
    assert "acts on " in shown
    drawn = run("curves", tmp_path / "m", "--out", tmp_path / "c.html")
    assert drawn.exit_code == 0, drawn.output
    assert "tree1  asks about " in drawn.output
    assert "What the trees of m learnt" in (tmp_path / "c.html").read_text("utf-8")
