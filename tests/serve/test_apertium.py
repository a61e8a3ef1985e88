"""The protocol of Apertium's APy."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize("bar", ["|", "%7C"])
def test_a_text_is_translated_with_get_and_post(client: TestClient, bar: str) -> None:
    expected = {"responseData": {"translatedText": "Hello"}, "responseDetails": None, "responseStatus": 200}
    query = f"q=Bonjour&markUnknown=no&langpair=fr{bar}en&key="
    assert client.get(f"/translate?{query}").json() == expected
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/translate", content=query, headers=form).json() == expected


def test_codes_in_a_segment_come_back_in_place(client: TestClient) -> None:
    query = {"key": "k", "format": "html", "markUnknown": "no", "langpair": "fr|en"}  # as Okapi's connector asks
    asked = "<u id='1'>Ouvrir</u> le fichier<br id='p2'/>"
    told = client.get("/translate", params={**query, "q": asked}).json()
    assert told["responseStatus"] == 200
    assert told["responseData"]["translatedText"] == "<u id='1'>Open</u> the file<br id='p2'/>"


def test_codes_of_three_letters_mean_the_same(client: TestClient) -> None:
    answer = client.get("/translate", params={"q": "Bonjour", "langpair": "fra|eng"})
    assert answer.json()["responseData"]["translatedText"] == "Hello"


def test_unknown_words_have_a_star_unless_that_is_not_wanted(client: TestClient) -> None:
    query = {"q": "Ouvrir le zorglub", "langpair": "fr|en"}
    assert "*zorglub" in client.get("/translate", params=query).json()["responseData"]["translatedText"]
    plain = client.get("/translate", params={**query, "markUnknown": "no"}).json()
    assert "*" not in plain["responseData"]["translatedText"]


def test_pairs_are_listed(client: TestClient) -> None:
    assert client.get("/listPairs").json()["responseData"] == [{"sourceLanguage": "fr", "targetLanguage": "en"}]


def test_languages_are_identified(client: TestClient) -> None:
    found = client.get("/identifyLang", params={"q": "Nous avons la maison"}).json()
    assert max(found, key=found.get) == "fr"


@pytest.mark.parametrize(
    ("query", "explanation"),
    [
        ("q=a&langpair=fr", "That pair is invalid, use e.g. eng|spa"),
        ("q=a&langpair=en|de", "That pair is not installed"),
        ("langpair=fr|en", "Missing argument q"),
        ("q=a&langpair=fr|en&format=odt", "The format odt is not known"),
    ],
)
def test_errors_explain_themselves(client: TestClient, query: str, explanation: str) -> None:
    answer = client.get(f"/translate?{query}")
    assert answer.status_code == 400
    assert answer.json()["explanation"] == explanation
    assert answer.json()["status"] == "error"
