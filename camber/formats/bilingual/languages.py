"""Which of a file's languages is the wanted one, by their codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

#: how near a code is to the wanted one: the same, the language alone, any variant of it, another language
EXACT, BASE, VARIANT, OTHER = range(4)
#: codes of three letters that other tools write for languages with a code of two
_SHORT = {
    "ara": "ar", "bel": "be", "bul": "bg", "cat": "ca", "ces": "cs", "cze": "cs", "cym": "cy", "wel": "cy",
    "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el", "eng": "en", "est": "et", "eus": "eu",
    "baq": "eu", "fas": "fa", "per": "fa", "fin": "fi", "fra": "fr", "fre": "fr", "gle": "ga", "glg": "gl",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "arm": "hy", "ind": "id", "isl": "is",
    "ice": "is", "ita": "it", "jpn": "ja", "kat": "ka", "geo": "ka", "kor": "ko", "lav": "lv", "lit": "lt",
    "mkd": "mk", "mac": "mk", "msa": "ms", "may": "ms", "nld": "nl", "dut": "nl", "nob": "nb", "nno": "nn",
    "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk",
    "slv": "sl", "spa": "es", "sqi": "sq", "alb": "sq", "srp": "sr", "swe": "sv", "tha": "th", "tur": "tr",
    "ukr": "uk", "vie": "vi", "zho": "zh", "chi": "zh",
}  # fmt: skip


class Languages(NamedTuple):
    """The codes of both sides; nothing stands for any language."""

    source: str = ""
    target: str = ""


@lru_cache(maxsize=1000)
def _parts(code: str) -> tuple[str, ...]:
    base, *rest = re.split(r"[-_@.]", code.strip().lower())
    return (_SHORT.get(base, base), *rest)


@lru_cache(maxsize=10000)
def nearness(code: str, wanted: str) -> int:
    """Say how near a code of a file is to the wanted one; where either is not known, they are the same.

    >>> [nearness(code, "pt-BR") for code in ("PT_br", "por", "pt-PT", "es")]
    [0, 1, 2, 3]
    """
    if not code or not wanted:
        return EXACT
    one, two = _parts(code), _parts(wanted)
    if one == two:
        return EXACT
    if one[0] != two[0]:
        return OTHER
    return BASE if len(one) == 1 else VARIANT


def nearest(codes: Sequence[str], wanted: str, but: Sequence[int] = ()) -> list[int]:
    """Return the places of the codes that are nearest to the wanted one, those in `but` left out; none if all differ.

    >>> nearest(["en-GB", "de", "en", "en"], "en-US")
    [2, 3]
    """
    best, places = OTHER, list[int]()
    for place, code in enumerate(codes):
        distance = nearness(code, wanted)
        if distance >= OTHER or distance > best or place in but:
            continue
        if distance < best:
            best, places = distance, []
        places.append(place)
    return places


def direction(file: Languages, wanted: Languages) -> int:
    """Say how a file between two languages is used: 1 as it is, -1 the other way round, 0 not at all.

    >>> direction(Languages("en", "fr"), Languages("fr-CA", "en")), direction(Languages("en"), Languages("de", "fr"))
    (-1, 0)
    """
    straight = max(nearness(file.source, wanted.source), nearness(file.target, wanted.target))
    turned = max(nearness(file.source, wanted.target), nearness(file.target, wanted.source))
    if straight == OTHER and turned == OTHER:
        return 0
    return 1 if straight <= turned else -1
