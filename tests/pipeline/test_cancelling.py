"""Work that its caller stops, at any report: what there was before is as it was, or what was to be made is whole."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import camber
import camber.pipeline.calibrate
import camber.pipeline.folds
from camber import progress
from camber.files import read_lines, write_lines
from camber.progress import BEGIN, BROKEN, END, Event

pytestmark = pytest.mark.slow

#: reports at which each sort of work is stopped, of all that there are
TRIALS = 12
SETTINGS = camber.TrainSettings.from_dict(
    {"lm": {"order": 3}, "align": {"model": "quick"}, "tune": {"iterations": 2, "nbest": 20, "tuner": "pro"}}
)


@pytest.fixture(autouse=True)
def every(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every single piece of work be told."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stopped_at(count: int, work: Callable[..., Any]) -> tuple[bool, list[Event]]:
    """Stop work at its report of a number; return whether it came so far, and the reports."""
    seen: list[Event] = []

    def told(event: Event) -> None:
        if event.kind != BROKEN and len(seen) == count:
            seen.append(event)
            raise camber.Cancelled(f"at report {count}")
        seen.append(event)

    try:
        work(progress=told)
    except camber.Cancelled:
        return True, seen
    return False, seen


def trials(work: Callable[..., Any], seed: int = 1) -> list[int]:
    """Return the reports to stop at: the first, the last, and some between."""
    _, seen = stopped_at(-1, work)
    assert {event.kind for event in seen} >= {BEGIN, END}
    some = random.Random(seed).sample(range(1, len(seen) - 1), min(TRIALS - 2, len(seen) - 2))
    return sorted({0, len(seen) - 1, *some})


def test_a_training_that_is_stopped_goes_on_to_the_same_model(hotel_files: Path, tmp_path: Path) -> None:
    def train(model: Path, **more: Any) -> None:
        files = [hotel_files / "train.es", hotel_files / "train.en"]
        dev = {"dev_source": hotel_files / "dev.es", "dev_target": hotel_files / "dev.en"}
        camber.train(*files, model, settings=SETTINGS, engine=camber.Threads(2), **dev, **more)

    places = trials(lambda **more: train(tmp_path / "whole", **more))
    expected = contents(tmp_path / "whole")
    for place in places:
        model = tmp_path / f"model{place}"
        stopped, seen = stopped_at(place, lambda **more: train(model, **more))  # noqa: B023 (called at once)
        if not stopped:
            continue  # another run may have fewer reports
        begun, over = ({event.number for event in seen if event.kind in kinds} for kinds in ([BEGIN], [END, BROKEN]))
        assert begun - {seen[place].number if seen[place].kind == BEGIN else 0} <= over
        assert not model.exists() or contents(model) == expected, seen[place]
        assert not list(tmp_path.glob(f".model{place}*"))  # nor what was being written
        train(model)
        assert contents(model) == expected, seen[place]
        shutil.rmtree(model)
        shutil.rmtree(model.with_name(model.name + ".work"))


def test_a_tuning_that_is_stopped_leaves_the_model_or_a_new_one(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"

    def tune(**more: Any) -> None:
        how = {"iterations": 2, "nbest": 20, "tuner": "pro"}
        camber.tune_model(model, hotel_files / "dev.es", hotel_files / "dev.en", settings=how, **more)

    before = contents(shutil.copytree(hotel_model, model))
    places = trials(tune)
    after = contents(model)
    assert after != before
    for place in places:
        shutil.rmtree(model)
        shutil.copytree(hotel_model, model)
        _, seen = stopped_at(place, tune)
        assert contents(model) in (before, after), seen[place]
        assert sorted(path.name for path in tmp_path.iterdir() if "lock" not in path.name) == ["model"]


def test_pairs_are_added_or_not(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    source, target = (read_lines(hotel_files / f"test.{side}")[:10] for side in ("es", "en"))

    def add(**more: Any) -> None:
        camber.add(model, source, target, **more)

    before = contents(shutil.copytree(hotel_model, model))
    places = trials(add)
    after = contents(model)
    for place in places:
        shutil.rmtree(model)
        shutil.copytree(hotel_model, model)
        _, seen = stopped_at(place, add)
        assert contents(model) in (before, after), seen[place]
        assert len(camber.load(model).translate(source)) == len(source)


def test_files_are_imported_and_translated_whole_or_not_at_all(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    table = tmp_path / "pairs.tsv"
    sides = [read_lines(hotel_files / f"train.{side}") for side in ("es", "en")]
    rows = ["es\ten", *("\t".join(pair) for pair in zip(*sides, strict=True))]
    write_lines(table, rows * 8)

    def work(folder: Path, **more: Any) -> None:
        camber.import_files([table], "es", "en", folder / "train", **more)
        camber.translate_file(hotel_model, hotel_files / "test.es", folder / "test.en", **more)

    (whole := tmp_path / "whole").mkdir()
    places = trials(lambda **more: work(whole, **more))
    expected = contents(whole)
    assert set(expected) == {"train.es", "train.en", "test.en"}
    for place in places:
        (folder := tmp_path / f"made{place}").mkdir()
        _, seen = stopped_at(place, lambda **more: work(folder, **more))
        made = contents(folder)
        assert made == {name: expected[name] for name in made}, seen[place]
        assert ("train.es" in made) == ("train.en" in made)


def test_every_long_function_tells_its_watcher(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    train, test = ([hotel_files / f"{name}.{side}" for side in ("es", "en")] for name in ("train", "test"))
    small = [tmp_path / f"small.{side}" for side in ("es", "en")]
    for given, made in zip(train, small, strict=True):
        write_lines(made, read_lines(given)[:60])
    lists = camber.load(hotel_model)
    nbest = lists.to_nbest(list(lists.translations(read_lines(test[0]), 5)))
    model = tmp_path / "model"
    shutil.copytree(hotel_model, model)
    works: dict[str, Callable[..., Any]] = {
        "analyse": lambda **more: camber.analyse(model, test[0], **more),
        "select": lambda **more: camber.select(*train, test[0], count=10, **more),
        "folds": lambda **more: camber.nbest_folds(
            *small,
            tmp_path / "list.jsonl",
            settings=SETTINGS,
            folds=camber.pipeline.folds.FoldSettings(folds=2, rounds=1, nbest=5),
            **more,
        ),
        "combine": lambda **more: camber.combine_models(
            [model, hotel_model], *test, tmp_path / "both", settings={"tuner": "pro"}, **more
        ),
        "calibrate": lambda **more: camber.pipeline.calibrate.calibrate_model(model, *test, **more),
        "translate": lambda **more: lists.translate(read_lines(test[0]), **more),
        "rerank": lambda **more: camber.Reranker().fit(nbest, read_lines(test[1]), **more),
    }
    for name, work in works.items():
        seen: list[Event] = []
        work(progress=seen.append)
        begun, over = ([event.number for event in seen if event.kind == kind] for kind in (BEGIN, END))
        assert begun, name
        assert sorted(begun) == sorted(over), name
        assert [event.number for event in seen if event.kind == BROKEN] == [], name
