"""Lines in and out of commands, as they come or in blocks, and commands that turn a line into a line."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

#: characters that wait to be written together, and seconds that they may wait
BLOCK, LONGEST = 1 << 16, 1.0


def decoded_lines(stream: IO[bytes], name: str | Path) -> Iterator[str]:
    """Yield the lines of a stream as they come; bad UTF-8 is an error that names the line."""
    from camber.errors import InputError

    for number, data in enumerate(stream, 1):
        try:
            line = (data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data).decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(problem, name, number, remedy="convert the text to UTF-8") from None
        yield line.removesuffix("\n").removesuffix("\r")


def lines_of(source: Path | None) -> Iterator[str]:
    """Yield the lines of a file, or of standard input; nothing is a text, too, out of which nothing comes."""
    from camber.files import open_bytes

    if source is None:
        yield from decoded_lines(sys.stdin.buffer, "standard input")
        return
    with open_bytes(source) as stream:
        yield from decoded_lines(stream, source)


def count_lines(source: Path | None) -> int | None:
    """Return how many lines a file has; None if only reading it would tell."""
    if source is None or not source.is_file():
        return None
    from camber.files import open_bytes

    last = b"\n"
    with open_bytes(source) as stream:
        count = 0
        while data := stream.read(1 << 20):
            count += data.count(b"\n")
            last = data[-1:]
    return count + (last != b"\n")


class LineWriter:
    """Write to standard output in whole lines: what is interrupted, or ends with an error, leaves no half of one.

    Lines go out at once, or in blocks.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        self.at_once = at_once
        self._waiting: list[str] = []
        self._size, self._since = 0, time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, BrokenPipeError):
            self.flush()

    def write(self, text: str) -> None:
        """Write one or more lines."""
        self._waiting.append(text)
        self._size += len(text)
        if self.at_once or self._size >= BLOCK or time.monotonic() - self._since > LONGEST:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        text = "".join(self._waiting)
        self._waiting.clear()
        self._size, self._since = 0, time.monotonic()
        with _uninterrupted():
            sys.stdout.write(text)
            sys.stdout.flush()


def output_of(path: Path | None, stack: ExitStack, *, at_once: bool) -> IO[str] | LineWriter:
    """Open a file that is there when it is complete, or standard output, to be closed with the stack."""
    from camber.files import write_whole

    return stack.enter_context(LineWriter(at_once=at_once)) if path is None else stack.enter_context(write_whole(path))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until all inside is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *given: caught.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        raise KeyboardInterrupt


def convert_lines(convert: Callable[[str], str], source: Path | None, output: Path | None) -> None:
    """Write what becomes of every line of a file, or of standard input."""
    from camber.cli.display import hide
    from camber.files import check_outputs
    from camber.progress import each

    check_outputs(output)
    if output is None and sys.stdout.isatty():
        hide()  # the lines themselves tell how far it is
    with ExitStack() as stack:
        out = output_of(output, stack, at_once=source is None and sys.stdin.isatty())
        for line in each(lines_of(source), "convert", count_lines(source), "lines"):
            out.write(convert(line) + "\n")
