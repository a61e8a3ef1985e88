"""One change of the source, and the tests that should notice it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutation:
    """One change: `old` stands exactly once in `file` (below `camber/`)."""

    file: str
    old: str
    new: str
    tests: str  # arguments for pytest, below `tests/`

    def __str__(self) -> str:
        return f"camber/{self.file}: {self.old.strip()!r} → {self.new.strip()!r}  ({self.tests})"

    def mutated(self, text: str) -> str:
        """Return the source with the change."""
        if text.count(self.old) != 1:
            raise SystemExit(f"{self}: the text stands there {text.count(self.old)} times, expected once")
        return text.replace(self.old, self.new)


def arguments(tests: str) -> list[str]:
    """Return what pytest gets: paths below `tests`, and options; slow tests only where options say so."""
    words = tests.replace("~", "\0").split()
    words = [word.replace("\0", " ") for word in words]
    chosen = [f"tests/{word}" if word.startswith(("test_", *_rooms())) else word for word in words]
    return chosen if "-m" in chosen else [*chosen, "-m", "not slow"]


def test_files(tests: str) -> list[Path]:
    """Return the files that `tests` names."""
    return [PROJECT / word.split("::")[0] for word in arguments(tests) if ".py" in word]


def _rooms() -> tuple[str, ...]:
    return tuple(f"{path.name}/" for path in (PROJECT / "tests").iterdir() if path.is_dir())
