"""Synchronous grammars as text: every production gives a phrase in two languages at once.

    [gadget]                            a category, then its productions: [weight*] left = right [; features]
    3* ducha = shower ; f               m or f, s or p (singular unless told); without: those of the first slot
    [remark]
    <el:gadget> {gadget} está rot<o:gadget>
        = the {gadget} <is:gadget> broken       (a line that begins with "=" goes on with the one before)

- ``{gadget}`` is a slot; the same slot on both sides is the same thing in two languages. ``{other:gadget}`` names it.
- ``<a|b|c|d:slot>`` picks a form that agrees with a slot: masculine, feminine, then both in the plural; with two forms,
  singular and plural; ``<el:slot>`` and its like are short for common ones (`PARADIGMS`). Without a slot name it agrees
  with what ``{adjective@noun}`` says where it is used (or ``{adjective@fp}``, for a noun that is written out).
- ``[gadget/]`` declares nouns by singular/plural (``ducha/duchas = shower/showers ; f``), used as ``{gadget.s}`` and
  ``{gadget.p}``.
- ``^`` is where a Spanish object pronoun may climb to, ``~me`` where it is otherwise attached:
  ``¿^podría despertar~me?`` gives «¿Me podría despertar?», and without ``^`` it gives «¿Podría despertarme?».
"""

from __future__ import annotations

import bisect
import itertools
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase in both languages; `form` is 0 masculine, 1 feminine, 2 and 3 the same in the plural."""

    left: str
    right: str
    form: int = 0


#: Something that makes phrases by itself: numbers, dates.
Maker = Callable[[random.Random], Phrase]

#: Short names of forms that are often needed.
PARADIGMS = {
    "el": ("el", "la", "los", "las"),
    "un": ("un", "una", "unos", "unas"),
    "lo": ("lo", "la", "los", "las"),
    "o": ("o", "a", "os", "as"),
    "e": ("e", "a", "os", "as"),
    "á": ("á", "á", "án", "án"),
    "n": ("", "", "n", "n"),
    "s": ("", "", "s", "s"),
    "es": ("", "", "es", "es"),
    "is": ("is", "are"),
    "has": ("has", "have"),
    "does": ("does", "do"),
    "it": ("it", "them"),
}

_slot = r"\{(?:(?P<label>\w+):)?(?P<category>[\w.]+)(?:@(?P<agree>[\w.]+))?\}"
_choice = r"<(?P<forms>[^<>:]*)(?::(?P<with>[\w.]+))?>"
_piece = re.compile(f"{_slot}|{_choice}")
_FORMS = {"m": 0, "f": 1, "ms": 0, "fs": 1, "mp": 2, "fp": 3, "s": 0, "p": 2}


def _form(forms: tuple[str, ...], form: int) -> str:
    return forms[form] if len(forms) == 4 else forms[form >> 1]


@dataclass(slots=True)
class _Side:
    """One language of a production: literal text between slots and choices."""

    parts: list[str | tuple[str, str] | tuple[tuple[str, ...], str]] = field(default_factory=list)

    @classmethod
    def parse(cls, text: str, slots: dict[str, str]) -> _Side:
        side, end = cls(), 0
        for piece in _piece.finditer(text):
            side.parts.append(text[end : piece.start()])
            end = piece.end()
            if piece["forms"] is not None:
                name = piece["forms"]
                forms = PARADIGMS[name] if name in PARADIGMS else tuple(name.split("|"))
                if len(forms) not in (2, 4):
                    raise ValueError(f"{len(forms)} forms in {piece[0]!r}; expected 2 or 4")
                side.parts.append((forms, piece["with"] or ""))
            else:
                label = piece["label"] or piece["category"]
                slots.setdefault(label, piece["category"])
                side.parts.append((label, piece["agree"] or ""))
        side.parts.append(text[end:])
        return side


@dataclass(slots=True)
class _Production:
    weight: float
    left: _Side
    right: _Side
    slots: dict[str, str]
    form: int | None


class Grammar:
    """The productions of every category.

    >>> grammar = Grammar("[s]\\nla {n} está limpi<o|a|os|as:n> = the {n} is clean\\n[n]\\ncama = bed ; f", {})
    >>> grammar.expand("s", random.Random(1)).left
    'la cama está limpia'
    """

    def __init__(self, text: str, makers: dict[str, Maker]) -> None:
        self.productions: dict[str, list[_Production]] = {}
        self.makers = makers
        category, nouns = "", False
        for number, line in enumerate(re.sub(r"\n\s+= ", " = ", text).splitlines(), 1):
            line = line.strip()
            if line.startswith("["):
                nouns = line.endswith("/]")
                category = line.strip("[]/")
            elif line and not line.startswith("#"):
                try:
                    self._add(category, line, nouns)
                except (ValueError, KeyError) as error:
                    raise ValueError(f"[{category}], line {number}, {line!r}: {error}") from error
        self._totals = {
            name: list(itertools.accumulate(production.weight for production in made))
            for name, made in self.productions.items()
        }
        known = self.productions.keys() | makers.keys()
        for name, made in self.productions.items():
            for slot in {slot for production in made for slot in production.slots.values()} - known:
                raise ValueError(f"[{name}] uses {{{slot}}}, which is nowhere declared")

    def _add(self, category: str, line: str, nouns: bool) -> None:
        weight, line = _weight(line)
        body, _, feature = (part.strip() for part in line.partition(" ; "))
        left, right = (side.strip() for side in body.split(" = "))
        if nouns:
            for number, pair in zip("sp", zip(left.split("/"), right.split("/"), strict=True), strict=True):
                self._add_one(f"{category}.{number}", weight, *pair, feature + number)
        else:
            self._add_one(category, weight, left, right, feature)

    def _add_one(self, category: str, weight: float, left: str, right: str, feature: str) -> None:
        slots: dict[str, str] = {}
        left_side = _Side.parse(left, slots)
        count = len(slots)
        right_side = _Side.parse(right, slots)
        if len(slots) != count:
            raise ValueError("a slot on the right that is not on the left")
        form = _FORMS[feature] if feature else None if slots else 0
        self.productions.setdefault(category, []).append(_Production(weight, left_side, right_side, slots, form))

    def expand(self, category: str, draw: random.Random) -> Phrase:
        """Draw a phrase of a category."""
        if category in self.makers:
            return self.makers[category](draw)
        totals = self._totals[category]
        production = self.productions[category][bisect.bisect_right(totals, draw.random() * totals[-1])]
        inside = {label: self.expand(name, draw) for label, name in production.slots.items()}
        form = production.form
        if form is None:
            form = next(iter(inside.values())).form
        left = "".join([_realise(part, inside, 0) for part in production.left.parts])
        right = "".join([_realise(part, inside, 1) for part in production.right.parts])
        return Phrase(left, right, form)


def _weight(line: str) -> tuple[float, str]:
    number, star, rest = line.partition("* ")
    return (float(number), rest) if star and number.replace(".", "", 1).isdigit() else (1.0, line)


def _realise(part: str | tuple, inside: dict[str, Phrase], side: int) -> str:
    if isinstance(part, str):
        return part
    what, agree = part
    if isinstance(what, tuple):  # forms of a word
        return _form(what, inside[agree].form) if agree else f"<{'|'.join(what)}>"
    phrase = inside[what]
    text = phrase.right if side else phrase.left
    if agree:
        form = _FORMS[agree] if agree in _FORMS else inside[agree].form
        text = _open_choice.sub(lambda choice: _form(tuple(choice[1].split("|")), form), text)
    return text


_open_choice = re.compile(r"<([^<>]*)>")
_attached = re.compile(r"(\w+)~(\w+)")
_accents = str.maketrans("aei", "áéí")


def spell_spanish(text: str) -> str:
    """Place object pronouns, contract articles, and write the sentence with its capitals.

    >>> spell_spanish("¿^podría cambiar~mela a el llegar?")
    '¿Me la podría cambiar al llegar?'
    >>> spell_spanish("¿podría cambiar~mela y irse?")
    '¿Podría cambiármela e irse?'
    """
    if "^" in text:
        attached = _attached.search(text)
        pronouns = " ".join(re.findall("nos|me|le|se|l[oa]s?", attached[2])) + " " if attached else ""
        text = _attached.sub(r"\1", text.replace("^", pronouns))
    else:
        text = _attached.sub(_attach, text)
    text = re.sub(r"\b([ad]e?) el (?=[a-zé\d])", r"\1l ", text)  # not before a capital: a name keeps its article
    text = re.sub(r"\by (?=[iíIÍ]|[hH]i(?!e))", "e ", text)
    text = re.sub(r"\bo (?=[oóOÓ]|ho)", "u ", text)
    return capitalise(text)


def _attach(attached: re.Match[str]) -> str:
    verb, pronouns = attached[1], attached[2]
    if len(re.findall("nos|me|le|se|l[oa]s?", pronouns)) == 2:
        verb = verb[:-2] + verb[-2].translate(_accents) + verb[-1]  # the stress stays where it was: cambiármela
    return verb + pronouns


def spell_english(text: str) -> str:
    """Choose between *a* and *an*, and write the sentence with its capitals.

    >>> spell_english("a umbrella and a single room")
    'An umbrella and a single room'
    """
    return capitalise(re.sub(r"\b([Aa]) (?=(?!one\b|uni|eur)[aeiou]|8|11\b|18\b|hour)", r"\1n ", text))


def capitalise(text: str) -> str:
    """Give every sentence its capital letter."""
    return re.sub(r"(^|[.?!] )([¿¡]*)(\w)", lambda start: start[1] + start[2] + start[3].upper(), text)
