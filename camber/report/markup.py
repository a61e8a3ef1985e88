"""HTML and SVG as nested calls; text is escaped by construction.

>>> element("p", "1 < 2, ", element("b", "really"), class_="note")
'<p class="note">1 &lt; 2, <b>really</b></p>'
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

#: What XML and HTML do not allow in text, even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is markup already and must not be escaped again."""


def escape(text: object) -> Markup:
    """Return text as markup: the characters that mean something are escaped, those that are not allowed replaced.

    >>> escape('<a href="x">')
    '&lt;a href=&quot;x&quot;&gt;'
    """
    return (
        text
        if isinstance(text, Markup)
        else Markup(html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text))))
    )


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """Make an element; children are escaped unless they are :class:`Markup`, attributes that are None are left out.

    In attribute names a final underscore is dropped and others become hyphens: ``class_``, ``text_anchor``.
    """
    inside = join(children)
    written = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{inside}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Put markup and text (which is escaped) one behind the other."""
    return Markup(between.join(escape(part) for part in parts))


def document(title: str, style: str, *body: object) -> str:
    """Return a whole HTML page: a title, a style sheet (which is taken as it is), and what it shows."""
    head = join(
        [
            Markup('<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'),
            element("title", title),
            element("style", Markup(style)),
        ]
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{join(body)}\n</body>\n</html>'


def _plain(value: object) -> object:
    # coordinates to a hundredth of a pixel: the same bytes on every machine, and short
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


#: widths of letters in DejaVu Sans, the widest font of those that pages ask for, in shares of its size
_WIDTHS = {
    **dict.fromkeys("ijl'|¡ıíìî", 0.28),
    **dict.fromkeys(" .,:;", 0.34),
    **dict.fromkeys('ftr()[]-/!"*', 0.4),
    **dict.fromkeys("cksvxyz?", 0.6),
    **dict.fromkeys("wM", 0.85),
    **dict.fromkeys("mW@%—…", 1.0),
}


def text_width(text: str, size: float = 14.0) -> float:
    """Estimate how wide a text is in a sans-serif font of `size` pixels, rather too wide than too narrow.

    >>> text_width("ill") < text_width("mom")
    True
    """
    total = 0.0
    for letter in text:
        if unicodedata.east_asian_width(letter) in "WF":
            total += 1.0
        elif not unicodedata.combining(letter):
            total += _WIDTHS.get(letter, 0.72 if letter.isupper() else 0.64)
    return total * size
