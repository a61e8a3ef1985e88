"""Line ends that a text has on purpose: while it is one line for the translator, a mark stands for each.

Messages of gettext, XLIFF's ``xml:space="preserve"`` and HTML's ``pre`` have some. The mark is an element that ends a
sentence, so that every line is translated by itself, and one that is remembered comes back with line ends of its own.
"""

from __future__ import annotations

from camber.formats.bilingual.unit import MARK
from camber.text.tags import TEXT, find_tags


def with_marks(text: str, format: str = TEXT) -> str:
    r"""Put marks in the place of line ends inside of a text, but not inside of tags and what is not to be translated.

    >>> with_marks('\none\n<x\n/>two\n', "xliff-inline")
    '\none<br class="camber-line"/><x\n/>two\n'
    """
    done, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if "\n" not in text[done:end]:
        return text
    pieces = [text[:done]]
    for tag in find_tags(text, format) if "<" in text or "&" in text else ():
        if done <= tag.start < end:
            pieces += [text[done : tag.start].replace("\n", MARK), text[tag.start : tag.end]]
            done = tag.end
    return "".join([*pieces, text[done:end].replace("\n", MARK), text[max(done, end) :]])


def without_marks(text: str, end: str = "\n") -> str:
    r"""Put line ends in the place of marks.

    >>> without_marks('one<br class="camber-line"/>two')
    'one\ntwo'
    """
    return text.replace("\r" + MARK, MARK).replace(MARK, end) if MARK in text else text
