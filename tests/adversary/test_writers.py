"""Two writers at one model, each kind beside each: none spoils what the other made, and each is told what became of it.

The second writer runs inside the first one, at the moment when that has read all that it reads and has written nothing
yet: what two processes do now and then happens here every time.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from adversary.kills import text_files
from toys.lists import flipped

from camber.errors import CamberError, ModelError
from camber.features.weights import Weights
from camber.model import combination as combination_module
from camber.model import directory as directory_module
from camber.model.directory import ModelDirectory
from camber.model.translator import load
from camber.pipeline import add as add_module
from camber.pipeline import calibrate as calibrate_module
from camber.pipeline import combine as combine_module
from camber.pipeline import forget as forget_module
from camber.pipeline import tune as tune_module
from camber.pipeline.add import add
from camber.pipeline.calibrate import calibrate_model
from camber.pipeline.combine import combine_models
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.training import PairsAdded, Training
from camber.pipeline.tune import tune_model
from camber.rerank.reranker import Reranker

pytestmark = pytest.mark.slow

LINES = ["una habitación doble", "¡ hasta el martes !"]
PAIR = ["¡ hasta el martes !"], ["see you on Tuesday !"]
SETTINGS = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small parallel text."""
    return text_files(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def trained(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, with its work folder."""
    path = tmp_path_factory.mktemp("trained") / "m"
    _train(files, path)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    """A model to be written to, whose training would have nothing left to do but to write it."""
    shutil.copytree(trained.with_name("m.work"), tmp_path / "m.work")
    return Path(shutil.copytree(trained, tmp_path / "m"))


def _train(files: Path, model: Path, name: str = "train") -> None:
    sides = (files / f"{name}.{language}" for language in ("es", "en"))
    train(*sides, model, held_out=0, tuned=False, settings=SETTINGS)


def _tune(files: Path, model: Path, out: Path | None = None, iterations: int = 2) -> None:
    chosen = {"tuner": "pro", "iterations": iterations, "nbest": 20}
    tune_model(model, files / "dev.es", files / "dev.en", out=out, settings=chosen)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, Callable[[], Any]], None]:
    """A function that lets something happen, once, before a function of a module or class is called."""

    def arrange(owner: Any, name: str, happens: Callable[[], Any]) -> None:
        function, left = getattr(owner, name), [happens]

        def later(*arguments: Any, **named: Any) -> Any:
            if left:
                left.pop()()
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, later)

    return arrange


def names(folder: Path) -> list[str]:
    """List the folders beside a model."""
    return sorted(path.name for path in folder.iterdir())


def refused_soon(action: Callable[[], Any]) -> None:
    """Run an action that finds its model in use, without the patience of a user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(directory_module, "_WRITING", 0.0)
        with pytest.raises(CamberError, match="in use by another process"):
            action()


def test_two_trainings(model, files, meanwhile):
    def other() -> None:
        with pytest.raises(CamberError, match="in use by another process"):
            _train(files, model, "shorter")

    before = ModelDirectory.open(model).made
    meanwhile(Training, "assemble", other)
    _train(files, model)
    assert ModelDirectory.open(model, verify=True).made == before
    assert names(model.parent) == ["m", "m.work"]


def test_a_model_is_trained_while_it_is_tuned(model, files, meanwhile):
    def other() -> None:
        shutil.rmtree(model.with_name("m.work"))
        _train(files, model, "shorter")

    meanwhile(tune_module, "with_weights", other)
    with pytest.raises(ModelError, match="another model was written there") as caught:
        _tune(files, model)
    beside = model.with_name("m.tuned")
    assert str(beside) in str(caught.value)
    assert Weights.read(beside / "weights.tsv").signature.startswith("tuner:pro")
    now = ModelDirectory.open(model, verify=True)
    assert load(model).weights.signature == "untuned"
    _train(files, model.parent / "shorter", "shorter")
    assert now.made == ModelDirectory.open(model.parent / "shorter").made


def test_a_model_is_tuned_while_it_is_trained(model, files, meanwhile):
    meanwhile(Training, "assemble", lambda: _tune(files, model))
    _train(files, model)
    assert load(model).weights.signature == "untuned"
    assert load(model.with_name("m.old")).weights.signature.startswith("tuner:pro")
    assert names(model.parent) == ["m", "m.old", "m.work"]


def test_pairs_are_added_while_a_model_is_trained(model, files, meanwhile):
    meanwhile(Training, "assemble", lambda: add(model, *PAIR))
    with pytest.raises(PairsAdded, match=r"while this training ran, whose model is in .*m\.trained"):
        _train(files, model)
    assert load(model).translate(PAIR[0]) == PAIR[1]
    assert ModelDirectory.open(model.with_name("m.trained"), verify=True).made == ModelDirectory.open(model).made
    assert load(model.with_name("m.trained")).translate(PAIR[0]) != PAIR[1]
    assert names(model.parent) == ["m", "m.trained", "m.work"]


def test_a_model_is_trained_or_tuned_while_pairs_are_added(model, files, meanwhile, monkeypatch):
    """Whoever adds holds the model's lock all the time: the others wait, and here for nothing."""
    monkeypatch.setattr(directory_module, "_WRITING", 0.0)

    def others() -> None:
        for other in (_train, _tune):
            with pytest.raises(CamberError, match="in use by another process"):
                other(files, model)

    meanwhile(add_module, "align_added", others)
    add(model, *PAIR)
    assert load(model).translate(PAIR[0]) == PAIR[1]
    assert names(model.parent) == ["m", "m.work"]


def test_pairs_are_added_while_pairs_are_added(model, meanwhile, monkeypatch):
    monkeypatch.setattr(add_module, "PATIENCE", 0.0)

    def other() -> None:
        with pytest.raises(CamberError, match="in use by another process"):
            add(model, ["uno"], ["one"])

    meanwhile(add_module, "align_added", other)
    add(model, *PAIR)
    assert ModelDirectory.open(model, verify=True).sizes["added_pairs"] == 1


def test_pairs_are_taken_back_while_pairs_are_added(model, meanwhile, monkeypatch):
    monkeypatch.setattr(forget_module, "PATIENCE", 0.0)
    add(model, ["uno"], ["one"])

    def other() -> None:
        with pytest.raises(CamberError, match="in use by another process"):
            forget_module.forget(model, texts=["uno"])

    meanwhile(add_module, "align_added", other)
    add(model, *PAIR)
    assert ModelDirectory.open(model, verify=True).sizes["added_pairs"] == 2
    forget_module.forget(model, texts=["uno"])
    assert ModelDirectory.open(model, verify=True).sizes["added_pairs"] == 1


def test_pairs_are_taken_back_while_a_model_is_tuned(model, files, meanwhile):
    add(model, *PAIR)
    meanwhile(tune_module, "with_weights", lambda: forget_module.forget(model, texts=PAIR[0]))
    _tune(files, model)
    assert load(model).translate(PAIR[0]) != PAIR[1]
    assert load(model).weights.signature.startswith("tuner:pro")


def test_pairs_are_added_while_a_model_is_tuned(model, files, meanwhile):
    meanwhile(tune_module, "with_weights", lambda: add(model, *PAIR))
    _tune(files, model)
    assert load(model).translate(PAIR[0]) == PAIR[1]
    assert load(model).weights.signature.startswith("tuner:pro")
    assert names(model.parent) == ["m", "m.work"]


def test_two_tunings(model, files, meanwhile):
    meanwhile(tune_module, "with_weights", lambda: _tune(files, model, iterations=1))
    with pytest.raises(ModelError, match="another model was written there"):
        _tune(files, model)
    assert load(model).weights.signature != Weights.read(model.with_name("m.tuned") / "weights.tsv").signature
    assert ModelDirectory.open(model, verify=True).settings["tune"]["iterations"] == 1
    assert names(model.parent) == ["m", "m.tuned", "m.work"]


def test_a_model_is_replaced_while_it_is_tuned_to_another_place(model, files, meanwhile):
    """The files that are taken over must all be those of the model that was tuned."""

    def other() -> None:
        shutil.rmtree(model.with_name("m.work"))
        _train(files, model, "shorter")

    meanwhile(directory_module.Draft, "take_model", other)
    with pytest.raises(ModelError, match="another model was written there"):
        tune_model(
            model,
            files / "dev.es",
            files / "dev.en",
            out=model.with_name("out"),
            settings={"iterations": 1, "nbest": 9},
        )
    assert names(model.parent) == ["m", "m.work", "out.tuned"]


def test_two_rerankers(tmp_path, meanwhile, monkeypatch):
    nbest, references = flipped(sentences=30)
    first, second = Reranker().fit(nbest, references), Reranker(learner="mnr").fit(nbest, references)
    meanwhile(Reranker, "save", lambda: second.save(tmp_path / "r"))
    first.save(tmp_path / "r")  # the last one wins
    assert Reranker.load(tmp_path / "r").learner == "linear"

    def other() -> None:
        monkeypatch.setattr(directory_module, "_WRITING", 0.0)
        with pytest.raises(CamberError, match="in use by another process"):
            second.save(tmp_path / "r")

    meanwhile(type(first.fitted), "save", other)
    first.save(tmp_path / "r")
    assert Reranker.load(tmp_path / "r").learner == "linear"
    ModelDirectory.open(tmp_path / "r", verify=True)
    assert names(tmp_path) == ["r"]


def test_a_reranker_and_a_translator(model, files):
    nbest, references = flipped(sentences=30)
    with pytest.raises(ModelError, match="must not replace"):
        Reranker().fit(nbest, references).save(model)
    assert load(model).translate(LINES)


@pytest.mark.parametrize("moment", ["before its files are read", "while its files are read"])
def test_a_member_changes_while_it_is_combined(moment, model, files, meanwhile):
    def other() -> None:
        shutil.rmtree(model.with_name("m.work"))
        _train(files, model, "shorter")

    before = moment.startswith("before")
    meanwhile(*((combine_module, "write_members") if before else (combination_module, "take_journal")), other)
    with pytest.raises(ModelError, match="changed while it was combined"):
        combine_models([model], files / "dev.es", files / "dev.en", model.parent / "c", settings={"mbr_size": 5})
    assert not (model.parent / "c").exists()
    ModelDirectory.open(model, verify=True)


def test_pairs_are_added_while_models_are_combined(model, files, meanwhile):
    meanwhile(combine_module, "combine", lambda: add(model, *PAIR))
    with pytest.raises(ModelError, match="changed while it was combined"):
        combine_models([model], files / "dev.es", files / "dev.en", model.parent / "c", settings={"mbr_size": 5})
    combine_models([model], files / "dev.es", files / "dev.en", model.parent / "c", settings={"mbr_size": 5})
    assert load(model.parent / "c", verify=True).translate(PAIR[0]) == PAIR[1]


def test_pairs_are_taken_back_while_models_are_combined(model, files, meanwhile):
    add(model, *PAIR)
    meanwhile(combine_module, "combine", lambda: forget_module.forget(model, texts=PAIR[0]))
    with pytest.raises(ModelError, match="changed while it was combined"):
        combine_models([model], files / "dev.es", files / "dev.en", model.parent / "c", settings={"mbr_size": 5})
    assert not (model.parent / "c").exists()


def test_two_combinings(model, files, meanwhile):
    def combine(size: int) -> None:
        combine_models([model], files / "dev.es", files / "dev.en", model.parent / "c", settings={"mbr_size": size})

    meanwhile(combine_module, "write_members", lambda: refused_soon(lambda: combine(9)))
    combine(5)
    assert load(model.parent / "c", verify=True).decoder.own.mbr_size == 5
    assert names(model.parent) == ["c", "m", "m.work"]


@pytest.mark.parametrize("other", [_tune, partial(_train, name="shorter")], ids=["tuned", "trained"])
def test_a_model_is_tuned_or_trained_while_it_is_calibrated(other, model, files, meanwhile):
    shutil.rmtree(model.with_name("m.work"))
    meanwhile(calibrate_module, "with_confidence", lambda: other(files, model))
    before = ModelDirectory.open(model).made
    with pytest.raises(ModelError, match="while this one was calibrated; calibrate again"):
        calibrate_model(model, files / "dev.es", files / "dev.en")
    assert ModelDirectory.open(model, verify=True).made != before
    calibrate_model(model, files / "dev.es", files / "dev.en")
    assert load(model, verify=True).calibration is not None


def test_pairs_are_added_and_taken_back_while_a_model_is_calibrated(model, files, meanwhile):
    add(model, ["uno"], ["one"])

    def other() -> None:
        add(model, *PAIR)
        forget_module.forget(model, texts=["uno"])

    meanwhile(calibrate_module, "with_confidence", other)
    calibrate_model(model, files / "dev.es", files / "dev.en")
    there = load(model, verify=True)
    assert there.calibration is not None
    assert there.translate(PAIR[0]) == PAIR[1]
    assert there.directory.sizes["added_pairs"] == 1


def test_two_calibratings(model, files, meanwhile):
    meanwhile(calibrate_module, "with_confidence", lambda: calibrate_model(model, files / "dev.es", files / "dev.en"))
    with pytest.raises(ModelError, match="calibrate again"):
        calibrate_model(model, files / "dev.es", files / "dev.en")
    assert load(model, verify=True).calibration is not None
    assert names(model.parent) == ["m", "m.work"]


def test_a_model_is_calibrated_while_it_is_tuned(model, files, meanwhile):
    meanwhile(tune_module, "with_weights", lambda: calibrate_model(model, files / "dev.es", files / "dev.en"))
    with pytest.raises(ModelError, match="another model was written there"):
        _tune(files, model)
    assert load(model, verify=True).calibration is not None
    assert Weights.read(model.with_name("m.tuned") / "weights.tsv").signature.startswith("tuner:pro")
