"""Engines give results in order, whatever the number of threads."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.engine import Threads, for_python, split_evenly
from camber.engine.threads import default_threads
from camber.errors import SettingsError


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_results_come_in_order_with_any_number_of_threads(threads):
    def slow_first(power, number):
        time.sleep(0.01 if number == 0 else 0)
        return number**power

    assert list(Threads(threads).map(slow_first, 2, range(20))) == [number * number for number in range(20)]


def test_one_thread_means_the_callers_own():
    assert set(Threads(1).map(lambda _, __: threading.get_ident(), None, range(3))) == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_piece_reaches_the_caller(threads):
    with pytest.raises(ZeroDivisionError):
        list(Threads(threads).map(lambda one, number: one // number, 1, [1, 0, 1]))


def test_no_pieces_give_no_results():
    assert list(Threads(2).map(divmod, 1, [])) == []


def test_there_is_at_least_one_thread():
    assert default_threads() >= 1
    with pytest.raises(SettingsError, match="-1 threads"):
        Threads(-1)


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(-2, 50))
def test_an_even_split_covers_everything_once_with_nearly_equal_pieces(total, pieces):
    ranges = split_evenly(total, pieces)
    assert [index for piece in ranges for index in piece] == list(range(total))
    assert all(len(piece) for piece in ranges)
    assert len(ranges) <= max(1, pieces)
    assert not ranges or max(map(len, ranges)) - min(map(len, ranges)) <= 1


def dealt(count, numbers):
    return [[number for number in numbers if number % count == part] for part in range(count)]


def joined(base, parts):
    return base, [number for part in parts for number in part]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_parts_of_the_same_number_are_merged_in_the_order_of_the_pieces(threads, count):
    pieces = [range(9, 12), range(0), range(9)]
    bases = list("abcde")[:count]
    expected = [
        (base, [number for piece in pieces for number in piece if number % count == part])
        for part, base in enumerate(bases)
    ]
    assert list(Threads(threads).exchange(dealt, count, iter(pieces), joined, bases)) == expected


def test_the_parts_of_a_single_base_are_merged_as_they_come():
    events = []

    def split(_, piece):
        events.append(f"split {piece}")
        return [piece]

    def merge(base, parts):
        for part in parts:
            events.append(f"merged {part}")
        return base

    assert list(Threads(1).exchange(split, None, [1, 2], merge, ["base"])) == ["base"]
    assert events == ["split 1", "merged 1", "split 2", "merged 2"]


def test_tasks_that_hold_the_gil_run_on_one_thread_but_on_any_other_engine():
    other = object()
    assert for_python(Threads(4)) == Threads(1)
    assert for_python(other) is other
