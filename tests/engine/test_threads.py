"""Engines give results in order, whatever the number of threads."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.engine import Threads, split_evenly
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
