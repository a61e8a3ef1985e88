"""DeepL's protocol as its clients speak it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

Serving = Callable[..., TestClient]


def post(client: TestClient, **values: Any) -> Any:
    return client.post("/v2/translate", json={"source_lang": "FR", "target_lang": "EN-GB", **values})


def test_texts_are_translated_and_their_characters_counted(client: TestClient) -> None:
    answer = post(client, text=["Bonjour", "", "Ouvrir le fichier"])
    assert answer.json() == {
        "translations": [
            {"detected_source_language": "FR", "text": "Hello", "billed_characters": 7},
            {"detected_source_language": "FR", "text": "", "billed_characters": 0},
            {"detected_source_language": "FR", "text": "Open the file", "billed_characters": 17},
        ]
    }
    assert client.get("/v2/usage").json()["character_count"] == 24


def test_forms_with_repeated_texts_and_queries_are_read(client: TestClient) -> None:
    fields = {"text": ["Bonjour", "Lire le livre"], "target_lang": "en"}
    for answer in (client.post("/v2/translate", data=fields), client.get("/v2/translate", params=fields)):
        assert [item["text"] for item in answer.json()["translations"]] == ["Hello", "Read the book"]


def test_the_source_language_is_found_out(client: TestClient) -> None:
    answer = client.post("/v2/translate", json={"text": ["Nous avons la maison."], "target_lang": "EN-US"})
    assert answer.json()["translations"][0]["detected_source_language"] == "FR"


def test_tags_are_kept_and_ignored_ones_with_what_is_in_them(client: TestClient) -> None:
    text = 'Ouvrir <b>le fichier</b> <x id="8">la liste &amp; co</x>'
    (item,) = post(client, text=[text], tag_handling="xml", ignore_tags=["x"]).json()["translations"]
    assert '<x id="8">la liste &amp; co</x>' in item["text"]
    assert "<b>the file</b>" in item["text"]
    assert "translate=" not in item["text"]


@pytest.mark.parametrize(
    "text", ['Bonjour <x id="8"></x>', "<x/> Bonjour <x id='1'/>", '<x translate="no">a</x> Bonjour']
)
def test_what_is_ignored_comes_back_letter_by_letter(client: TestClient, text: str) -> None:
    (item,) = post(client, text=[text], tag_handling="xml", ignore_tags="x").json()["translations"]
    for piece in ('<x id="8"></x>', "<x/>", "<x id='1'/>", '<x translate="no">a</x>'):
        assert item["text"].count(piece) == text.count(piece)


def test_sentences_are_not_split_where_that_is_asked_for(client: TestClient) -> None:
    text = "Bonjour. Où est le livre ?"
    for value in ("0", "1", "nonewlines"):
        assert "?" in post(client, text=[text], split_sentences=value).json()["translations"][0]["text"]


def test_a_glossary_is_made_listed_used_and_deleted(serving: Serving, tmp_path: Path) -> None:
    from camber.serve.server import make_app

    client = serving()
    fields = {
        "name": "ours", "source_lang": "fr", "target_lang": "en", "entries": "fichier\tdossier file\nlivre\ttome",
        "entries_format": "tsv",
    }  # fmt: skip
    made = client.post("/v2/glossaries", json=fields)
    assert made.status_code == 201
    told = made.json()
    assert (told["name"], told["ready"], told["entry_count"]) == ("ours", True, 2)
    own = f"/v2/glossaries/{told['glossary_id']}"
    assert client.get(own).json() == told
    assert client.get("/v2/glossaries").json() == {"glossaries": [told]}
    entries = client.get(own + "/entries")
    assert entries.text == fields["entries"]
    assert entries.headers["content-type"].startswith("text/tab-separated-values")
    answer = post(client, text=["Lire le livre"], glossary_id=told["glossary_id"]).json()
    assert "tome" in answer["translations"][0]["text"]
    assert "tome" not in post(client, text=["Lire le livre"]).json()["translations"][0]["text"]
    assert client.delete(own).status_code == 204
    assert client.get(own).status_code == 404
    assert post(client, text=["a"], glossary_id=told["glossary_id"]).status_code == 404
    assert make_app  # imported as users do


def test_glossaries_outlive_a_server_that_has_a_folder_for_them(french: Path, tmp_path: Path) -> None:
    from camber.serve.glossaries import Glossaries

    made = Glossaries(tmp_path / "kept").make("ours", "fr", "en", (("livre", "tome"),))
    again = Glossaries(tmp_path / "kept")
    assert [kept.entries for kept in again] == [(("livre", "tome"),)]
    again.delete(made.id)
    assert not list(Glossaries(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("entries", "format"),
    [
        ("a\tb\tc", "tsv"),
        ("a", "tsv"),
        ("", "tsv"),
        ("a\tb\na\tc", "tsv"),
        ("a\t", "tsv"),
        ("a,b", "xls"),
        ("a,b,c", "csv"),
        ("a," + "b" * 200_000, "csv"),
    ],
)
def test_bad_entries_are_refused(client: TestClient, entries: str, format: str) -> None:
    fields = {"name": "x", "source_lang": "fr", "target_lang": "en", "entries": entries, "entries_format": format}
    answer = client.post("/v2/glossaries", json=fields)
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_languages_have_the_variants_that_clients_must_choose_from(client: TestClient) -> None:
    assert client.get("/v2/languages").json() == [{"language": "FR", "name": "French"}]
    targets = client.get("/v2/languages", params={"type": "target"}).json()
    assert {item["language"] for item in targets} == {"EN-GB", "EN-US"}
    assert client.get("/v2/glossary-language-pairs").json() == {
        "supported_languages": [{"source_lang": "fr", "target_lang": "en"}]
    }


@pytest.mark.parametrize(
    "values",
    [
        {"text": []}, {"text": ["a"], "target_lang": "ZZ"}, {"text": ["a"], "target_lang": ""},
        {"text": ["a"], "source_lang": "ZZ"}, {"text": [5]}, {"text": ["a"], "tag_handling": "md"},
        {"text": ["a"], "tag_handling": "xml", "ignore_tags": ["a b("]}, {"text": ["a"], "formality": "more"},
        {"text": ["a"], "source_lang": "", "glossary_id": "x"},
    ],
)  # fmt: skip
def test_errors_have_a_message(client: TestClient, values: dict[str, Any]) -> None:
    answer = post(client, **values)
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_glossaries_are_not_for_pages_of_others(client: TestClient) -> None:
    ours = {"name": "ours", "source_lang": "fr", "target_lang": "en", "entries": "livre\ttome", "entries_format": "tsv"}
    made = client.post("/v2/glossaries", json=ours).json()["glossary_id"]
    place = f"/v2/glossaries/{made}"
    elsewhere = {"origin": "https://elsewhere.example"}
    assert client.post("/v2/glossaries", json=ours, headers=elsewhere).status_code == 403
    for path in ("/v2/glossaries", place, f"{place}/entries"):
        assert client.get(path, headers=elsewhere).status_code == 403
    assert client.delete(place, headers=elsewhere).status_code == 403
    assert client.get(f"{place}/entries").text == "livre\ttome"
