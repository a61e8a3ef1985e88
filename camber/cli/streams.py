"""Lines of standard input, and commands that turn a line into a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO


def standard_input() -> Iterator[str]:
    """Yield the lines of standard input as they come; bad UTF-8 is an error that names the line."""
    from camber.errors import InputError

    for number, data in enumerate(sys.stdin.buffer, 1):
        try:
            line = (data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data).decode("utf-8")
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(problem, "standard input", number, remedy="convert the text to UTF-8") from None
        yield line.removesuffix("\n").removesuffix("\r")


def lines_of(source: Path | None) -> Iterator[str]:
    """Yield the lines of a file, or of standard input; nothing is a text, too, out of which nothing comes."""
    from camber.files import read_lines

    return iter(read_lines(source, may_be_empty=True)) if source else standard_input()


def convert_lines(convert: Callable[[str], str], source: Path | None, output: Path | None) -> None:
    """Write what becomes of every line of a file, or of standard input."""
    from camber.files import check_outputs, write_whole

    check_outputs(output)
    with ExitStack() as stack:
        out: IO[str] = stack.enter_context(write_whole(output)) if output else sys.stdout
        for line in lines_of(source):
            out.write(convert(line) + "\n")
        out.flush()
