"""LibreTranslate's protocol as its clients speak it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from camber.errors import InUseError, ModelError
from camber.pipeline.add import Adder

Serving = Callable[..., TestClient]


def post(client: TestClient, **values: Any) -> Any:
    return client.post("/translate", json={"source": "fr", "target": "en", **values})


def test_parameters_come_from_json_a_form_a_form_in_parts_or_the_query(client: TestClient) -> None:
    fields = {"q": "Ouvrir le fichier", "source": "fr", "target": "en"}
    answers = [
        client.post("/translate", json=fields),
        client.post("/translate", data=fields),
        client.post("/translate", files={name: (None, value) for name, value in fields.items()}),
        client.post("/translate", params=fields),
        client.post("/translate", data={"q": fields["q"]}, params={"source": "fr", "target": "en"}),
    ]
    assert [(answer.status_code, answer.json()) for answer in answers] == [
        (200, {"translatedText": "Open the file"})
    ] * 5


def test_a_list_comes_back_with_the_same_length_and_order(client: TestClient) -> None:
    texts = ["Voir la liste", "", "Bonjour", "  ", "😀", "…"]
    assert post(client, q=texts).json() == {"translatedText": ["See the list", "", "Hello", "  ", "😀", "…"]}


def test_blanks_and_emoji_alone_come_back_unchanged(client: TestClient) -> None:
    for text in (" ", "\n\n", "😀 👍🏽", "\u00a0"):
        assert post(client, q=text).json()["translatedText"] == text


def test_lines_and_the_space_around_them_stay(client: TestClient) -> None:
    text = "\n Bonjour  \r\n\r\nOuvrir la porte\n"
    assert post(client, q=text).json()["translatedText"] == "\n Hello  \r\n\r\nOpen the door\n"


def test_the_source_language_is_found_out_and_told(client: TestClient) -> None:
    one = post(client, q="Nous avons la maison.", source="auto").json()
    assert one["translatedText"] == "We have the house."
    assert one["detectedLanguage"]["language"] == "fr"
    assert 0 <= one["detectedLanguage"]["confidence"] <= 100
    many = post(client, q=["Nous avons la maison.", "Bonjour"], source="auto").json()
    assert [item["language"] for item in many["detectedLanguage"]] == ["fr", "fr"]
    same = post(client, q="Where is the house today?", source="auto").json()
    assert same["translatedText"] == "Where is the house today?"
    assert same["detectedLanguage"]["language"] == "en"


def test_alternatives_are_neither_the_best_nor_twice_there(client: TestClient) -> None:
    one = post(client, q="Où est le fichier ?", alternatives=3).json()
    assert 0 < len(one["alternatives"]) <= 3
    assert len({one["translatedText"], *one["alternatives"]}) == 1 + len(one["alternatives"])
    many = post(client, q=["Où est le fichier ?", " "], alternatives=2).json()
    assert [len(some) for some in many["alternatives"]] == [2, 0]
    assert "alternatives" not in post(client, q="Bonjour", alternatives=0).json()


def test_mark_up_is_kept_in_html(client: TestClient) -> None:
    text = '<p>Ouvrir <b>le fichier</b> &amp; <i translate="no">la liste</i></p>'
    answer = post(client, q=text, format="html").json()["translatedText"]
    assert answer.startswith('<p>Open <b>the file</b> &amp; <i translate="no">la liste</i>')


def test_languages_have_targets(client: TestClient) -> None:
    expected = [{"code": "en", "name": "English", "targets": []}, {"code": "fr", "name": "French", "targets": ["en"]}]
    assert client.get("/languages").json() == expected
    with_body = client.request(
        "GET", "/languages", content="api_key=k", headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert with_body.json() == expected


def test_detection_is_a_list_with_the_best_first(client: TestClient) -> None:
    found = client.post("/detect", data={"q": "Bonjour tout le monde"}).json()
    assert found[0]["language"] == "fr"
    assert 0 < found[0]["confidence"] <= 100
    assert client.post("/detect", json={"q": "We have the book today."}).json()[0]["language"] == "en"


def test_codes_are_taken_in_any_case_and_with_countries(client: TestClient) -> None:
    for source, target in (("FR", "EN"), ("fr-CA", "en_US"), ("fra", "eng")):
        assert post(client, q="Bonjour", source=source, target=target).json()["translatedText"] == "Hello"


def test_paths_are_normalised(client: TestClient) -> None:
    for path in ("//translate", "/translate/", "///translate//"):
        answer = client.post(f"http://testserver{path}", json={"q": "Bonjour", "source": "fr", "target": "en"})
        assert answer.json() == {"translatedText": "Hello"}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": []}, "Invalid request: missing q parameter"),
        ({"q": "a", "source": ""}, "Invalid request: missing source parameter"),
        ({"q": "a", "target": None}, "Invalid request: missing target parameter"),
        ({"q": "a", "target": "zz"}, "zz is not supported"),
        ({"q": "a", "source": "zz"}, "zz is not supported"),
        ({"q": "a", "format": "xml"}, "xml format is not supported"),
        (
            {"q": "a", "source": "en", "target": "fr"},
            "French (fr) is not available as a target language from English (en)",
        ),
        ({"q": 5}, "Invalid request: q must be a text or a list of texts"),
        ({"q": ["a", 5]}, "Invalid request: q must be a text or a list of texts"),
        ({"q": "a", "alternatives": "many"}, "Invalid request: alternatives must be a number"),
    ],
)
def test_errors_have_the_wording_of_the_service(client: TestClient, values: dict[str, Any], error: str) -> None:
    answer = post(client, **values)
    assert (answer.status_code, answer.json()) == (400, {"error": error})


@pytest.mark.parametrize("body", ['{"q": ', "[1]", '"x"', '{"q": "\\ud800', "\xff"])
def test_what_is_not_a_json_object_is_refused(client: TestClient, body: str) -> None:
    answer = client.post("/translate", content=body.encode("latin-1"), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid JSON format"})


def test_a_lone_surrogate_does_no_harm(client: TestClient) -> None:
    answer = client.post(
        "/translate",
        content=b'{"q": "Bonjour \\ud800", "source": "fr", "target": "en"}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code in (200, 400)


def test_limits_are_told_with_both_numbers(serving: Serving) -> None:
    client = serving(char_limit=20, batch_limit=2, sentence_limit=4, body_limit=1000)
    for values, error in (
        ({"q": "a" * 21}, "Invalid request: request (21) exceeds text limit (20)"),
        ({"q": ["a", "b", "c"]}, "Invalid request: request (3) exceeds batch limit (2)"),
        ({"q": "a b c d e"}, "Invalid request: request (a line of 5 words) exceeds sentence limit (4)"),
    ):
        answer = post(client, **values)
        assert (answer.status_code, answer.json()) == (400, {"error": error})
    answer = post(client, q="a" * 2000)
    assert answer.status_code == 413
    assert "body limit (1000)" in answer.json()["error"]


def test_other_verbs_are_not_allowed_and_options_are(client: TestClient) -> None:
    answer = client.get("/translate")
    assert answer.status_code == 405
    assert "error" in answer.json()
    assert client.delete("/languages").status_code == 405
    assert client.options("/translate").status_code == 204
    assert client.get("/nowhere").status_code == 404


def test_every_answer_may_be_read_by_pages_of_others(client: TestClient) -> None:
    answers = [
        client.options("/translate"), client.get("/languages"), client.get("/translate"), client.get("/nowhere"),
        post(client, q="Bonjour"), post(client, q=""),
    ]  # fmt: skip
    assert [answer.headers["access-control-allow-origin"] for answer in answers] == ["*"] * len(answers)


def test_unknown_pairs_are_echoed_where_that_is_wanted(serving: Serving) -> None:
    client = serving(unknown_pairs="echo")
    answer = client.post("/translate", json={"q": ["test"], "source": "en", "target": "de", "api_key": ""})
    assert (answer.status_code, answer.json()) == (200, {"translatedText": ["test"]})
    assert "en-de" in answer.headers["x-camber-untranslated"]
    assert "x-camber-untranslated" not in post(client, q="Bonjour").headers


def test_suggestions_are_learnt_at_once_where_that_is_switched_on(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    pair = {"q": "Fermez le chapitre deux.", "s": "Shut chapter two.", "source": "fr", "target": "en"}
    assert client.post("/suggest", data=pair).json() == {"success": True}
    assert post(client, q=pair["q"]).json()["translatedText"] == "Shut chapter two."
    assert client.post("/suggest", json={**pair, "s": ""}).json() == {"error": "Invalid request: missing s parameter"}
    assert client.post("/suggest", json={**pair, "source": "en", "target": "fr"}).status_code == 400


def test_a_model_that_cannot_be_written_is_told_without_its_place(
    serving: Serving, own_french: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrong with what was asked, and where the model is concerns nobody."""
    client = serving([own_french], learn=True)
    pair = {"q": "Bonjour tout le monde", "s": "Hi everybody", "source": "fr", "target": "en"}

    def full(*_: object, **__: object) -> int:
        raise ModelError(f"{own_french}: the disk is full; nothing was changed") from OSError(28, "No space left")

    def taken(*_: object, **__: object) -> int:
        raise InUseError(f"the model {own_french} is in use by another process")

    def wrong(*_: object, **__: object) -> int:
        raise ModelError(f"{own_french}: pairs cannot be added")

    name = own_french.name
    for problem, status, told in (
        (full, 503, f"{name}: cannot be written at the moment"),
        (taken, 503, f"{name}: cannot be written at the moment"),
        (wrong, 400, f"{name}: pairs cannot be added"),
    ):
        monkeypatch.setattr(Adder, "add", problem)
        answer = client.post("/suggest", data=pair)
        assert (answer.status_code, answer.json()) == (status, {"error": told})
    monkeypatch.undo()
    assert client.post("/suggest", data=pair).json() == {"success": True}


def test_suggestions_are_refused_where_it_is_not(client: TestClient) -> None:
    answer = client.post("/suggest", json={"q": "Bonjour", "s": "Hi", "source": "fr", "target": "en"})
    assert answer.status_code == 403
    assert client.get("/frontend/settings").json()["suggestions"] is False


def test_settings_for_a_frontend(serving: Serving) -> None:
    told = serving(learn=True, char_limit=77).get("/frontend/settings").json()
    assert told["charLimit"] == 77
    assert told["suggestions"] is True
    assert told["apiKeys"] is False
    assert told["language"]["target"] == {"code": "en", "name": "English"}
