"""The description of all that a server answers, in OpenAPI's terms."""

from __future__ import annotations

from typing import Any

import camber

_STRING: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"oneOf": [_STRING, {"type": "array", "items": _STRING}]}


def _object(required: str = "", **properties: Any) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": "object", "properties": properties}
    return shape | ({"required": required.split()} if required else {})


_ERROR = {"description": "What is wrong", "content": {"application/json": {"schema": _object(error=_STRING)}}}
_BUSY = {
    "description": "Not answered within the deadline; try again after Retry-After seconds",
    "headers": {"Retry-After": {"schema": {"type": "integer"}}},
}
_TRANSLATE = _object(
    "q source target",
    q=_TEXTS,
    source={**_STRING, "description": "code of a language, or auto"},
    target=_STRING,
    format={**_STRING, "enum": ["text", "html"]},
    alternatives={"type": "integer"},
    api_key=_STRING,
)
_DEEPL = _object(
    "text target_lang",
    text={"type": "array", "items": _STRING},
    source_lang=_STRING,
    target_lang=_STRING,
    tag_handling={**_STRING, "enum": ["xml", "html"]},
    ignore_tags={"type": "array", "items": _STRING},
    glossary_id=_STRING,
    split_sentences=_STRING,
)
_GLOSSARY = _object(
    "name source_lang target_lang entries entries_format",
    name=_STRING,
    source_lang=_STRING,
    target_lang=_STRING,
    entries=_STRING,
    entries_format={**_STRING, "enum": ["tsv", "csv"]},
)
_DETECT = _object("q", q=_TEXTS, api_key=_STRING)
_SUGGEST = _object("q s source target", q=_STRING, s=_STRING, source=_STRING, target=_STRING, api_key=_STRING)
_UNIT = _object("target", source=_STRING, target=_STRING)


def _body(schema: dict[str, Any], *, form: bool = True) -> dict[str, Any]:
    types = ["application/json", *(["application/x-www-form-urlencoded"] if form else [])]
    return {"required": True, "content": {kind: {"schema": schema} for kind in types}}


def _entry(summary: str, tag: str, body: dict[str, Any] | None = None, query: str = "") -> dict[str, Any]:
    entry: dict[str, Any] = {"summary": summary, "tags": [tag]}
    if body is not None:
        entry["requestBody"] = body
    if query:
        entry["parameters"] = [
            {"name": name, "in": "query", "required": name.endswith("!"), "schema": _STRING}
            | {"name": name.removesuffix("!")}
            for name in query.split()
        ]
    return entry | {"responses": {"200": {"description": "Done"}, "400": _ERROR, "403": _ERROR, "429": _BUSY}}


_SEEN = _object(
    "text source target",
    text=_STRING,
    source=_STRING,
    target=_STRING,
    format=_STRING,
    stream={"type": "boolean"},
    terms={"type": "array", "items": {"type": "array", "items": _STRING}},
)
_CONFIRM = _object("text translation source target", text=_STRING, translation=_STRING, source=_STRING, target=_STRING)
_PAIR = _object("source target", source=_STRING, target=_STRING)
_LIST = _object("nbest references", nbest=_STRING, references=_STRING, name=_STRING)
_RAW = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_XML = {"required": True, "content": {"text/xml": {"schema": _STRING}}}
#: path → method → what it does; keys of paths are those of `camber.serve.app.routes`
_ENTRIES: dict[str, dict[str, dict[str, Any]]] = {
    "/translate": {"post": _entry("Translate a text or a list of texts", "LibreTranslate", _body(_TRANSLATE))},
    "/languages": {"get": _entry("The languages, each with its targets", "LibreTranslate")},
    "/detect": {"post": _entry("The language of a text", "LibreTranslate", _body(_DETECT))},
    "/suggest": {"post": _entry("Add a better translation to the model", "LibreTranslate", _body(_SUGGEST))},
    "/frontend/settings": {"get": _entry("Limits and languages", "LibreTranslate")},
    "/spec": {"get": _entry("This description", "LibreTranslate")},
    "/listPairs": {"get": _entry("Pairs of languages", "Apertium")},
    "/identifyLang": {
        "get": _entry("The language of a text", "Apertium", query="q!"),
        "post": _entry("The language of a text", "Apertium", _body(_object("q", q=_STRING))),
    },
    "/RPC2": {"post": _entry("Moses' XML-RPC: translate, updater, system.listMethods", "Moses", _XML)},
    "/RPC2/{}": {"post": _entry("The same for a pair of languages, such as fr-en", "Moses", _XML)},
    "/{source}/{target}/unit/{text}": {
        "get": _entry("What the memory has like a segment", "tmserver"),
        "put": _entry("Learn the translation of a segment", "tmserver", _body(_UNIT, form=False)),
        "post": _entry("Learn the translation of a segment", "tmserver", _body(_UNIT, form=False)),
    },
    "/tmserver/languages": {"get": _entry("Languages of tmserver", "tmserver")},
    "/v2/translate": {
        "get": _entry("Translate texts", "DeepL", query="text! target_lang! source_lang"),
        "post": _entry("Translate texts", "DeepL", _body(_DEEPL)),
    },
    "/v2/languages": {
        "get": _entry("Languages", "DeepL", query="type"),
        "post": _entry("Languages", "DeepL", _body(_object(type=_STRING))),
    },
    "/v2/usage": {"get": _entry("Characters so far", "DeepL"), "post": _entry("Characters so far", "DeepL")},
    "/v2/glossary-language-pairs": {"get": _entry("Pairs that take glossaries", "DeepL")},
    "/v2/glossaries": {
        "get": _entry("All glossaries", "DeepL"),
        "post": _entry("Make a glossary", "DeepL", _body(_GLOSSARY)),
    },
    "/v2/glossaries/{}": {
        "get": _entry("One glossary", "DeepL"),
        "delete": _entry("Delete a glossary", "DeepL"),
    },
    "/v2/glossaries/{}/entries": {"get": _entry("Entries as tab-separated lines", "DeepL")},
    "/": {"get": _entry("The page", "page")},
    "/page/{}": {"get": _entry("Its files", "page")},
    "/api/models": {"get": _entry("The models", "page")},
    "/api/translate": {"post": _entry("All that there is to see of a text", "page", _body(_SEEN, form=False))},
    "/api/confirm": {"post": _entry("Learn a translation", "page", _body(_CONFIRM, form=False))},
    "/api/forget": {"post": _entry("Take a translation back", "page", _body(_CONFIRM, form=False))},
    "/api/files": {"post": _entry("Translate a file", "page", _RAW, query="name! source! target!")},
    "/api/files/{}": {"get": _entry("A translated file", "page")},
    "/api/rerank": {"post": _entry("Re-rank an n-best list", "page", _body(_LIST, form=False))},
    "/api/curves": {"post": _entry("Draw what a model learnt", "page", _body(_PAIR, form=False))},
    "/curves/{}": {"get": _entry("What a model learnt (fr-to-en, or the id of a drawing)", "page")},
    "/health": {"get": _entry("The process is alive", "operation")},
    "/ready": {"get": _entry("Requests are answered", "operation")},
    "/metrics": {"get": _entry("Counts and durations for Prometheus", "operation")},
}


def spec() -> dict[str, Any]:
    """Return the description as JSON values.

    >>> spec()["openapi"]
    '3.0.3'
    """
    paths: dict[str, Any] = {}
    for path, methods in _ENTRIES.items():
        name = path.replace("{}", "{id}")
        own = [part[1:-1] for part in name.split("/") if part.startswith("{")]
        inside = [{"name": part, "in": "path", "required": True, "schema": _STRING} for part in own]
        paths[name] = {
            method: entry | ({"parameters": [*inside, *entry.get("parameters", [])]} if inside else {})
            for method, entry in methods.items()
        }
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Camber",
            "version": camber.__version__,
            "description": "GET and POST /translate with a parameter langpair (fr|en) is Apertium's.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
            }
        },
        "security": [{}, {"key": []}, {"bearer": []}],
    }
