"""A disk that is full at any moment: the model stays as it was, the error says why, and a second try works.

A few moments in every run of the tests; many with CAMBER_ADVERSARY=all (`make adversary`).
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from adversary.disk import NotAllowed, entries_left, left, refused, with_disk
from adversary.kills import text_files
from adversary.trials import tell
from toys.echo import echo
from toys.lists import flipped

from camber.model.directory import ModelDirectory
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
    pytest.mark.skipif(not hasattr(os, "posix_fallocate") or not hasattr(os, "fork"), reason="needs Linux"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

ALL = os.environ.get("CAMBER_ADVERSARY") == "all"
#: how many sizes of what is left of the disk are tried
TRIALS = 40 if ALL else 4
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


@pytest.mark.parametrize("method", ["phrase", "hiero"])
def test_training_on_a_full_disk_where_memory_is_short(method, files):
    """What does not fit into memory is mapped from files that have their room: a page without any would kill."""

    def make(disk: Path) -> None:
        sides = files / "train.es", files / "train.en"
        train(*sides, disk / "m", method=method, held_out=0, tuned=False, settings=SETTINGS, memory=2000)
        assert load(disk / "m").translate(["una habitación"])
        assert sorted(path.name for path in disk.rglob(".camber-*")) == []

    assert attack(lambda disk: None, make, keeps=("m.work/",)) >= TRIALS // 2


def test_tuning_on_a_full_disk(files, model):
    def tune(disk: Path) -> None:
        settings = {"tuner": "pro", "iterations": 1, "nbest": 10}
        tune_model(disk / "m", files / "dev.es", files / "dev.en", settings=settings)
        assert load(disk / "m").weights.signature.startswith("tuner:pro")

    assert attack(lambda disk: shutil.copytree(model, disk / "m"), tune) >= TRIALS // 2


def attack_everywhere(
    prepare: Callable[[Path], Any],
    action: Callable[[Path], Any],
    fine: Callable[[Path], bool],
    filled: Callable[[Path, int], AbstractContextManager[None]],
    step: int,
) -> tuple[int, int]:
    """Let an action run with room 0, `step`, 2 `step` … until all is done: the disk is full at each of its writes.

    Where it was refused, what `prepare` put there must be as it was then, and the next try works. `fine` looks at what
    was made, and says whether that is all, or something was put off. Return how often it was refused, or put something
    off.
    """
    marks = os.pipe()

    def trial(room: int, disk: Path) -> None:
        prepare(disk)
        before = contents(disk)
        with filled(disk, room):
            was_refused = refused(lambda: action(disk))
        if was_refused:
            assert contents(disk) == before
            action(disk)
            assert fine(disk)
        outcome = "refused" if was_refused else "done" if fine(disk) else "put off"
        os.write(marks[1], outcome[0].encode())

    outcomes = ""
    try:
        while not outcomes.endswith("d"):
            room = step * len(outcomes)
            with_disk(lambda disk, room=room: trial(room, disk))
            outcomes += os.read(marks[0], 1).decode()
    except NotAllowed:
        pytest.skip("this machine does not let us mount a small disk")
    finally:
        for mark in marks:
            os.close(mark)
    counts = outcomes.count("r"), outcomes.count("p")
    assert outcomes == "r" * counts[0] + "p" * counts[1] + "d"  # more room is never worse
    tell(f"{inspect.stack()[1].function}, {filled.__name__}: {counts[0]} disks refused, {counts[1]} put something off")
    return counts


#: kilobytes of a page of such a disk
PAGE = os.sysconf("SC_PAGE_SIZE") >> 10


def several(count: int) -> tuple[list[str], list[str]]:
    """Return pairs that are long, and of which no two are alike."""
    source = [f"¡ hasta el {n} {'de octubre ' * 20}!" for n in range(count)]
    return source, [f"see you on the {n} {'of October ' * 20}!" for n in range(count)]


@pytest.mark.parametrize(("filled", "step"), [(left, PAGE), (entries_left, 1)])
@pytest.mark.parametrize("count", [1, 200 if ALL else 20])
def test_a_disk_that_is_full_at_any_write_of_adding(model, filled, step, count):
    pairs = several(count)

    def prepare(disk: Path) -> None:
        shutil.copytree(model, disk / "m")

    def put(disk: Path) -> None:
        add(disk / "m", *pairs)

    def fine(disk: Path) -> bool:
        assert ModelDirectory.open(disk / "m", verify=True).sizes["added_pairs"] == count
        assert [path.name for path in disk.iterdir()] == ["m"]
        return load(disk / "m").translate(pairs[0][-1:]) == pairs[1][-1:]

    pages = sum(len(line) for side in pairs for line in side) * 2 >> 12  # of the pairs and of their tokens
    least = {left: 2 + pages, entries_left: 4}[filled]
    assert attack_everywhere(prepare, put, fine, filled, step)[0] >= least


@pytest.mark.parametrize(("filled", "step"), [(left, PAGE), (entries_left, 1)])
def test_a_disk_that_is_full_while_the_journal_is_joined(model, filled, step, tmp_path):
    """Joining can wait: the pair is there, and who comes next joins."""
    shutil.copytree(model, tmp_path / "m")
    adder = Adder(tmp_path / "m")
    for number in range(MOST_SEGMENTS):
        adder.add([f"la llave {number} {'de octubre ' * 20}."], [f"the key {number} {'of October ' * 20}."])

    def prepare(disk: Path) -> None:
        shutil.copytree(tmp_path / "m", disk / "m")

    def put(disk: Path) -> None:
        Adder(disk / "m").add(["¡ hasta el martes !"], ["see you on Tuesday !"])

    def fine(disk: Path) -> bool:
        there = ModelDirectory.open(disk / "m", verify=True)
        assert there.sizes["added_pairs"] == MOST_SEGMENTS + 1
        joined = len(there.journal.segments) <= MOST_SEGMENTS
        Adder(disk / "m").add(["hasta luego ."], ["see you later ."])
        there = ModelDirectory.open(disk / "m", verify=True)
        assert there.sizes["added_pairs"] == MOST_SEGMENTS + 2
        assert len(there.journal.segments) <= MOST_SEGMENTS
        return joined

    was_refused, put_off = attack_everywhere(prepare, put, fine, filled, step)
    assert was_refused >= 3
    assert put_off >= 1


def test_tuning_where_no_more_files_can_be_made(files, model):
    def tune(disk: Path) -> None:
        settings = {"tuner": "pro", "iterations": 1, "nbest": 10}
        tune_model(disk / "m", files / "dev.es", files / "dev.en", settings=settings)

    def fine(disk: Path) -> bool:
        assert [path.name for path in disk.iterdir()] == ["m"]
        return load(disk / "m").weights.signature.startswith("tuner:pro")

    step = 1 if ALL else 7
    made, _ = attack_everywhere(lambda disk: shutil.copytree(model, disk / "m"), tune, fine, entries_left, step)
    assert made >= 30 // step


def test_fitting_a_reranker_on_a_full_disk():
    nbest, references = flipped(sentences=30)
    fitted = Reranker(learner="mnr").fit(nbest, references)

    def save(disk: Path) -> None:
        fitted.save(disk / "r")

    def fine(disk: Path) -> bool:
        assert [path.name for path in disk.iterdir()] == ["r"]
        return Reranker.load(disk / "r").fitted.names == fitted.fitted.names

    for filled, step in ((left, PAGE), (entries_left, 1)):
        assert attack_everywhere(lambda disk: None, save, fine, filled, step)[0] >= 3


@pytest.mark.parametrize(("filled", "step"), [(left, PAGE), (entries_left, 1)])
def test_a_disk_that_is_full_while_pairs_are_taken_back(model, filled, step, tmp_path):
    shutil.copytree(model, tmp_path / "m")
    add(tmp_path / "m", *several(30))

    def prepare(disk: Path) -> None:
        shutil.copytree(tmp_path / "m", disk / "m")

    def take_back(disk: Path) -> None:
        forget(disk / "m", texts=several(30)[0][3:])

    def fine(disk: Path) -> bool:
        assert ModelDirectory.open(disk / "m", verify=True).sizes["added_pairs"] == 3
        return [path.name for path in disk.iterdir()] == ["m"]

    assert attack_everywhere(prepare, take_back, fine, filled, step)[0] >= 3


def test_calibrating_on_a_full_disk(files, model):
    def measure(disk: Path) -> None:
        calibrate_model(disk / "m", files / "dev.es", files / "dev.en")

    def fine(disk: Path) -> bool:
        assert load(disk / "m", verify=True).calibration is not None
        return [path.name for path in disk.iterdir()] == ["m"]

    step = 1 if ALL else 9
    made, _ = attack_everywhere(lambda disk: shutil.copytree(model, disk / "m"), measure, fine, entries_left, step)
    assert made >= 20 // step


@pytest.mark.parametrize("replaced", [False, True], ids=["new", "in place of another"])
def test_combining_on_a_full_disk(replaced, files, model, tmp_path):
    dev = files / "dev.es", files / "dev.en"
    combine_models([model], *dev, tmp_path / "before", settings={"mbr_size": 2})

    def prepare(disk: Path) -> None:
        if replaced:
            shutil.copytree(tmp_path / "before", disk / "c")

    def combine(disk: Path) -> None:
        combine_models([model], *dev, disk / "c", settings={"mbr_size": 5})
        assert load(disk / "c", verify=True).decoder.own.mbr_size == 5
        assert [path.name for path in disk.iterdir() if path.name != "ballast"] == ["c"]

    assert attack(prepare, combine) >= TRIALS // 2


@pytest.mark.parametrize(("filled", "step"), [(left, PAGE), (entries_left, 1)])
def test_importing_and_translating_in_place_on_a_full_disk(filled, step, tmp_path):
    """Files are those of before or the new ones."""
    lines = [f"uno y {number} veces más\tone and {number} times more\n" for number in range(400)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), "utf-8")
    page = "<html><body>" + "<p>¿ cuánto cuesta ?</p>" * 300 + "</body></html>\n"

    def prepare(disk: Path) -> None:
        (disk / "a.html").write_text(page, "utf-8")
        for side in ("es", "en"):
            (disk / f"out.{side}").write_text("before\n", "utf-8")

    def work(disk: Path) -> None:
        translate_file(echo("es", "en", str.upper), disk / "a.html", disk / "a.html")

    def both(disk: Path) -> None:
        import_files([tmp_path / "pairs.tsv"], "es", "en", disk / "out")

    def translated(disk: Path) -> bool:
        return (disk / "a.html").read_text("utf-8") == page.replace("¿ cuánto cuesta ?", "¿ CUÁNTO CUESTA ?")

    def imported(disk: Path) -> bool:
        sides = [(disk / f"out.{side}").read_text("utf-8").splitlines() for side in ("es", "en")]
        return ["\t".join(pair) + "\n" for pair in zip(*sides, strict=True)] == lines

    assert attack_everywhere(prepare, work, translated, filled, step)[0] >= 1
    assert attack_everywhere(prepare, both, imported, filled, step)[0] >= 1
