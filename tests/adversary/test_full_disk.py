"""A disk that is full at any moment: the model stays as it was, the error says why, and a second try works.

A few moments in every run of the tests; many with CAMBER_ADVERSARY=all (`make adversary`).
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from adversary.disk import NotAllowed, left, refused, with_disk
from adversary.kills import text_files
from adversary.trials import tell
from toys.lists import flipped

from camber.model.directory import ModelDirectory
from camber.model.translator import load
from camber.pipeline.add import add
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.tune import tune_model
from camber.rerank.reranker import Reranker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "posix_fallocate") or not hasattr(os, "fork"), reason="needs Linux"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

#: how many sizes of what is left of the disk are tried
TRIALS = 40 if os.environ.get("CAMBER_ADVERSARY") == "all" else 4
SETTINGS = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small parallel text."""
    return text_files(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def model(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model."""
    path = tmp_path_factory.mktemp("model") / "m"
    train(files / "train.es", files / "train.en", path, held_out=0, tuned=False, settings=SETTINGS, keep_work=False)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def attack(prepare: Callable[[Path], Any], action: Callable[[Path], Any], *, keeps: tuple[str, ...] = ()) -> int:
    """Let an action run with less and less of a disk left; return how often it was refused.

    What `prepare` put there must be as it was then, but for folders in `keeps`, and nothing may lie beside it.
    """
    count = []

    def kilobytes(disk: Path) -> int:
        before = os.statvfs(disk)
        prepare(disk)
        between = os.statvfs(disk)
        action(disk)
        after = os.statvfs(disk)
        used = [(before.f_bfree - after.f_bfree), (between.f_bfree - after.f_bfree)]
        return max(used) * before.f_frsize >> 10

    def trial(room: int, disk: Path) -> None:
        prepare(disk)
        before = contents(disk)
        with left(disk, room):
            was_refused = refused(lambda: action(disk))
        if was_refused:
            after = {name: data for name, data in contents(disk).items() if not name.startswith(keeps or ("\0",))}
            assert after == before
            action(disk)
        os.write(marks[1], b"r" if was_refused else b"d")

    def measure(disk: Path) -> None:
        os.write(marks[1], kilobytes(disk).to_bytes(8, "big"))

    marks = os.pipe()
    try:
        with_disk(measure)
        needed = int.from_bytes(os.read(marks[0], 8), "big")
        for number in range(TRIALS):
            with_disk(lambda disk, room=needed * number // TRIALS: trial(room, disk))
            count.append(os.read(marks[0], 1))
    except NotAllowed:
        pytest.skip("this machine does not let us mount a small disk")
    finally:
        for mark in marks:
            os.close(mark)
    tell(f"{inspect.stack()[1].function}: {TRIALS} disks, refused by {count.count(b'r')} of them")
    return count.count(b"r")


def test_training_on_a_full_disk(files):
    def make(disk: Path) -> None:
        train(files / "train.es", files / "train.en", disk / "m", held_out=0, tuned=False, settings=SETTINGS)
        assert load(disk / "m").translate(["una habitación"])

    assert attack(lambda disk: None, make, keeps=("m.work/",)) >= TRIALS // 2


def test_tuning_on_a_full_disk(files, model):
    def tune(disk: Path) -> None:
        settings = {"tuner": "pro", "iterations": 1, "nbest": 10}
        tune_model(disk / "m", files / "dev.es", files / "dev.en", settings=settings)
        assert load(disk / "m").weights.signature.startswith("tuner:pro")

    assert attack(lambda disk: shutil.copytree(model, disk / "m"), tune) >= TRIALS // 2


def test_adding_on_a_full_disk(model):
    def put(disk: Path) -> None:
        add(disk / "m", ["¡ hasta el martes !"], ["see you on Tuesday !"])
        assert ModelDirectory.open(disk / "m", verify=True).sizes["added_pairs"] == 1

    assert attack(lambda disk: shutil.copytree(model, disk / "m"), put) >= 1


def test_fitting_a_reranker_on_a_full_disk():
    nbest, references = flipped(sentences=30)
    fitted = Reranker(learner="mnr").fit(nbest, references)

    def save(disk: Path) -> None:
        fitted.save(disk / "r")
        assert Reranker.load(disk / "r").fitted.names == fitted.fitted.names

    assert attack(lambda disk: None, save) >= 1
