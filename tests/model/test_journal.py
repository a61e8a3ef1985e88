"""The journal of a model: calls that are there whole or not at all, read in order, joined now and then."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from camber.align.lesson import Lesson
from camber.cli.info import command as info
from camber.errors import CamberError, ModelError
from camber.files import read_lines
from camber.lock import Lock
from camber.model import journal as module
from camber.model.directory import ModelDirectory
from camber.model.journal import FOLDER, MOST_SEGMENTS, Journal, Pair, is_journal
from camber.model.translator import load
from camber.pipeline.add import Adder, add
from camber.pipeline.rewrite import with_weights
from camber.pipeline.train import train
from camber.pipeline.tune import tune_model
from camber.tune.loop import TuneSettings


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that a journal can be in."""
    (tmp_path / "m").mkdir()
    return tmp_path / "m"


@pytest.fixture
def phrase(hotel_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hotel_model, tmp_path / "phrase"))


def pair(number: int) -> Pair:
    return Pair(f"Zeile {number} # sha256", f"line\u2028{number}", f"zeile {number}", f"line {number}", "0-0 1-1")


def lesson(number: int) -> Lesson:
    words = {"zeile": (number, 1.0 + number), str(number): (1 / 3, 1.0)}
    return Lesson.of(words, {"line": (number, number)}, {("zeile", "line"): number / 7})


def filled(model: Path, calls: int) -> Journal:
    """Add calls of one pair, one after another, each read from the disk before."""
    for number in range(1, calls + 1):
        Journal.read(model).appended([pair(number)], lesson(number))
    return Journal.read(model)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


# --- what was written is read --------------------------------------------------------------------------------------


def test_a_model_that_nothing_was_added_to_has_an_empty_journal(model: Path) -> None:
    journal = Journal.read(model)
    assert (len(journal), journal.calls, journal.lessons(), journal.size) == (0, (), [], 0)


def test_calls_come_back_in_order(model: Path) -> None:
    first, second = [pair(1), Pair("Q?", "A!", "q ?")], [pair(3)]
    Journal.read(model).appended(first, lesson(1)).appended(second, None)
    journal = Journal.read(model)
    assert [list(call.pairs) for call in journal.calls] == [first, second]
    assert [call.has_lesson for call in journal.calls] == [True, False]
    assert [len(call.learnt) for call in journal.calls] == [1, 1]
    assert len(journal) == 3
    assert [item.to_dict() for item in journal.lessons()] == [lesson(1).to_dict()]


@pytest.mark.parametrize(
    "calls", [MOST_SEGMENTS, MOST_SEGMENTS + 1, pytest.param(5 * MOST_SEGMENTS, marks=pytest.mark.slow)]
)
def test_many_calls_are_joined_and_say_the_same(model: Path, calls: int) -> None:
    journal = filled(model, calls)
    assert [call.pairs for call in journal.calls] == [(pair(number),) for number in range(1, calls + 1)]
    assert len(journal.segments) <= MOST_SEGMENTS
    assert len(list((model / FOLDER).iterdir())) == len(journal.segments)
    learnt = Lesson.join([lesson(number) for number in range(1, calls + 1)])
    assert Lesson.join(journal.lessons()).to_dict() == learnt.to_dict()
    one_by_one = Journal(model.with_name("other"))
    one_by_one.model.mkdir()
    for number in range(1, calls + 1):  # the digest does not tell how calls were joined
        one_by_one = one_by_one.appended([pair(number)], lesson(number))
    assert one_by_one.digest == journal.digest
    assert one_by_one.appended([pair(0)], None).digest != journal.digest


@pytest.mark.slow
def test_each_pair_is_written_a_few_times_only(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    real = module._fill
    monkeypatch.setattr(
        module, "_fill", lambda folder, text, lesson: (written.append(len(text)), real(folder, text, lesson))
    )
    journal = Journal.read(model)
    for number in range(300):
        journal = journal.appended([pair(number)], None)
    size = sum((segment.folder / module.PAIRS).stat().st_size for segment in journal.segments)
    assert sum(written) < 6 * size


# --- damage --------------------------------------------------------------------------------------------------------


def test_any_changed_byte_of_the_pairs_is_found(model: Path) -> None:
    journal = filled(model, 1)
    path = journal.segments[0].folder / "pairs.jsonl"
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        flip(path, at)
        with pytest.raises(ModelError, match=r"pairs\.jsonl"):
            Journal.read(model)
        path.write_bytes(whole)
    for length in range(1, len(whole), 11):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"pairs\.jsonl"):
            Journal.read(model)


def test_a_missing_call_is_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    journal = filled(model, 4)
    shutil.rmtree(journal.segments[1].folder)
    shutil.rmtree(journal.segments[2].folder)
    with pytest.raises(ModelError, match="the calls 2 to 3 of the added pairs are missing"):
        Journal.read(model)


def test_a_file_that_is_missing_or_of_other_calls_is_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    one, two = filled(model, 2).segments
    (one.folder / "pairs.jsonl").rename(one.folder / "aside")
    with pytest.raises(ModelError, match=r"00000001-00000001.pairs\.jsonl: a file of the model is missing"):
        Journal.read(model)
    shutil.copy(two.folder / "pairs.jsonl", one.folder)
    with pytest.raises(ModelError, match="call 2 of 1 pairs, expected 1"):
        Journal.read(model)


def test_what_the_aligner_learnt_is_checked_where_it_is_needed(phrase: Path) -> None:
    add(phrase, ["la llave"], ["My key!"])
    path = ModelDirectory.open(phrase).journal.segments[0].folder / "aligner.json"
    flip(path, 30)
    assert load(phrase).translate(["la llave"]) == ["My key!"]  # translating does without
    for call in (lambda: ModelDirectory.open(phrase, verify=True), lambda: add(phrase, ["uno"], ["one"])):
        with pytest.raises(ModelError, match=r"aligner\.json: changed or cut short"):
            call()


def test_a_newer_format_is_told(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "FORMAT", 4)
        Journal.read(model).appended([pair(1)], None)
    with pytest.raises(ModelError, match="added pairs of format 4, expected 1 to 3; use the version"):
        Journal.read(model)


# --- interrupted, and at once --------------------------------------------------------------------------------------


STEP = """
import os, signal, sys
from pathlib import Path
from camber.model.journal import Journal, Pair
count = 0
def counted(function):
    def call(*values, **named):
        global count
        count += 1
        if count == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*values, **named)
    return call
for name in ("rename", "fsync", "mkdir", "rmdir", "unlink", "open"):
    setattr(os, name, counted(getattr(os, name)))
Journal.read(Path(sys.argv[1])).appended([Pair("a", "b", "a", "b", "0-0")], None)
print("done")
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.slow
def test_a_kill_at_any_step_of_writing_and_joining_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    before = filled(tmp_path / "full", MOST_SEGMENTS)
    after = before.appended([Pair("a", "b", "a", "b", "0-0")], None).digest
    shutil.rmtree(tmp_path / "full")
    (tmp_path / "full").mkdir()
    before = filled(tmp_path / "full", MOST_SEGMENTS)  # one more, and all are joined
    seen = set()
    for step in range(1, 500):
        place = Path(shutil.copytree(tmp_path / "full", tmp_path / "m"))
        done = subprocess.run([sys.executable, "-c", STEP, str(place), str(step)], capture_output=True, text=True)
        journal = Journal.read(place, verify=True)
        assert journal.digest in (before.digest, after)
        seen.add(journal.digest)
        again = journal.appended([pair(99)], lesson(99))
        assert Journal.read(place, verify=True).digest == again.digest
        assert len(list((place / FOLDER).iterdir())) == len(again.segments)  # nothing is left over
        shutil.rmtree(place)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert step > 15
    assert len(seen) == 2


@pytest.mark.slow
def test_readers_see_whole_calls_while_others_are_written_and_joined(model: Path) -> None:
    failures: list[BaseException] = []
    seen: list[int] = []
    finished = threading.Event()

    def look() -> None:
        try:
            while not finished.is_set():
                journal = Journal.read(model, verify=True)
                assert [call.pairs[0] for call in journal.calls] == [pair(n) for n in range(1, len(journal) + 1)]
                seen.append(len(journal))
        except BaseException as error:
            failures.append(error)

    reader = threading.Thread(target=look)
    reader.start()
    filled(model, 4 * MOST_SEGMENTS)
    finished.set()
    reader.join()
    assert failures == []
    assert seen == sorted(seen)


ADDED = """
import sys
from camber.pipeline.add import Adder
adder = Adder(sys.argv[1])
for number in range(10):
    adder.add([f"la llave {sys.argv[2]}{number}"], [f"key {sys.argv[2]}{number}"])
"""


@pytest.mark.slow
def test_two_processes_add_at_once(phrase: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", ADDED, str(phrase), name]) for name in "ab"]
    assert [process.wait() for process in processes] == [0, 0]
    added = {pair.target for call in ModelDirectory.open(phrase, verify=True).journal.calls for pair in call.pairs}
    assert added == {f"key {name}{number}" for name in "ab" for number in range(10)}


def test_whoever_cannot_wait_for_the_lock_is_told(phrase: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camber.pipeline.add.PATIENCE", 0.05)
    held = Lock(phrase.parent / f".{phrase.name}.camber-lock", "the model")
    with held, pytest.raises(CamberError, match="in use by another process"):
        add(phrase, ["uno"], ["one"])
    assert add(phrase, ["uno"], ["one"]).translate(["uno"]) == ["one"]


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    held = Lock(tmp_path / "lock", "it").__enter__()
    released = threading.Event()

    def release() -> None:
        released.set()
        held.__exit__(None, None, None)

    timer = threading.Timer(0.1, release)
    timer.start()
    with Lock(tmp_path / "lock", "it", patience=30):
        assert released.is_set()
    timer.join()


# --- models with a journal -----------------------------------------------------------------------------------------


def test_adding_writes_nothing_but_its_own_folder(phrase: Path) -> None:
    def states() -> dict[str, tuple[int, int]]:
        files = (path for path in phrase.rglob("*") if path.is_file())
        return {path.relative_to(phrase).as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    before = states()
    add(phrase, ["la llave"], ["My key!"])
    after = states()
    assert {name: after[name] for name in before} == before
    assert sorted(after.keys() - before.keys()) == [
        f"added/00000001-00000001/{name}" for name in ("aligner.json", "pairs.jsonl")
    ]
    assert all(map(is_journal, after.keys() - before.keys()))


def test_one_who_adds_again_and_again_and_many_who_add_once_do_the_same(phrase: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(phrase, tmp_path / "other"))
    adder, second = Adder(phrase), Adder(phrase)
    for number in range(6):
        words = [f"el grupo{number % 2} está aquí ."], [f"the group{number % 2} is here ."]
        (adder if number % 3 else second).add(*words)  # they take turns
        add(other, *words)
    assert ModelDirectory.open(phrase).signature == ModelDirectory.open(other).signature
    lessons = [Lesson.join(ModelDirectory.open(path).journal.lessons()).to_dict() for path in (phrase, other)]
    assert lessons[0] == lessons[1]


def test_added_pairs_are_part_of_the_signature(phrase: Path) -> None:
    before = ModelDirectory.open(phrase)
    after = add(phrase, ["la llave"], ["My key!"]).directory
    assert after is not None
    assert after.signature.startswith(f"{before.signature}|added:1-")
    assert after.size > before.size
    assert "added_pairs" not in before.sizes


@pytest.mark.parametrize("place", ["m", "phrase"])
def test_a_tuned_model_takes_the_journal_along(phrase: Path, place: str, hotel_files: Path, tmp_path: Path) -> None:
    add(phrase, ["el zorbo"], ["the blorp"])
    add(phrase, ["la llave"], ["My key!"])
    before = ModelDirectory.open(phrase)
    dev = hotel_files / "dev.es", hotel_files / "dev.en"
    tune_model(phrase, *dev, out=tmp_path / place, settings=TuneSettings(iterations=1, nbest=10))
    tuned = ModelDirectory.open(tmp_path / place, verify=True)
    assert tuned.journal.digest == before.journal.digest
    assert tuned.sizes == before.sizes
    assert not any(name.startswith("added") for name in tuned.files)
    assert not (tmp_path / f"{place}.old").exists()
    assert add(tmp_path / place, ["uno"], ["one"]).translate(["uno", "el zorbo"]) == ["one", "the blorp"]


def test_pairs_that_come_during_a_tuning_are_not_lost(phrase: Path) -> None:
    translator = load(phrase)
    add(phrase, ["la llave"], ["My key!"])
    assert with_weights(phrase, phrase, translator, None).translate(["la llave"]) == ["My key!"]


def test_training_refuses_to_lose_a_journal(phrase: Path, hotel_files: Path) -> None:
    add(phrase, ["la llave"], ["My key!"])
    with pytest.raises(ModelError, match="1 pairs were added to this model, which training would lose"):
        train(hotel_files / "train.es", hotel_files / "train.en", phrase, tuned=False)


def test_info_tells_of_added_pairs_and_checks_them(phrase: Path) -> None:
    from click.testing import CliRunner

    add(phrase, ["la llave", "uno"], ["My key!", "one"])
    told = CliRunner().invoke(info, [str(phrase), "--verify"])
    assert told.exit_code == 0
    assert "added_pairs" in told.output
    assert "|added:2-" in told.output
    flip(ModelDirectory.open(phrase).journal.segments[0].folder / "aligner.json", 40)
    assert CliRunner().invoke(info, [str(phrase)]).exit_code == 0
    told = CliRunner().invoke(info, [str(phrase), "--verify"])
    assert isinstance(told.exception, ModelError)


def test_many_calls_translate_as_one_call_of_all_pairs(phrase: Path, hotel_files: Path, tmp_path: Path) -> None:
    """What is learnt may differ (pairs teach each other only when they come together), but all is there."""
    other = Path(shutil.copytree(phrase, tmp_path / "other"))
    lines = (
        read_lines(hotel_files / "test.es")[: 2 * MOST_SEGMENTS],
        read_lines(hotel_files / "test.en")[: 2 * MOST_SEGMENTS],
    )
    adder = Adder(phrase)
    for words in zip(*lines, strict=True):
        adder.add([words[0]], [words[1]])
    together = add(other, *lines)
    one_by_one = adder.load()
    assert one_by_one.translate(lines[0]) == together.translate(lines[0])
    index, every = one_by_one.decoder.rules.overlay.index, together.decoder.rules.overlay.index
    assert sorted(index.source.vocabulary.words) == sorted(every.source.vocabulary.words)
    assert np.array_equal(index.source.lengths, every.source.lengths)
