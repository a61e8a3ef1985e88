"""The protocol of tmserver: translations that are known of a segment, and of others like it.

GET /fr/en/unit/Bonjour       what the memory has like it: source, target, quality (0 to 100)
PUT /fr/en/unit/Bonjour       {"source": "Bonjour", "target": "Hello"}: learn it
GET /tmserver/languages       languages, for clients whose base address is /tmserver: /languages speaks another protocol
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from camber.serve.calls import Answer, Call, Refusal
from camber.serve.hosted import Hosted
from camber.serve.house import House
from camber.serve.keys import LEARN, MATCH

#: a path as it came: a segment may have slashes of its own
PATH = re.compile(r"/{1,2}(?:tmserver/)?([\w@-]{2,20})/([\w@-]{2,20})/unit/(.*)", re.DOTALL)
#: matches that are told, and percent of the least alike of them
_MOST, _LEAST = 20, 30


def parse(raw_path: str) -> tuple[str, str, str]:
    """Return the languages and the segment of a path.

    >>> parse("/fr/en/unit/a%2Fb/c%20%C3%A9")
    ('fr', 'en', 'a/b/c é')
    """
    match = PATH.fullmatch(raw_path)
    if match is None:
        raise Refusal(404, "Not Found")
    return match[1], match[2], unquote(match[3])


def _model(house: House, source: str, target: str) -> Hosted | None:
    model = house.model(source, target)
    if model is None and not house.echoes:
        raise Refusal(404, f"no model translates {source}-{target}")
    return model


async def unit(house: House, call: Call) -> Answer:
    """Answer what the memory of a model has like a segment."""
    house.allowed(call, MATCH)
    source, target, text = parse(call.raw_path)
    house.check_sizes([text])
    model = _model(house, source, target)
    if model is None:
        return Answer([])
    count, least = call.number("max_candidates", 5, _MOST), max(call.number("min_similarity", 50, 100), _LEAST)
    found = await house.matches(model, text, count, least / 100, until=call.until)
    # with a decimal point, as tmserver writes it: clients in Java tell whole numbers from others, and take no whole one
    return Answer(
        [
            {"source": item.source, "target": item.target, "quality": float(item.percent), "rank": float(item.percent)}
            for item in found
        ]
    )


async def languages(house: House, call: Call) -> Answer:
    """Answer which languages there are on either side."""
    pairs = [(model.source, model.target) for model in house.models.values()]
    sources, targets = (sorted(set(side)) for side in zip(*pairs, strict=True))
    return Answer({"sourceLanguages": sources, "targetLanguages": targets})


async def learn(house: House, call: Call) -> Answer:
    """Learn the translation of a segment."""
    key = house.allowed(call, LEARN)
    source, target, text = parse(call.raw_path)
    model = _model(house, source, target)
    translation = call.text("target")
    if model is None or not translation:
        raise Refusal(400, "a unit needs a target, and languages that a model translates")
    await house.learn(model, call.text("source") or text, translation, key, until=call.until)
    return Answer({"added": 1})


def refusal(error: Refusal) -> Answer:
    """Return an error."""
    return Answer({"error": error.message}, error.status)
