"""Formulas as MathML, which browsers draw by themselves: no script, no font from elsewhere."""

from __future__ import annotations

import html
import re

#: what pymdownx.arithmatex leaves of $…$ and $$…$$
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def with_formulas(page: str) -> str:
    """Return the HTML of a page with formulas as MathML instead of TeX."""
    from latex2mathml.converter import convert

    def inline(match: re.Match[str]) -> str:
        return convert(html.unescape(match[1]).strip())

    def block(match: re.Match[str]) -> str:
        return f'<div class="formula">{convert(html.unescape(match[1]).strip(), display="block")}</div>'

    return _BLOCK.sub(block, _INLINE.sub(inline, page))
