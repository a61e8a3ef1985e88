"""What came out of trials, for the figures in docs/operations.md: `make adversary` shows it."""

from __future__ import annotations

import os

#: a file that lines are added to
VARIABLE = "CAMBER_ADVERSARY_REPORT"


def tell(line: str) -> None:
    """Add a line to the report, if one is wanted."""
    if path := os.environ.get(VARIABLE):
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(line + "\n")
