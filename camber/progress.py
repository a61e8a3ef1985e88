"""How far long work is: steps report to whoever watches, and nobody does unless asked to.

    with stage("align"):                                    # its time is logged
        for counts in each(engine.map(…), "pass 1 of 6", total=len(pieces)):
            …

A watcher is called with an :class:`Event` when a step begins, now and then while it goes on, and when it ends, in the
thread that does the work. So a caller of the library hands over a function (``camber.train(…, progress=told)``), and an
error that it raises, such as :class:`Cancelled`, ends the work like any other: what is written is whole, or was not
begun. The command line has a display that watches all that its main thread does (`camber.cli.display`).
"""

from __future__ import annotations

import functools
import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

log = logging.getLogger("camber")
log.addHandler(logging.NullHandler())

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Item = TypeVar("Item")

#: kinds of events; BROKEN ends a step that an error or a wish to stop ended, RESULT tells what some work gave
BEGIN, GOING, END, BROKEN, RESULT = "begin", "progress", "end", "broken", "result"
#: seconds between two reports of a step
EVERY = 0.1


class Cancelled(Exception):
    """What a watcher may raise to stop the work that it watches."""


@dataclass(frozen=True)
class Event:
    """What became of a step, or a result on the way.

    >>> event = Event(GOING, ("tune", "decode"), done=400, total=1000, unit="sentences", seconds=10.0)
    >>> event.rate, event.left
    (40.0, 15.0)
    >>> print(event)
    tune: decode: 400 of 1,000 sentences (40 %), 40/s, 0:15 left
    """

    kind: str
    path: tuple[str, ...]  # names of the steps around it, and its own
    done: int = 0
    total: int | None = None  # None: nobody knows
    unit: str = ""  # what is counted, such as "sentences"
    seconds: float = 0.0  # since the step began
    number: int = 0  # of the step, in this process
    began: float = 0.0  # by the clock of `time.monotonic`
    facts: Mapping[str, Any] = field(default_factory=dict)  # of a result

    @property
    def name(self) -> str:
        """The name of the step, or of the result."""
        return self.path[-1]

    @property
    def rate(self) -> float | None:
        """How many were done in a second, if any were."""
        return self.done / self.seconds if self.done and self.seconds > 0 else None

    @property
    def left(self) -> float | None:
        """How many seconds the rest takes at that rate."""
        return max(0, self.total - self.done) / self.rate if self.total is not None and self.rate else None

    def amount(self) -> str:
        """Return how much is done, and for how long it will go on; how long it has gone on, if nobody knows more."""
        unit = f" {self.unit}" if self.unit else ""
        if not self.done:
            return clock(self.seconds)
        if self.total is None:
            told = [f"{self.done:,}{unit}"]
        else:
            told = [f"{self.done:,} of {self.total:,}{unit} ({100 * self.done // max(1, self.total)} %)"]
        if self.rate is not None and self.unit:
            told.append(f"{self.rate:,.0f}/s" if self.rate >= 10 else f"{self.rate:.2g}/s")
        told.append(f"{clock(self.left)} left" if self.left is not None else clock(self.seconds))
        return ", ".join(told)

    def __str__(self) -> str:
        return f"{': '.join(self.path)}: {self.amount()}"

    def now(self) -> Event:
        """Return the event with the time that has gone by until now."""
        return replace(self, seconds=time.monotonic() - self.began)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON holds."""
        told: dict[str, Any] = {"event": self.kind, "path": list(self.path)}
        if self.kind == RESULT:
            return told | dict(self.facts)
        told |= {"done": self.done, "total": self.total, "unit": self.unit, "seconds": round(self.seconds, 3)}
        if self.kind == GOING:
            told |= {name: round(value, 3) for name in ("rate", "left") if (value := getattr(self, name)) is not None}
        return told


def clock(seconds: float) -> str:
    """Write a duration as people do.

    >>> clock(7.4), clock(3671)
    ('0:07', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


#: Whoever wants to know how far work is; what it raises ends the work.
Watcher = Callable[[Event], object]

_watching: ContextVar[tuple[Watcher, ...]] = ContextVar("camber.watching", default=())
_path: ContextVar[tuple[str, ...]] = ContextVar("camber.path", default=())
_display: Watcher | None = None
_numbers = itertools.count(1)


def display_on(watcher: Watcher | None) -> None:
    """Let a watcher see all that the main thread of this process does, in place of the one before; None: nobody."""
    global _display
    _display = watcher


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Let a watcher see the steps of all that is done inside, in this thread.

    >>> with watching(print), step("count", 2) as work:
    ...     work.add(2)
    count: 0:00
    count: 2 of 2 (100 %), 0:00 left
    """
    before = _watching.set((*_watching.get(), watcher))
    try:
        yield
    finally:
        _watching.reset(before)


def watched(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a function with an argument `progress`: the watcher that it names sees the steps inside."""

    @functools.wraps(function)
    def call(*positional: Arguments.args, **named: Arguments.kwargs) -> Result:
        watcher: Any = named.get("progress")
        if watcher is None:
            return function(*positional, **named)
        with watching(watcher):
            return function(*positional, **named)

    return call


class Step:
    """Work that is under way."""

    def __init__(self, name: str, total: int | None = None, unit: str = "", *, everywhere: bool = False) -> None:
        """Begin a step; `everywhere`: the display is told of it whatever thread it runs in, and nobody else."""
        self.total, self.unit, self.done = total, unit, 0
        self.path = (*_path.get(), name)
        self._watchers = () if everywhere else _watching.get()
        if _display is not None and (everywhere or threading.current_thread() is threading.main_thread()):
            self._watchers = (_display, *self._watchers)
        if self._watchers:
            self._number = next(_numbers)
            self._told, self._began = False, time.monotonic()
            self._next = self._began + EVERY

    def begin(self) -> None:
        """Tell that it has begun; else that is told with its first report, and nothing of a step that had none."""
        self._tell(BEGIN)

    def add(self, count: int = 1) -> None:
        """Count what is done."""
        self.done += count
        if self._watchers and (now := time.monotonic()) >= self._next:
            self._next = now + EVERY
            if not self._told:
                self._tell(BEGIN)
            self._tell(GOING)

    def end(self, error: BaseException | None = None) -> None:
        """Tell that it is over; an error goes on, whatever watchers say to it."""
        if not self._watchers or not self._told:
            return
        if error is None:
            self._tell(END)
        else:
            for watcher in self._watchers:
                with suppress(Exception):
                    watcher(self._event(BROKEN))
        self._watchers = ()

    def _tell(self, kind: str) -> None:
        if not self._watchers:
            return
        self._told = True
        event = self._event(kind)
        for watcher in self._watchers:
            watcher(event)

    def _event(self, kind: str) -> Event:
        seconds = time.monotonic() - self._began
        return Event(kind, self.path, self.done, self.total, self.unit, seconds, self._number, self._began)


@contextmanager
def step(name: str, total: int | None = None, unit: str = "") -> Iterator[Step]:
    """Report a piece of work, and what is inside of it as its steps; the caller counts with ``.add()``."""
    with counting(name, total, unit) as work:
        work.begin()
        yield work


@contextmanager
def counting(name: str, total: int | None = None, unit: str = "") -> Iterator[Step]:
    """Report a piece of work as :func:`step` does, but nothing of it if it is over before anybody would see it."""
    work = Step(name, total, unit)
    before = _path.set(work.path)
    try:
        yield work
        work.end()
    except BaseException as error:
        work.end(error)
        raise
    finally:
        _path.reset(before)


@contextmanager
def stage(name: str, total: int | None = None, unit: str = "") -> Iterator[Step]:
    """Report a step, and log how long it took: ``align: done in 3.2 s``."""
    start = time.monotonic()
    with step(name, total, unit) as work:
        yield work
    log.info("%s: done in %.1f s", name, time.monotonic() - start, extra={"told": True})


def each(
    items: Iterable[Item],
    name: str,
    total: int | None = None,
    unit: str = "",
    size: Callable[[Item], int] | None = None,
) -> Iterator[Item]:
    """Yield items and report each that is done with; `size` says how much one counts for. Short work is not told.

    >>> sum(each([1, 2, 3], "add"))
    6
    """
    if total is None and size is None and isinstance(items, Sized):
        total = len(items)
    work = Step(name, total, unit)
    try:
        for item in items:
            yield item
            work.add(1 if size is None else size(item))
        work.end()
    except GeneratorExit:  # whoever asked has enough
        with suppress(Exception):
            work.end()
        raise
    except BaseException as error:
        work.end(error)
        raise
    finally:
        if isinstance(items, Generator):
            items.close()  # what an engine has not begun yet need not be done


def result(name: str, message: str, *words: object, **facts: Any) -> None:
    """Log what some work gave, and tell it to watchers as facts."""
    log.info(message, *words, extra={"told": True})
    path = (*_path.get(), name)
    event = Event(RESULT, path, facts={**facts, "message": message % words if words else message})
    if _display is not None and threading.current_thread() is threading.main_thread():
        _display(event)
    for watcher in _watching.get():
        watcher(event)
