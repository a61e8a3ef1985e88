"""The protocol of tmserver: what a memory has like a segment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from starlette.testclient import TestClient

Serving = Callable[..., TestClient]


def test_a_segment_that_was_learnt_is_found(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    text = "Voir a/b : 100 % du fichier ?"
    place = "/fr/en/unit/" + quote(text, safe="")
    assert client.get(place).json() == []
    assert client.put(place, json={"source": text, "target": "See a/b: 100% of the file?"}).status_code == 200
    (match,) = client.get(place).json()
    assert (match["source"], match["target"], match["quality"]) == (text, "See a/b: 100% of the file?", 100)
    assert client.get("/tmserver" + place).json() == [match]
    near = client.get("/fr/en/unit/" + quote("Voir a/b : 100 % de la liste ?", safe="")).json()
    assert near[0]["target"] == match["target"]
    assert 50 <= near[0]["quality"] < 100


def test_pairs_of_the_training_are_found_by_likeness(client: TestClient) -> None:
    found = client.get("/fr/en/unit/" + quote("Ouvrir le grand fichier")).json()
    assert found[0] == {"source": "Ouvrir le fichier", "target": "Open the file", "quality": 75, "rank": 75}
    assert [item["quality"] for item in found] == sorted((item["quality"] for item in found), reverse=True)
    assert len(client.get("/fr/en/unit/" + quote("Ouvrir le grand fichier") + "?max_candidates=1").json()) == 1
    assert client.get("/fr/en/unit/" + quote("Ouvrir le grand fichier") + "?min_similarity=76").json() == []


def test_qualities_have_a_decimal_point_and_locales_may_have_countries(client: TestClient) -> None:
    answer = client.get("/fr_FR/en_US/unit/" + quote("Ouvrir le grand fichier"))  # as Okapi's connector asks
    assert '"quality": 75.0' in answer.text
    assert answer.json()[0]["target"] == "Open the file"


def test_languages_are_told_below_an_address_of_its_own(client: TestClient) -> None:
    told = client.get("/tmserver/languages/").json()  # as Weblate asks, with a slash at the end
    assert told == {"sourceLanguages": ["fr"], "targetLanguages": ["en"]}
    (first, *_) = client.get("/tmserver/fr/en/unit/" + quote("Ouvrir le fichier")).json()
    assert first["quality"] == 100


def test_other_languages_and_memories_are_refused(serving: Serving, client: TestClient) -> None:
    assert client.get("/de/en/unit/Haus").status_code == 404
    assert client.put("/fr/en/unit/Bonjour", json={"target": "Hi"}).status_code == 403
    learning = serving(learn=True)
    assert learning.put("/fr/en/unit/Bonjour", json={}).status_code == 400
    assert serving(unknown_pairs="echo").get("/de/en/unit/Haus").json() == []


def test_what_a_memory_holds_is_not_told_to_pages_of_others(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    place = "/fr/en/unit/" + quote("Ouvrir le fichier")
    for headers in ({"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.get(place, headers=headers).status_code == 403
        assert client.put(place, json={"target": "Shut the file"}, headers=headers).status_code == 403
        assert client.post("/translate", json={"q": "a", "source": "fr", "target": "en"}, headers=headers).is_success
    assert client.get(place).json()[0]["target"] == "Open the file"
