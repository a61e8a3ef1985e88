"""The page at /, in a real browser; what it asks for, without one."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from toys.axe import serious
from toys.browser import Browser, is_there
from toys.french import french_dev
from toys.running import Running

from camber.engine import Threads
from camber.pipeline.tune import tune_model
from camber.serve.keys import make_key
from camber.serve.protocols.page import FILES
from camber.tune.loop import TuneSettings

Serving = Callable[..., TestClient]
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="fr"
 target-language="en" datatype="plaintext"><body>
<trans-unit id="1"><source>Ouvrir <g id="1">le fichier</g></source></trans-unit>
<trans-unit id="2"><source>Bonjour</source></trans-unit>
</body></file></xliff>
"""
SCREENSHOTS = os.environ.get("CAMBER_SCREENSHOTS", "")


def rows(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.text.splitlines()]


# --- what the page asks for ------------------------------------------------------------------------------------------


def seen(client: TestClient, text: str, **values: Any) -> dict[str, Any]:
    answer = client.post("/api/translate", json={"text": text, "source": "fr", "target": "en", **values})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_phrases_cover_both_sides_and_features_add_up_to_the_score(client: TestClient) -> None:
    told = seen(client, "Où est le fichier ?\n\nNous avons la maison.")
    assert told["between"] == ["", "\n\n", ""]
    assert [piece["text"] for piece in told["pieces"]] == ["Where is the file?", "We have the house."]
    for piece in told["pieces"]:
        for words, side in ((piece["tokens"], "source"), (piece["words"], "target")):
            covered = sorted(k for part in piece["parts"] for k in range(*part[side]))
            assert covered == list(range(len(words)))
        total = sum(sum(part["features"]) for part in piece["parts"])
        assert total == pytest.approx(piece["score"], abs=0.02)
        assert all(len(part["features"]) == len(piece["features"]) for part in piece["parts"])
        assert len(piece["word_confidences"]) == len(piece["words"]) == len(piece["places"])
        assert 0 <= piece["confidence"] <= 1
        assert all(item["text"] != piece["text"] for item in piece["alternatives"])
        for (begin, end), word in zip(piece["places"], piece["words"], strict=True):
            assert begin < 0 or piece["text"][begin:end].lower() == word.lower()


def test_words_are_told_as_they_are_written_not_as_tables_escape_them(client: TestClient) -> None:
    (piece,) = seen(client, "Je vois l'ami [aujourd'hui] & 'demain'")["pieces"]
    assert not re.search("&[a-z#0-9]+;", " ".join([*piece["tokens"], *piece["words"]]))
    assert {"[", "]", "&"} <= set(piece["tokens"])


def test_terms_are_told_with_whether_they_are_obeyed(client: TestClient, serving: Serving, tmp_path: Path) -> None:
    (piece,) = seen(client, "Lire le livre", terms=[["livre", "tome"], ["porte", "gate"]])["pieces"]
    assert piece["terms"] == [{"source": [2, 3], "targets": ["tome"], "obeyed": True}]
    assert "tome" in piece["text"]
    (tmp_path / "terms.csv").write_text("source,target,status\nlivre,book,forbidden\n")
    (piece,) = seen(serving(glossary=tmp_path / "terms.csv"), "Lire le livre")["pieces"]
    (term,) = piece["terms"]
    assert term["forbidden"] == "book"
    assert term["obeyed"] is ("book" not in piece["text"].lower())


def test_what_is_alike_in_the_memory_is_told_with_its_difference(client: TestClient) -> None:
    (piece,) = seen(client, "Je vois le grand livre aujourd'hui.")["pieces"]
    best = piece["matches"][0]
    assert 50 <= best["percent"] < 100
    assert "".join(part["line"] for part in best["difference"]) == "Je vois le grand livre aujourd'hui."


def test_long_texts_come_line_by_line(client: TestClient) -> None:
    text = "\n".join(["Bonjour", "Ouvrir le fichier", "Lire le livre"] * 20)
    answer = client.post("/api/translate", json={"text": text, "source": "auto", "target": "en", "stream": True})
    head, *pieces = rows(answer)
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert head["detected"]["language"] == "fr"
    assert head["count"] == len(pieces) == 60
    assert sorted(piece["place"] for piece in pieces) == list(range(60))


def test_confirmed_lines_are_learnt_at_once(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    pair = {"text": "Fermez le chapitre.", "translation": "Shut that.", "source": "fr", "target": "en"}
    assert client.post("/api/confirm", json=pair).json() == {"added": 1}
    (piece,) = seen(client, "Fermez le chapitre.")["pieces"]
    assert piece["text"] == "Shut that."
    assert piece["confirmed"]
    assert client.get("/api/models").json()["models"][0]["added"] == 1
    assert serving().post("/api/confirm", json=pair).status_code == 403


def test_a_pair_that_was_confirmed_wrongly_is_forgotten_and_may_come_back(serving: Serving, own_french: Path) -> None:
    client = serving([own_french], learn=True)
    pair = {"text": "Fermez la fenêtre.", "translation": "Quite wrong.", "source": "fr", "target": "en"}

    def translated() -> str:
        (piece,) = seen(client, pair["text"])["pieces"]
        return str(piece["text"])

    for _ in range(2):
        assert client.post("/api/confirm", json=pair).json() == {"added": 1}
        assert translated() == "Quite wrong."
        assert client.post("/api/forget", json=pair).json() == {"forgotten": 1}
        assert translated() != "Quite wrong."
    assert client.post("/api/forget", json=pair).json() == {"forgotten": 0}  # gone already
    assert client.post("/api/forget", json={**pair, "text": "Never heard of."}).status_code == 400
    assert client.post("/api/forget", json=pair, headers={"origin": "https://evil.example"}).status_code == 403
    assert serving().post("/api/forget", json=pair).status_code == 403


def test_files_are_translated_with_progress_and_fetched_by_name(client: TestClient) -> None:
    answer = client.post(
        "/api/files", params={"name": "été.xlf", "source": "fr", "target": "en"}, content=XLIFF.encode()
    )
    *progress, last = rows(answer)
    assert progress[-1]["done"] == progress[-1]["total"] == 2
    assert last["name"] == "été.en.xlf"
    fetched = client.get(f"/api/files/{last['id']}")
    assert 'Open <g id="1">the file</g>' in fetched.text
    assert "attachment" in fetched.headers["content-disposition"]
    assert client.get("/api/files/nothing").status_code == 404
    broken = rows(
        client.post(
            "/api/files", params={"name": "a.xlf", "source": "fr", "target": "en"}, content=XLIFF[:200].encode()
        )
    )
    assert "a.xlf" in broken[-1]["error"]


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        (
            "a.po",
            'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Bonjour"\nmsgstr ""\n',
            'msgstr "Hello"',
        ),
        (
            "a.tmx",
            '<?xml version="1.0"?><tmx version="1.4"><header srclang="fr" segtype="sentence" adminlang="en" '
            'datatype="x" o-tmf="x" creationtool="x" creationtoolversion="1"/><body>'
            '<tu><tuv xml:lang="fr"><seg>Bonjour</seg></tuv></tu></body></tmx>',
            "<seg>Hello</seg>",
        ),
        ("a.html", "<!DOCTYPE html><html><body><p>Bonjour</p></body></html>", "<p>Hello</p>"),
        ("a.txt", "Bonjour\r\n\r\nLire le livre\r\n", "Hello\r\n\r\nRead the book\r\n"),
    ],
)
def test_every_format_of_files_is_translated(client: TestClient, name: str, text: str, wanted: str) -> None:
    answer = client.post("/api/files", params={"name": name, "source": "fr", "target": "en"}, content=text.encode())
    last = rows(answer)[-1]
    assert wanted in client.get(f"/api/files/{last['id']}").content.decode("utf-8")


@pytest.fixture(scope="module")
def nbest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of 20 sentences whose second candidate is right, and has a feature that says so."""
    folder = tmp_path_factory.mktemp("nbest")
    texts = [(f"the file {k} is not open today", f"the file {k} is open today") for k in range(20)]
    lines = []
    for k, (wrong, right) in enumerate(texts):
        lines += [f"{k} ||| {wrong} ||| f= -{2 + k % 3} ||| -1", f"{k} ||| {right} ||| f= -1 ||| -2"]
    (folder / "list.nbest").write_text("\n".join(lines) + "\n")
    (folder / "list.ref").write_text("\n".join(right for _, right in texts) + "\n")
    return folder


def test_a_list_is_re_ranked_with_wins_word_by_word(client: TestClient, nbest: Path) -> None:
    fields = {
        "nbest": (nbest / "list.nbest").read_text(),
        "references": (nbest / "list.ref").read_text(),
        "name": "x.nbest",
    }
    told = client.post("/api/rerank", json=fields).json()
    assert told["after"] > told["before"]
    assert told["won"] == told["changed"] == 20
    assert told["lost"] == 0
    assert {piece["one"].strip() for piece in told["wins"][0]["pieces"] if not piece["same"]} == {"not"}
    few = client.post("/api/rerank", json={**fields, "references": "one\n"})
    assert few.status_code == 400
    assert "x.nbest" in few.json()["error"] or "sentence" in few.json()["error"]


def test_pages_of_others_get_nothing_of_it(client: TestClient) -> None:
    body = {"text": "Bonjour", "source": "fr", "target": "en"}
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/api/translate", json=body, headers=headers).status_code == 403
        assert client.post("/api/confirm", json=body, headers=headers).status_code == 403
        assert client.get("/api/models", headers=headers).status_code == 403
    assert client.post("/api/translate", json=body, headers={"origin": "http://testserver"}).status_code == 200


def test_the_page_needs_nothing_from_elsewhere_and_runs_no_script_inside(client: TestClient) -> None:
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    for name in FILES:
        text = client.get(f"/page/{name}").text
        assert not re.search(r"https?://(?!www\.w3\.org/)|@import|\bstyle=|<script(?![^>]*src=)|\son\w+=\"", text), name
    assert client.get("/page/nothing.js").status_code == 404
    assert client.get("/page/..%2fapp.py").status_code == 404


def test_every_file_of_the_page_is_in_the_package() -> None:
    there = {item.name for item in (resources.files("camber.serve") / "page").iterdir() if item.is_file()}
    assert there == set(FILES)


@pytest.mark.slow
def test_curves_are_drawn_of_a_model_that_is_bent_and_no_other(
    serving: Serving, french: Path, client: TestClient, tmp_path: Path
) -> None:
    assert client.get("/curves/fr-to-en").status_code == 404
    assert client.get("/api/models").json()["models"][0]["curves"] is False
    french_dev(tmp_path)
    bent = tmp_path / "bent"
    tune_model(
        french, tmp_path / "dev.fr", tmp_path / "dev.en", out=bent, engine=Threads(1),
        settings=TuneSettings(tuner="pro", bend="mnr", iterations=1, nbest=20, cautious=False),
    )  # fmt: skip
    bending = serving([bent])
    assert bending.get("/api/models").json()["models"][0]["curves"] is True
    answer = bending.get("/curves/fr-to-en")
    assert answer.status_code == 200
    assert "<svg" in answer.text
    assert "<script" not in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]  # and so none
    (piece,) = seen(bending, "Où est le fichier ?")["pieces"]
    total = sum(sum(part["features"]) for part in piece["parts"])
    assert total == pytest.approx(piece["score"], abs=0.02)
    # who follows a link sends no key: what was drawn for a key is found by a name that nobody guesses
    key = make_key(tmp_path / "keys.txt", "alice")
    locked, pair = serving([bent], keys=tmp_path / "keys.txt"), {"source": "fr", "target": "en"}
    assert locked.get("/curves/fr-to-en").status_code == 400
    assert locked.post("/api/curves", json=pair).status_code == 400
    drawn = locked.post("/api/curves", json=pair, headers={"x-api-key": key}).json()["id"]
    assert locked.get(f"/curves/{drawn}").text == answer.text
    assert locked.get(f"/curves/{drawn[::-1]}").status_code == 404


# --- in a browser ----------------------------------------------------------------------------------------------------

browsing = pytest.mark.skipif(
    not is_there(), reason="no chromium and chromedriver: apt-get install chromium chromium-driver"
)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def learning(french: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(Path(shutil.copytree(french, tmp_path_factory.mktemp("page") / "model")), "--learn")
    yield running
    running.stop()


@pytest.fixture
def page(window: Browser, learning: Running) -> Browser:
    window.log()
    window.open(learning.url)
    window.wait("return document.querySelector('#pair').options.length > 0")
    return window


def _written(page: Browser, text: str, wanted: str) -> None:
    page.type("#source", text)
    page.wait_for_text("#output", wanted)


def _shot(page: Browser, name: str) -> None:
    if SCREENSHOTS:
        page.picture(Path(SCREENSHOTS) / f"{name}.png")


@browsing
@pytest.mark.slow
def test_what_is_typed_is_translated_and_shown(page: Browser) -> None:
    _written(page, "Où est le fichier ?", "Where is the file?")
    _shot(page, "light")
    assert page.run("return document.querySelectorAll('.ribbon').length") >= 1
    assert page.run("return document.querySelectorAll('.bar').length") >= 2
    assert "confidence" in page.text("#sure")
    assert page.run("return document.querySelectorAll('.alternatives button').length") >= 1
    assert "curl" in page.run("return document.querySelector('#curl').textContent")
    assert not page.log()


@browsing
@pytest.mark.slow
def test_words_that_belong_together_light_up_by_mouse_and_by_keys(page: Browser) -> None:
    _written(page, "Où est le fichier ?", "Where is the file?")
    page.hover(".words [data-side=target][data-at='3']")
    lit = "return [...document.querySelectorAll('.words .on')].map(e => e.dataset.side + ':' + e.textContent)"
    page.wait("return document.querySelectorAll('.words .on').length >= 2")
    assert {"source:fichier", "target:file"} <= set(page.run(lit))
    assert re.fullmatch(r"fichier → file · confidence \d+ %", page.text(".told"))
    page.run("document.querySelector('.words [data-side=source]').focus()")
    page.press("right")
    assert page.run("return document.activeElement.dataset.at") == "1"
    page.wait("return [...document.querySelectorAll('.words .on')].some(e => e.dataset.side === 'target')")
    assert page.text(".told").startswith("est → ")


@browsing
@pytest.mark.slow
def test_an_edited_translation_is_confirmed_by_keys_and_known_at_once(page: Browser) -> None:
    _written(page, "Voir la porte", "See the door")
    page.press("control", "enter")
    page.wait("return document.activeElement.matches('.line textarea')")
    page.run("document.activeElement.value = ''")
    page.type(".line textarea", "Look at the gate")
    page.press("control", "enter")
    page.wait_for_text("#status", "learnt")
    page.wait_for_text("#output", "Look at the gate")
    page.wait_for_text(".line", "confirmed before")
    page.run("const e = document.querySelector('#source'); e.value = ''; e.focus()")
    page.type("#source", "Voir la porte et la maison")
    page.wait_for_text(".words", "maison")
    assert page.text("#status") == ""
    page.wait_for_text(".line", "In the memory")
    assert page.run("return document.querySelectorAll('.match ins, .match del').length") >= 1
    _shot(page, "memory")


@browsing
@pytest.mark.slow
def test_what_the_memory_has_wrong_is_forgotten_and_brought_back(page: Browser) -> None:
    _written(page, "Lire le port", "port")
    page.press("control", "enter")
    page.wait("return document.activeElement.matches('.line textarea')")
    page.run("document.activeElement.value = ''")
    page.type(".line textarea", "Quite wrong")
    page.press("control", "enter")
    page.wait_for_text("#output", "Quite wrong")
    page.click(".forget")
    page.wait_for_text("#status", "forgotten")
    page.wait("return !document.querySelector('#output').textContent.includes('Quite wrong')")
    page.click("#undo")
    page.wait_for_text("#status", "learnt again")
    page.wait_for_text("#output", "Quite wrong")
    page.click(".forget")
    page.wait_for_text("#status", "forgotten")


@browsing
@pytest.mark.slow
def test_an_alternative_is_one_key_away(page: Browser) -> None:
    _written(page, "Où est le fichier ?", "Where is the file?")
    wanted = page.run("return document.querySelector('.alternatives button').lastChild.textContent")
    page.press("alt", "1")
    page.wait_for_text("#output", wanted)


@browsing
@pytest.mark.slow
def test_lines_of_a_long_text_are_folded_and_keys_are_for_the_line_of_the_caret(page: Browser) -> None:
    texts = ["Bonjour", "Ouvrir le fichier", "Lire le livre", "Où est le fichier ?", "Voir la maison"]
    page.run("const e = document.querySelector('#source'); e.value = ''; e.focus()")
    page.type("#source", "\n".join(texts))
    page.wait("return document.querySelectorAll('.line').length === 5")
    assert page.text("#output").splitlines()[:2] == ["Hello", "Open the file"]
    assert page.run("return document.querySelectorAll('.ribbon, .alternatives').length") == 0
    page.click(".line[data-place='3'] summary")
    page.wait("return document.querySelectorAll('.line[data-place=\"3\"] .ribbon').length > 0")
    page.run("const e = document.querySelector('#source'); e.focus(); e.setSelectionRange(30, 30)")
    page.press("control", "enter")
    page.wait("return document.activeElement.matches('.line[data-place=\"2\"] textarea')")
    page.press("escape")
    page.run("const e = document.querySelector('#source'); e.focus(); e.setSelectionRange(45, 45)")
    other = ".line[data-place='3'] .alternatives button"
    wanted = page.run("return document.querySelector(arguments[0]).lastChild.textContent", other)
    page.press("alt", "1")
    page.wait("return document.querySelector('#output').innerText.split('\\n')[3] === arguments[0]", wanted.strip())
    assert not page.log()


@browsing
@pytest.mark.slow
def test_terms_are_marked(page: Browser) -> None:
    page.click("#terms-box summary")
    page.type("#terms", "livre = tome")
    _written(page, "Lire le livre", "tome")
    marked = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
    assert page.run(marked, ".word.term") == ["livre", "tome"]
    assert page.run(marked, ".target-word.term") == ["tome"]
    assert page.run(marked, ".sure-0.term, .sure-1.term") == []


@browsing
@pytest.mark.slow
def test_a_violated_term_is_marked_on_both_sides(window: Browser, french: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.csv").write_text("source,target\nlivre,book\n")
    running = Running(french, "--glossary", tmp_path / "terms.csv")
    try:
        window.open(running.url)
        window.wait("return document.querySelector('#pair').options.length > 0")
        _written(window, "Lire le livre", "book")
        # of what a server answers, to be seen without an engine that disobeys
        window.run(
            "const real = window.fetch;"
            "window.fetch = async (path, options) => { const answer = await real(path, options);"
            "return new Response((await answer.text()).replaceAll('\"obeyed\": true', '\"obeyed\": false'),"
            "{ headers: answer.headers }); }"
        )
        window.type("#source", " ")
        window.wait_for_text(".line", "term violated")
        marked = (
            "return [...document.querySelectorAll('.word.violated, .target-word.violated')].map(e => e.textContent)"
        )
        assert window.run(marked) == ["book", "livre", "book"]
        _shot(window, "violated")
    finally:
        running.stop()


@browsing
@pytest.mark.slow
def test_features_have_one_colour_each_and_are_told_as_numbers(page: Browser) -> None:
    hues = (
        "return Object.fromEntries("
        "[...document.querySelectorAll('.legend span')].map(e => [e.textContent, e.className]))"
    )
    _written(page, "Où est le fichier ?", "Where is the file?")
    before = page.run(hues)
    page.run("const e = document.querySelector('#source'); e.value = ''; e.focus()")
    _written(page, "Voir le zorglub", "zorglub")
    after = page.run(hues)
    assert "unknown" in after
    assert all(after[name] == before[name] for name in set(before) & set(after))
    several = [hue for name, hue in after.items() if name != "others"]
    assert len(set(several)) == len(several)
    page.run("document.querySelector('.numbers').closest('details').open = true")
    rows = page.run(
        "return [...document.querySelectorAll('.numbers tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    shown = page.run("return [...document.querySelectorAll('.sum')].map(e => e.textContent)")
    assert [row[-1] for row in rows] == shown
    for row in rows:
        values = [float(cell.replace("−", "-")) for cell in row[1:]]
        assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.05)


@browsing
@pytest.mark.slow
def test_words_are_in_their_language_for_those_who_hear_them(page: Browser) -> None:
    _written(page, "Où est le fichier ?", "Where is the file?")
    rows = "return [...document.querySelectorAll('.words')].map(e => e.lang)"
    assert page.run(rows) == ["fr", "en"]
    assert page.run("return document.querySelector('#output').lang") == "en"


@browsing
@pytest.mark.slow
def test_a_server_that_is_gone_and_one_that_wants_a_key_say_so(window: Browser, french: Path, tmp_path: Path) -> None:
    key = make_key(tmp_path / "keys.txt", "alice")
    running = Running(french, "--keys", tmp_path / "keys.txt")
    try:
        window.open(running.url)
        window.wait("return document.activeElement.id === 'key'")
        window.type("#source", "Bonjour")
        window.wait_for_text("#trouble", "API key")
        window.type("#key", key + "\ue007")
        window.wait_for_text("#output", "Hello")
        assert window.run("return document.querySelector('#trouble').hidden")
    finally:
        running.stop()
    window.type("#source", " !")
    window.wait_for_text("#trouble", "the server does not answer")
    _shot(window, "gone")


@browsing
@pytest.mark.slow
def test_a_dropped_file_comes_back_translated(page: Browser, tmp_path: Path) -> None:
    (tmp_path / "manual.xlf").write_text(XLIFF, "utf-8")
    page.click("#tab-files")
    for count in (1, 2):  # the same file may be chosen again
        page.type("#file", str(tmp_path / "manual.xlf"))
        page.wait("return document.querySelectorAll('#files .fetch').length === arguments[0]", count)
    page.wait_for_text("#files", "Save manual.en.xlf")
    page.run(
        "const data = new DataTransfer(); data.items.add(new File(['Bonjour'], 'dropped.txt'));"
        "document.querySelector('#drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}))"
    )
    page.wait_for_text("#files", "Save dropped.en.txt")
    got = page.run(
        "const r = new XMLHttpRequest(); r.open('GET', [...document.querySelectorAll('.fetch')].pop().href, false);"
        "r.send(); return r.responseText"
    )
    assert "the file</g>" in got
    _shot(page, "files")


@browsing
@pytest.mark.slow
def test_a_list_is_re_ranked_before_the_readers_eyes(page: Browser, nbest: Path) -> None:
    page.click("#tab-rerank")
    page.click("#rerank")
    page.wait_for_text("#rerank-status.note", "choose a list")
    page.type("#nbest", str(nbest / "list.nbest"))
    page.type("#references", str(nbest / "list.ref"))
    page.click("#rerank")
    page.wait_for_text("#rerank-status", "a better one")
    assert page.run("return document.querySelectorAll('#rerank-result del').length") >= 10
    _shot(page, "rerank")


@browsing
@pytest.mark.slow
def test_nothing_is_wider_than_a_phone_and_dark_screens_are_dark(page: Browser) -> None:
    try:
        page.emulate("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True)
        page.emulate("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        _written(page, "Où est le fichier ? Nous avons la maison.", "Where is the file?")
        assert page.run("return document.documentElement.scrollWidth") <= 360
        colour = page.run("return getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 150
        _shot(page, "phone")
        for view in ("files", "rerank"):
            page.click(f"#tab-{view}")
            assert page.run("return document.documentElement.scrollWidth") <= 360
            fields = "return [...document.querySelectorAll('input')].map(e => e.getBoundingClientRect().right)"
            assert max(page.run(fields)) <= 360
    finally:
        page.emulate("Emulation.clearDeviceMetricsOverride")
        page.emulate("Emulation.setEmulatedMedia", features=[])


@browsing
@pytest.mark.slow
def test_languages_from_right_to_left_are_written_so(window: Browser, french: Path) -> None:
    running = Running(f"fr-ar={french}")
    try:
        window.open(running.url)
        window.wait("return document.querySelector('#pair').options.length > 0")
        _written(window, "Où est le fichier ?", "Where")
        assert window.run("return getComputedStyle(document.querySelector('#output')).direction") == "rtl"
        assert window.run("return getComputedStyle(document.querySelectorAll('.words')[1]).direction") == "rtl"
        assert window.run("return getComputedStyle(document.querySelectorAll('.words')[0]).direction") == "ltr"
        _shot(window, "rtl")
    finally:
        running.stop()


@browsing
@pytest.mark.slow
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_nothing_serious_bars_anyone(page: Browser, colours: str) -> None:
    try:
        page.emulate("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        page.run("document.querySelector('#terms-box').open = true; document.querySelector('#curl-box').open = true")
        page.type("#terms", "livre = tome")
        _written(page, "Lire le livre\nOù est le zorglub ?", "tome")
        page.run("for (const e of document.querySelectorAll('details')) e.open = true")
        for view in ("text", "files", "rerank"):
            page.click(f"#tab-{view}")
            assert not serious(page), view
    finally:
        page.emulate("Emulation.setEmulatedMedia", features=[])
