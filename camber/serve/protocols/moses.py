"""The XML-RPC of Moses' server: `translate` and `updater` at /RPC2 (or /RPC2/fr-en where several models are served).

Texts are tokens with blanks between them, in and out. A document type is refused, whatever it declares, and what is
nested more deeply than values need to be.
"""

from __future__ import annotations

import base64
import binascii
import re
import xmlrpc.client
from dataclasses import dataclass
from typing import Any

from camber.errors import CamberError
from camber.formats.xml import local_name, parse_xml
from camber.model.translator import Translation
from camber.serve.calls import Answer, Busy, Call, Refusal
from camber.serve.hosted import Hosted
from camber.serve.house import House
from camber.serve.keys import LEARN

_PARSE, _UNKNOWN_METHOD, _LIMIT, _INTERNAL = -503, -506, -507, -500
_DEEPEST, _MOST_NBEST = 20, 1000
_HELP = {
    "translate": "Translate a text of tokens: a struct with text, and any of align, word-align, nbest.",
    "updater": "Add a pair to the model: a struct with source and target.",
    "system.listMethods": "Return the names of all methods.",
    "system.methodHelp": "Return what there is to know about a method.",
    "system.methodSignature": "Return the types of a method.",
}


class Fault(Exception):
    """What goes back in place of a result."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass(frozen=True)
class Ask:
    """What a call of `translate` asks for."""

    text: str
    align: bool = False
    word_align: bool = False
    nbest: int = 0
    distinct: bool = False
    scores: bool = False


def parse(body: bytes) -> tuple[str, list[Any]]:
    """Return the method and the parameters of a call.

    >>> parse(xmlrpc.client.dumps(({"text": "la maison", "align": True},), "translate").encode())
    ('translate', [{'text': 'la maison', 'align': True}])
    """
    declared = re.match(rb"[^<]*<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)", body)
    strange = declared is not None and declared[1].lower() not in (b"utf-8", b"us-ascii")
    if strange or re.search(rb"<!(?:DOCTYPE|ENTITY)", body, re.IGNORECASE) or b"\0" in body:
        raise Fault(_PARSE, "a document type, or another encoding than UTF-8, is not accepted")
    try:
        root = parse_xml(body, "request")
    except CamberError as error:
        raise Fault(_PARSE, str(error)) from None
    name = next((child.text or "" for child in root if local_name(child) == "methodName"), "")
    if local_name(root) != "methodCall" or not name:
        raise Fault(_PARSE, "not a call: no methodCall with a methodName")
    found = []
    for params in root:
        if local_name(params) == "params":
            for param in params:
                (value,) = _only(param, "value")
                found.append(_value(value))
    return name.strip(), found


def _only(element: Any, name: str) -> tuple[Any]:
    children = [child for child in element if local_name(child) == name]
    if len(children) != 1:
        raise Fault(_PARSE, f"{local_name(element)} needs one {name}")
    return (children[0],)


def _value(element: Any, depth: int = 0) -> Any:
    """Return what a value element stands for."""
    if depth > _DEEPEST:
        raise Fault(_PARSE, "values are nested too deeply")
    if not len(element):
        return element.text or ""
    child = element[0]
    kind, text = local_name(child), child.text or ""
    try:
        if kind == "string":
            return text
        if kind in ("int", "i4", "i8"):
            return int(text)
        if kind == "boolean":
            return {"0": False, "1": True}[text.strip()]
        if kind == "double":
            return float(text)
        if kind == "base64":
            return base64.b64decode(text).decode("utf-8")
        if kind == "nil":
            return None
    except (ValueError, KeyError, binascii.Error):
        raise Fault(_PARSE, f"{text!r:.40} is no {kind}") from None
    if kind == "array":
        (data,) = _only(child, "data")
        return [_value(item, depth + 1) for item in data if local_name(item) == "value"]
    if kind == "struct":
        members = {}
        for member in child:
            if local_name(member) == "member":
                (name,), (value,) = _only(member, "name"), _only(member, "value")
                members[name.text or ""] = _value(value, depth + 1)
        return members
    raise Fault(_PARSE, f"values of the type {kind} are not known")


def asked(parameters: list[Any]) -> Ask:
    """Read the struct of a call of `translate`; what is switched on may be a boolean, a number, or a text."""
    values = _struct(parameters)
    text = values.get("text")
    if not isinstance(text, str):
        raise Fault(_PARSE, "Missing source text")
    nbest = values.get("nbest", 0)
    try:
        nbest = max(0, min(int(nbest), _MOST_NBEST))
    except (TypeError, ValueError, OverflowError):
        raise Fault(_PARSE, "nbest must be a number") from None
    on = {name: _is_on(value) for name, value in values.items()}
    return Ask(
        text,
        on.get("align", False),
        on.get("word-align", False),
        nbest,
        on.get("nbest-distinct", False),
        on.get("add-score-breakdown", False),
    )


def _struct(parameters: list[Any]) -> dict[str, Any]:
    if len(parameters) != 1 or not isinstance(parameters[0], dict):
        raise Fault(_PARSE, "expected one struct")
    return parameters[0]


def _is_on(value: Any) -> bool:
    return str(value).strip().lower() not in ("", "0", "false", "no", "none")


def answer(ask: Ask, found: list[Translation]) -> dict[str, Any]:
    """Return the result of `translate`."""
    if not found:
        return {"text": ask.text, **({"nbest": []} if ask.nbest else {})}
    result = {"text": found[0].text, **_alignments(ask, found[0])}
    if ask.nbest:
        texts: set[str] = set()
        result["nbest"] = []
        for item in found:
            if len(result["nbest"]) < ask.nbest and not (ask.distinct and item.text in texts):
                texts.add(item.text)
                listed = {"hyp": item.text, "totalScore": item.derivation.score, **_alignments(ask, item)}
                if ask.scores:
                    sums = zip(item.derivation.inputs, item.derivation.linear_sums.tolist(), strict=True)
                    listed["fvals"] = " ".join(f"{feature.name}= {value:.6g}" for feature, value in sums)
                result["nbest"].append(listed)
    return result


def _alignments(ask: Ask, item: Translation) -> dict[str, Any]:
    """Return which phrases, and which words, translate each other; Moses' ends are the last words."""
    found: dict[str, Any] = {}
    derivation = item.derivation
    if item.recalled:  # nothing is known of its words
        whole = [{"tgt-start": 0, "src-start": 0, "src-end": len(item.tokens) - 1}]
        return {**({"align": whole} if ask.align else {}), **({"word-align": []} if ask.word_align else {})}
    if ask.align:
        spans = zip(derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True)
        found["align"] = [{"tgt-start": to, "src-start": begin, "src-end": end - 1} for (begin, end), (to, _) in spans]
    if ask.word_align:
        found["word-align"] = [{"source-word": at, "target-word": to} for at, to in sorted(item.links)]
    return found


async def call(house: House, call: Call) -> Answer:
    """Answer /RPC2; faults are answers, too."""
    try:
        name, parameters = parse(call.body)
        result = await _result(house, call, name, parameters)
        return _written(xmlrpc.client.dumps((result,), methodresponse=True, allow_none=True))
    except Fault as fault:
        return _fault(fault.code, fault.text)


async def _result(house: House, call: Call, name: str, parameters: list[Any]) -> Any:
    if name == "system.listMethods":
        return list(_HELP)
    if name in ("system.methodHelp", "system.methodSignature"):
        method = parameters[0] if parameters else ""
        if method not in _HELP:
            raise Fault(_UNKNOWN_METHOD, f"method {method!r:.60} is not known")
        return _HELP[method] if name.endswith("Help") else [["struct", "struct"]]
    if name == "translate":
        house.allowed(call)
        ask = asked(parameters)
        house.check_sizes([ask.text])
        model = _model(house, call)
        options = house.options(model, ask.nbest * (2 if ask.distinct else 1) or 1, tokens=True)
        found = await house.translate_tokens([ask.text], options, call.until)
        return answer(ask, found[0])
    if name == "updater":
        key = house.allowed(call, LEARN)
        values = _struct(parameters)
        for side in ("source", "target"):
            if not isinstance(values.get(side), str):
                raise Fault(_PARSE, f"Missing {side} sentence")
        await house.learn(_model(house, call), values["source"], values["target"], key, until=call.until)
        return "Phrase table updated"
    raise Fault(_UNKNOWN_METHOD, f"method {name!r:.60} is not known")


def _model(house: House, call: Call) -> Hosted:
    """Return the model that a path names, or else the first one."""
    _, _, pair = call.path.strip("/").partition("/")
    if not pair:
        return next(iter(house.models.values()))
    for (source, target), model in house.models.items():
        if pair.lower() == f"{source}-{target}".lower():
            return model
    known = ", ".join("-".join(pair) for pair in house.models)
    raise Fault(_LIMIT, f"no model translates {pair!r:.40}; there are {known}")


def refusal(error: Refusal) -> Answer:
    """Return an error as a fault; only what another try may help against has a status of its own."""
    if isinstance(error, Busy):
        return Answer(b"", 503, "text/xml")
    return _fault(_INTERNAL if error.status >= 500 else _LIMIT, error.message)


def _fault(code: int, text: str) -> Answer:
    clean = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text)
    return _written(xmlrpc.client.dumps(xmlrpc.client.Fault(code, clean), methodresponse=True))


def _written(content: str) -> Answer:
    return Answer('<?xml version="1.0" encoding="UTF-8"?>\n' + content.split("?>\n", 1)[-1], type="text/xml")
