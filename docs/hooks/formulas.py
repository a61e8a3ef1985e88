"""Formulas as MathML, which browsers draw by themselves: no script, no font from elsewhere."""

from __future__ import annotations

import html
import re

#: what pymdownx.arithmatex leaves of $…$ and $$…$$
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


#: what browsers and GitHub know of TeX, and the converter does not
_UNKNOWN = {r"\arg": r"\mathrm{arg}\,"}


def with_formulas(page: str) -> str:
    """Return the HTML of a page with formulas as MathML instead of TeX."""
    page = _INLINE.sub(lambda match: _drawn(match[1], "inline"), page)
    return _BLOCK.sub(lambda match: f'<div class="formula">{_drawn(match[1], "block")}</div>', page)


def _drawn(formula: str, display: str) -> str:
    from latex2mathml.converter import convert

    formula = html.unescape(formula).strip()
    for name, meaning in _UNKNOWN.items():
        formula = re.sub(re.escape(name) + r"(?![a-z])", lambda _, meaning=meaning: meaning, formula)
    drawn = convert(formula, display=display)
    if unknown := re.search(r">[^<]*(\\[a-zA-Z]+)", drawn):
        raise ValueError(f"{unknown[1]} would be shown as it stands: {formula}")
    return drawn
