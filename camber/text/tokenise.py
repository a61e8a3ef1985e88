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
import re
import unicodedata
from collections.abc import Callable, Sequence

from camber.errors import SettingsError
from camber.files import words
from camber.text.detokenise import joiner

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


# Control characters and invisible spacing: dropped, for they would make words differ that look the same. (Joiners and
# soft hyphens are kept: they belong to the spelling of a word.)
_invisible = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b\u2060\ufeff]")
_address = re.compile(
    r"""(?:(?:https?|ftp)://|www\.)[^\s<>"]*[^\s<>"'.,;:!?()\[\]{}»”’]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"""
    r"|&(?:amp|lt|gt|quot|apos|nbsp|#\d+);",
    re.IGNORECASE,
)
_dots = re.compile(r"\.{2,}")
_comma = re.compile(r"(?<!\d),|,(?!\d)")  # not between two digits

_LETTER = r"[^\W\d_]"
_ENGLISH = (
    (re.compile(rf"(?<!{_LETTER})'(?!{_LETTER})|(?<![^\W_])'(?={_LETTER})|(?<={_LETTER})'(?!{_LETTER})"), " ' "),
    (re.compile(rf"(?<={_LETTER})(['’´])(?={_LETTER})|(?<=\d)(['’´])(?=s)"), r" \1\2"),
)
_ROMANCE = (
    (re.compile(rf"(?<!{_LETTER})'|'(?!{_LETTER})"), " ' "),
    (re.compile(rf"(?<={_LETTER})(['’´])(?={_LETTER})"), r"\1 "),
)
_OTHER = ((re.compile("'"), " ' "),)


def _apostrophes(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    if language == "en":
        return _ENGLISH
    return _ROMANCE if language in ("fr", "it", "ca") else _OTHER


@functools.cache
def _prefixes(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the abbreviations of a language that keep their dot: always, and only before a number."""
    from sacremoses.corpus import NonbreakingPrefixes  # a third of a second: only when it is needed

    lists = NonbreakingPrefixes()
    code = language if language in lists.available_langs.values() else "en"  # as Moses does
    always: set[str] = set()
    before_number: set[str] = set()
    for entry in lists.words(code):
        prefix, mark, _ = entry.partition("#NUMERIC_ONLY#")
        (before_number if mark else always).add(prefix.strip())
    return frozenset(always - before_number), frozenset(before_number)


def base_language(code: str) -> str:
    """Return the language of a code with or without a region.

    >>> base_language("pt_BR"), base_language("EN-us"), base_language("")
    ('pt', 'en', '')
    """
    return re.split(r"[-_]", code.strip().lower(), maxsplit=1)[0]


class _Splitter:
    """Split the pieces of a line between white space, remembering those that were seen."""

    LIMIT = 500_000  # remembered pieces: some 100 MB at most

    def __init__(self, language: str) -> None:
        self.language = language
        self.apostrophes = _apostrophes(language)
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
                following = "a" if first.islower() else "0" if "0" <= first <= "9" else ""
                seen = self.seen[following]
            pieces = seen.get(chunk)
            if pieces is None:
                if len(seen) >= self.LIMIT:
                    seen.clear()
                pieces = seen[chunk] = [escape(piece) for piece in self._split(chunk, following)]
            tokens += pieces
        return tokens

    def _split(self, chunk: str, following: str) -> list[str]:
        chunk = _invisible.sub("", chunk)
        if address := _address.search(chunk):
            before, after = chunk[: address.start()], chunk[address.end() :]
            return [*self._split(before, ""), address[0], *self._split(after, following)]
        text = _dots.sub(r" \g<0> ", self._pad_symbols(chunk))
        text = _comma.sub(" , ", text)
        for pattern, replacement in self.apostrophes:
            text = pattern.sub(replacement, text)
        return self._split_full_stops(text.split(), following)

    def _pad_symbols(self, chunk: str) -> str:
        if chunk.isalnum():
            return chunk
        out = []
        for position, char in enumerate(chunk):
            keep = char.isalnum() or char in ".',`-" or unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")
            before, after = chunk[position - 1 : position], chunk[position + 1 : position + 2]
            if char in "’´" and self.apostrophes is not _OTHER:
                keep = before.isalnum() and after.isalpha()  # you’re, l’eau: not a closing quotation mark
            elif char == ":" and self.language in ("fi", "sv"):
                keep = before.isalnum() and after.islower()  # EU:ssa, USA:s
            out.append(char if keep else f" {char} ")
        return "".join(out)

    def _split_full_stops(self, pieces: list[str], following: str) -> list[str]:
        always, before_number = _prefixes(self.language)
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
    :func:`camber.text.detokenise.learn_spaces`).

    >>> english = Tokenizer("moses", "en")
    >>> english.tokenise("Isn't it 5,300 m?")
    ['Isn', '&apos;t', 'it', '5,300', 'm', '?']
    >>> english.detokenise(_)
    "Isn't it 5,300 m?"
    """

    def __init__(self, kind: str = "moses", language: str = "", spaces: dict[str, str] | None = None) -> None:
        if kind not in KINDS:
            raise SettingsError(f"tokenizer is {kind!r}; expected one of {', '.join(KINDS)}")
        self.kind, self.language = kind, language
        base = base_language(language)
        self._split: Callable[[str], list[str]] = _Splitter(base) if kind == "moses" else words
        self._join = joiner(base, spaces) if kind == "moses" else " ".join

    def tokenise(self, line: str) -> list[str]:
        """Return the tokens of a line (none for a blank one)."""
        return self._split(line)

    def detokenise(self, tokens: Sequence[str]) -> str:
        """Return one line of text for the tokens."""
        if self.kind == "none":
            return self._join(tokens)
        return self._join([unescape(token) for token in tokens if token])
