"""What a command shows of its progress on standard error: bars on a terminal, else a line now and then, or JSON.

Nothing of it is on standard output. Bars are those of rich, which is imported when something takes long enough.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from camber.progress import BEGIN, BROKEN, END, GOING, RESULT, Event, display_on, log

#: seconds after which a step is shown on a terminal, and between two pictures of it
PATIENCE, REFRESH = 0.5, 0.2
#: seconds between two lines without a terminal, and between two JSON objects of a step
LINES_EVERY, JSON_EVERY = 10.0, 1.0

_shown: Display | None = None


def show(*, quiet: bool = False, as_json: bool = False) -> None:
    """Send progress and messages to standard error (only warnings and errors when `quiet`)."""
    global _shown
    close()
    kind = JsonDisplay if as_json else Bars if _is_terminal() else Lines
    _shown = kind()
    log.handlers[:] = [_shown.handler]
    log.propagate = False
    log.setLevel(logging.WARNING if quiet else logging.INFO)
    display_on(None if quiet else _shown)


def hide() -> None:
    """Show nothing but messages: what the command writes tells how far it is."""
    display_on(None)
    if _shown is not None:
        _shown.close()


def close() -> None:
    """Take away what is on the terminal."""
    display_on(None)
    if _shown is not None:
        _shown.close()


def tell_error(message: str, code: int) -> None:
    """Write what went wrong to standard error."""
    close()
    if isinstance(_shown, JsonDisplay):
        _shown.write({"event": "error", "message": message, "code": code})
    else:
        print(f"camber: {message}", file=sys.stderr, flush=True)


def tells_json() -> bool:
    """Say whether standard error is for machines."""
    return isinstance(_shown, JsonDisplay)


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


class Display:
    """A watcher that knows which steps are under way, and looks at them regularly in a thread of its own."""

    interval = 1.0

    def __init__(self) -> None:
        self.handler: logging.Handler = logging.StreamHandler(sys.stderr)
        self.handler.setFormatter(logging.Formatter("%(message)s"))
        self.active: dict[int, Event] = {}
        self.lock = threading.RLock()
        self._ticking: threading.Thread | None = None
        self._ended = threading.Event()

    def __call__(self, event: Event) -> None:
        """Note what became of a step."""
        with self.lock:
            if event.kind in (END, BROKEN):
                self.active.pop(event.number, None)
                if not self.active:
                    self.rest()
            elif event.kind in (BEGIN, GOING):
                self.active[event.number] = event
                if self._ticking is None and not self._ended.is_set():
                    self._ticking = threading.Thread(target=self._tick, name="camber display", daemon=True)
                    self._ticking.start()

    def _tick(self) -> None:
        while not self._ended.wait(self.interval):
            with self.lock:
                if self.active:
                    self.look(sorted(self.active.values(), key=lambda event: event.number))

    def look(self, active: list[Event]) -> None:
        """Show the steps that are under way, those outside first."""

    def rest(self) -> None:
        """Show none, since there is none."""

    def close(self) -> None:
        """Show nothing any more."""
        self._ended.set()
        with self.lock:
            self.active.clear()
            self.rest()


class Lines(Display):
    """A line now and then: where nobody looks at a terminal, as in the log of a server."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.monotonic()

    def look(self, active: list[Event]) -> None:
        now = time.monotonic()
        if now - max(self._last, active[0].began) < LINES_EVERY:
            return
        counted = [event for event in active if event.total is not None and event.done]
        self._last = now
        log.info("%s", (counted or active)[-1].now())


class Bars(Display):
    """Bars at the bottom of a terminal, below the messages."""

    interval = REFRESH

    def __init__(self) -> None:
        super().__init__()
        self.handler = _Above(self)
        self.handler.setFormatter(logging.Formatter("%(message)s"))
        self.rich: Any = None  # rich.progress.Progress, while something is shown
        self._rows: dict[int, Any] = {}

    def look(self, active: list[Event]) -> None:
        now = time.monotonic()
        if self.rich is None:
            if now - active[0].began < PATIENCE:
                return
            self._start()
        shown = [event for event in active if now - event.began >= PATIENCE]
        for number in [number for number in self._rows if number not in {event.number for event in shown}]:
            self.rich.remove_task(self._rows.pop(number))
        for depth, event in enumerate(shown):
            facts = {
                "description": "  " * depth + event.name, "total": event.total, "completed": event.done,
                "told": event.now().amount(),
            }  # fmt: skip
            if event.number in self._rows:
                self.rich.update(self._rows[event.number], **facts)
            else:
                self._rows[event.number] = self.rich.add_task(start=event.total is not None, **facts)
        self.rich.refresh()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        plain: dict[str, Any] = {"markup": False}
        self.rich = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"), **plain),
            BarColumn(24),
            TextColumn("{task.fields[told]}", table_column=Column(no_wrap=True, overflow="ellipsis"), **plain),
            console=Console(file=sys.stderr),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,  # what a command writes is not ours
            redirect_stderr=False,
        )
        self.rich.start()

    def rest(self) -> None:
        if self.rich is not None:
            shown, self.rich = self.rich, None
            self._rows.clear()
            shown.stop()


class _Above(logging.StreamHandler):
    """Writes messages above the bars, if there are any."""

    def __init__(self, bars: Bars) -> None:
        super().__init__(sys.stderr)
        self.bars = bars

    def emit(self, record: logging.LogRecord) -> None:
        with self.bars.lock:
            if self.bars.rich is None:
                super().emit(record)
            else:
                self.bars.rich.console.print(self.format(record), markup=False, highlight=False, soft_wrap=True)


class JsonDisplay(Display):
    """A JSON object on a line for every event and message."""

    def __init__(self) -> None:
        super().__init__()
        self.handler = _JsonMessages(self)
        self._last: dict[int, float] = {}

    def __call__(self, event: Event) -> None:
        if event.kind == GOING:
            if time.monotonic() - self._last.get(event.number, event.began) < JSON_EVERY:
                return
            self._last[event.number] = time.monotonic()
        elif event.kind != RESULT and event.kind != BEGIN:
            self._last.pop(event.number, None)
        self.write(event.to_dict())

    def write(self, facts: dict[str, Any]) -> None:
        """Write an object."""
        with self.lock, suppress(OSError):  # whoever read this may have gone; the work goes on
            sys.stderr.write(json.dumps(facts, ensure_ascii=False) + "\n")
            sys.stderr.flush()


class _JsonMessages(logging.Handler):
    """Turns messages into objects, but those whose event says the same."""

    def __init__(self, display: JsonDisplay) -> None:
        super().__init__()
        self.display = display

    def emit(self, record: logging.LogRecord) -> None:
        if not getattr(record, "told", False):
            self.display.write({"event": record.levelname.lower(), "message": record.getMessage()})
