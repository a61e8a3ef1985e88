"""Links of the documentation lead somewhere, in the repository and on the site, which is built only if they do."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from toys.pages import REPOSITORY

_FENCES = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "experiments/*/README.md", "benchmarks/README.md")
    for path in REPOSITORY.glob(pattern)
)


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that a page has links to, each with an anchor or nothing."""
    text = re.sub(r"`[^`\n]*`", "", _FENCES.sub("", page.read_text("utf-8")))
    for target, anchor in _LINK.findall(text):
        if not re.match("[a-z]+:", target):
            yield (page.parent / target).resolve() if target else page, anchor


def anchors(page: Path) -> set[str]:
    """Return what the headings of a page are called by links, as GitHub and MkDocs make it of their words."""
    text = _FENCES.sub("", page.read_text("utf-8"))
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(REPOSITORY)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    broken = [
        f"{target.name}#{anchor}"
        for target, anchor in links(page)
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
    ]
    assert not broken


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="no mkdocs: pip install '.[docs]'")
def test_what_the_builder_warns_of_ends_make_docs(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](nothing.md)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: a\n")
    recipe = subprocess.run(["make", "-n", "docs"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    (arguments,) = re.findall(r"-m (mkdocs build.*)", recipe)
    command = [sys.executable, "-m", *arguments.split()]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode != 0, built.stderr
    assert "nothing.md" in built.stderr
