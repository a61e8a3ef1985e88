"""Tokenising: a raw line to Moses-style tokens.

The conventions are those of Moses' ``tokenizer.perl``, so that models and corpora made with it fit:

- every symbol stands alone, but ``.`` ``,`` ``'`` ````` and ``-`` follow rules of their own;
- a comma stays inside a number (``5,300``), dots stay together (``...``), hyphens are never split;
- a full stop leaves its word unless the word is an abbreviation (the non-breaking prefixes of the language), already
  has a dot and a letter (``a.m.``), or is followed by a word in lower case;
- ``isn't`` is ``isn 't`` in English, ``l'eau`` is ``l' eau`` in French, Italian and Catalan;
- ``& | < > ' " [ ]`` are escaped, so no token can be mistaken for the field separator of a text format.

Where Moses loses text we depart from it: URLs, e-mail addresses and character entities (``&nbsp;``) stay whole, a
typographic apostrophe inside a word is treated like the plain one, and the edge of a line counts as a space for
quotation marks.

White space of any kind (no-break spaces and Unicode line separators too) separates tokens; control characters vanish.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from camber.errors import SettingsError
from camber.files import words
from camber.text.case import DOTTED
from camber.text.detokenise import Joiner, joiner
from camber.text.protect import FIGURE
from camber.text.scripts import LANGUAGES, split_unspaced

KINDS = ("moses", "none")

_ESCAPES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
_escape_table = str.maketrans(_ESCAPES)
_plain_of = {escape: plain for plain, escape in _ESCAPES.items()}
# Older Moses versions wrote these three; they are read but never written.
_plain_of |= {"&bar;": "|", "&bra;": "[", "&ket;": "]"}
_escaped = re.compile("|".join(map(re.escape, _plain_of)))


def escape(token: str) -> str:
    """Escape the characters that mean something to Moses' formats.

    >>> escape("a|b")
    'a&#124;b'
    """
    return token.translate(_escape_table)


def unescape(token: str) -> str:
    """Undo :func:`escape`, exactly.

    >>> unescape("&amp;lt;")
    '&lt;'
    """
    return _escaped.sub(lambda match: _plain_of[match[0]], token) if "&" in token else token


def composed(tokens: Sequence[str]) -> list[str]:
    """Return tokens whose letters carry their accents themselves (NFC), for a model to know them either way.

    >>> len("e\\u0302tre"), [len(token) for token in composed(["e\\u0302tre"])]
    (5, [4])
    """
    text = "".join(tokens)
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return list(tokens)
    return [unicodedata.normalize("NFC", token) for token in tokens]


# Control characters and invisible spacing: dropped, for they would make words differ that look the same. (Joiners and
# soft hyphens are kept: they belong to the spelling of a word.)
INVISIBLE = "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff]"
_invisible = re.compile(INVISIBLE)
# A URL, an e-mail address or an entity. Each is looked for by where it begins or by its @: a pattern for all of them
# would look at a word without any once for every letter.
_beginning = re.compile(r"((?:https?|ftp)://|www\.)|&(?:amp|lt|gt|quot|apos|nbsp|#\d+);", re.IGNORECASE)
_url_end = re.compile(r"""[^\s<>"]*[^\s<>"'.,;:!?()\[\]{}»”’]""", re.IGNORECASE)
_local_part = re.compile(r"[\w.+-]*", re.IGNORECASE)
_domain = re.compile(r"@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_dots = re.compile(r"\.{2,}")
_comma = re.compile(r"(?<!\d),|,(?!\d)")  # not between two digits

_LETTER = r"[^\W\d_]"
# Patterns begin with the mark itself, and what takes its place is plain text: that is several times as quick as groups.
_ENGLISH = (
    ("'", re.compile(rf"'(?:(?!{_LETTER})|(?<![^\W_]'))"), " ' "),  # not before a letter, or not behind one or a digit
    *((m, re.compile(rf"{m}(?:(?<={_LETTER}{m})(?={_LETTER})|(?<=\d{m})(?=s))"), f" {m}") for m in "'’´"),
)
_ROMANCE = (
    ("'", re.compile(rf"'(?:(?<!{_LETTER}')|(?!{_LETTER}))"), " ' "),
    *((m, re.compile(rf"{m}(?<={_LETTER}{m})(?={_LETTER})"), f"{m} ") for m in "'’´"),
)
_OTHER = (("'", re.compile("'"), " ' "),)


def _apostrophes(language: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    if language == "en":
        return _ENGLISH
    return _ROMANCE if language in ("fr", "it", "ca") else _OTHER


@functools.cache
def _prefix_lists() -> Any:
    """Return sacremoses' lists of abbreviations.

    To import the package takes longer than to load all kernels of a translation, since its tokenisers prepare
    expressions of thousands of characters. The module with the lists needs none of them, so it is imported from a
    package that is not run, and goes away again.
    """
    spec = importlib.util.find_spec("sacremoses")
    if "sacremoses" in sys.modules or spec is None:
        return importlib.import_module("sacremoses.corpus").NonbreakingPrefixes()
    sys.modules["sacremoses"] = importlib.util.module_from_spec(spec)
    try:
        return importlib.import_module("sacremoses.corpus").NonbreakingPrefixes()
    finally:
        sys.modules.pop("sacremoses", None)


@functools.cache
def nonbreaking(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the abbreviations of a language that keep their dot: always, and only before a number."""
    lists = _prefix_lists()
    code = language if language in lists.available_langs.values() else "en"  # as Moses does
    always: set[str] = set()
    before_number: set[str] = set()
    for entry in lists.words(code):
        prefix, mark, _ = entry.partition("#NUMERIC_ONLY#")
        (before_number if mark else always).add(prefix.strip())
    return frozenset(always - before_number), frozenset(before_number)


def assumed_rules(code: str) -> str:
    """Return what is assumed of a language code that no rules are known for; nothing if there are some, or no code.

    >>> assumed_rules("pt-BR"), assumed_rules("xx")
    ('', "'xx' is no language with rules of its own: general rules and the abbreviations of English are assumed")
    """
    language = base_language(code)
    if not language or language in {*_prefix_lists().available_langs.values(), *LANGUAGES, *DOTTED}:
        return ""
    return f"{code!r} is no language with rules of its own: general rules and the abbreviations of English are assumed"


def base_language(code: str) -> str:
    """Return the language of a code with or without a region.

    >>> base_language("pt_BR"), base_language("EN-us"), base_language("")
    ('pt', 'en', '')
    """
    return re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]


def _addresses(chunk: str) -> Iterator[tuple[int, int]]:
    """Yield where URLs, e-mail addresses and entities begin and end, from left to right.

    >>> list(_addresses("x:www.a.org,b@c.de"))
    [(2, 18)]
    """
    done = 0
    if "." not in chunk and "&" not in chunk and "://" not in chunk:
        return
    other, email = _beginning.search(chunk), _email(chunk, 0)
    while other or email:
        if email and email[0] < done:
            email = _email(chunk, done)
        elif other and other.start() < done:
            other = _beginning.search(chunk, done)
        elif other and (not email or other.start() <= email[0]):
            end = _url_end.match(chunk, other.end()) if other[1] else other
            if end:
                done = end.end()
                yield other.start(), done
            else:
                other = _beginning.search(chunk, other.end())
        elif email:
            done = email[1]
            yield email


def _email(chunk: str, start: int) -> tuple[int, int] | None:
    """Return where the first e-mail address from `start` on begins and ends."""
    if "@" not in chunk:
        return None
    while domain := _domain.search(chunk, start):
        at = domain.start()
        name = _local_part.match(chunk[start:at][::-1])
        if name and name.end():
            return at - name.end(), domain.end()
        start = at + 1
    return None


class _Padding(dict[int, str]):
    """What becomes of every character by itself: a symbol gets a space on either side. Filled as characters are met."""

    def __init__(self, left: str) -> None:
        super().__init__((ord(char), char) for char in left)

    def __missing__(self, code: int) -> str:
        char = chr(code)
        keep = char.isalnum() or unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")
        self[code] = char if keep else f" {char} "
        return self[code]


@functools.cache
def _padding(left: str) -> _Padding:
    """Return the padding that leaves some characters as they are."""
    return _Padding(" .',`-" + left)


class _Splitter:
    """Split the pieces of a line between white space, remembering those that were seen.

    The time that a piece takes grows with its length and no faster, whatever it holds.
    """

    LIMIT = 500_000  # remembered pieces: some 100 MB at most
    LONGEST = 50  # characters of a piece that is remembered

    def __init__(self, language: str, *, segment: bool = False) -> None:
        self.language, self.segment = language, segment
        self.apostrophes = _apostrophes(language)
        # Marks that stay inside a word, which their neighbours tell.
        self.inner = ("’´" if self.apostrophes is not _OTHER else "") + (":" if language in ("fi", "sv") else "")
        self.inner_marks = re.compile(f"[{self.inner}]") if self.inner else None
        # What a final full stop does depends on what follows: a small letter, a digit, or anything else.
        self.seen: dict[str, dict[str, list[str]]] = {"a": {}, "0": {}, "": {}}

    def __call__(self, line: str) -> list[str]:
        chunks = line.split()
        tokens: list[str] = []
        anything = self.seen[""]
        for position, chunk in enumerate(chunks):
            if chunk[-1] != "." or position + 1 == len(chunks):
                seen, following = anything, ""
            else:
                first = chunks[position + 1][0]
                following = "a" if first.islower() else "0" if "0" <= first <= "9" or first == FIGURE else ""
                seen = self.seen[following]
            pieces = seen.get(chunk)
            if pieces is None:
                pieces = self._split(chunk, following)
                if len(chunk) <= self.LONGEST:
                    if len(seen) >= self.LIMIT:
                        seen.clear()
                    seen[chunk] = pieces
            tokens += pieces
        return tokens

    def _split(self, chunk: str, following: str) -> list[str]:
        if chunk.isalnum():  # most pieces, quickly
            return split_unspaced(chunk).split() if self.segment else [chunk]
        chunk = _invisible.sub("", chunk)
        pieces: list[str] = []
        done = 0
        for start, end in _addresses(chunk):
            pieces += self._split_plain(chunk[done:start], "")
            pieces.append(chunk[start:end])
            done = end
        pieces += self._split_plain(chunk[done:], following)
        return escape(" ".join(pieces)).split(" ") if pieces else []

    def _split_plain(self, chunk: str, following: str) -> list[str]:
        """Split a piece without addresses."""
        if not chunk:
            return []
        text = self._pad_symbols(split_unspaced(chunk) if self.segment else chunk)
        if ".." in text:
            text = _dots.sub(r" \g<0> ", text)
        if "," in text:
            text = _comma.sub(" , ", text)
        for mark, pattern, replacement in self.apostrophes:
            if mark in text:
                text = pattern.sub(replacement, text)
        pieces = text.split()
        return self._split_full_stops(pieces, following) if "." in text else pieces

    def _pad_symbols(self, chunk: str) -> str:
        if chunk.isalnum():
            return chunk
        if self.inner_marks:
            chunk = self.inner_marks.sub(self._pad_inner_mark, chunk)
        return chunk.translate(_padding(self.inner))

    def _pad_inner_mark(self, match: re.Match[str]) -> str:
        mark, start = match[0], match.start()
        before, after = match.string[start - 1 : start], match.string[start + 1 : start + 2]
        # EU:ssa, USA:s; and you’re, l’eau: not a closing quotation mark
        fits = after.islower() if mark == ":" else after.isalpha()
        return mark if before.isalnum() and fits else f" {mark} "

    def _split_full_stops(self, pieces: list[str], following: str) -> list[str]:
        always, before_number = nonbreaking(self.language)
        out: list[str] = []
        for position, piece in enumerate(pieces):
            stem = piece[:-1]
            if piece[-1] != "." or not stem.strip("."):
                out.append(piece)
                continue
            then = pieces[position + 1][0] if position + 1 < len(pieces) else following
            if (
                ("." in stem and any(map(str.isalpha, stem)))
                or stem in always
                or then.islower()
                or (stem in before_number and "0" <= then <= "9")
            ):
                out.append(piece)
            else:
                out += [stem, "."]
        return out


class Tokenizer:
    """Raw lines to tokens and back.

    Kind "moses" follows the conventions at the top of this module, with the rules of `language` (a code such as "en"
    or "pt-BR"; empty: rules that hold for most). Kind "none" is for text that is already tokenised: it is split at
    spaces and joined with spaces, and no character is touched.

    `spaces` maps punctuation marks to the white space before them where that is not nothing (see
    :func:`camber.text.detokenise.learn_spaces`). With `segment`, text of scripts without spaces is split into
    characters, and joined again (see `camber.text.scripts`).

    >>> english = Tokenizer("moses", "en")
    >>> english.tokenise("Isn't it 5,300 m?")
    ['Isn', '&apos;t', 'it', '5,300', 'm', '?']
    >>> english.detokenise(_)
    "Isn't it 5,300 m?"
    """

    def __init__(
        self, kind: str = "moses", language: str = "", spaces: dict[str, str] | None = None, *, segment: bool = False
    ) -> None:
        if kind not in KINDS:
            raise SettingsError(f"tokenizer is {kind!r}; expected one of {', '.join(KINDS)}")
        self.kind, self.language = kind, language
        base = base_language(language)
        self._split: Callable[[str], list[str]] = _Splitter(base, segment=segment) if kind == "moses" else words
        self._join: Callable[[Sequence[str]], str] = (
            joiner(base, spaces, segmented=segment) if kind == "moses" else " ".join
        )

    def tokenise(self, line: str) -> list[str]:
        """Return the tokens of a line (none for a blank one)."""
        return self._split(line)

    def detokenise(self, tokens: Sequence[str]) -> str:
        """Return one line of text for the tokens."""
        if self.kind == "none":
            return self._join(tokens)
        return self._join([unescape(token) for token in tokens if token])

    def gaps(self, tokens: Sequence[str]) -> list[str]:
        """Return the white space before each of some unescaped tokens."""
        return self._join.gaps(tokens) if isinstance(self._join, Joiner) else ["", *[" "] * (len(tokens) - 1)]
