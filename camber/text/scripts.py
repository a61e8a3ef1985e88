"""Scripts that are written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.

Their text is split into characters (with the signs that belong to one), and words in other letters and numbers stay
whole: phrases of several characters are then learnt as phrases of several words are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

#: languages whose text is joined without spaces
LANGUAGES = frozenset(
    ["zh", "yue", "wuu", "lzh", "cmn", "ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya"]
)
#: their letters, as a part of a character class
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# A character: a vowel that is written before its consonant, the letter, and the signs around it; a letter under another
# one (behind \u17d2 or \u1039) belongs to it.
_cluster = re.compile(
    rf"[\u0e40-\u0e44\u0ec0-\u0ec4]?[{UNSPACED}](?:[\u17d2\u1039][{UNSPACED}]?|"
    "[\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ecd\u102b-\u1038\u103a-\u103e\u17b4-\u17d1\u17d3"
    "\u3099\u309a\u30fc\uff9e\uff9f\ufe00-\ufe0f])*"
)
_run = re.compile(f"[{UNSPACED}]")


def split_unspaced(text: str) -> str:
    """Put spaces around the characters of scripts that have none.

    >>> split_unspaced("Tom躲在X2桌子").split()
    ['Tom', '躲', '在', 'X2', '桌', '子']
    >>> split_unspaced("ที่นี่").split()
    ['ที่', 'นี่']
    """
    return _cluster.sub(r" \g<0> ", text) if not text.isascii() and _run.search(text) else text


def is_unspaced(char: str) -> bool:
    """Say whether a character is a letter or a mark that has no space beside it in such a script.

    >>> is_unspaced("桌"), is_unspaced("。"), is_unspaced("ก"), is_unspaced("a"), is_unspaced("한")
    (True, True, True, False, False)
    """
    if char < "\u0e01":
        return False
    if _run.match(char):
        return True
    return char >= "\u2e80" and unicodedata.east_asian_width(char) in "WF" and not "\uac00" <= char <= "\ud7af"


_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def splitting_tokenizer(lines: Sequence[str]) -> str:
    """Return the tokenizer of sacreBLEU that splits text of a script without spaces; nothing if that is not needed.

    It is needed where one letter in four, or more, is of such a script.

    >>> [splitting_tokenizer([line]) for line in ("汤姆在桌子下", "トムは机の下にいる", "ทอมอยู่ใต้โต๊ะ", "Tom likes 茶")]
    ['zh', 'ja-mecab', 'char', '']
    """
    text = "".join(lines)
    letters = sum(map(str.isalpha, text))
    if text.isascii() or 4 * len(_run.findall(text)) < letters:
        return ""
    if 20 * len(_KANA.findall(text)) >= letters:
        return "ja-mecab"
    return "zh" if 4 * len(_HAN.findall(text)) >= letters else "char"


def without_spaces(lines: Iterable[Sequence[str]]) -> float:
    """Return the share of tokenised lines in which a token is a stretch of letters that no word has.

    That is more than 25 letters, or 7 of a script without spaces.

    >>> without_spaces([["abcdefghijklmnopqrstuvwxyzabcdefghij"], ["a"], ["富士山是日本最高的山"], []])
    0.5
    """
    found = [has_no_spaces(tokens) for tokens in lines]
    return sum(found) / len(found) if found else 0.0


def has_no_spaces(tokens: Sequence[str]) -> bool:
    """Say whether one of the tokens is a stretch of letters that no word has."""
    return any(len(token) >= 7 and _is_line(token) for token in tokens)


def _is_line(token: str) -> bool:
    return (len(token) > 25 and token.isalpha()) or (not token.isascii() and len(_run.findall(token)) >= 7)
