"""The XML-RPC of Moses' server."""

from __future__ import annotations

import xmlrpc.client
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from camber.serve.protocols.moses import Fault, parse

Serving = Callable[..., TestClient]


def rpc(client: TestClient, method: str, *parameters: Any, path: str = "/RPC2") -> Any:
    body = xmlrpc.client.dumps(parameters, method)
    answer = client.post(path, content=body.encode(), headers={"content-type": "text/xml"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/xml"
    ((result,), _) = xmlrpc.client.loads(answer.content)
    return result


def test_tokens_go_in_and_come_out(client: TestClient) -> None:
    assert rpc(client, "translate", {"text": "où est le fichier ?"}) == {"text": "Where is the file ?"}
    assert rpc(client, "translate", {"text": ""}) == {"text": ""}


def test_who_escapes_no_apostrophes_gets_none_escaped(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    pair = {"q": "L'ami d'Anne & moi", "s": "Anne's friend & I", "source": "fr", "target": "en"}
    assert client.post("/suggest", json=pair).json() == {"success": True}
    escaped = rpc(client, "translate", {"text": "l&apos; ami d&apos; Anne &amp; moi", "align": True})
    plain = rpc(client, "translate", {"text": "l' ami d' Anne & moi", "align": True})
    assert escaped["text"] == "Anne &apos;s friend &amp; I"
    assert plain["text"] == "Anne 's friend & I"
    longer = [
        rpc(client, "translate", {"text": f"voir {text}"})["text"]
        for text in ("l&apos; ami d&apos; Anne &amp; moi", "l' ami d' Anne & moi")
    ]
    assert longer[0].replace("&apos;", "'").replace("&amp;", "&") == longer[1] != longer[0]


def test_positions_are_those_of_the_tokens_that_came(client: TestClient) -> None:
    on: tuple[Any, ...] = (True, 1, "true", "True")
    for value in on:
        found = rpc(client, "translate", {"text": "où est l' fichier 42 ?", "align": value, "word-align": value})
        covered = sorted(k for part in found["align"] for k in range(part["src-start"], part["src-end"] + 1))
        assert covered == list(range(6))
        starts = [part["tgt-start"] for part in found["align"]]
        assert starts == sorted(starts)
        words = found["text"].split()
        assert "42" in words
        assert {"source-word": 4, "target-word": words.index("42")} in found["word-align"]
    for value in (False, 0, "false", "0"):
        found = rpc(client, "translate", {"text": "la maison", "align": value, "report-all-factors": value})
        assert set(found) == {"text"}


def test_candidates_have_scores(client: TestClient) -> None:
    ask = {
        "text": "où est le fichier ?",
        "nbest": 4,
        "nbest-distinct": True,
        "align": True,
        "add-score-breakdown": True,
    }
    found = rpc(client, "translate", ask)
    assert found["nbest"][0]["hyp"] == found["text"]
    scores = [item["totalScore"] for item in found["nbest"]]
    assert scores == sorted(scores, reverse=True)
    assert len({item["hyp"] for item in found["nbest"]}) == len(scores) > 1
    assert all("distortion=" in item["fvals"] and item["align"] for item in found["nbest"])


def test_methods_tell_of_themselves(client: TestClient) -> None:
    names = rpc(client, "system.listMethods")
    assert {"translate", "updater", "system.listMethods"} <= set(names)
    for name in names:
        assert rpc(client, "system.methodHelp", name)


def test_the_updater_adds_to_the_model(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    pair = {"source": "fermez le chapitre deux .", "target": "shut chapter two .", "alignment": "0-0"}
    assert rpc(client, "updater", pair) == "Phrase table updated"
    assert "chapter" in rpc(client, "translate", {"text": "voir le chapitre"})["text"]


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("translate", ({},)), ("translate", ()), ("translate", ("la maison",)), ("nothing", ({"text": "a"},)),
        ("translate", ({"text": "a", "nbest": "many"},)), ("updater", ({"source": "a", "target": "b"},)),
        ("translate", ({"text": 5},)),
    ],
)  # fmt: skip
def test_errors_are_faults(client: TestClient, method: str, parameters: tuple[Any, ...]) -> None:
    with pytest.raises(xmlrpc.client.Fault):
        rpc(client, method, *parameters)


def test_a_path_names_the_model(client: TestClient) -> None:
    assert rpc(client, "translate", {"text": "la maison"}, path="/RPC2/fr-en")["text"] == "the house"
    with pytest.raises(xmlrpc.client.Fault, match="there are fr-en"):
        rpc(client, "translate", {"text": "la maison"}, path="/RPC2/de-en")


BOMB = '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY a{k} "{("&a" + (str(k - 1) if k else "") + ";") * 10}">' for k in range(1, 9)
) + "]><methodCall><methodName>&a8;</methodName></methodCall>"  # fmt: skip
CALL = "<methodCall><methodName>translate</methodName><params>"
READER = '<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/passwd">]><methodCall><methodName>&a;</methodName></methodCall>'


@pytest.mark.parametrize(
    "body",
    [
        BOMB, READER, "", "<methodCall/>", "<a>", f"{CALL}<param/></params></methodCall>",
        f"{CALL}<param><value><int>x</int></value></param></params></methodCall>",
        f"{CALL}<param><value>" + "<array><data><value>" * 200, "\0",
        f"{CALL}<param>" + "<value><array><data>" * 60 + "</data></array></value>" * 60
        + "</param></params></methodCall>",
    ],
)  # fmt: skip
def test_what_is_no_call_or_means_harm_is_a_fault(client: TestClient, body: str) -> None:
    answer = client.post("/RPC2", content=body.encode(), headers={"content-type": "text/xml"})
    assert answer.status_code == 200
    with pytest.raises(xmlrpc.client.Fault):
        xmlrpc.client.loads(answer.content)
    assert b"root:" not in answer.content


def test_entities_in_another_encoding_are_no_way_around() -> None:
    with pytest.raises(Fault):
        parse(BOMB.encode("utf-16"))
    hidden = READER.replace("<!", "+ADwAIQ-").replace("[", "+AFs-").replace("&", "+ACY-")
    with pytest.raises(Fault, match="another encoding"):
        parse(f'<?xml version="1.0" encoding="utf-7"?>{hidden}'.encode())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc-", min_size=1), inner, max_size=3),
        max_leaves=8,
    )
)  # fmt: skip
def test_values_are_read_as_python_writes_them(value: Any) -> None:
    body = xmlrpc.client.dumps((value,), "m", allow_none=True)
    assert parse(body.encode()) == ("m", [value])
