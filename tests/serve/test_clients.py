"""Real clients, and replays of what others send, against a server that users run."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import xmlrpc.client
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest
from toys.running import Running

CLIENTS = Path(__file__).resolve().parents[3] / "shared" / "checks" / "clients.jsonl"


def test_libretranslatepy(server: Running) -> None:
    api = pytest.importorskip("libretranslatepy").LibreTranslateAPI(server.url)
    assert api.translate("Ouvrir le fichier", "fr", "en", timeout=30) == "Open the file"
    assert {item["code"] for item in api.languages(timeout=30)} == {"fr", "en"}
    assert api.detect("Nous avons la maison", timeout=30)[0]["language"] == "fr"


def test_deep_translator(server: Running) -> None:
    libre = pytest.importorskip("deep_translator").LibreTranslator
    translator = libre(source="fr", target="en", api_key="k", custom_url=server.url + "/")
    assert translator.translate("Ouvrir le fichier") == "Open the file"
    assert translator.translate_batch(["Bonjour", "Lire le livre"]) == ["Hello", "Read the book"]


def test_deepl(server: Running) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("k", server_url=server.url)
    result = client.translate_text("Ouvrir le fichier", source_lang="FR", target_lang="EN-GB")
    assert (result.text, result.detected_source_lang, result.billed_characters) == ("Open the file", "FR", 17)
    many = client.translate_text(["Bonjour", "Lire le livre"], target_lang="EN-US")
    assert [item.text for item in many] == ["Hello", "Read the book"]
    assert {language.code for language in client.get_target_languages()} == {"EN-GB", "EN-US"}
    assert [language.code for language in client.get_source_languages()] == ["FR"]
    assert client.get_usage().character.count > 0
    glossary = client.create_glossary("ours", "FR", "EN", {"livre": "tome"})
    assert glossary.entry_count == 1
    assert client.get_glossary_entries(glossary) == {"livre": "tome"}
    assert [item.glossary_id for item in client.list_glossaries()] == [glossary.glossary_id]
    with_terms = client.translate_text("Lire le livre", source_lang="FR", target_lang="EN-GB", glossary=glossary)
    assert "tome" in with_terms.text
    client.delete_glossary(glossary)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(glossary.glossary_id)


def test_xmlrpc_client(server: Running) -> None:
    with xmlrpc.client.ServerProxy(server.url + "/RPC2") as proxy:
        result: Any = proxy.translate({"text": "voir la maison", "align": True})
        assert result["text"] == "see the house"
        listed: Any = proxy.system.listMethods()
        assert "updater" in listed
        assert proxy.updater({"source": "voir le port .", "target": "see the harbour .", "alignment": "0-0 1-1 2-2"})
        again: Any = proxy.translate({"text": "voir le port ."})
        assert again["text"] == "see the harbour ."


def _replays() -> list[Any]:
    if not CLIENTS.is_file():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"no {CLIENTS}"))]
    rows = [json.loads(line) for line in CLIENTS.read_text("utf-8").splitlines()]
    return [pytest.param(row, id=f"{number}-{row['client']}") for number, row in enumerate(rows, 1)]


def sent(url: str, call: dict[str, Any]) -> tuple[int, Any]:
    """Send a call as a client does, byte by byte; return the status and the JSON of the answer."""
    body = call.get("body")
    data = body if isinstance(body, str) or body is None else json.dumps(body)
    headers = {**call.get("headers", {}), **({"Content-Type": call["type"]} if "type" in call else {})}
    request = urllib.request.Request(
        url + call["path"], None if data is None else data.encode(), headers, method=call["method"]
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.mark.parametrize("call", _replays())
def test_replays_of_what_clients_send_are_answered_as_they_expect(server: Running, call: dict[str, Any]) -> None:
    status, content = sent(server.url, call)
    if "zz is not supported" in str(call["expect"]):
        assert (status, content) == (
            200,
            {"translatedText": "a"},
        )  # this server echoes; test_libretranslate has the other
        return
    expected = call["expect"]
    assert status == expected["status"], content
    texts = str(expected.get("translatedText", ""))
    if texts.startswith("list of"):
        found, sent_texts = content["translatedText"], call["body"]["q"]
        assert isinstance(found, list)
        assert len(found) == len(sent_texts) == int(texts.split()[2].rstrip(","))
        assert all(one == "" for one, q in zip(found, sent_texts, strict=True) if q == "")
        for kept in ("[X8X]", '<span translate="no">@ami</span>'):
            assert all(kept in one for one, q in zip(found, sent_texts, strict=True) if kept in q)
        if "well-formed" in texts:
            for one in found:
                minidom.parseString(f"<x>{one.replace('<br>', '<br/>')}</x>")
    elif texts:
        assert isinstance(content["translatedText"], str)
        assert all(tag in content["translatedText"] for tag in ("<a0>", "</a0>") if tag in texts)
    if "detectedLanguage" in expected:
        assert len(content["detectedLanguage"]) == len(call["body"]["q"])
        assert all(set(item) == {"confidence", "language"} for item in content["detectedLanguage"])
    for name in ("each", "first"):
        if name in expected:
            rows = content[:1] if name == "first" else content
            assert rows or "unit" in call["path"]
            assert all(set(expected[name]) <= set(row) for row in rows)
    for name in ("translations", "responseData"):
        if name in expected:
            inside = content[name][0] if isinstance(content[name], list) else content[name]
            assert set(expected[name]) <= set(inside)
    if "responseStatus" in expected:
        assert content["responseStatus"] == 200
    if "error" in expected:
        assert content["error"] == expected["error"] or expected["error"] == "any"
