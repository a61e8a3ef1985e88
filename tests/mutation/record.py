"""What became of mutations, kept in a file: who is interrupted goes on, and what changed is tried again.

A line is the digest of all that a result depends on, and the result. That is the whole package, the mutation, the files
of its tests, and what tests share.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from mutation.change import PROJECT, Mutation, test_files

#: Verdicts: those of tests that noticed, of tests that did not, and of trials that say nothing.
NOTICED, SURVIVED = ("killed", "crashed", "endless"), "survived"


class Record:
    """Verdicts by mutation, in `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._verdicts: dict[str, str] = {}
        if path.exists():
            for line in path.read_text("utf-8").splitlines():
                digest, verdict, _ = line.split("\t", 2)
                self._verdicts[digest] = verdict

    def verdict(self, mutation: Mutation) -> str | None:
        """Return what became of a mutation of this source under these tests; None if it was not tried."""
        return self._verdicts.get(digest_of(mutation))

    def add(self, mutation: Mutation, verdict: str) -> None:
        """Keep a verdict; one that says nothing is only told."""
        if verdict not in (*NOTICED, SURVIVED):
            return
        self._verdicts[digest_of(mutation)] = verdict
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"{digest_of(mutation)}\t{verdict}\t{mutation}\n")


def digest_of(mutation: Mutation) -> str:
    """Hash a mutation with all that its result depends on."""
    facts = (mutation.file, mutation.old, mutation.new, mutation.tests, _package(), _shared())
    own = _digest(test_files(mutation.tests))
    return hashlib.sha256("\0".join((*facts, own)).encode()).hexdigest()[:16]


@functools.cache
def _package() -> str:
    return _digest((PROJECT / "camber").rglob("*.py"))


@functools.cache
def _shared() -> str:
    """Hash what is in `tests` beside the tests."""
    there = (PROJECT / "tests").rglob("*.py")
    return _digest(path for path in there if not path.name.startswith("test_") and path.parent.name != "mutation")


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(PROJECT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
