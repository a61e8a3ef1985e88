"""Segments as words that are compared: what counts as another word, and what hardly does.

Two segments are compared by their words as they are written. Words that differ in case only, numbers, and other text
that comes back as it is (placeholders, addresses, code) are of one *class*: one in place of another counts a tenth of a
word, and so does a tag that is other, missing or too much. Tags stand behind the words.
"""

from __future__ import annotations

from camber.text.pipeline import TextPipeline
from camber.text.tags import TEXT, find_tags
from camber.text.tokenise import composed

#: what a word counts, and a difference within a class, or a tag
WORD, NEAR = 10, 1
#: how words begin that are no words of a language; and the classes of numbers and of tags
_PROTECTED, TAG = "\x02", "\x03"
_NUMBER = "\x02#"


def match_words(text: TextPipeline, line: str) -> list[str]:
    r"""Return the words of a raw source line as they are compared.

    >>> from camber.text.settings import TextSettings
    >>> match_words(TextPipeline(TextSettings()), "Open <b>{name}</b>!")
    ['Open', '\x02{name}', '!', '\x03<b>', '\x03</b>']
    """
    prepared = text.prepare(line)
    words = composed(prepared.written or prepared.plain)
    for at in prepared.protected:
        words[at] = _PROTECTED + words[at]
    if text.protects and "<" in line:
        words += [TAG + line[tag.start : tag.end] for tag in find_tags(line, TEXT)]
    return words


def fold(word: str) -> str:
    r"""Return the class of a word.

    >>> fold("Open"), fold("17"), fold("\x0217") == fold("3.5")
    ('open', '\x02#', True)
    """
    if word[:1] == TAG:
        return TAG
    if any(map(str.isdigit, word)) and not any(map(str.isalpha, word)):
        return _NUMBER
    return _PROTECTED if word[:1] == _PROTECTED else word.casefold()


def weight(kind: str) -> int:
    """Return what words of a class count."""
    return NEAR if kind == TAG else WORD
