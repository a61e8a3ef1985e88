"""DeepL's protocol, version 2, for clients whose server can be chosen: /v2/translate, languages, usage, glossaries."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from camber.serve.calls import Answer, Busy, Call, Refusal
from camber.serve.glossaries import Kept, read_entries
from camber.serve.house import House
from camber.serve.keys import MATCH
from camber.serve.languages import base_code, language_name, plain_code
from camber.serve.protocols.libretranslate import ECHO_HEADER, languages_of

#: what this service calls languages that have more than one written form: clients must choose one as a target
_VARIANTS = {
    "EN": {"EN-GB": "English (British)", "EN-US": "English (American)"},
    "PT": {"PT-PT": "Portuguese (European)", "PT-BR": "Portuguese (Brazilian)"},
}
_TAGS = {"": "text", "xml": "xliff-inline", "html": "html"}
_NAME = re.compile(r"[A-Za-z_][\w:.-]{0,80}")
_KEEP = '\ttranslate="no"'  # with a tab: an attribute that a client wrote itself looks otherwise
#: characters of a month; nobody counts down
_LIMIT = 1_000_000_000_000


@dataclass(frozen=True)
class Ask:
    """What a call of /v2/translate asks for."""

    texts: tuple[str, ...]
    source: str  # empty: to be found out
    target: str
    format: str
    kept: tuple[str, ...]  # names of elements that are not translated
    glossary: str  # an id
    split: bool  # sentences are translated one by one


def parse(call: Call) -> Ask:
    """Read a call of /v2/translate.

    >>> parse(Call("POST", "/v2/translate", "text=a&text=b&target_lang=EN-GB&tag_handling=xml&ignore_tags=x,y")).kept
    ('x', 'y')
    """
    texts = call.fields.get("text", [])
    if not texts:
        raise Refusal(400, "Parameter 'text' not specified.")
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "Bad request. Reason: 'text' must be a text or a list of texts.")
    target = call.text("target_lang")
    if not target:
        raise Refusal(400, "Value for 'target_lang' not supported.")
    handling = call.text("tag_handling")
    if handling not in _TAGS:
        raise Refusal(400, "Value for 'tag_handling' not supported.")
    names = [
        name.strip()
        for value in call.fields.get("ignore_tags", [])
        if isinstance(value, str)
        for name in value.split(",")
    ]
    if not all(_NAME.fullmatch(name) for name in names if name):
        raise Refusal(400, "Value for 'ignore_tags' not supported.")
    if call.text("formality") in ("more", "less"):
        raise Refusal(400, "'formality' is not supported for given 'target_lang'.")
    glossary = call.text("glossary_id")
    if glossary and not call.text("source_lang"):
        raise Refusal(400, "Value for 'source_lang' not supported: a glossary needs it.")
    split = str(call.value("split_sentences")).lower() not in ("0", "off", "false")
    kept = tuple(filter(None, names)) if handling else ()
    return Ask(tuple(texts), call.text("source_lang"), target, _TAGS[handling], kept, glossary, split)


def sealed(text: str, names: Sequence[str]) -> str:
    """Mark elements whose content is to stay as it is.

    >>> sealed('Press <x id="8">OK</x> <y/>', ["x", "y"])
    'Press <x\\ttranslate="no" id="8">OK</x> <y/>'
    """
    if not names:
        return text
    opens = "|".join(map(re.escape, names))
    return re.sub(rf"<({opens})(?=[\s>])(?!{_KEEP})(?![^<>]*/>)", rf"<\1{_KEEP}", text)


def unsealed(text: str, names: Sequence[str]) -> str:
    """Take the marks away again."""
    opens = "|".join(map(re.escape, names))
    return re.sub(rf"<({opens}){_KEEP}", r"<\1", text) if names else text


def answer(ask: Ask, texts: Sequence[str], sources: Sequence[str]) -> dict[str, Any]:
    """Return the answer to a call of /v2/translate."""
    return {
        "translations": [
            {"detected_source_language": source.upper(), "text": text, "billed_characters": len(original)}
            for original, text, source in zip(ask.texts, texts, sources, strict=True)
        ]
    }


async def translate(house: House, call: Call) -> Answer:
    """Answer /v2/translate."""
    key = house.allowed(call)
    ask = parse(call)
    house.check_sizes(ask.texts)
    target = house.language(ask.target)
    if target is None and not house.echoes:
        raise Refusal(400, "Value for 'target_lang' not supported.")
    if ask.source:
        source = house.language(ask.source)
        if source is None and not house.echoes:
            raise Refusal(400, "Value for 'source_lang' not supported.")
        sources = [source or plain_code(ask.source)] * len(ask.texts)
    else:
        sources = [found.language for found in await languages_of(house, ask.texts)]
    terms = house.glossaries.find(ask.glossary) if ask.glossary else None
    if terms and not (House.same(terms.source, ask.source) and House.same(terms.target, ask.target)):
        raise Refusal(400, "The glossary is for other languages than 'source_lang' and 'target_lang'.")
    texts, headers = list(ask.texts), {}
    for source in dict.fromkeys(sources):
        rows = [row for row, own in enumerate(sources) if own == source]
        if House.same(source, ask.target):
            continue
        model = house.model(source, ask.target)
        if model is None:
            if not house.echoes:
                raise Refusal(400, "Value for 'target_lang' not supported.")
            headers[ECHO_HEADER] = "no model for this pair"
            continue
        options = house.options(model, format=ask.format, glossary=terms.glossary if terms else None, split=ask.split)
        found = await house.translate([sealed(texts[row], ask.kept) for row in rows], options, call.until)
        for row, item in zip(rows, found, strict=True):
            texts[row] = unsealed(item.text, ask.kept)
    house.metrics.count(
        "camber_billed_characters_total", "Characters, by key.", sum(map(len, ask.texts)), key=key.name if key else ""
    )
    return Answer(answer(ask, texts, [base_code(source) for source in sources]), headers=headers)


async def languages(house: House, call: Call) -> Answer:
    """Answer /v2/languages."""
    house.allowed(call)
    of_targets = call.text("type") == "target"
    codes = dict.fromkeys(target for _, target in house.models) if of_targets else house.sources
    rows: dict[str, str] = {}
    for code in codes:
        upper = code.upper()
        rows |= _VARIANTS.get(upper, {}) if of_targets and upper in _VARIANTS else {upper: language_name(code)}
    return Answer(
        [
            {"language": code, "name": name, **({"supports_formality": False} if of_targets else {})}
            for code, name in rows.items()
        ]
    )


async def usage(house: House, call: Call) -> Answer:
    """Answer /v2/usage: what was translated with this key since the server was started."""
    key = house.allowed(call)
    count = house.metrics.total("camber_billed_characters_total", key=key.name if key else "")
    return Answer({"character_count": int(count), "character_limit": _LIMIT})


async def glossary_pairs(house: House, call: Call) -> Answer:
    """Answer /v2/glossary-language-pairs."""
    house.allowed(call)
    pairs = [
        {"source_lang": base_code(source), "target_lang": base_code(target)}
        for (source, target), model in house.models.items()
        if "terms" in model.translator.decoder.takes
    ]
    return Answer({"supported_languages": pairs})


async def make_glossary(house: House, call: Call) -> Answer:
    """Make a glossary."""
    house.allowed(call, MATCH)
    for name in ("name", "source_lang", "target_lang", "entries", "entries_format"):
        if not call.text(name):
            raise Refusal(400, f"Parameter '{name}' not specified.")
    source, target = base_code(call.text("source_lang")), base_code(call.text("target_lang"))
    if house.model(source, target) is None:
        raise Refusal(400, "Unsupported glossary source and target language pair.")
    entries = read_entries(call.text("entries"), call.text("entries_format"))
    return Answer(_told(house.glossaries.make(call.text("name")[:1024], source, target, entries)), 201)


async def list_glossaries(house: House, call: Call) -> Answer:
    """Tell all glossaries."""
    house.allowed(call, MATCH)
    return Answer({"glossaries": [_told(kept) for kept in house.glossaries]})


async def glossary(house: House, call: Call) -> Answer:
    """Tell of one glossary."""
    house.allowed(call, MATCH)
    return Answer(_told(house.glossaries.find(_id(call))))


async def glossary_entries(house: House, call: Call) -> Answer:
    """Tell the entries of a glossary."""
    house.allowed(call, MATCH)
    return Answer(house.glossaries.find(_id(call)).tsv, type="text/tab-separated-values; charset=utf-8")


async def delete_glossary(house: House, call: Call) -> Answer:
    """Forget a glossary."""
    house.allowed(call, MATCH)
    house.glossaries.delete(_id(call))
    return Answer(status=204)


def _id(call: Call) -> str:
    return call.path.split("/")[3]


def _told(kept: Kept) -> dict[str, Any]:
    return {
        "glossary_id": kept.id,
        "name": kept.name,
        "ready": True,
        "source_lang": kept.source,
        "target_lang": kept.target,
        "creation_time": kept.created,
        "entry_count": len(kept.entries),
    }


def refusal(error: Refusal) -> Answer:
    """Return an error as clients of this protocol expect it; what it calls wrong authorisation is 403."""
    if isinstance(error, Busy):
        return Answer({"message": "Too many requests"}, 429)
    if error.status == 400 and "API key" in error.message:
        return Answer({"message": error.message}, 403)
    return Answer({"message": error.message}, error.status)


#: path → method → function; {} is the id of a glossary
PATHS: dict[str, dict[str, Callable[..., Any]]] = {
    "/v2/translate": {"POST": translate, "GET": translate},
    "/v2/languages": {"GET": languages, "POST": languages},
    "/v2/usage": {"GET": usage, "POST": usage},
    "/v2/glossary-language-pairs": {"GET": glossary_pairs},
    "/v2/glossaries": {"GET": list_glossaries, "POST": make_glossary},
    "/v2/glossaries/{}": {"GET": glossary, "DELETE": delete_glossary},
    "/v2/glossaries/{}/entries": {"GET": glossary_entries},
}
