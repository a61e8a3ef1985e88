"""The code blocks of a page in Markdown, and what comments above them say about how they are tried.

```` <!-- parsed: why --> ````      it is not run, for this reason, but its commands, flags and paths must exist
```` <!-- numbers: why --> ````     numbers that it prints (to standard error, too) may be others than those shown
```` <!-- serves --> ````           servers in it are asked whether they answer, and stopped where it ends
```` <!-- file: name --> ````       it is what the reader saves under this name
```` <!-- output --> ````           it is what the block above has printed; `…` stands for anything
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"( *)(`{3,})(.*)")
_COMMENT = re.compile(r"\s*<!-- (parsed|numbers|serves|file|output)(?:: (.+?))? -->\s*")
#: a page of which no block is to be tried: what is below it is put in when the site is built
_COMMENTED = re.compile(r"<!-- (?:parsed|numbers|serves|file|output)\b")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int  # of its first line of text
    language: str
    text: str
    how: str = ""  # "parsed", "numbers", "serves", "file", "output", or nothing: it is run
    what: str = ""  # the reason, or the file's name

    def __str__(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def pages() -> list[Path]:
    """Return all pages of the documentation whose blocks are tried."""
    return [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order; a comment that speaks of none is an error."""
    lines, found, above, comments = page.read_text("utf-8").split("\n"), [], ("", ""), 0
    k = 0
    while k < len(lines):
        fence = _FENCE.match(lines[k])
        if not fence:
            comment = _COMMENT.fullmatch(lines[k])
            comments += bool(_COMMENTED.search(lines[k]))
            if comment:
                above = (comment[1], comment[2] or "")
            elif lines[k].strip():
                above = ("", "")
            k += 1
            continue
        indent, ticks, language = fence.groups()
        end = next(j for j in range(k + 1, len(lines)) if lines[j].strip() == ticks)
        text = "\n".join(line.removeprefix(indent) for line in lines[k + 1 : end]) + "\n"
        found.append(Block(page, k + 2, language.strip(), text, *above))
        above, k = ("", ""), end + 1
    assert comments == sum(bool(block.how) for block in found), f"{page}: a comment stands above no block"
    return found


@dataclass(frozen=True)
class Step:
    """A command of a transcript, and what it is said to print."""

    command: str
    output: str


def transcript(text: str) -> list[Step]:
    """Return the commands of a transcript: lines that begin with ``$ ``, gone on with where they end in a backslash.

    >>> transcript("$ echo a\\na\\n")
    [Step(command='echo a', output='a\\n')]
    """
    steps: list[Step] = []
    open_line = False
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], ""))
        elif open_line:
            steps[-1] = Step(steps[-1].command + "\n" + line, "")
        else:
            steps[-1] = Step(steps[-1].command, steps[-1].output + line + "\n")
        open_line = (line.startswith("$ ") or open_line) and line.endswith("\\")
    return steps


def agrees(printed: str, shown: str) -> bool:
    """Say whether something printed is what a page shows, in which `…` stands for anything.

    >>> agrees("it took 3 s\\n", "it took … s\\n"), agrees("a b\\n", "a c\\n")
    (True, False)
    """
    pieces = (re.escape(piece) for piece in re.split(r"\n?…\n?", shown.strip()))
    return re.fullmatch(".*".join(pieces), printed.strip(), re.DOTALL) is not None


def has_in_order(printed: str, shown: str) -> bool:
    """Say whether all lines that a page shows were printed in their order, whatever their numbers are.

    Others may stand between them: a slow machine tells how far it is.

    >>> has_in_order("a: 0:07\\na: done in 8.1 s\\nb\\n", "a: done in 2 s\\n…\\nb\\n")
    True
    >>> has_in_order("b\\na\\n", "a\\nb\\n")
    False
    """
    left = iter(_without_numbers(printed).splitlines())
    return all(line in left for line in _without_numbers(shown).splitlines() if line.strip() not in ("", "…"))


def _without_numbers(text: str) -> str:
    return re.sub(r"\d[\d,.]*(?<=\d)", "0", text)
