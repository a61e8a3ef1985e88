"""LibreTranslate's protocol, as its clients use it: /translate, /languages, /detect, /suggest, /frontend/settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from camber.serve.calls import Answer, Busy, Call, Refusal, refused
from camber.serve.detect import Detected
from camber.serve.house import House, Translated
from camber.serve.keys import LEARN
from camber.serve.languages import language_name
from camber.serve.protocols import apertium
from camber.serve.texts import alternatives

#: header of an answer whose text is not translated
ECHO_HEADER = "X-Camber-Untranslated"
_MOST_ALTERNATIVES = 20
_FORMATS = {"text": "text", "html": "html"}


@dataclass(frozen=True)
class Ask:
    """What a call of /translate asks for."""

    texts: tuple[str, ...]
    batch: bool  # a list came, so a list goes back
    source: str
    target: str
    format: str
    alternatives: int


def parse(call: Call) -> Ask:
    """Read a call of /translate.

    >>> parse(Call("POST", "/translate", "q=Bonjour&source=fr&target=EN")).target
    'EN'
    """
    q = call.value("q")
    if isinstance(q, list) and not (call.body and call.is_json):
        q = q[0]
    for name, value in (("q", q), ("source", call.value("source")), ("target", call.value("target"))):
        if not value:
            raise Refusal(400, f"Invalid request: missing {name} parameter")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "Invalid request: q must be a text or a list of texts")
    format = call.text("format") or "text"
    if format not in _FORMATS:
        raise Refusal(400, f"{format} format is not supported")
    count = call.number("alternatives", 0, _MOST_ALTERNATIVES)
    return Ask(tuple(texts), isinstance(q, list), call.text("source"), call.text("target"), format, count)


def answer(
    ask: Ask, texts: Sequence[str], others: Sequence[Sequence[str]], detected: Sequence[Detected] | None
) -> dict[str, Any]:
    """Return the answer to a call of /translate; `detected` are the languages of the texts, if they were asked for."""
    shape: Callable[[list[Any]], Any] = (lambda items: items) if ask.batch else (lambda items: items[0])
    content: dict[str, Any] = {"translatedText": shape(list(texts))}
    if detected is not None:
        content["detectedLanguage"] = shape([_detection(item) for item in detected])
    if ask.alternatives:
        content["alternatives"] = shape([list(some) for some in others])
    return content


def _detection(item: Detected) -> dict[str, Any]:
    return {"confidence": item.confidence, "language": item.language}


async def translate(house: House, call: Call) -> Answer:
    """Answer /translate; with a langpair in its form, it is one of Apertium's."""
    if call.value("langpair"):
        try:
            return await apertium.translate(house, call)
        except Refusal as error:
            return refused(error, apertium.refusal)
    house.allowed(call)
    ask = parse(call)
    house.check_sizes(ask.texts)
    target = house.language(ask.target)
    if target is None and not house.echoes:
        raise Refusal(400, f"{ask.target} is not supported")
    detected: list[Detected] | None = None
    if ask.source.lower() == "auto":
        detected = await languages_of(house, ask.texts)
        sources = [item.language for item in detected]
    else:
        source = house.language(ask.source)
        if source is None and not house.echoes:
            raise Refusal(400, f"{ask.source} is not supported")
        sources = [source or ask.source] * len(ask.texts)
    texts, headers = list(ask.texts), {}
    others: list[list[str]] = [[] for _ in ask.texts]
    for source in dict.fromkeys(sources):
        rows = [row for row, own in enumerate(sources) if own == source]
        if House.same(source, target or ask.target):
            continue
        model = house.model(source, ask.target)
        if model is None:
            if not house.echoes:
                raise Refusal(400, _no_pair(source, target or ask.target))
            headers[ECHO_HEADER] = f"no model translates {source}-{target or ask.target}".encode(
                "ascii", "replace"
            ).decode()
            continue
        options = house.options(model, 2 * ask.alternatives + 1 if ask.alternatives else 1, ask.format)
        found: list[Translated] = await house.translate([texts[row] for row in rows], options, call.until)
        for row, item in zip(rows, found, strict=True):
            texts[row] = item.text
            others[row] = alternatives(item.pieces, item.found, ask.alternatives)
    return Answer(answer(ask, texts, others, detected), headers=headers)


def _no_pair(source: str, target: str) -> str:
    return (
        f"{language_name(target)} ({target}) is not available as a target language from "
        f"{language_name(source)} ({source})"
    )


async def languages_of(house: House, texts: Sequence[str]) -> list[Detected]:
    """Return the language of each text: by itself where it is long enough, else by all texts together."""
    together = (await house.detect("\n".join(texts)))[0]
    return [(await house.detect(text))[0] if len(text) > 40 else together for text in texts]


async def languages(house: House, call: Call) -> Answer:
    """Answer /languages."""
    return Answer([{"code": code, "name": language_name(code), "targets": house.targets(code)} for code in house.codes])


async def detect(house: House, call: Call) -> Answer:
    """Answer /detect."""
    house.allowed(call)
    text = call.value("q")
    if isinstance(text, list):
        text = "\n".join(item for item in text if isinstance(item, str))
    if not text or not isinstance(text, str):
        raise Refusal(400, "Invalid request: missing q parameter")
    found = await house.detect(text)
    return Answer([_detection(item) for place, item in enumerate(found) if item.confidence >= 1 or place == 0])


async def suggest(house: House, call: Call) -> Answer:
    """Answer /suggest: a better translation, which the model learns."""
    key = house.allowed(call, LEARN)
    for name in ("q", "s", "source", "target"):
        if not call.text(name):
            raise Refusal(400, f"Invalid request: missing {name} parameter")
    source, target = call.text("source"), call.text("target")
    for code in (source, target):
        if house.language(code) is None:
            raise Refusal(400, f"{code} is not supported")
    model = house.model(source, target)
    if model is None:
        raise Refusal(400, _no_pair(source, target))
    await house.learn(model, call.text("q"), call.text("s"), key, until=call.until)
    return Answer({"success": True})


async def frontend_settings(house: House, call: Call) -> Answer:
    """Answer /frontend/settings."""
    source = house.sources[0]
    target = house.targets(source)[0]
    return Answer(
        {
            "charLimit": house.settings.char_limit,
            "frontendTimeout": 500,
            "apiKeys": house.keys is not None,
            "keyRequired": house.keys is not None,
            "suggestions": house.may_learn(call),
            "filesTranslation": False,
            "supportedFilesFormat": [],
            "language": {
                "source": {"code": "auto", "name": "Auto Detect"},
                "target": {"code": target, "name": language_name(target)},
            },
        }
    )


def refusal(error: Refusal) -> Answer:
    """Return an error as clients of this protocol expect it."""
    if isinstance(error, Busy):
        return Answer({"error": f"Slowdown: {error.message}"}, 429)
    return Answer({"error": error.message}, error.status)
