"""The protocol of Apertium's APy: /translate with a langpair, /listPairs, /identifyLang."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from camber.model.translator import Translation
from camber.serve.calls import Answer, Busy, Call, Refusal
from camber.serve.house import House, Translated

#: what clients call formats; "html" is this service's default, but texts of clients that say nothing are plain
_FORMATS = {"": "text", "txt": "text", "text": "text", "html": "html", "html-noent": "html"}


@dataclass(frozen=True)
class Ask:
    """What a call of /translate with a langpair asks for."""

    text: str
    source: str
    target: str
    format: str
    mark_unknown: bool


def parse(call: Call) -> Ask:
    """Read a call of /translate.

    >>> parse(Call("GET", "/translate", "q=Bonjour&markUnknown=no&langpair=fr|en&key="))
    Ask(text='Bonjour', source='fr', target='en', format='text', mark_unknown=False)
    """
    source, _, target = call.text("langpair").partition("|")
    if not source or not target or "|" in target:
        raise Refusal(400, "That pair is invalid, use e.g. eng|spa")
    if call.value("q") is None:
        raise Refusal(400, "Missing argument q")
    format = (call.text("format") or call.text("deformat")).removeprefix("apertium-des")
    if format not in _FORMATS:
        raise Refusal(400, f"The format {format} is not known")
    return Ask(call.text("q"), source, target, _FORMATS[format], call.flag("markUnknown", otherwise=True))


def marked(translated: Translated) -> str:
    """Return a text with a star before each word that the model does not know."""
    return translated.pieces.join([_starred(best[0]) for best in translated.found])


def _starred(best: Translation) -> str:
    derivation, text, done = best.derivation, best.text, 0
    if best.recalled:
        return text
    for rule, (begin, end) in zip(derivation.rules.tolist(), derivation.target_spans.tolist(), strict=True):
        if rule >= 0:
            continue
        for word in derivation.words[begin:end]:
            place = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE).search(text, done)
            if place and any(map(str.isalpha, word)):
                text = f"{text[: place.start()]}*{text[place.start() :]}"
                done = place.end() + 1
    return text


def answer(content: Any) -> Answer:
    """Return an answer in this service's envelope."""
    return Answer({"responseData": content, "responseDetails": None, "responseStatus": 200})


async def translate(house: House, call: Call) -> Answer:
    """Answer /translate."""
    house.allowed(call)
    ask = parse(call)
    house.check_sizes([ask.text])
    model = house.model(ask.source, ask.target)
    if model is None:
        if not house.echoes:
            raise Refusal(400, "That pair is not installed")
        return answer({"translatedText": ask.text})
    (found,) = await house.translate([ask.text], house.options(model, format=ask.format), call.until)
    return answer({"translatedText": marked(found) if ask.mark_unknown else found.text})


async def list_pairs(house: House, call: Call) -> Answer:
    """Answer /listPairs."""
    return answer([{"sourceLanguage": source, "targetLanguage": target} for source, target in house.models])


async def identify(house: House, call: Call) -> Answer:
    """Answer /identifyLang."""
    house.allowed(call)
    return Answer({item.language: item.confidence / 100 for item in await house.detect(call.text("q"))})


_REASONS = {400: "Bad Request", 403: "Forbidden", 413: "Payload Too Large", 503: "Service Unavailable"}


def refusal(error: Refusal) -> Answer:
    """Return an error as clients of this protocol expect it."""
    reason = _REASONS.get(error.status, "Internal Server Error")
    content = {"status": "error", "code": error.status, "message": reason, "explanation": error.message}
    status = 503 if isinstance(error, Busy) else error.status
    return Answer(content, status)
