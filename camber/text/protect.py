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
from bisect import bisect_left, bisect_right
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
# Also keys and arrows. Flags of regions end with letters that nobody sees.
_EMOJI = (
    "[\U0001f000-\U0001f1e5\U0001f200-\U0001f64f\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f900-\U0001faff"
    "\u2300-\u23ff\u25a0-\u27bf\u2190-\u21ff\u2b00-\u2bff]"
)
_ONE_EMOJI = rf"{_EMOJI}(?:\ufe0f|[\U0001f3fb-\U0001f3ff])?\u20e3?[\U000e0020-\U000e007f]{{0,8}}"
_NO_CJK = UNSPACED + "\u3001-\u303f\uff00-\uff60"
_FILE = r"[^\s\"<>|*?:\\]"
_LAST = r"""[^\s"<>|*?:.,;)\]]"""
_HEX = "[0-9A-Fa-f]"
# A message with plural or other forms, down to braces in braces in braces
_FORMS = r"[^{}]"
for _ in range(4):
    _FORMS = rf"(?:[^{{}}]|\{{{_FORMS}*+\}})"
# An address goes on to a character that ends no sentence; brackets inside of it are in pairs.
_ADDRESS = (
    r"""(?:[^\s<>"`()_CJK]|\([^\s<>"`()_CJK]{0,200}\)|\((?![^\s()]*\))){0,2000}"""
    r"""(?:[^\s<>"'`_CJK.,;:!?()\[\]{}»”’]|(?<=[^\s)])\([^\s<>"`()_CJK]{1,200}\))"""
).replace("_CJK", _NO_CJK)
# What begins like a word, and goes on with a mark inside or behind it.
_WORDLIKE: tuple[tuple[str, str], ...] = (
    (
        URL,
        r"(?:(?:https?|ftp|file)://|www\.|mailto:"
        rf"|(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}(?:com|org|net|edu|gov|io|info|dev|app|[a-z]{{2}})/){_ADDRESS}",
    ),
    (MAIL, r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    (PATH, rf"[A-Za-z]:\\(?:{_FILE}{{1,80}}(?: [A-Z(]{_FILE}{{0,40}}){{0,2}}\\){{0,20}}{_FILE}{{0,300}}{_LAST}"),
    (PATH, rf"(?:\w[\w.-]{{0,80}}/){{0,20}}\w[\w-]{{0,80}}(?:\.[\w-]{{1,40}}){{0,5}}\.(?:{_ENDINGS})(?![\w-])"),
    (CODE, r"[A-Za-z_][\w.]{0,80}\(\)"),
    (CODE, r"(?:[^\W_]{1,60}_|__(?=\w))\w{1,80}|[^\W_]{1,60}_(?!\w)"),
    # what no sign stands before: times with dates, addresses of machines, identifiers, numbers of programs
    (NUMBER, r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)"),
    (NUMBER, rf"(?:{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}|(?:{_HEX}{{2}}[:-]){{5}}{_HEX}{{2}})(?![\w:-])"),
    (
        NUMBER,
        rf"(?:{_HEX}{{1,4}}:){{1,7}}(?::{_HEX}{{1,4}}){{1,6}}(?![\w:])|(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}(?![\w:])",
    ),
    (NUMBER, rf"0[xX]{_HEX}{{1,64}}(?!\w)|0\d(?: \d\d){{4}}(?! ?\d)"),
)
# A number has a sign where nothing is before that, and none where it goes on as a word.
_SIGNED = rf"(?:(?<![^\s(\[{{=,;:])[+\u2212-]|(?<![.,])(?<![^\W{UNSPACED}]))"
_GOES_ON = rf"[^\W{UNSPACED}]|-\w"
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
    (PATH, r"(?<![\w/.)\]<>\\])(?:~|\.{1,2})?/(?:[\w.@+~-]{1,80}/){0,40}[\w.@+~-]{0,80}\w(?!\w)/?"),
    (PATH, rf"(?<!\S)\\\\[\w.$-]{{1,80}}(?:\\{_FILE}{{1,80}}){{0,20}}\\{_FILE}{{0,80}}{_LAST}"),
    # variables of programs and templates
    (VAR, rf"\{{\s{{0,3}}\w{{1,60}}\s{{0,3}},\s{{0,3}}(?:plural|select|selectordinal)\s{{0,3}},{_FORMS}*+\}}"),
    (VAR, r"\{\s{0,3}\w{1,60}\s{0,3},\s{0,3}[a-z]{1,30}\s{0,3}(?:,[^{}]{0,80})?\}"),
    (VAR, r"<%[^<>%]{1,200}%>|\$\([\w.-]{1,80}\)"),
    (VAR, r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"),
    (MAIL, r"<(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+>"),
    (URL, r"""<(?:https?|ftp)://[^\s<>"`]{1,2000}>"""),
    (VAR, r"(?<![\w@.])@\+?[A-Za-z_][\w-]{0,60}+(?!@)(?:/\w[\w.-]{0,60})?"),
    (VAR, r"\{{3}[^{}]{1,100}\}{3}|\[\[[\w.-]{1,80}\]\]|\\\d{1,2}(?!\w)"),
    (NUMBER, rf"#{_HEX}{{6}}(?!\w)"),
    (VAR, r"\{\{[^{}]{1,100}\}\}|\{%[^{}]{1,200}%\}|[$#%]\{[^{}]{1,100}\}|\{[^{}\s\"']{0,80}\}|\{#? ?[\w.-]{1,80} ?\}"),
    (VAR, r"(?<!\d)%(?:\(\w{1,60}\)|\d{1,2}\$)[-+0#]{0,3}\d{0,3}(?:\.\d{1,3})?l{0,2}[diouxXeEfFgGaAcrspn@]"),
    (VAR, r"(?<!\d)%[-+0#]{0,3}(?:\d{1,3}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtLq])?[diuf](?=[a-z]{0,2}(?![^\W_]))"),
    (VAR, r"(?<!\d)%[-+0#]{0,3}(?:\d{1,3}|\*)?(?:\.(?:\d{1,3}|\*))?(?:hh?|ll?|[zjtLq])?[oxXeEgGaAcrspn@](?![^\W_])"),
    (VAR, r"(?<!\d)%L?\d{1,2}(?![\w.,%])|(?<!%)%%(?!%)|(?<![\w%])%[A-Za-z_][\w.-]{0,40}%"),
    (VAR, r"(?<![\w$])\$[A-Za-z_]\w{0,60}(?:/[\w.@+~-]{0,80}\w){0,40}|\[X\d{1,4}X\]"),
    (VAR, r"\\(?:[nrt](?![A-Za-z]{0,20}\{)|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"),
    (CODE, r"(?<![^\s(\[])-[A-Za-z](?![\w-])|(?<![\w-])--[a-z][\w-]{0,60}(?:=[\w./:@%+~-]{0,80}[\w/])?"),
    (EMOJI, r"[\u2303\u2318\u2325\u21e7]{1,4}(?:[^\W_](?!\w))?"),
    (EMOJI, r"(?<!\S)(?:[:;=]-[()DPp/|]|;\)|<3|\^_?\^)(?![\w)])"),
    (EMOJI, rf"[\U0001f1e6-\U0001f1ff]{{2}}|[#*0-9]\ufe0f?\u20e3|{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI}){{0,8}}"),
    # a telephone number; thousands between spaces, and any other
    (NUMBER, r"(?<!\w)\+\d{1,3}(?:[ .-]\(?\d{1,4}\)?){2,6}(?![^\W_]|[.-]\d)"),
    (NUMBER, rf"{_SIGNED}(?:\d{{1,3}}(?: \d{{3}}){{1,5}}(?:[.,]\d{{1,40}}(?!\d)|(?! ?\d))(?![.,:/]\d)"
             r"|\d{1,40}(?:[.,:;/'’\u00a0\u202f\u066b\u066c–-]\d{1,40}){0,20}(?:[eE][+-]?\d{1,4})?(?![.,:]\d))"
             rf"(?!{_GOES_ON})"),
)  # fmt: skip
_PATTERNS = (*_WORDLIKE, *_SYMBOLIC)
# One look at a letter tells that no pattern begins there: nearly all letters of nearly all texts.
_FIRST_MARKS = rf"[`:;<|\[~./{{%$#&@^=+\\*\d{THING}{FIGURE}\u2190-\u2bff\U0001f000-\U0001faff-]"
# No span begins where none of these is: most lines of most texts have none.
_telltale = re.compile(
    r"[\d`:;/\\@{}%$_|\[\]#\u2190-\u2bff\U0001f000-\U0001faff\u20e3\ue000\ue001^]|www\.|--|(?<!\w)-[A-Za-z]|\w\.\w|\(\)"
)


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
#: what may stand between two that are one, and what these may be
_JOINTS, _JOINED = frozenset(":/.,;-–_@=×+*|"), frozenset([VAR, NUMBER])
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
    # An empty group behind each pattern tells which one it was. A group around it would be entered wherever one letter
    # tells that the pattern does not begin.
    wordlike, marked = ("|".join(f"(?:{pattern})()" for _, pattern in part) for part in (_WORDLIKE, _SYMBOLIC))
    goes_on = rf"(?<![^\W{UNSPACED}])(?<![.+-])" + r"(?=[^\W_]{0,60}_|\w[\w+-]{0,80}[.@:/(]|0[xX\d]|[0-9A-Fa-f]{2,8}-)"
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
        elif spans and _belongs(line, spans[-1], match.start(), kind):
            spans[-1] = Span(spans[-1].start, match.end(), VAR)
            continue
        spans.append(Span(match.start(), match.end(), kind))
    if opened >= 0:
        del spans[opened]
    return spans


def _belongs(line: str, before: Span, start: int, kind: str) -> bool:
    """Say whether variables go on with what begins at `start`: ``%d:%d``, ``{x}-{y}``, ``%d%%``, ``${x}/bin``."""
    if start - before.end > 1 or VAR not in (kind, before.kind) or "\\" in (line[start], line[before.start]):
        return False
    if start == before.end:
        return before.kind == VAR and (kind == PATH or line.startswith("%%", start))
    return kind in _JOINED and before.kind in _JOINED and line[before.end] in _JOINTS


def within(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the spans of a stretch of a line, by where they are in the stretch.

    >>> within([Span(0, 6, "var"), Span(8, 10, "num"), Span(12, 13, "num")], 7, 12)
    [Span(start=1, end=3, kind='num')]
    """
    first = bisect_left(spans, start, key=lambda span: span.start)
    last = bisect_right(spans, end, key=lambda span: span.end)
    return [Span(a - start, b - start, kind) for a, b, kind in spans[first:last]]


def moved(spans: Sequence[Span], places: Sequence[int]) -> list[Span]:
    """Return the spans of a line of which only some characters are left, at these places; those that are whole.

    >>> moved([Span(0, 2, "num"), Span(4, 5, "num")], [0, 1, 3, 4])
    [Span(start=0, end=2, kind='num'), Span(start=3, end=4, kind='num')]
    """
    out: list[Span] = []
    if not (spans and places):
        return out
    first = bisect_left(spans, places[0], key=lambda span: span.start)
    for span in spans[first : bisect_right(spans, places[-1], key=lambda span: span.start)]:
        start, end = bisect_left(places, span.start), bisect_left(places, span.end)
        if end - start == span.end - span.start:
            out.append(Span(start, end, span.kind))
    return out


def with_titles(spans: Sequence[Span]) -> list[Span]:
    """Return spans of which titles are a part, with what opens and closes them.

    >>> with_titles([Span(0, 6, "open"), Span(10, 18, "close"), Span(19, 22, "var")])
    [Span(start=0, end=18, kind='open'), Span(start=19, end=22, kind='var')]
    """
    if all(span.kind != OPEN for span in spans):
        return list(spans)
    out: list[Span] = []
    for span in spans:
        if out and out[-1].kind == OPEN and span.start < out[-1].end:
            continue
        if span.kind == OPEN:
            ends = (other.end for other in spans if other.kind == CLOSE and other.start >= span.end)
            span = span._replace(end=next(ends, span.end))  # the end of a line may be inside a title
        out.append(span)
    return out


def inner_text(text: str, kind: str) -> str:
    """Return what is left of a span in a text for training that has no counterpart in the other language.

    A model must learn neither to make such spans nor to drop them: of code, the words stay, of others nothing.

    >>> inner_text(":term:`file object`", CODE), inner_text("%s", VAR), inner_text("42", NUMBER)
    ('file object', '', '42')
    """
    if kind == NUMBER:
        return text
    return _marks.sub("", text) if kind in _MARKED and "`" in text else ""
