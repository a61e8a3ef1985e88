"""Who watches work: what is told, to whom, and what becomes of work whose watcher objects."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from camber import progress
from camber.engine import Threads
from camber.progress import BEGIN, BROKEN, END, GOING, RESULT, Cancelled, Event, each, result, stage, step, watching


@pytest.fixture
def every(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every single piece of work be told."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


@pytest.fixture
def display() -> Iterator[list[Event]]:
    """What a display of the process would see."""
    seen: list[Event] = []
    progress.display_on(seen.append)
    yield seen
    progress.display_on(None)


def shapes(events: list[Event]) -> list[tuple[str, str, int]]:
    return [(event.kind, "/".join(event.path), event.done) for event in events]


def test_steps_tell_what_is_around_them_how_much_is_done_and_that_they_end(every: None) -> None:
    seen: list[Event] = []
    with watching(seen.append), stage("train"), step("align", total=3, unit="pairs") as work:
        work.add(2)
        work.add()
    assert shapes(seen) == [
        (BEGIN, "train", 0), (BEGIN, "train/align", 0), (GOING, "train/align", 2), (GOING, "train/align", 3),
        (END, "train/align", 3), (END, "train", 0),
    ]  # fmt: skip
    assert len({event.number for event in seen}) == 2
    assert all(event.total == 3 and event.unit == "pairs" for event in seen if event.name == "align")


def test_nobody_sees_anything_outside_of_watching(every: None) -> None:
    seen: list[Event] = []
    with watching(seen.append):
        pass
    with step("align") as work:
        work.add()
    assert seen == []


def test_short_loops_are_not_told_and_long_ones_begin_when_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Event] = []
    monkeypatch.setattr(progress, "EVERY", 3600.0)
    with watching(seen.append):
        assert list(each("abc", "letters")) == ["a", "b", "c"]
        assert seen == []
        monkeypatch.setattr(progress, "EVERY", 0.0)
        assert list(each("abc", "letters")) == ["a", "b", "c"]
    assert shapes(seen) == [(BEGIN, "letters", 1), (GOING, "letters", 1), (GOING, "letters", 2), (GOING, "letters", 3),
                            (END, "letters", 3)]  # fmt: skip


def test_pieces_of_an_engine_count_for_as_much_as_they_hold(every: None) -> None:
    seen: list[Event] = []
    pieces = [range(5), range(5, 7)]
    with watching(seen.append):
        found = list(each(Threads(2).map(divmod_all, 3, pieces), "divide", 7, "numbers", len))
    assert found == [[0, 0, 0, 1, 1], [1, 2]]
    assert [event.done for event in seen if event.kind == GOING] == [5, 7]


def divmod_all(by: int, piece: range) -> list[int]:
    return [number // by for number in piece]


@pytest.mark.parametrize("kind", [BEGIN, GOING, END])
def test_what_a_watcher_raises_ends_the_work_and_every_step_is_over(every: None, kind: str) -> None:
    seen: list[Event] = []

    def told(event: Event) -> None:
        seen.append(event)
        if event.kind == kind and event.name == "inside":
            raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"), watching(told), step("outside"), step("inside") as work:
        work.add()
    begun = {event.number for event in seen if event.kind == BEGIN}
    assert {event.number for event in seen if event.kind == BROKEN} == begun
    with step("later"):  # nobody is asked any more, and paths begin anew
        pass
    assert all(event.name != "later" for event in seen)


def test_an_error_is_told_and_what_watchers_say_to_it_does_not_hide_it() -> None:
    def told(event: Event) -> None:
        if event.kind == BROKEN:
            raise RuntimeError("hides it")

    with pytest.raises(ZeroDivisionError), watching(told), step("work"):
        _ = 1 / 0


def test_an_engine_begins_nothing_more_once_the_work_is_cancelled(every: None) -> None:
    begun: list[int] = []
    gate = threading.Event()

    def told(event: Event) -> None:
        if event.kind == GOING:
            gate.set()
            raise Cancelled

    with pytest.raises(Cancelled), watching(told):
        list(each(Threads(2).map(_noted, (begun, gate), range(100)), "pieces", 100))
    gc.collect()
    count = len(begun)
    assert count < 10
    assert len(begun) == count


def _noted(shared: tuple[list[int], threading.Event], piece: int) -> int:
    begun, gate = shared
    begun.append(piece)
    if piece:
        gate.wait(60)
    return piece


def test_other_threads_have_watchers_of_their_own(every: None, display: list[Event]) -> None:
    seen: list[Event] = []
    elsewhere: list[Event] = []

    def work() -> None:
        with watching(elsewhere.append), step("there"):
            pass

    with watching(seen.append), step("here"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert {event.name for event in seen} == {"here"} == {event.name for event in display}
    assert {event.path for event in elsewhere} == {("there",)}


def test_compiling_is_shown_whatever_thread_does_it_but_is_no_business_of_watchers(display: list[Event]) -> None:
    seen: list[Event] = []

    def work() -> None:
        step = progress.Step("compile", everywhere=True)
        step.begin()
        step.end()

    with watching(seen.append):
        work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == []
    assert [event.kind for event in display] == [BEGIN, END] * 2


def test_results_have_facts_and_a_message(display: list[Event]) -> None:
    seen: list[Event] = []
    with watching(seen.append), step("tune"):
        result("round", "tune %d: BLEU %.2f", 3, 41.5, number=3, score=41.5)
    told = [event for event in seen if event.kind == RESULT]
    assert told == [event for event in display if event.kind == RESULT]
    assert told[0].to_dict() == {
        "event": "result", "path": ["tune", "round"], "number": 3, "score": 41.5, "message": "tune 3: BLEU 41.50",
    }  # fmt: skip


def test_a_loop_that_its_reader_leaves_is_over(every: None) -> None:
    seen: list[Event] = []
    with watching(seen.append):
        items = each(iter("abc"), "letters")
        assert next(items) + next(items) == "ab"
        items.close()  # type: ignore[attr-defined]
    assert [event.kind for event in seen] == [BEGIN, GOING, END]
