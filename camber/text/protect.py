"""What must come back as it was: placeholders, code, addresses, file names, numbers, emoji.

Each such span of a line is one opaque token for a model, and all spans of a class are the same token: "Hello {name}"
and "Hello {user}" are one pattern, ``Hello @var@``. A title inside mark-up (``:ref:`the title <target>```) is text, and
what stands before and behind it is a pair of spans.

The patterns look at a bounded stretch from where they begin, so that the time they take grows with the length of a line
and no faster.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from camber.errors import SettingsError
from camber.text.scripts import UNSPACED

USER, VAR, CODE, URL, MAIL, PATH, NUMBER, EMOJI, OPEN, CLOSE = (
    "user", "var", "code", "url", "mail", "path", "num", "emoji", "open", "close",
)  # fmt: skip
CLASSES = (USER, VAR, CODE, URL, MAIL, PATH, NUMBER, EMOJI, OPEN, CLOSE)

#: What stands for a span while a line is tokenised: a number may follow "No.", anything else is no small letter.
THING, FIGURE = "\ue000", "\ue001"

_ENDINGS = (
    "bat|bin|bmp|bz2|cfg|conf|cpp|css|csv|dll|docx?|epub|exe|gif|gz|html?|ini|ipynb|jar|jpe?g|json|jsonl|jsx?|log|md|mo|"
    "mp[34]|odt|pdf|php|png|po|pptx?|pyc?|rar|rs|rst|sh|sqlite|sql|svg|tar|tbx|tgz|tmx|tiff?|toml|tsv|tsx?|ttf|txt|"
    "wav|webp|whl|xhtml|xliff|xlf|xlsx?|xml|xz|ya?ml|zip"
)
_EMOJI = (
    "[\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f900-\U0001faff"
    "\u2600-\u27bf\u2190-\u21ff\u2b00-\u2bff]"
)
_ONE_EMOJI = rf"{_EMOJI}(?:\ufe0f|[\U0001f3fb-\U0001f3ff])?\u20e3?"
# What begins like a word, and goes on with a mark inside or behind it.
_WORDLIKE: tuple[tuple[str, str], ...] = (
    (
        URL,
        r"""(?:(?:https?|ftp|file)://|www\.|mailto:)[^\s<>"`_CJK]{0,2000}[^\s<>"'`_CJK.,;:!?()\[\]{}»”’]""".replace(
            "_CJK", UNSPACED + "\u3001-\u303f\uff00-\uff60"
        ),
    ),
    (MAIL, r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    (PATH, r"""[A-Za-z]:\\[^\s"<>|*?:]{0,300}[^\s"<>|*?:.,;)\]]"""),
    (PATH, rf"\w[\w-]{{0,80}}(?:\.[\w-]{{1,40}}){{0,5}}\.(?:{_ENDINGS})(?![\w-])"),
    (CODE, r"(?:[^\W_]{1,60}_|__(?=\w))\w{1,80}"),
)
# What begins with a mark or a digit.
_SYMBOLIC: tuple[tuple[str, str], ...] = (
    (VAR, f"[{THING}{FIGURE}]"),
    # reStructuredText and Markdown
    (OPEN, r"(?<![\w`])(?::[A-Za-z][\w:.+-]{0,60}:)?`(?=[^`<>\s][^`<>]{0,300}\s<[^`<>]{1,500}>`)"),
    (CLOSE, r"(?<=\s)<[^`<>]{1,500}>`(?:__?(?!\w))?"),
    (CODE, r":[A-Za-z][\w:.+-]{0,60}:`[^`]{1,500}`"),
    (CODE, r"``(?!`)(?=\S)(?:[^`]|`(?!`)){1,500}(?<=\S)``(?!`)"),
    (OPEN, r"(?<![\w:`])`(?=[^`<>\s][^`<>]{0,300}`__?(?!\w))"),
    (CLOSE, r"(?<=[^\s`])`__?(?!\w)"),
    (CODE, r"(?<![\w`])`(?![`\s])[^`]{1,200}(?<!\s)`(?![\w`])"),
    (VAR, r"\|[A-Za-z][\w-]{0,40}\||\[#?[\w-]{0,30}\]_(?!\w)"),
    (PATH, r"(?<![\w/.)\]}<>\\])(?:~|\.{1,2})?/(?:[\w.@+~-]{1,80}/){0,40}[\w.@+~-]{0,80}\w(?!\w)/?"),
    # variables of programs and templates
    (VAR, r"\{\{[^{}]{1,100}\}\}|\{%[^{}]{1,200}%\}|[$#%]\{[^{}]{1,100}\}|\{[^{}\s\"']{0,80}\}|\{#? ?[\w.-]{1,80} ?\}"),
    (VAR, r"(?<!\d)%(?:\(\w{1,60}\)|\d{1,2}\$)[-+0#]{0,3}\d{0,3}(?:\.\d{1,3})?l{0,2}[diouxXeEfFgGaAcrspn@]"),
    (VAR, r"(?<!\d)%[-+0#]{0,3}(?:\d{1,3}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtLq])?[diuf](?=[a-z]{0,2}(?![^\W_]))"),
    (VAR, r"(?<!\d)%[-+0#]{0,3}(?:\d{1,3}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtLq])?[oxXeEgGaAcrspn@](?![^\W_])"),
    (VAR, r"(?<!\d)%L?\d{1,2}(?![\w.,%])|(?<![\d%])%%|(?<![\w%])%[A-Za-z_][\w.-]{0,40}%"),
    (VAR, r"(?<![\w$])\$[A-Za-z_]\w{0,60}|\[X\d{1,4}X\]"),
    (VAR, r"\\(?:[nrt](?![A-Za-z]{0,20}\{)|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"),
    (CODE, r"(?<![\w-])--[a-z][\w-]{0,60}"),
    (EMOJI, rf"[\U0001f1e6-\U0001f1ff]{{2}}|[#*0-9]\ufe0f?\u20e3|{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI}){{0,8}}"),
    (NUMBER, rf"(?<![.,])(?<![^\W{UNSPACED}])" r"\d{1,40}(?:[.,:/'’\u00a0\u202f\u066b\u066c–-]\d{1,40}){0,20}"
             rf"(?![^\W{UNSPACED}]|-\w)"),
)  # fmt: skip
_PATTERNS = (*_WORDLIKE, *_SYMBOLIC)
# One look at a letter tells that no pattern begins there: nearly all letters of nearly all texts.
_FIRST_MARKS = rf"[`:<|\[~./{{%$#\\*\d{THING}{FIGURE}\u2190-\u2bff\U0001f1e6-\U0001faff-]"
# No span begins where none of these is: most lines of most texts have none.
_telltale = re.compile(r"[\d`:/\\@{}%$_|\[\]#\u2190-\u2bff\U0001f000-\U0001faff\u20e3\ue000\ue001]|www\.|--|\w\.\w")


class Span(NamedTuple):
    """A stretch of a line that must come back as it was."""

    start: int
    end: int
    kind: str

    @property
    def token(self) -> str:
        """What a model sees in its place."""
        return f"@{self.kind}@"


#: the class of a token that stands for a span
CLASS_OF = {f"@{kind}@": kind for kind in CLASSES}
#: classes that are text with something around it, of which a model may learn the text
_MARKED = frozenset([CODE])
_marks = re.compile(r"\A(?::[\w:.+-]{1,62}:)?`{1,2}[~!.]?|`{1,2}\Z")


def user_pattern(pattern: str) -> re.Pattern[str]:
    """Compile what a user wants to be protected."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise SettingsError(f"protect is {pattern!r}, which is no regular expression ({error})") from None


@functools.cache
def _scanner() -> re.Pattern[str]:
    wordlike, marked = ("|".join(f"({pattern})" for _, pattern in part) for part in (_WORDLIKE, _SYMBOLIC))
    goes_on = rf"(?<![.+-])(?<![^\W{UNSPACED}])" + r"(?=[^\W_]{0,60}_|\w[\w+-]{0,80}[.@:])"
    return re.compile(f"{goes_on}(?:{wordlike})|(?={_FIRST_MARKS})(?:{marked})")


def find_spans(line: str, own: Sequence[re.Pattern[str]] = ()) -> list[Span]:
    """Return the spans of a line that must come back as they were, from left to right.

    `own` are more patterns, which come before all others.

    >>> [line[a:b] for line in ["%(n)d of {name}, see :ref:`here <there>`"] for a, b, _ in find_spans(line)]
    ['%(n)d', '{name}', ':ref:`', '<there>`']
    """
    if not own:
        return _find(line, 0, len(line)) if _telltale.search(line) else []
    mine: list[Span] = []
    for pattern in own:
        mine += [Span(*match.span(), USER) for match in pattern.finditer(line) if match.end() > match.start()]
    spans, done = [], 0
    for span in sorted(mine, key=lambda span: (span.start, -span.end)):
        if span.start >= done:
            spans += [*_find(line, done, span.start), span]
            done = span.end
    return spans + _find(line, done, len(line))


def _find(line: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    opened = -1  # which span opened a title
    for match in _scanner().finditer(line, start, end):
        kind = _PATTERNS[(match.lastindex or 1) - 1][0]
        if kind == CLOSE and opened < 0:  # what it closes is no title
            continue
        if kind == OPEN:
            if opened >= 0:  # something inside the title took its end away
                del spans[opened]
            opened = len(spans)
        elif kind == CLOSE:
            opened = -1
        spans.append(Span(match.start(), match.end(), kind))
    if opened >= 0:
        del spans[opened]
    return spans


def inner_text(text: str, kind: str) -> str:
    """Return what is left of a span in a text for training that has no counterpart in the other language.

    A model must learn neither to make such spans nor to drop them: of code, the words stay, of others nothing.

    >>> inner_text(":term:`file object`", CODE), inner_text("%s", VAR), inner_text("42", NUMBER)
    ('file object', '', '42')
    """
    if kind == NUMBER:
        return text
    return _marks.sub("", text) if kind in _MARKED and "`" in text else ""
