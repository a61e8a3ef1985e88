"""What pages are made of: sections, figures, tables, cards, and the words that differ between texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import camber
from camber.files import write_lines
from camber.report.markup import Markup, document, element, escape, join
from camber.report.style import PAGE_STYLE, picture_style
from camber.text.difference import differences

#: the space before a word or a mark, and that word
_WORDS = re.compile(r"(\s*)([\w'’-]+|[^\w\s])")


def write_page(path: str | Path, title: str, lead: object, *body: object, footer: str = "", style: str = "") -> None:
    """Write a page that needs nothing beside itself, all or nothing."""
    write_lines(path, [whole_page(title, lead, *body, footer=footer, style=style)])


def whole_page(title: str, lead: object, *body: object, footer: str = "", style: str = "") -> str:
    """Return a page with a heading, a lead and a footer around its body."""
    foot = f"Camber {camber.__version__}. {footer}".rstrip()
    led = [element("p", lead, class_="lead")] if lead else []
    main = element("main", element("h1", title), *led, *body, element("footer", foot))
    return document(title, picture_style() + PAGE_STYLE + style, main)


def cards(facts: Sequence[tuple[str, str]]) -> Markup:
    """Make a row of cards, each a figure and what it says."""
    return element(
        "div", *(element("div", element("b", a), element("span", b), class_="card") for a, b in facts), class_="cards"
    )


def section(title: str, lead: object, *body: object) -> Markup:
    """Make a part of a page with a heading and a lead."""
    return element("section", element("h2", title), element("p", lead), *body)


def figure(picture: Markup, caption: object) -> Markup:
    """Put a caption below a picture."""
    return element("figure", picture, element("figcaption", caption))


def table(
    headings: Sequence[object],
    rows: Sequence[Sequence[object]],
    numbers: set[int] | None = None,
    wide: bool = False,
    narrow: bool = False,
) -> Markup:
    """Make a table; the columns `numbers` are set to the right."""
    kinds = ["n" if k in (numbers or ()) else None for k in range(len(headings))]
    if wide:
        kinds[0] = "phrase"

    def line(cell: str, values: Sequence[object]) -> Markup:
        return element("tr", *(element(cell, value, class_=kind) for value, kind in zip(values, kinds, strict=True)))

    inside = element(
        "table",
        element("thead", line("th", headings)),
        element("tbody", *(line("td", row) for row in rows)),
        class_="narrow" if narrow else "wide" if wide else None,
    )
    return element("div", inside, class_="scroll", tabindex=0)


def difference(output: str, reference: str) -> Markup:
    """Mark the words of a translation that its reference does not have, and those that are missing.

    >>> difference("a big house", "a house")
    'a <del>big</del> house'
    """
    pieces: list[Markup] = []
    for old, new, same in differences(output, reference):
        if same:
            pieces.append(escape(old))
            continue
        marked = [element(name, words.strip()) for name, words in (("del", old), ("ins", new)) if words]
        pieces += [escape(" " if (old or new)[0].isspace() else ""), join(marked, " ")]
    return join(pieces)


def two_sides(one: str, two: str, references: Sequence[str] = ()) -> tuple[Markup, Markup]:
    """Mark the words by which two translations differ: those that a reference has, and those that none has.

    Without references, words of the first that the second lacks are marked as lost, those of the second as new. A word
    of a reference counts once: what both translations have of it is taken first.

    >>> two_sides("a large house", "a big house", ["a big house"])
    ('a <del>large</del> house', 'a <ins>big</ins> house')
    >>> two_sides("the key the", "the key here", ["the key here"])
    ('the key <del>the</del>', 'the key <ins>here</ins>')
    """
    known = Counter[str]()
    for line in references:
        known |= Counter(word.lower() for word in _words(line))
    pieces = list(differences(one, two))
    known.subtract(word.lower() for piece in pieces if piece.same for word in _words(piece.one))
    left = (known.copy(), known.copy())
    sides: tuple[list[Markup], list[Markup]] = ([], [])
    for piece in pieces:
        for side, words, wanted, kind in zip(sides, piece[:2], left, ("del", "ins"), strict=True):
            side.append(escape(words) if piece.same else _marked(words, wanted if references else None, kind))
    return join(sides[0]), join(sides[1])


def _words(line: str) -> list[str]:
    return [word for _, word in _WORDS.findall(line)]


def _marked(words: str, wanted: Counter[str] | None, kind: str) -> Markup:
    """Mark the words of a piece, neighbours of one kind together; those that are wanted are taken."""
    runs: list[tuple[str, str]] = []
    for space, word in _WORDS.findall(words):
        right = kind if wanted is None else "ins" if wanted[word.lower()] > 0 else "del"
        if wanted is not None:
            wanted[word.lower()] -= 1
        if runs and runs[-1][0] == right:
            runs[-1] = (right, runs[-1][1] + space + word)
        else:
            runs.append((right, space + word))
    pieces: list[Markup] = []
    for right, text in runs:
        inside = text.lstrip()
        pieces += [escape(text[: len(text) - len(inside)]), element(right, inside)]
    return join(pieces)
