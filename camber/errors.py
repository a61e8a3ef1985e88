"""The one family of errors that a user may meet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Characters of what an error says about one line: a damaged file may be one line of any length.
MOST_LETTERS = 600


class CamberError(Exception):
    """A problem that the user can mend: what was found, where, what was expected, what to do."""


class InputError(CamberError):
    """Bad input text, tied to its file and (1-based) line.

    >>> print(InputError("3 columns, expected 2", "corpus.tsv", 7, remedy="check the tabs"))
    corpus.tsv:7: 3 columns, expected 2; check the tabs
    """

    def __init__(self, problem: str, path: str | Path, line: int | None = None, *, remedy: str = "") -> None:
        if len(problem) > MOST_LETTERS:
            problem = f"{problem[: MOST_LETTERS // 2]} … {problem[-MOST_LETTERS // 2 :]}"
        where = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {problem}" + (f"; {remedy}" if remedy else ""))
        self.path, self.line = str(path), line

    def __reduce__(self) -> Any:
        """Come through a pickle, as errors of tasks on other machines do."""
        return _again, (str(self), self.path, self.line)


def _again(message: str, path: str, line: int | None) -> InputError:
    error = InputError.__new__(InputError, message)
    error.args, error.path, error.line = (message,), path, line
    return error


class ModelError(CamberError):
    """A model directory that is absent, damaged, or of another format version."""


class InUseError(CamberError):
    """Something that another process writes at the moment."""


class SettingsError(CamberError):
    """A setting that is unknown or out of its range."""


class TuneError(CamberError):
    """Tuning that cannot succeed, or whose outcome would be worthless."""


class UnmovedError(TuneError):
    """Tuning that found nothing better than its start."""
