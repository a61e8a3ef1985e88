"""A process that writes a model is killed: the model is the old one or the new one, and the next run ends well.

A few moments in every run of the tests; all of them with CAMBER_ADVERSARY=all (`make adversary`).
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from adversary.kills import killed, text_files
from adversary.trials import tell
from toys.lists import flipped

import camber
from camber.model.directory import ModelDirectory, is_model
from camber.model.journal import MOST_SEGMENTS
from camber.model.translator import load
from camber.pipeline.add import Adder, add
from camber.pipeline.calibrate import calibrate_model
from camber.pipeline.combine import combine_models
from camber.pipeline.forget import forget
from camber.pipeline.importing import import_files
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.translate_file import translate_file
from camber.pipeline.tune import tune_model
from camber.rerank.reranker import Reranker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are needed"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

ALL = os.environ.get("CAMBER_ADVERSARY") == "all"
LINES = ["¿ cuánto cuesta una habitación doble ?", "quiero hablar con el director ."]
TUNING = {"tuner": "pro", "iterations": 2, "nbest": 20}
SETTINGS = {"lm": {"order": 2}, "align": {"model": "quick"}}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small parallel text."""
    return text_files(tmp_path_factory.mktemp("text"))


def make(files: Path, model: Path, name: str = "train", **more: Any) -> Any:
    """Train a model."""
    settings = TrainSettings.from_dict(SETTINGS)
    sides = (files / f"{name}.{language}" for language in ("es", "en"))
    return train(*sides, model, held_out=0, tuned=False, settings=settings, **more)


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def answers(model: Path) -> list[str]:
    """Return what a model makes of some lines."""
    return load(model).translate(LINES)


def visit(
    action: Callable[[Path], Any],
    prepare: Callable[[Path], Any],
    fine: Callable[[Path], Any],
    done: Callable[[Path], Any],
    folder: Path,
    few: int = 9,
) -> int:
    """Kill an action at its events; `fine` looks at what a kill left, `done` at what the next run made of it."""
    total = 0
    if not ALL:  # how many events there are
        low, high = 0, 1
        prepare(fresh(folder))
        while killed(partial(action, folder), folder, high):
            low, high = high, high * 2
            prepare(fresh(folder))
        while high - low > 1:
            middle = (low + high) // 2
            prepare(fresh(folder))
            if killed(partial(action, folder), folder, middle):
                low = middle
            else:
                high = middle
        total = high
    event = visits = 0
    while True:
        prepare(fresh(folder))
        if not killed(partial(action, folder), folder, event):
            tell(f"{inspect.stack()[1].function}: {visits} kills at {event} events, each followed by a run to the end")
            return event
        visits += 1
        fine(folder)
        action(folder)
        done(folder)
        # the last events are the renames: all of these are visited
        event += 1 if ALL or event >= total - few // 2 else max(1, total // few)


def fresh(folder: Path) -> Path:
    """Empty a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def leftovers(folder: Path) -> list[str]:
    """List what nobody asked for."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_training_is_killed(files, tmp_path):
    home = tmp_path / "home"
    make(files, tmp_path / "whole")
    expected = answers(tmp_path / "whole")

    def fine(folder: Path) -> None:
        if is_model(folder / "m"):
            assert answers(folder / "m") == expected

    def done(folder: Path) -> None:
        assert answers(folder / "m") == expected
        assert not leftovers(folder)

    assert visit(lambda folder: make(files, folder / "m"), lambda folder: None, fine, done, home) > 10


def test_a_training_where_memory_is_short_is_killed(files, tmp_path):
    """What it put on the disk is removed by the next one."""
    short = partial(make, memory=2000)
    make(files, tmp_path / "expected")
    expected = contents(tmp_path / "expected")

    def fine(folder: Path) -> None:
        if is_model(folder / "m"):
            assert contents(folder / "m") == expected

    def done(folder: Path) -> None:
        assert contents(folder / "m") == expected
        assert not leftovers(folder) + leftovers(folder / "m.work")

    assert visit(lambda folder: short(files, folder / "m"), lambda folder: None, fine, done, tmp_path / "home") > 100


def test_a_training_that_replaces_a_tuned_model_is_killed(files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old, "shorter")
    tune_model(old, files / "dev.es", files / "dev.en", settings=TUNING)
    make(files, tmp_path / "whole")
    both = [answers(old), answers(tmp_path / "whole")]
    assert both[0] != both[1]
    work = tmp_path / "whole.work"

    def prepare(folder: Path) -> None:
        shutil.copytree(old, folder / "m")
        shutil.copytree(work, folder / "m.work")  # the stages are done: what is left is to write the model

    def fine(folder: Path) -> None:
        assert answers(folder / "m") in both

    def done(folder: Path) -> None:
        assert answers(folder / "m") == both[1]
        kept = [path for path in folder.iterdir() if path.name.startswith("m.old")]
        assert kept
        assert any(answers(path) == both[0] for path in kept)
        assert not leftovers(folder)

    assert visit(lambda folder: make(files, folder / "m"), prepare, fine, done, home) > 5


def test_tuning_is_killed(files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    action = partial(_tune, files)
    shutil.copytree(old, tmp_path / "tuned" / "m")
    action(tmp_path / "tuned")
    weights = [load(path).weights.values for path in (old, tmp_path / "tuned" / "m")]
    assert weights[0] != weights[1]

    def fine(folder: Path) -> None:
        assert load(folder / "m").weights.values in weights

    def done(folder: Path) -> None:
        assert not leftovers(folder)

    assert visit(action, lambda folder: shutil.copytree(old, folder / "m"), fine, done, home) > 5


def _tune(files: Path, folder: Path) -> None:
    tune_model(
        folder / "m", files / "dev.es", files / "dev.en", settings={"tuner": "pro", "iterations": 2, "nbest": 20}
    )


def test_adding_is_killed_and_repeated(files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    pair = ["¡ hasta el martes !"], ["see you on Tuesday !"]

    def fine(folder: Path) -> None:
        load(folder / "m")

    def done(folder: Path) -> None:
        model = camber.load(folder / "m")
        assert model.translate(pair[0]) == pair[1]
        assert model.directory.sizes["added_pairs"] == 1
        assert not leftovers(folder)

    action: Callable[[Path], Any] = lambda folder: add(folder / "m", *pair)  # noqa: E731
    assert visit(action, lambda folder: shutil.copytree(old, folder / "m"), fine, done, home) > 3


def test_taking_back_is_killed_and_repeated(files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    pair = ["¡ hasta el martes !"], ["see you on Tuesday !"]
    before = load(old).translate(pair[0])
    add(old, *pair)

    def fine(folder: Path) -> None:
        assert load(folder / "m").translate(pair[0]) in (before, pair[1])

    def done(folder: Path) -> None:
        model = camber.load(folder / "m")
        assert model.translate(pair[0]) == before
        assert model.directory.sizes["added_pairs"] == 0
        assert not leftovers(folder)

    action: Callable[[Path], Any] = lambda folder: forget(folder / "m", texts=pair[0])  # noqa: E731
    assert visit(action, lambda folder: shutil.copytree(old, folder / "m"), fine, done, home) > 3


def test_calibrating_is_killed(files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    expected = answers(old)

    def fine(folder: Path) -> None:
        assert answers(folder / "m") == expected

    def done(folder: Path) -> None:
        assert answers(folder / "m") == expected
        assert load(folder / "m").calibration is not None
        assert not leftovers(folder)

    def action(folder: Path) -> None:
        calibrate_model(folder / "m", files / "dev.es", files / "dev.en")

    assert visit(action, lambda folder: shutil.copytree(old, folder / "m"), fine, done, home) > 5


@pytest.mark.parametrize("replaced", [False, True], ids=["new", "in place of another"])
def test_combining_is_killed(replaced, files, tmp_path):
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    add(old, ["¡ hasta el martes !"], ["see you on Tuesday !"])
    dev = files / "dev.es", files / "dev.en"
    combine_models([old], *dev, tmp_path / "before", settings={"mbr_size": 2})

    def fine(folder: Path) -> None:
        if replaced or is_model(folder / "c"):
            assert load(folder / "c").decoder.own.mbr_size in (2, 5)

    def done(folder: Path) -> None:
        assert load(folder / "c", verify=True).decoder.own.mbr_size == 5
        assert not leftovers(folder)

    def prepare(folder: Path) -> None:
        if replaced:
            shutil.copytree(tmp_path / "before", folder / "c")

    def action(folder: Path) -> None:
        combine_models([old], *dev, folder / "c", settings={"mbr_size": 5})

    assert visit(action, prepare, fine, done, home) > 5
    assert ModelDirectory.open(old, verify=True).sizes["added_pairs"] == 1


def test_importing_and_translating_in_place_are_killed(files, tmp_path):
    """Files are those of before or the new ones, whole."""
    old = tmp_path / "old"
    settings = TrainSettings.from_dict({**SETTINGS, "text": {"source_lang": "es", "target_lang": "en"}})
    train(files / "train.es", files / "train.en", old, held_out=0, tuned=False, settings=settings)
    page = "<html><body><p>¿ cuánto cuesta ?</p><p>hola</p></body></html>\n"
    (tmp_path / "pairs.tsv").write_text("uno\tone\ndos\ttwo\n", "utf-8")
    translator = load(old)

    def action(folder: Path) -> None:
        import_files([tmp_path / "pairs.tsv"], "es", "en", folder / "out")
        translate_file(translator, folder / "a.html", folder / "a.html")

    def prepare(folder: Path) -> None:
        (folder / "a.html").write_text(page, "utf-8")

    def fine(folder: Path) -> None:
        for side, text in (("es", "uno\ndos\n"), ("en", "one\ntwo\n")):
            if (folder / f"out.{side}").exists():
                assert (folder / f"out.{side}").read_text("utf-8") == text
        assert (folder / "a.html").read_text("utf-8").endswith("</html>\n")

    def done(folder: Path) -> None:
        fine(folder)
        assert {"out.es", "out.en", "a.html"} <= {path.name for path in folder.iterdir()}

    assert visit(action, prepare, fine, done, tmp_path / "home") > 2


def test_fitting_a_reranker_is_killed(tmp_path):
    nbest, references = flipped(sentences=30)

    def fit(folder: Path) -> None:
        Reranker().fit(nbest, references).save(folder / "r")

    def fine(folder: Path) -> None:
        if is_model(folder / "r"):
            Reranker.load(folder / "r")

    def done(folder: Path) -> None:
        Reranker.load(folder / "r")
        assert not leftovers(folder)

    assert visit(fit, lambda folder: None, fine, done, tmp_path / "home") > 3


def test_an_adding_that_joins_the_journal_is_killed(files, tmp_path):
    """The journal has so many folders that the next pair joins them."""
    old, home = tmp_path / "old", tmp_path / "home"
    make(files, old)
    adder = Adder(old)
    for number in range(MOST_SEGMENTS):
        adder.add([f"la llave {number} , por favor ."], [f"the key {number} , please ."])

    def done(folder: Path) -> None:
        model = ModelDirectory.open(folder / "m", verify=True)
        assert model.sizes["added_pairs"] == MOST_SEGMENTS + 1
        assert len(model.journal.segments) <= MOST_SEGMENTS + 1  # who comes next joins them
        assert not leftovers(folder)

    def fine(folder: Path) -> None:
        assert ModelDirectory.open(folder / "m", verify=True).sizes["added_pairs"] >= MOST_SEGMENTS

    def action(folder: Path) -> None:
        Adder(folder / "m").add(["¡ hasta el martes !"], ["see you on Tuesday !"])

    assert visit(action, lambda folder: shutil.copytree(old, folder / "m"), fine, done, home) > 5


def test_fitting_a_reranker_that_replaces_another_is_killed(tmp_path):
    nbest, references = flipped(sentences=30)
    rerankers = [Reranker(learner=learner).fit(nbest, references) for learner in ("linear", "mnr")]

    def fine(folder: Path) -> None:
        assert Reranker.load(folder / "r").learner in ("linear", "mnr")

    def done(folder: Path) -> None:
        assert Reranker.load(folder / "r").learner == "mnr"
        assert not leftovers(folder)

    def prepare(folder: Path) -> None:
        rerankers[0].save(folder / "r")

    assert visit(lambda folder: rerankers[1].save(folder / "r"), prepare, fine, done, tmp_path / "home") > 3
