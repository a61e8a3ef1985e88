"""Long work shows itself: each stage, and what takes its time inside, tells how far it is, of how much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import camber
from camber import progress
from camber.files import read_lines
from camber.metrics.ter import TER
from camber.pipeline import tiny
from camber.pipeline.warmup import warm_up
from camber.progress import BEGIN, END, GOING, Event

pytestmark = pytest.mark.slow

#: of each stage of a training, the steps that grow with its text (what is counted: with its unit)
STEPS = {
    "corpus": {"compare lines": "lines", "compare pairs": "pairs", "learn casing": "pairs",
               "tokenise": "pairs", "number words": "", "digest files": "MB"},
    "align": {"index links": "", "pass 6 of 6": "pairs", "links": "pairs", "symmetrise": "", "count linked words": ""},
    "lm": {"count n-grams": "orders", "smooth": "orders"},
    "rules": {"sort suffixes": "", "find phrases": "", "sort phrases": "", "count linked words": "",
              "score phrases": "ranges"},
    "memory": {"compare pairs": "pairs", "compare lines": "lines", "split into words": "lines",
               "keep source texts": "lines", "keep target texts": "lines"},
    "tune": {"round 1 of at most 2": "", "decode": "sentences"},
    "write the model": {"digest files": "MB"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def every(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every single piece of work be told."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


def seen_of(work: Callable[[], Any]) -> list[Event]:
    seen: list[Event] = []
    with camber.watching(seen.append):
        work()
    return seen


def test_each_stage_of_a_training_tells_its_steps(hotel_files: Path, tmp_path: Path) -> None:
    settings = camber.TrainSettings.from_dict({"lm": {"order": 3}, "tune": {"iterations": 2, "nbest": 20}})
    text = [hotel_files / f"train.{side}" for side in ("es", "en")]
    seen = seen_of(lambda: camber.train(*text, tmp_path / "model", settings=settings, held_out=100))
    told: dict[str, dict[str, str]] = defaultdict(dict)
    for event in seen:
        if event.kind == END:
            told[event.path[0]][event.name] = event.unit
            if event.total is not None:
                assert event.done == event.total, event
    for stage, steps in STEPS.items():
        assert {step: told[stage].get(step) for step in steps} == steps, stage
    begun = {event.path for event in seen if event.kind == BEGIN}
    assert begun == {event.path for event in seen if event.kind == END}


def test_edits_of_long_texts_are_counted(hotel_files: Path) -> None:
    lines = [read_lines(hotel_files / f"test.{side}") for side in ("en", "es")]
    seen = seen_of(lambda: TER().statistics(lines[0], [lines[1]]))
    going = [event for event in seen if event.kind == GOING and event.name == "count edits"]
    assert going[-1].done == going[-1].total == len(set(zip(*lines, strict=True)))
    assert {event.unit for event in going} == {"lines"}


def test_warming_up_counts_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny, "PIECES", tiny.PIECES[:2])
    seen = [event for event in seen_of(lambda: warm_up(1)) if event.path == ("warm up",)]
    assert [(event.kind, event.done, event.total, event.unit) for event in (seen[0], seen[-1])] == [
        (BEGIN, 0, 2, "pieces"), (END, 2, 2, "pieces"),
    ]  # fmt: skip
