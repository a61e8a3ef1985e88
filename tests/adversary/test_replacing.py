"""Several processes at one model: who opens it gets the old one or the new one, who writes it spoils nothing."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import shutil
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from adversary.trials import tell
from toys.lists import flipped

from camber.cli.info import command as info
from camber.errors import CamberError, ModelError
from camber.model import directory as directory_module
from camber.model import places
from camber.model.directory import ModelDirectory, _identity, write_model
from camber.model.translator import load
from camber.pipeline.add import Adder
from camber.pipeline.rewrite import with_weights
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stages
from camber.pipeline.train import train
from camber.rerank.reranker import Reranker

ALL = os.environ.get("CAMBER_ADVERSARY") == "all"
LINE = "¿ cuánto cuesta una habitación doble con baño ?"
PAIR = "¡ hasta el martes !", "see you on Tuesday !"


def make(path: Path, value: int) -> None:
    """Write a model whose files all say the same."""
    with write_model(path, "toy") as draft:
        for name in "abcdef":
            draft.save(f"{name}.npy", np.full(50_000, value))


def _replace(path: Path, seconds: float) -> None:
    end, value = time.monotonic() + seconds, 1
    while time.monotonic() < end:
        make(path, value := 1 - value)


def test_a_load_is_of_one_model(tmp_path):
    make(tmp_path / "m", 1)
    writer = multiprocessing.get_context("spawn").Process(target=_replace, args=(tmp_path / "m", 6.0))
    writer.start()
    try:
        seen = set()
        while writer.is_alive():
            values = ModelDirectory.opened(
                tmp_path / "m", lambda directory: {int(directory.array(f"{name}.npy")[-1]) for name in "abcdef"}
            )
            assert len(values) == 1
            seen |= values
    finally:
        writer.join(30)
    assert writer.exitcode == 0
    assert seen == {0, 1}


def test_writers_wait_for_a_reader_that_they_disturb_all_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(directory_module, "_WRITING", 0.0)
    make(tmp_path / "m", 1)
    calls = []

    def use(directory: ModelDirectory) -> int:
        calls.append(1)
        with suppress(CamberError):  # in use, at the last attempt
            make(tmp_path / "m", 2)
        return int(directory.array("a.npy")[0])

    assert ModelDirectory.opened(tmp_path / "m", use) == 2
    assert len(calls) > 2


def test_a_model_that_changes_all_the_time_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(directory_module, "_PATIENCE", 0.0)
    make(tmp_path / "m", 1)

    def use(directory: ModelDirectory) -> None:
        os.utime(tmp_path / "m" / "model.toml")  # as a writer that knows nothing of locks

    with pytest.raises(ModelError, match="replaced by other models all the time"):
        ModelDirectory.opened(tmp_path / "m", use)


def test_a_model_that_is_away_for_a_moment_is_not_said_to_be_missing(tmp_path, monkeypatch):
    """Both looks at a place may fall into moments between two renames, though models were there in between."""
    make(tmp_path / "m", 1)
    aside = tmp_path / f"{places.prefix(tmp_path / 'm', 'old')}x"
    read, moments = directory_module._read_manifest, []

    def away(path: Path) -> dict:
        if not moments:
            moments.append(1)
            os.rename(path, aside)
        return read(path)

    monkeypatch.setattr(directory_module, "_read_manifest", away)
    identities = iter([()])
    monkeypatch.setattr(directory_module, "_identity", lambda path: next(identities, None) or _identity(path))
    assert ModelDirectory.open(tmp_path / "m").array("a.npy")[0] == 1


def test_errors_of_a_model_that_stays_are_told_at_once(tmp_path):
    make(tmp_path / "m", 1)
    calls = []

    def use(directory: ModelDirectory) -> None:
        calls.append(1)
        raise ModelError("damaged")

    with pytest.raises(ModelError, match="damaged"):
        ModelDirectory.opened(tmp_path / "m", use)
    assert len(calls) == 1


def _alternate(first: Path, second: Path, place: Path, stop: Path) -> None:
    """Put two models at a place in turn until a file is there, and add pairs to what is there."""
    for number in itertools.count():
        if stop.exists():
            return
        directory = ModelDirectory.open((first, second)[number % 2])
        with write_model(place, directory.kind, directory.settings) as draft:
            draft.take_model(directory)
        for pair in range(number % 3):
            add_pairs(place, [f"{PAIR[0]} {pair}"], [f"{PAIR[1]} {pair}"])


def add_pairs(model: Path, source: list[str], target: list[str]) -> None:
    """Add pairs, without opening the model again."""
    Adder(model).add(source, target)


@pytest.mark.slow
def test_hundreds_of_loads_while_a_model_is_replaced(hotel_model, hotel_hiero, tmp_path, capsys):
    """Each answers as one of both models does, with the pairs that were added up to a moment."""
    loads = 300 if ALL else 25
    place, stop = tmp_path / "m", tmp_path / "stop"
    shutil.copytree(hotel_model, place)
    expected = {load(model).translate([LINE])[0]: model for model in (hotel_model, hotel_hiero)}
    assert len(expected) == 2
    known = {PAIR[1] + end for end in (" 0", " 1")}
    arguments = (hotel_model, hotel_hiero, place, stop)
    writer = multiprocessing.get_context("spawn").Process(target=_alternate, args=arguments)
    writer.start()
    seen: Counter[str] = Counter()
    try:
        before = _identity(place)
        while writer.is_alive() and _identity(place) == before:  # it has to import everything first
            time.sleep(0.05)
        for number in range(loads):
            if number % 5 == 4:
                info.main(["--json", str(place), *(["--verify"] if number % 2 else [])], standalone_mode=False)
                facts = json.loads(capsys.readouterr().out)
                assert facts["signature"].split("|added")[0] in {ModelDirectory.open(m).made for m in arguments[:2]}
                continue
            translator = load(place, verify=number % 2 == 0)
            answer, *repeats = translator.translate([LINE, f"{PAIR[0]} 0", f"{PAIR[0]} 1"])
            assert expected[answer] == {"phrase": hotel_model, "hiero": hotel_hiero}[translator.directory.kind]
            assert len(known.intersection(repeats)) == translator.directory.sizes.get("added_pairs", 0)
            seen[translator.directory.signature] += 1
    finally:
        stop.touch()
        writer.join(60)
    assert writer.exitcode == 0
    assert len(seen) > 1
    tell(f"loads during replacements: {loads}, of {len(seen)} different models and journals, each whole")


def _save(rerankers: list[Reranker], place: Path, stop: Path) -> None:
    for reranker in itertools.cycle(rerankers):
        if stop.exists():
            return
        reranker.save(place)


@pytest.mark.slow
def test_rerankers_are_loaded_while_they_are_replaced(tmp_path):
    nbest, references = flipped(sentences=30)
    rerankers = [Reranker(learner=learner).fit(nbest, references) for learner in ("linear", "mnr", "trees")]
    expected = {reranker.learner: reranker.scores(nbest).tolist() for reranker in rerankers}
    place, stop = tmp_path / "r", tmp_path / "stop"
    rerankers[0].save(place)
    writer = threading.Thread(target=_save, args=(rerankers, place, stop))
    writer.start()
    seen = set()
    try:
        end = time.monotonic() + 60  # on a busy machine, the writer may not have come to its second model by then
        for times in itertools.count():
            if times >= (300 if ALL else 40) and (len(seen) > 1 or time.monotonic() > end):
                break
            reranker = Reranker.load(place)
            assert reranker.scores(nbest).tolist() == expected[reranker.learner]
            seen.add(reranker.learner)
    finally:
        stop.touch()
        writer.join(60)
    assert len(seen) > 1


def test_weights_go_back_into_the_model_that_they_are_of(hotel_model, tmp_path):
    model = Path(shutil.copytree(hotel_model, tmp_path / "m"))
    translator = load(model)
    assert with_weights(model, model, translator, None).weights.values == translator.weights.values


def test_a_model_that_was_to_be_kept_comes_back_after_a_kill_between_the_renames(tmp_path):
    make(tmp_path / "m", 1)
    aside = tmp_path / f"{places.prefix(tmp_path / 'm', 'kept')}x"
    os.rename(tmp_path / "m", aside)
    assert ModelDirectory.open(tmp_path / "m").array("a.npy")[0] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    # after both renames, it only has to get its name
    shutil.copytree(tmp_path / "m", aside)
    make(tmp_path / "m", 2)
    assert ModelDirectory.open(tmp_path / "m").array("a.npy")[0] == 2
    assert ModelDirectory.open(tmp_path / "m.old").array("a.npy")[0] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.old"]


def test_what_was_being_removed_is_never_a_model_again(tmp_path):
    make(tmp_path / "m", 1)
    gone = tmp_path / f"{places.prefix(tmp_path / 'm', 'gone')}x"
    os.rename(tmp_path / "m", gone)
    (gone / "a.npy").unlink()
    with pytest.raises(ModelError, match="no such model"):
        ModelDirectory.open(tmp_path / "m")
    make(tmp_path / "m", 3)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_pairs_are_not_added_twice_in_a_row(hotel_model, tmp_path, caplog):
    model = Path(shutil.copytree(hotel_model, tmp_path / "m"))
    adder = Adder(model)
    first, other = (["¡ hola !", ""], ["hello !", ""]), (["¡ hola !"], ["hi !"])
    assert [adder.add(*first), adder.add(*first), adder.add(*other), adder.add(*first)] == [1, 0, 1, 1]
    assert "not added again" in caplog.text
    assert adder.load().translate(["¡ hola !"]) == ["hello !"]


def test_a_stage_whose_file_was_damaged_runs_again(tmp_path, caplog):
    runs = []

    def work(folder: Path) -> None:
        runs.append(1)
        (folder / "numbers.bin").write_bytes(bytes(1000))

    for expected in (1, 1):
        with Stages(tmp_path / "w") as stages:
            stages.run("numbers", {}, work)
        assert len(runs) == expected
    path = tmp_path / "w" / "numbers" / "numbers.bin"
    path.write_bytes(bytes(500) + b"\1" + bytes(499))  # the length stays
    with Stages(tmp_path / "w") as stages:
        assert not stages.run("numbers", {}, work).kept
    assert len(runs) == 2
    assert path.read_bytes() == bytes(1000)
    assert "changed since they were written" in caplog.text


@pytest.mark.slow
def test_a_damaged_model_is_mended_by_training_it_again(hotel_files, tmp_path, monkeypatch):
    """The model shares its large files with the stages that made them, and so their damage."""
    monkeypatch.setattr(directory_module, "SMALL", 1000)
    settings = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}})

    def make_again() -> None:
        sides = hotel_files / "train.es", hotel_files / "train.en"
        train(*sides, tmp_path / "m", held_out=0, tuned=False, settings=settings)

    make_again()
    path = tmp_path / "m" / "rules" / "target_ids.npy"
    assert path.stat().st_nlink == 2
    whole = path.read_bytes()
    with open(path, "r+b") as stream:  # where it stands, as a failing disk does
        stream.seek(len(whole) // 2)
        stream.write(b"\xff\xff\xff\x7f")
    with pytest.raises(ModelError, match="target_ids"):
        load(tmp_path / "m", verify=True)
    make_again()
    assert path.read_bytes() == whole
    load(tmp_path / "m", verify=True)
