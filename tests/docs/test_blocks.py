"""Every code block of the documentation does what it says.

A page is followed from top to bottom in one folder, where what it takes for granted of its reader's files is prepared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from toys.pages import REPOSITORY, agrees, blocks, has_in_order, pages, transcript
from toys.reader import Reader, check_command
from toys.readers_files import prepare
from toys.warm import Warm

PAGES = [page for page in pages() if blocks(page)]


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    with Warm(tmp_path_factory.mktemp("warm")) as process:
        yield process


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(REPOSITORY)) for page in PAGES])
def test_every_block_does_what_it_says(page: Path, warm: Warm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = prepare(page.name, tmp_path)
    wrong = Reader(tmp_path, warm.folder, names).follow(page)
    assert not wrong, "\n\n".join(wrong)


def test_what_is_only_parsed_says_why() -> None:
    silent = [str(block) for page in PAGES for block in blocks(page) if block.how == "parsed" and not block.what]
    assert not silent


@pytest.mark.parametrize(
    "words",
    [
        ["camber", "translate", "--no-such-flag"], ["camber", "nonsense"], ["camber", "rerank", "fit", "--nonsense"],
        ["make", "nonsense"], ["pip", "install", ".[nonsense]"], ["pytest", "tests/nonsense"],
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_right_is_noticed(words: list[str]) -> None:
    with pytest.raises(Exception, match=r"no|No"):
        check_command(words)


def test_a_transcript_is_commands_and_what_they_print() -> None:
    steps = transcript("$ a \\\n  b\n1\n2\n$ c\n")
    assert [(step.command, step.output) for step in steps] == [("a \\\n  b", "1\n2\n"), ("c", "")]
    assert agrees("1\n2\n", "1\n…\n")
    assert not agrees("1\n2\n", "2\n…\n")


def test_where_numbers_may_differ_all_else_is_there_in_order() -> None:
    printed = "a: 0:03 left\na: done in 4.2 s\nb 1,234\n"
    assert has_in_order(printed, "a: done in 1 s\n…\nb 7\n")
    assert not has_in_order(printed, "b 7\na: done in 1 s\n")
    assert not has_in_order(printed, "a: done in 1 min\n")
