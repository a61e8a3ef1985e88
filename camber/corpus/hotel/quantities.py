"""Numbers, times and dates in Spanish and English: the phrases of the hotel grammar that follow rules of arithmetic."""

from __future__ import annotations

import random

from camber.corpus.hotel.engine import Maker, Phrase


def _words(text: str) -> list[str]:
    return text.split()


SPANISH = [
    *_words("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis"),
    *_words("diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco"),
    *_words("veintiséis veintisiete veintiocho veintinueve treinta"),
    "treinta y uno",
]
_UNITS = _words("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
_TEENS = ["seventeen", "eighteen", "nineteen"]
ENGLISH = [*_UNITS, *_TEENS, "twenty", *(f"twenty-{unit}" for unit in _UNITS[1:10]), "thirty"]
_FIRST = _words("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
ORDINALS = [
    "zeroth",
    *_FIRST,
    *(f"{name}th" for name in ENGLISH[13:20]),
    "twentieth",
    *(f"twenty-{name}" for name in _FIRST[:9]),
    "thirtieth",
    "thirty-first",
]
MONTHS = [
    ("enero", "January", 31),
    ("febrero", "February", 28),
    ("marzo", "March", 31),
    ("abril", "April", 30),
    ("mayo", "May", 31),
    ("junio", "June", 30),
    ("julio", "July", 31),
    ("agosto", "August", 31),
    ("septiembre", "September", 30),
    ("octubre", "October", 31),
    ("noviembre", "November", 30),
    ("diciembre", "December", 31),
]
WEEKDAYS = [
    ("lunes", "Monday"),
    ("martes", "Tuesday"),
    ("miércoles", "Wednesday"),
    ("jueves", "Thursday"),
    ("viernes", "Friday"),
    ("sábado", "Saturday"),
    ("domingo", "Sunday"),
]


def _below(draw: random.Random, limit: int) -> int:
    """Draw an integer below `limit` (from random(), whose sequence is the same in every version of Python)."""
    return int(draw.random() * limit)


def _suffixed(day: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in (11, 12, 13) else "th"
    return f"{day}{suffix}"


def room_number(draw: random.Random) -> Phrase:
    """A room number: floor, then two digits."""
    number = f"{1 + _below(draw, 6)}{1 + _below(draw, 24):02d}"
    return Phrase(number, number)


def room_on_floor(draw: random.Random) -> Phrase:
    """A room number with the floor that it tells: la 312 y está en el tercer piso."""
    floor, number = 1 + _below(draw, 5), 1 + _below(draw, 24)
    spanish = ("primer", "segundo", "tercer", "cuarto", "quinto")[floor - 1]
    return Phrase(
        f"la {floor}{number:02d} y está en el {spanish} piso",
        f"number {floor}{number:02d} and it is on the {ORDINALS[floor]} floor",
    )


def price(draw: random.Random) -> Phrase:
    """A price in euros, sometimes with cents, which Spanish writes with a comma."""
    euros = 5 * (4 + _below(draw, 36))
    if draw.random() < 0.25:
        cents = (50, 75, 90, 25)[_below(draw, 4)]
        return Phrase(f"{euros},{cents} euros", f"{euros}.{cents} euros", 2)
    return Phrase(f"{euros} euros", f"{euros} euros", 2)


def few(draw: random.Random) -> Phrase:
    """A small number in words, from two."""
    number = 2 + _below(draw, 4)
    return Phrase(SPANISH[number], ENGLISH[number], 2)


def several(draw: random.Random) -> Phrase:
    """A number in words from two to twelve."""
    number = 2 + _below(draw, 11)
    return Phrase(SPANISH[number], ENGLISH[number], 2)


def minutes(draw: random.Random) -> Phrase:
    """A number of minutes in words, by fives."""
    number = 5 * (1 + _below(draw, 6))
    return Phrase(SPANISH[number], ENGLISH[number], 2)


def hour(draw: random.Random) -> Phrase:
    """A full hour: las siete / seven."""
    number = 1 + _below(draw, 12)
    return Phrase("la una" if number == 1 else f"las {SPANISH[number]}", ENGLISH[number])


def opening(draw: random.Random) -> Phrase:
    """Opening hours: de siete a diez / from seven to ten."""
    first = 6 + _below(draw, 4)
    last = first + 1 + _below(draw, 12 - first)
    if draw.random() < 0.3:
        return Phrase(f"de {SPANISH[first]} a {SPANISH[last]}", f"from {ENGLISH[first]} to {ENGLISH[last]}")
    return Phrase(f"de las {SPANISH[first]} a las {SPANISH[last]}", f"from {ENGLISH[first]} to {ENGLISH[last]}")


def daytime(draw: random.Random) -> Phrase:
    """An hour with its part of the day: las siete de la mañana / seven in the morning."""
    number = 1 + _below(draw, 11)
    spanish = "la una" if number == 1 else f"las {SPANISH[number]}"
    if number >= 5 and draw.random() < 0.6:
        return Phrase(f"{spanish} de la mañana", f"{ENGLISH[number]} in the morning")
    if number >= 9:
        return Phrase(f"{spanish} de la noche", f"{ENGLISH[number]} at night")
    part = "in the afternoon" if number < 6 else "in the evening"
    return Phrase(f"{spanish} de la tarde", f"{ENGLISH[number]} {part}")


def clock(draw: random.Random) -> Phrase:
    """A time of day in words or digits: las siete y media / half past seven."""
    number, kind = 1 + _below(draw, 12), draw.random()
    spanish = "la una" if number == 1 else f"las {SPANISH[number]}"
    english = ENGLISH[number]
    if kind < 0.30:
        return Phrase(spanish, english)
    if kind < 0.50:
        return Phrase(f"{spanish} y media", f"half past {english}")
    if kind < 0.62:
        return Phrase(f"{spanish} y cuarto", f"a quarter past {english}")
    if kind < 0.74:
        return Phrase(f"{spanish} menos cuarto", f"a quarter to {english}")
    if kind < 0.82:
        past = (5, 10, 20, 25)[_below(draw, 4)]
        return Phrase(f"{spanish} y {SPANISH[past]}", f"{ENGLISH[past]} past {english}")
    if kind < 0.90:
        to = (5, 10, 20, 25)[_below(draw, 4)]
        return Phrase(f"{spanish} menos {SPANISH[to]}", f"{ENGLISH[to]} to {english}")
    article = "la" if number == 1 else "las"
    digits = f"{number}:{(0, 15, 30, 45)[_below(draw, 4)]:02d}"
    return Phrase(f"{article} {digits}", digits)


def day_and_month(draw: random.Random) -> Phrase:
    """A date without "on": el tres de mayo / the third of May, el 3 de mayo / May 3rd."""
    spanish, english, length = MONTHS[_below(draw, 12)]
    day = 1 + _below(draw, length)
    if draw.random() < 0.5:
        return Phrase(f"el {SPANISH[day]} de {spanish}", f"the {ORDINALS[day]} of {english}")
    return Phrase(f"el {day} de {spanish}", f"{english} {_suffixed(day)}")


def full_date(draw: random.Random) -> Phrase:
    """A date with its weekday: el lunes 3 de mayo / Monday, May 3rd."""
    spanish, english, length = MONTHS[_below(draw, 12)]
    day = 1 + _below(draw, length)
    weekday = WEEKDAYS[_below(draw, 7)]
    return Phrase(f"el {weekday[0]} {day} de {spanish}", f"{weekday[1]}, {english} {_suffixed(day)}")


def span(draw: random.Random) -> Phrase:
    """A stay: del tres al siete de mayo / from the third to the seventh of May."""
    spanish, english, length = MONTHS[_below(draw, 12)]
    first = 1 + _below(draw, length - 10)
    last = first + 1 + _below(draw, 10)
    if draw.random() < 0.5:
        return Phrase(
            f"del {SPANISH[first]} al {SPANISH[last]} de {spanish}",
            f"from the {ORDINALS[first]} to the {ORDINALS[last]} of {english}",
        )
    return Phrase(f"del {first} al {last} de {spanish}", f"from {english} {_suffixed(first)} to {_suffixed(last)}")


def weekday(draw: random.Random) -> Phrase:
    """A day of the week, without article."""
    return Phrase(*WEEKDAYS[_below(draw, 7)])


MAKERS: dict[str, Maker] = {
    "roomno": room_number,
    "roomonfloor": room_on_floor,
    "price": price,
    "few": few,
    "several": several,
    "minutes": minutes,
    "hour": hour,
    "opening": opening,
    "clock": clock,
    "daytime": daytime,
    "dayofmonth": day_and_month,
    "fulldate": full_date,
    "span": span,
    "weekday": weekday,
}
