"""Detokenising: which neighbouring tokens had no space between them.

Tokens are joined from left to right. Each decides whether a space goes before it and whether the next one must be glued
to it; quotation marks that look the same on both sides are paired first. The rules are a superset of Moses'
``detokenizer.perl``: times (``2:30``), slashes, dashes, ``R&B``, ``shirt(s)``, feet and inches, elisions.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from camber.text.scripts import LANGUAGES, UNSPACED, is_unspaced

NO_BREAK = "\u00a0"
#: what stands in a table of spaces for words in other letters, among those of a script without spaces
FOREIGN = "字a"

#: White space that goes before a mark in a language, when no text tells which kind its writers use.
TYPOGRAPHY: dict[str, dict[str, str]] = {"fr": dict.fromkeys("?!:;%»", NO_BREAK)}

#: no letter or mark before this one belongs to a script without spaces
_FIRST_UNSPACED = "\u0e01"
_CLOSING = frozenset(".,?!:;%)]}…’”‰℃℉°؟،؛٪۔।॥։።፣፤")  # of Arabic, Devanagari, Armenian and Ethiopic, too
_OPENING = frozenset("([{¿¡“„‚‘#@")
_CURRENCY = frozenset("$£€¥¢₽₹₩")
_BOTH = frozenset(
    ["/", "\\", "_", "@-@", "@/@", "@,@", "@.@", "@:@", "٫", "٬"]
)  # the last two: marks of Arabic numbers
_GLUED_MARKS = {"@-@": "-", "@/@": "/", "@,@": ",", "@.@": ".", "@:@": ":"}  # Moses' aggressive splitting
# What follows an apostrophe that stands alone, in languages where it is split on both sides (Joe ' s).
_ENDS = frozenset(")]}\"'“”»’%")
_SUFFIXES = frozenset(["s", "S", "t", "T", "re", "ll", "ve", "d", "m", "er"])
# Words of two letters or more that lose their vowel before another, by their ends: lorsqu', dell'.
_ELIDED = {"fr": ("qu", "aujourd", "entr"), "it": ("ll", "un", "quest", "sant", "com", "dov", "cos")}
_ELISIONS = frozenset(["em", "til", "cause", "tis", "twas", "bout", "round", "cuz", "n", "nother", "neath", "ere"])


def learn_spaces(language: str, lines: Iterable[str]) -> dict[str, str]:
    """Return the white space that text of a language has before its punctuation marks, where it is not nothing.

    French puts a space before ``? ! : ; %`` and inside guillemets, but some write a no-break space, some a narrow one,
    some a plain one. Languages without such a habit give an empty dictionary.

    >>> learn_spaces("fr", ["Ça va ?", "Oui !", "Quoi ?"])["?"]
    ' '
    """
    if language in LANGUAGES:
        return _foreign_words(lines)
    habits = TYPOGRAPHY.get(language, {})
    if not habits:
        return {}
    counts: dict[str, Counter[str]] = {mark: Counter() for mark in habits}
    pattern = re.compile(rf"(\s?)([{re.escape(''.join(habits))}])(?=\s|$)")
    for line in lines:
        for match in pattern.finditer(line):
            counts[match[2]][match[1]] += 1
    # A mark that hardly occurs goes with the most common habit of the others.
    together = sum((counts[mark] for mark in "?!:;" if mark in counts), Counter())
    common = _most_common(together) if together else NO_BREAK
    return {mark: _most_common(seen) if sum(seen.values()) >= 5 else common for mark, seen in counts.items()}


def _foreign_words(lines: Iterable[str]) -> dict[str, str]:
    """Return the white space between words in other letters and those of a script without spaces."""
    pattern = re.compile(rf"(?<=[{UNSPACED}])(\s?)(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(\s?)(?=[{UNSPACED}])")
    counts = Counter(match[1] or match[2] or "" for line in lines for match in pattern.finditer(line))
    return {FOREIGN: _most_common(counts)} if counts else {}


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda space: (-counts[space], space))


def joiner(language: str, spaces: dict[str, str] | None = None, *, segmented: bool = False) -> Joiner:
    """Return what joins unescaped tokens of a language (its base code, or "") into a line.

    `segmented` tokens of scripts without spaces are joined without them.
    """
    return Joiner(language, TYPOGRAPHY.get(language, {}) if spaces is None else spaces, segmented=segmented)


def _is_wide(char: str) -> bool:
    """Say whether a character belongs to a script that is written without spaces (Chinese, Japanese)."""
    return char >= "\u2e80" and unicodedata.east_asian_width(char) in "WF" and not "\uac00" <= char <= "\ud7af"


class Joiner:
    """Join the unescaped tokens of a language into a line."""

    def __init__(self, language: str, spaces: dict[str, str], *, segmented: bool = False) -> None:
        self.language, self.segmented = language, segmented
        self.unspaced = segmented and language in LANGUAGES
        self.spaces = spaces
        self.apostrophe_binds_right = language in ("fr", "it", "ca", "ga")

    def __call__(self, tokens: Sequence[str]) -> str:
        return "".join(gap + spelt(token) for gap, token in zip(self.gaps(tokens), tokens, strict=True))

    def gaps(self, tokens: Sequence[str]) -> list[str]:
        """Return the white space before every token."""
        directions = self._pair_quotes(tokens)
        out = ["", *[" "] * len(tokens)]  # no space before the first one
        told = 0  # the last place of which the token before said what it wants there
        for position in [at for at, token in enumerate(tokens) if not (token.isalpha() and token.isascii())]:
            token = tokens[position]
            previous = tokens[position - 1] if position else ""
            following = tokens[position + 1] if position + 1 < len(tokens) else ""
            if token == "(" and previous[-1:].isalpha() and _is_suffixed(tokens[position : position + 3]):
                before, after = "", ""
            else:
                before, after = self._space_around(token, previous, following, directions.get(position, 0))
            if position != told:
                out[position] = before
            if after != " ":
                told = position + 1
                out[told] = after
        del out[len(tokens) :]
        if not self.segmented or (text := "".join(tokens)).isascii() or max(text) < _FIRST_UNSPACED:
            return out
        return self._without_spaces(tokens, out)

    def _without_spaces(self, tokens: Sequence[str], gaps: list[str]) -> list[str]:
        """Take spaces away where a script has none; how words of another script stand in it is a habit of the text."""
        for position in range(1, len(tokens)):
            first, second = tokens[position - 1][-1], tokens[position][0]
            if not gaps[position] or (first.isascii() and second.isascii()):
                continue
            wide = is_unspaced(first), is_unspaced(second)
            if all(wide) or (self.unspaced and any(wide) and not (first.isalnum() and second.isalnum())):
                gaps[position] = ""
            elif self.unspaced and any(wide):
                gaps[position] = self.spaces.get(FOREIGN, "")
        return gaps

    def _space_around(self, token: str, previous: str, following: str, direction: int) -> tuple[str, str]:
        """Return the white space before and after a token (`direction`: 1 opening, -1 closing quote)."""
        if direction:
            return self._space_around_quote(token, previous, direction)
        if token in _BOTH:
            return "", ""
        if token in self.spaces:
            return self.spaces[token], "" if _is_ratio(token, previous, following) else " "
        if token in _CLOSING or (token[0] == "." and not token.strip(".")):
            if token == "°" and following.rstrip(".") in ("C", "F"):
                return "", ""
            if token in ("...", "…", "’") and not previous:
                return "", ""
            if token == "’" and _is_suffix(following):
                return "", ""
            return "", "" if _is_ratio(token, previous, following) else " "
        if token in _OPENING:
            return " ", ""
        if token in _CURRENCY:
            if following[:1].isdigit():
                return " ", ""
            return "" if self.language == "en" and previous[-1:].isdigit() else " ", " "
        if token == "'":
            return self._space_around_apostrophe(previous, following)
        return self._space_around_word(token, previous, following)

    def _space_around_word(self, token: str, previous: str, following: str) -> tuple[str, str]:
        first, last = token[0], token[-1]
        if token in ("&", "&amp;") and _is_initials(previous) and _is_initials(following):
            return "", ""
        if token in ("–", "—"):
            number = previous[-1:].isdigit() and following[:1].isdigit()
            return ("", "") if number or (token == "—" and self.language == "en") else (" ", " ")
        if token == "+":
            if following == "+" or previous == "+":
                return "", " " if previous == "+" else ""  # C++
            return " ", "" if following[:1].isdigit() and not previous[-1:].isdigit() else " "
        if first in "'’´" and len(token) > 1 and token[1].isalpha() and previous and not self.apostrophe_binds_right:
            return "", " "  # 're, 's
        if (
            last in "'’´"
            and self.apostrophe_binds_right
            and token[-2:-1].isalpha()
            and (following[:1].isalpha() or following[:1] in ("«", '"', "“"))
        ):
            return " ", ""  # l', d'
        if first == "-" and len(token) > 1 and previous[-1:] in _ENDS and token[1].isalpha():
            return "", " "  # "black"-haired
        if last == "-" and len(token) > 1 and following[:1] in ("(", '"', "“", "[", "$", "£", "€"):
            return " ", ""
        if previous and _is_wide(first) and _is_wide(previous[-1]):
            return "", " "
        return " ", " "

    def _space_around_quote(self, token: str, previous: str, direction: int) -> tuple[str, str]:
        inner = self.spaces.get("»", "") if token in "«»" else ""
        if direction < 0:
            return inner, " "
        return ("" if previous[-1:] == "-" and len(previous) > 1 else " "), inner

    def _space_around_apostrophe(self, previous: str, following: str) -> tuple[str, str]:
        """Place an apostrophe that is not one of a pair of quotation marks."""
        if self._takes_ending(previous, following):
            return "", ""
        if previous[-1:].isalpha() and _is_suffix(following):
            return "", ""  # Joe ' s
        if self._elides(previous) and (following[:1].isalpha() or following[:1] in ("«", '"', "“")):
            return "", ""  # l'«idée»
        if not previous or following in _ELISIONS or (following[:1].isdigit() and following[-1:] == "s"):
            return " ", ""  # 'em, the '90s
        if not previous[-1:].isalnum() and following[:1].isalnum():
            return " ", ""
        return "", " "  # the boys', 6', goin'

    def _takes_ending(self, previous: str, following: str) -> bool:
        """Say whether an apostrophe stands between a name or a number and its ending, as in Turkish: Tom'un, 5'te."""
        named = previous[:1].isupper() or previous[-1:].isdigit()
        return self.language in ("tr", "az") and named and following[:1].islower()

    def _elides(self, word: str) -> bool:
        """Say whether a word can lose its vowel before another: l', qu'."""
        if not (self.apostrophe_binds_right and word.isalpha()):
            return False
        return len(word) == 1 or word.lower().endswith(_ELIDED.get(self.language, ()))

    def _pair_quotes(self, tokens: Sequence[str]) -> dict[int, int]:
        """Return the direction (1 opens, -1 closes) of tokens that pair up, by position."""
        directions: dict[int, int] = {}
        places: dict[str, list[int]] = {}
        for position, token in enumerate(tokens):
            if token in _PAIRED:
                places.setdefault(_PAIRED[token], []).append(position)
        for kind, positions in places.items():
            if kind == '"':
                self._pair_same(tokens, positions, directions)
            elif kind == "'":
                self._pair_single(tokens, positions, directions)
            elif kind == "*":
                if len(positions) % 2 == 0:
                    self._pair_same(tokens, positions, directions)  # *emphasis*
            elif kind == "<":
                _pair_angles(tokens, positions, directions)
            else:
                _pair_directed(tokens, positions, directions)
        return directions

    def _pair_same(self, tokens: Sequence[str], positions: list[int], directions: dict[int, int]) -> None:
        """Let marks that look alike open and close in turn; an odd one after a number is an inch."""
        if len(positions) % 2:
            inches = [p for p in positions if p and tokens[p - 1][-1].isdigit()]
            if inches:
                directions[inches[-1]] = -1
                positions = [p for p in positions if p != inches[-1]]
        for turn, position in enumerate(positions):
            directions[position] = 1 if turn % 2 == 0 else -1
        if len(positions) % 2 and positions[-1] == len(tokens) - 1 and positions[-1]:
            directions[positions[-1]] = -1  # a line that ends with a mark has lost the opening one

    def _pair_single(self, tokens: Sequence[str], positions: list[int], directions: dict[int, int]) -> None:
        """Pair single quotation marks, leaving out those that can only be apostrophes."""
        quotes: list[int] = []
        last_closing = max((p for p in positions if p and _must_close(tokens, p)), default=0)
        for position in positions:
            previous = tokens[position - 1] if position else ""
            following = tokens[position + 1] if position + 1 < len(tokens) else ""
            inside = len(quotes) % 2 == 1
            if previous[-1:].isalpha() and (_is_suffix(following) or self._elides(previous)):
                continue  # Joe ' s, l ' eau
            if self._takes_ending(previous, following):
                continue
            if following in _ELISIONS and tokens[position + 2 : position + 3] != ["'"]:
                continue  # 'em (but not 'n')
            if not inside:
                possessive = previous[-1:] in ("s", "x", "z") and previous[:1] not in ("'", "’")
                if not following or previous[-1:].isdigit():
                    continue  # 6' tall
                if position >= (last_closing if possessive else positions[-1]):
                    continue  # the boys' room: nothing closes a quotation
            quotes.append(position)
        for turn, position in enumerate(quotes[: len(quotes) // 2 * 2]):
            directions[position] = 1 if turn % 2 == 0 else -1


_PAIRED = {'"': '"', "``": '"', "''": '"', "'": "'", "<": "<", ">": "<", "*": "*"}
_PAIRED |= dict.fromkeys("„“”", "„") | dict.fromkeys("«»", "«") | dict.fromkeys("‚‘", "‚")


def _pair_angles(tokens: Sequence[str], positions: list[int], directions: dict[int, int]) -> None:
    """Take ``< … >`` for a tag when it closes soon; a lone ``<`` or ``>`` is a comparison."""
    opened = -1
    for position in positions:
        if tokens[position] == "<":
            opened = position
        elif opened >= 0 and 1 < position - opened <= 12:
            directions[opened], directions[position] = 1, -1
            opened = -1


def _pair_directed(tokens: Sequence[str], positions: list[int], directions: dict[int, int]) -> None:
    """Let typographic marks open or close by what came before: “ opens in English and closes „ in German."""
    opened = ""
    alone = sum(tokens[position] == "”" for position in positions)  # Finnish and Swedish open and close with ”
    if alone < len(positions) or alone % 2:
        alone = 0
    for position in positions:
        token = tokens[position]
        closes = token in {"„": "“”", "“": "”", "«": "»", "»": "«", "‚": "‘", "”": "”"}.get(opened, "")
        if not opened and token == "”" and position and not alone:
            closes = True  # its partner is missing
        if not opened and token == "»" and position == len(tokens) - 1:
            closes = True
        directions[position] = -1 if closes else 1
        opened = "" if closes else token


def _is_ratio(token: str, previous: str, following: str) -> bool:
    """Say whether a colon stands in a time, a score or a verse: 2:30."""
    return token == ":" and previous[-1:].isdigit() and following[:1].isdigit()


def _is_suffix(token: str) -> bool:
    """Say whether a token belongs to the apostrophe before it; its own full stop or hyphen does not matter (s-Menü)."""
    return token.partition("-")[0].rstrip(".") in _SUFFIXES


def _must_close(tokens: Sequence[str], position: int) -> bool:
    """Say whether a single quotation mark can only close: it follows no plural, or punctuation follows it."""
    following = tokens[position + 1] if position + 1 < len(tokens) else "."
    return tokens[position - 1][-1] not in "sxz" or not following[0].isalnum()


def _is_suffixed(tokens: Sequence[str]) -> bool:
    """Say whether the tokens are the bracket of ``shirt(s)`` or ``open()``."""
    return tokens[1:2] == [")"] or (
        len(tokens) == 3 and tokens[2] == ")" and tokens[1] in ("s", "es", "n", "e", "en", "in", "innen", "ne")
    )


def _is_initials(token: str) -> bool:
    return 0 < len(token) <= 2 and token.isupper()


def spelt(token: str) -> str:
    """Return what is written for an unescaped token: a token of another origin may hold a line break, or be split.

    >>> spelt("a\\nb"), spelt("@-@")
    ('a b', '-')
    """
    if "\n" in token or "\r" in token:
        token = token.replace("\r", " ").replace("\n", " ")
    return _GLUED_MARKS.get(token, token)
