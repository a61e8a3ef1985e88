"""Where files of the repository stand on the site, and links between them that hold on both."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = "docs/"
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
#: a link or a picture, with its text, its target and an anchor
_LINK = re.compile(r"(\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|/", re.IGNORECASE)


def from_repository() -> list[str]:
    """Return the files outside of ``docs/`` that the site has, too, under the same names.

    >>> {"SECURITY.md", "experiments/clark2014/README.md"} <= set(from_repository())
    True
    """
    patterns = ("SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE")
    folders = ("experiments/*/README.md", "experiments/*/*.svg", "benchmarks/README.md", "benchmarks/*.svg")
    paths = [path for pattern in (*patterns, *folders) for path in REPOSITORY.glob(pattern)]
    return sorted(path.relative_to(REPOSITORY).as_posix() for path in paths)


def in_repository(page: str) -> str:
    """Return where in the repository a page of the site stands.

    >>> in_repository("serving.md"), in_repository("SECURITY.md")
    ('docs/serving.md', 'SECURITY.md')
    """
    return page if page in from_repository() else DOCS + page


def on_site(path: str) -> str | None:
    """Return the page or file of the site that a path of the repository is; None if the site does not have it.

    >>> on_site("docs/serving.md"), on_site("experiments/bicici"), on_site("camber/errors.py")
    ('serving.md', 'experiments/bicici/README.md', None)
    """
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    outside = from_repository()
    return next((place for place in (path, f"{path}/README.md") if place in outside), None)


def with_links(markdown: str, page: str) -> str:
    """Return the text of a page with links that hold on the site instead of in the repository.

    >>> with_links("see [this](../SECURITY.md#promises)", "serving.md")
    'see [this](SECURITY.md#promises)'
    """
    here = in_repository(page)

    def moved(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        if _ELSEWHERE.match(target):
            return match[0]
        place = on_site(posixpath.normpath(posixpath.join(posixpath.dirname(here), target)))
        if place is None:
            return match[0]  # which the build calls a broken link
        return before + posixpath.relpath(place, posixpath.dirname(page) or ".") + (anchor or "") + after

    return outside_code(markdown, lambda text: _LINK.sub(moved, text))


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Change what of a text is no code, neither in a fence nor in a line.

    >>> outside_code("a `a` a", str.upper)
    'A `a` A'
    """
    lines = []
    for line, code in _lines(markdown):
        if not code:
            pieces, end = [], 0
            for match in _CODE.finditer(line):
                pieces += [change(line[end : match.start()]), match[0]]
                end = match.end()
            line = "".join([*pieces, change(line[end:])])
        lines.append(line)
    return "\n".join(lines)


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yield every line, and whether it is part of a fenced block."""
    fence = ""
    for line in markdown.split("\n"):
        match = _FENCE.match(line)
        yield line, bool(fence or match)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""
