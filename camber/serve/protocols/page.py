"""What the page at / asks for: translations with all that there is to see, confirmed pairs, files, re-ranking.

Pages of others do not get to see any of this: it tells what a memory holds.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from camber.errors import CamberError
from camber.formats.glossary.glossary import Glossary
from camber.model.asking import Request, finder_of
from camber.model.kinds import KINDS
from camber.serve.calls import Answer, Call, Refusal
from camber.serve.details import CANDIDATES, details, told_match
from camber.serve.hosted import Hosted
from camber.serve.house import House
from camber.serve.languages import RIGHT_TO_LEFT, base_code, language_name
from camber.serve.protocols.libretranslate import languages_of
from camber.serve.texts import pieces_of

#: the files of the page and their types
FILES = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "view.js": "text/javascript; charset=utf-8",
    "files.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
#: a picture of ours, whose style stands inside, and nothing that could run
_PICTURES = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_MOST_TERMS = 500


@dataclass(frozen=True)
class Ask:
    """What the page wants to know of a text."""

    text: str
    source: str
    target: str
    format: str
    terms: tuple[tuple[str, str], ...]
    stream: bool


def parse(call: Call) -> Ask:
    """Read a call of /api/translate."""
    terms = call.value("terms") or []
    if not isinstance(terms, list) or len(terms) > _MOST_TERMS:
        raise Refusal(400, "terms must be a list of pairs")
    if not all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(it, str) for it in pair) for pair in terms):
        raise Refusal(400, "terms must be pairs of texts")
    pairs = tuple((source.strip(), target.strip()) for source, target in terms if source.strip())
    format = call.text("format") or "text"
    if format not in ("text", "html"):
        raise Refusal(400, f"{format} format is not supported")
    return Ask(call.text("text"), call.text("source"), call.text("target"), format, pairs, call.flag("stream"))


def at_home(call: Call) -> None:
    """Refuse what comes from pages of others."""
    if call.foreign:
        raise Refusal(403, "this is for the page of this server only")


def _model(house: House, source: str, target: str) -> Hosted:
    model = house.model(source, target)
    if model is None:
        raise Refusal(400, f"no model translates {source or '?'}-{target or '?'}")
    return model


async def translate(house: House, call: Call) -> Answer:
    """Answer with all that there is to see of a text, all at once or line by line as it is found."""
    at_home(call)
    house.allowed(call)
    ask = parse(call)
    house.check_sizes([ask.text])
    detected, source = None, ask.source
    if source == "auto":
        (detected,) = await languages_of(house, [ask.text])
        source = detected.language
        if house.model(source, ask.target) is None:  # it may be written in words of both
            likely = [item for item in await house.detect(ask.text) if house.model(item.language, ask.target)]
            source = likely[0].language if likely else source
    model = _model(house, source, ask.target)
    terms = _terms_of(ask, model)
    options = house.options(model, CANDIDATES, ask.format, terms, confidence=True)
    pieces = pieces_of(ask.text, ask.format)
    finder = finder_of(options.translator.text, options.glossary) if options.glossary else None
    head = {
        "model": f"{model.source}-{model.target}",
        "detected": None if detected is None else {"language": detected.language, "confidence": detected.confidence},
        "between": pieces.between,
        "count": len(pieces.texts),
    }

    async def rows() -> AsyncIterator[dict[str, Any]]:
        requests = [Request()] * len(pieces.texts)
        until = call.until + len(requests)  # a second more for each line
        async for place, best in house.decoding.stream(options, pieces.texts, requests, until):
            text = pieces.texts[place]
            told = await house.aside(details, text, best, options, finder, until=until)
            matches = await house.matches(model, text, 3, until=until)
            confirmed = any(match.added and match.percent == 100 and match.target == best[0].text for match in matches)
            told |= {
                "confirmed": confirmed or best[0].recalled,
                "matches": [told_match(match, text) for match in matches],
            }
            yield {"place": place, **told}

    if ask.stream:
        return Answer(type="application/x-ndjson", stream=_lines(head, rows()))
    found = sorted([row async for row in rows()], key=lambda row: row["place"])
    return Answer({**head, "pieces": found})


async def _lines(head: dict[str, Any], rows: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes]:
    yield _line(head)
    try:
        async for row in rows:
            yield _line(row)
    except Refusal as error:
        yield _line({"error": error.message})


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


#: glossaries that were asked for last: their terms are tokenised once
_MADE: dict[tuple[Any, ...], Glossary] = {}


def _terms_of(ask: Ask, model: Hosted) -> Glossary | None:
    """Return the terms of a call, with those of the server behind them; None if there are none of the call's own."""
    if not ask.terms or "terms" not in model.translator.decoder.takes:
        return None
    key = (ask.terms, id(model.glossary))
    if key not in _MADE:
        while len(_MADE) >= 8:
            del _MADE[next(iter(_MADE))]
        own = Glossary.of({source: target or None for source, target in ask.terms})
        known = {entry.source.casefold() for entry in own.entries}
        more = (
            [entry for entry in model.glossary.entries if entry.source.casefold() not in known]
            if model.glossary
            else []
        )
        _MADE[key] = Glossary([*own.entries, *more])
    return _MADE[key]


async def models(house: House, call: Call) -> Answer:
    """Tell which models there are, and what they can do."""
    at_home(call)
    return Answer(
        {
            "models": [_told(model) for model in house.models.values()],
            "needs_key": house.keys is not None,
            "learns": house.may_learn(call),
            "limit": house.settings.char_limit,
        }
    )


def _told(model: Hosted) -> dict[str, Any]:
    translator, directory = model.translator, model.translator.directory
    kind = KINDS.load(directory.kind) if directory is not None else None
    return {
        "source": model.source,
        "target": model.target,
        "source_name": language_name(model.source),
        "target_name": language_name(model.target),
        "source_rtl": base_code(model.source) in RIGHT_TO_LEFT,
        "target_rtl": base_code(model.target) in RIGHT_TO_LEFT,
        "name": model.name,
        "kind": directory.kind if directory else "",
        "added": len(translator.memory) if translator.memory is not None else 0,
        "takes_pairs": bool(kind and kind.takes_pairs),
        "takes_terms": "terms" in translator.decoder.takes,
        "calibrated": translator.calibration is not None,
        "curves": bool(kind and kind.weighs and translator.decoder.bend.FILE),
    }


async def confirm(house: House, call: Call) -> Answer:
    """Learn a translation that was confirmed."""
    at_home(call)
    model = _model(house, call.text("source"), call.text("target"))
    key = house.allowed(call, "learn")
    count = await house.learn(model, call.text("text"), call.text("translation"), key, until=call.until)
    return Answer({"added": count})


async def forget(house: House, call: Call) -> Answer:
    """Take a pair of the memory back, which is given as it is there."""
    at_home(call)
    model = _model(house, call.text("source"), call.text("target"))
    key = house.allowed(call, "learn")
    count = await house.forget(model, call.text("text"), call.text("translation"), key, until=call.until)
    return Answer({"forgotten": count})


async def curves(house: House, call: Call) -> Answer:
    """Show what a model learnt: that of a pair of languages, or what was drawn for somebody with a key."""
    at_home(call)
    asked = call.path.rsplit("/", 1)[-1]
    pair = asked.split("-to-")
    if len(pair) == 2:
        house.allowed(call)
        content = await _drawn(house, _model(house, *pair))
    else:
        content = house.drawings.fetch(asked).data
    headers = {"content-security-policy": _PICTURES, "cache-control": "no-store"}
    return Answer(content, type="text/html; charset=utf-8", headers=headers)


async def draw_curves(house: House, call: Call) -> Answer:
    """Draw what a model learnt; a browser, which sends no key where it follows a link, finds it under the name told."""
    at_home(call)
    house.allowed(call)
    model = _model(house, call.text("source"), call.text("target"))
    return Answer({"id": house.drawings.keep(model.name, await _drawn(house, model))})


async def _drawn(house: House, model: Hosted) -> bytes:
    def drawn() -> bytes:
        from camber.report.curves import curves as draw

        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "curves.html"
            draw(model.translator, out)
            return out.read_bytes()

    try:
        return await house.aside(drawn)
    except CamberError as error:
        raise Refusal(404, str(error)) from None


async def translate_document(house: House, call: Call) -> Answer:
    """Translate a file; the answer is a line for each step, and at the end where to fetch it."""
    at_home(call)
    house.allowed(call)
    query = Call("GET", "/", call.query)  # the body is the file
    name = Path(query.text("name").replace("\\", "/")).name or "file"
    model = _model(house, query.text("source"), query.text("target"))
    if not call.body:
        raise Refusal(400, f"{name}: an empty file")

    async def lines() -> AsyncGenerator[bytes]:
        async for step in house.documents.translate(call.body, name, model):
            yield _line(step)

    return Answer(type="application/x-ndjson", stream=lines())


async def fetch_document(house: House, call: Call) -> Answer:
    """Give a translated file."""
    finished = house.documents.finished.fetch(call.path.rsplit("/", 1)[-1])
    name = quote(finished.name)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}", "cache-control": "no-store"}
    return Answer(finished.data, type="application/octet-stream", headers=headers)


async def rerank(house: House, call: Call) -> Answer:
    """Re-rank an n-best list that was brought along."""
    at_home(call)
    house.allowed(call)
    from camber.serve.reranking import rerank as by_folds

    nbest, references = call.text("nbest"), call.text("references").splitlines()
    if not nbest or not references:
        raise Refusal(400, "an n-best list and its references, line by line, are needed")
    try:
        content = await house.slowly(
            by_folds, nbest.encode("utf-8", "replace"), references, call.text("name") or "nbest"
        )
    except CamberError as error:
        raise Refusal(400, str(error)) from None
    return Answer(content)


async def file(house: House, call: Call) -> Answer:
    """Give one of the page's files."""
    name = "index.html" if call.path == "/" else call.path.rsplit("/", 1)[-1]
    if name not in FILES:
        raise Refusal(404, "Not Found")
    content = (resources.files("camber.serve") / "page" / name).read_bytes()
    headers = {"content-security-policy": _POLICY, "cache-control": "no-cache"}
    return Answer(content, type=FILES[name], headers=headers)


def refusal(error: Refusal) -> Answer:
    """Return an error."""
    return Answer({"error": error.message}, error.status)


PATHS: dict[str, Sequence[tuple[str, Any, bool]]] = {
    "/": [("GET", file, False)],
    "/page/{}": [("GET", file, False)],
    "/api/models": [("GET", models, False)],
    "/api/translate": [("POST", translate, True)],
    "/api/confirm": [("POST", confirm, True)],
    "/api/forget": [("POST", forget, True)],
    "/api/files": [("POST", translate_document, True)],
    "/api/files/{}": [("GET", fetch_document, False)],
    "/api/rerank": [("POST", rerank, True)],
    "/api/curves": [("POST", draw_curves, True)],
    "/curves/{}": [("GET", curves, True)],
}
