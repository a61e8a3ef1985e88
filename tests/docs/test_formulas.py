"""Formulas of the site: drawn by the browser itself, and nothing of their TeX left over."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("latex2mathml", reason="no latex2mathml: pip install '.[docs]'")
DOCS = Path(__file__).resolve().parents[2] / "docs"
sys.path.append(str(DOCS / "hooks"))

from formulas import with_formulas  # noqa: E402

PAGES = sorted((DOCS / "papers").glob("*.md"))


def drawn(formula: str) -> str:
    return with_formulas(f'<div class="arithmatex">\\[{formula}\\]</div>')


def test_what_the_converter_does_not_know_is_words_or_an_error() -> None:
    assert "<mtext>" in drawn(r"\arg\min_x f(x)") or "<mi" in drawn(r"\arg\min_x f(x)")
    assert "\\" not in drawn(r"\arg\min_x f(x)")
    with pytest.raises(ValueError, match=r"\\nosuch would be shown"):
        drawn(r"\nosuch x")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_all_formulas_of_a_paper_can_be_drawn(page: Path) -> None:
    for block, inline in re.findall(r"\$\$(.+?)\$\$|(?<!\$)\$([^$\n]+)\$", page.read_text("utf-8"), re.DOTALL):
        assert "\\" not in drawn(block or inline)
