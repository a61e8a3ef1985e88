"""How a server behaves, whatever protocol asks: keys, deadlines, batches, replaced models, endings."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import threading
import time
import urllib.request
import xmlrpc.client
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from toys.running import Running

from camber.errors import CamberError, InputError
from camber.model.asking import Request
from camber.model.translator import load
from camber.serve.app import routes
from camber.serve.calls import Busy
from camber.serve.jobs import Decoding, Options
from camber.serve.keys import make_key, read_keys
from camber.serve.metrics import Metrics
from camber.serve.server import make_app, named_model
from camber.serve.texts import pieces_of

Serving = Callable[..., TestClient]
BONJOUR = {"q": "Bonjour", "source": "fr", "target": "en"}


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "keys.txt"


def test_a_key_is_told_once_and_only_its_hash_is_kept(keys: Path) -> None:
    key = make_key(keys, "alice")
    assert key not in keys.read_text()
    assert keys.stat().st_mode & 0o077 == 0
    assert [item.name for item in read_keys(keys)] == ["alice"]
    with pytest.raises(CamberError, match="there is a key alice already"):
        make_key(keys, "alice")
    with pytest.raises(CamberError, match="no name for a key"):
        make_key(keys, "a b")


def test_a_line_that_is_no_key_is_an_error_with_its_place(keys: Path) -> None:
    keys.write_text("# ours\nalice secret translate\n")
    with pytest.raises(InputError, match=r"keys.txt:2: no key"):
        read_keys(keys)


def test_a_key_is_taken_wherever_clients_put_it(serving: Serving, keys: Path) -> None:
    key = make_key(keys, "alice")
    client = serving(keys=keys)
    missing = client.post("/translate", json={**BONJOUR, "api_key": None})
    assert (missing.status_code, missing.json()["error"]) == (
        400,
        "Please contact the server operator to get an API key",
    )
    wrong = client.post("/translate", json={**BONJOUR, "api_key": key[:-1]})
    assert (wrong.status_code, wrong.json()) == (403, {"error": "Invalid API key"})
    assert client.post("/translate", json={**BONJOUR, "api_key": key}).json() == {"translatedText": "Hello"}
    assert client.post("/translate", data=BONJOUR, params={"api_key": key}).status_code == 200
    for header in (f"Bearer {key}", f"DeepL-Auth-Key {key}"):
        assert client.post("/translate", data=BONJOUR, headers={"authorization": header}).status_code == 200
    assert client.post("/translate", data=BONJOUR, auth=("any", key)).status_code == 200
    assert client.post("/translate", data=BONJOUR, headers={"x-api-key": key}).status_code == 200
    deepl = {"text": ["Bonjour"], "target_lang": "EN"}
    assert client.post("/v2/translate", json=deepl).status_code == 403
    assert (
        client.post("/v2/translate", json=deepl, headers={"authorization": f"DeepL-Auth-Key {key}"}).status_code == 200
    )
    assert client.get("/translate", params={"q": "Bonjour", "langpair": "fr|en", "key": key}).status_code == 200
    assert client.get("/fr/en/unit/Bonjour").status_code == 400
    assert client.get("/metrics").status_code == 400
    assert client.get("/health").status_code == 200


def test_a_key_that_is_taken_out_of_the_file_is_refused_soon(serving: Serving, keys: Path) -> None:
    key = make_key(keys, "alice")
    client = serving(keys=keys, reload=0.1)
    assert client.post("/translate", json={**BONJOUR, "api_key": key}).status_code == 200
    keys.write_text("# nobody\n")
    _until(lambda: client.post("/translate", json={**BONJOUR, "api_key": key}).status_code == 403)


def test_only_some_keys_may_teach(serving: Serving, own_french: Path, keys: Path) -> None:
    reader, teacher = make_key(keys, "reader"), make_key(keys, "teacher", learn=True)
    client = serving([own_french], keys=keys)
    pair = {"q": "Fermez le chapitre.", "s": "Shut it.", "source": "fr", "target": "en"}
    assert client.post("/suggest", json={**pair, "api_key": reader}).status_code == 403
    assert client.post("/suggest", json={**pair, "api_key": teacher}).json() == {"success": True}
    (added,) = load(own_french).memory.numbered()  # type: ignore[union-attr]
    assert added.author == "teacher"
    assert added.time


# --- the queue -------------------------------------------------------------------------------------------------------


class Slow:
    """A translator that notes what it is given together, and waits until it may go on."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go = threading.Event()

    def translations(self, texts: Sequence[str], nbest: int, **_: Any) -> Iterator[Any]:
        self.batches.append(list(texts))
        assert self.go.wait(30)
        if "bad" in texts:
            raise CamberError("a bad text")
        return iter([[_Said(text.upper())] for text in texts])


class _Said:
    def __init__(self, text: str) -> None:
        self.text, self.tokens = text, [text]


def _decoding(work: Callable[[Decoding, Slow], Any], **values: Any) -> Any:
    """Run something with a queue of one thread."""

    async def run() -> Any:
        slow = Slow()
        decoding = Decoding(**{"threads": 1, "batch": 8, "cache": 0, "metrics": Metrics(), **values})
        decoding.start()
        try:
            return await work(decoding, slow)
        finally:
            slow.go.set()
            await asyncio.to_thread(decoding.close)

    return asyncio.run(asyncio.wait_for(run(), 60))


async def _asked(decoding: Decoding, slow: Slow, texts: Sequence[str], seconds: float = 20.0) -> list[str]:
    until = asyncio.get_running_loop().time() + seconds
    options: Any = Options(slow)  # type: ignore[arg-type]
    found = await decoding.translations(options, texts, [Request()] * len(texts), until)
    return [best[0].text for best in found]


async def _begun(slow: Slow, count: int = 1) -> None:
    while len(slow.batches) < count:
        await asyncio.sleep(0.005)


def test_requests_that_come_together_are_decoded_together() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        first = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        others = [asyncio.create_task(_asked(decoding, slow, [f"text {k}"])) for k in range(5)]
        await asyncio.sleep(0.05)
        slow.go.set()
        assert await first == ["FIRST"]
        assert await asyncio.gather(*others) == [[f"TEXT {k}"] for k in range(5)]
        assert slow.batches == [["first"], [f"text {k}" for k in range(5)]]

    _decoding(work)


def test_a_long_request_does_not_hold_up_a_short_one() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        blocked = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        long = asyncio.create_task(_asked(decoding, slow, [f"long {k}" for k in range(20)]))
        short = asyncio.create_task(_asked(decoding, slow, ["short"]))
        await asyncio.sleep(0.05)
        slow.go.set()
        await asyncio.gather(blocked, long, short)
        assert "short" in slow.batches[1]
        assert [text for batch in slow.batches for text in batch if text.startswith("long")] == [
            f"long {k}" for k in range(20)
        ]

    _decoding(work, batch=4)


def test_long_texts_make_small_batches() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        first = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        texts = [f"{k} " + "x" * 3000 for k in range(6)]
        long = asyncio.create_task(_asked(decoding, slow, texts))
        await asyncio.sleep(0.05)
        slow.go.set()
        await first
        assert await long == [text.upper() for text in texts]
        assert slow.batches[1:] == [texts[:2], texts[2:4], texts[4:]]

    _decoding(work)


def test_long_requests_are_begun_when_others_are_finished() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        blocked = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        names = "abcdefghij"
        tasks = [asyncio.create_task(_asked(decoding, slow, [f"{name}{k}" for k in range(20)])) for name in names]
        await asyncio.sleep(0.05)
        slow.go.set()
        await asyncio.gather(blocked, *tasks)
        order = [text[0] for batch in slow.batches[1:] for text in batch]
        begun = [order.index(name) for name in names]
        done = [max(place for place, name in enumerate(order) if name == own) for own in names]
        assert begun == sorted(begun)
        for start in begun:  # four at a time
            assert sum(begin < start < end for begin, end in zip(begun, done, strict=True)) <= 3

    _decoding(work, batch=4)


def test_what_is_not_done_by_the_deadline_is_refused_and_never_begun() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        first = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        with pytest.raises(Busy):
            await _asked(decoding, slow, ["late"], seconds=0.05)
        slow.go.set()
        assert await first == ["FIRST"]
        assert await _asked(decoding, slow, ["next"]) == ["NEXT"]
        assert slow.batches == [["first"], ["next"]]

    _decoding(work)


def test_what_was_given_up_is_kept_no_longer() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        first = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        patient = asyncio.create_task(_asked(decoding, slow, [f"patient {k}" for k in range(9)]))
        await asyncio.sleep(0)
        for _ in range(30):
            with pytest.raises(Busy):
                await _asked(decoding, slow, ["late"], seconds=0.001)
        slow.go.set()
        await first
        await _begun(slow, 2)
        assert len(decoding._jobs) <= 1
        await patient

    _decoding(work, batch=4)


def test_one_bad_text_spoils_no_other_request() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        first = asyncio.create_task(_asked(decoding, slow, ["first"]))
        await _begun(slow)
        good = asyncio.create_task(_asked(decoding, slow, ["good"]))
        bad = asyncio.create_task(_asked(decoding, slow, ["bad"]))
        await asyncio.sleep(0.05)
        slow.go.set()
        assert await first == ["FIRST"]
        assert await good == ["GOOD"]
        with pytest.raises(Exception, match="a bad text"):
            await bad

    _decoding(work)


def test_what_was_accepted_is_finished_before_the_end() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        tasks = [asyncio.create_task(_asked(decoding, slow, [f"text {k}"])) for k in range(3)]
        await _begun(slow)
        closing = asyncio.create_task(asyncio.to_thread(decoding.close))
        slow.go.set()
        await closing
        assert await asyncio.gather(*tasks) == [["TEXT 0"], ["TEXT 1"], ["TEXT 2"]]

    _decoding(work)


def test_translations_are_remembered_until_their_model_goes() -> None:
    async def work(decoding: Decoding, slow: Slow) -> None:
        slow.go.set()
        for _ in range(2):
            assert await _asked(decoding, slow, ["a", "b"]) == ["A", "B"]
        assert len(slow.batches) == 1
        assert await _asked(decoding, slow, ["c"]) == ["C"]
        assert len(decoding.cache) == 2  # the oldest one went
        decoding.cache.forget(lambda options: False)
        assert await _asked(decoding, slow, ["c"]) == ["C"]
        assert len(slow.batches) == 3

    _decoding(work, cache=2)


def test_a_busy_server_says_when_to_try_again_in_every_protocol(serving: Serving) -> None:
    client = serving(deadline=0.2)
    house = client.app.house  # type: ignore[attr-defined]
    slow = Slow()
    for model in house.models.values():
        model.translator.translations = slow.translations
        model.translator.decoder.decode = lambda *_, **__: slow.translations(["tokens"], 1)
    answers = {
        "libretranslate": (client.post("/translate", json=BONJOUR), 429),
        "deepl": (client.post("/v2/translate", json={"text": ["Bonjour"], "target_lang": "EN"}), 429),
        "apertium": (client.get("/translate", params={"q": "Bonjour", "langpair": "fr|en"}), 503),
        "apertium, a form": (client.post("/translate", data={"q": "Bonjour", "langpair": "fr|en"}), 503),
        "moses": (client.post("/RPC2", content=xmlrpc.client.dumps(({"text": "Bonjour"},), "translate")), 503),
    }
    slow.go.set()
    for answer, status in answers.values():
        assert answer.status_code == status
        assert int(answer.headers["retry-after"]) > 0
    assert answers["libretranslate"][0].json()["error"].startswith("Slowdown: ")


def test_requests_wait_for_a_place_and_are_refused_only_after_the_deadline(serving: Serving) -> None:
    client = serving(queue=1, deadline=5.0)
    results: list[int] = []

    def ask() -> None:
        results.append(client.post("/translate", json=BONJOUR).status_code)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == [200] * 6


# --- models ----------------------------------------------------------------------------------------------------------


def _until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def test_pairs_that_another_process_adds_are_known_soon(serving: Serving, own_french: Path) -> None:
    from camber.engine import Threads
    from camber.pipeline.add import add

    client = serving([own_french], reload=0.1)
    text = {**BONJOUR, "q": "Fermez le chapitre."}
    before = client.post("/translate", json=text).json()
    add(own_french, ["Fermez le chapitre."], ["Shut that."], engine=Threads(1))
    _until(lambda: client.post("/translate", json=text).json() != before)
    assert client.post("/translate", json=text).json() == {"translatedText": "Shut that."}


def test_a_model_that_is_replaced_is_opened_again_and_a_damaged_one_is_not(
    serving: Serving, own_french: Path, hotel_model: Path, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    client = serving([f"fr-en={own_french}"], reload=0.1)
    text = {**BONJOUR, "q": "señor Robles"}
    assert client.post("/translate", json=text).json()["translatedText"] != "Mr. Robles"
    own_french.rename(tmp_path / "old")
    with caplog.at_level(logging.WARNING):
        _until(lambda: "the model is gone" in caplog.text)
    assert client.post("/translate", json=BONJOUR).json()["translatedText"] == "Hello"
    staged = Path(shutil.copytree(hotel_model, tmp_path / "staged"))
    staged.rename(own_french)
    _until(lambda: client.post("/translate", json=text).json()["translatedText"].startswith("M"))
    own_french.rename(tmp_path / "older")
    broken = Path(shutil.copytree(hotel_model, tmp_path / "broken"))
    (broken / "weights.tsv").write_text("nonsense\n")
    broken.rename(own_french)
    with caplog.at_level(logging.WARNING):
        _until(lambda: "stays in service" in caplog.text.split("the model is gone")[-1])
    assert client.post("/translate", json=text).json()["translatedText"].startswith("M")


def test_several_models_are_served_by_their_languages(serving: Serving, french: Path, hotel_model: Path) -> None:
    client = serving([french, f"es-en={hotel_model}"])
    assert [item["code"] for item in client.get("/languages").json()] == ["en", "fr", "es"]
    assert client.post("/translate", json=BONJOUR).json() == {"translatedText": "Hello"}
    spanish = client.post("/translate", json={"q": "señor Robles", "source": "es", "target": "en"}).json()
    assert spanish["translatedText"].startswith("M")
    found = client.post("/detect", data={"q": "¿cuánto cuestan dos habitaciones para el señor?"}).json()
    assert found[0]["language"] == "es"


def test_two_models_for_the_same_languages_are_refused(french: Path) -> None:
    with pytest.raises(CamberError, match="both translate fr-en"):
        make_app([french, french])


def test_a_model_without_languages_needs_them_told(hotel_model: Path) -> None:
    with pytest.raises(CamberError, match="name them: camber serve de-en="):
        make_app([hotel_model])
    assert named_model("es-en=x") == ("es", "en", "x")


def test_terms_of_the_server_hold_for_everyone(serving: Serving, tmp_path: Path) -> None:
    terms = tmp_path / "terms.csv"
    terms.write_text("livre,tome\n")
    client = serving(glossary=terms)
    assert "tome" in client.post("/translate", json={**BONJOUR, "q": "Lire le livre"}).json()["translatedText"]


# --- what is told ----------------------------------------------------------------------------------------------------


def test_the_log_has_no_text_unless_asked(serving: Serving, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "camber"):
        serving().post("/translate", json=BONJOUR)
        serving().get("/fr/en/unit/Bonjour")
        serving().get("/translate", params={"q": "Bonjour", "langpair": "fr|en"})
    assert "Bonjour" not in caplog.text
    assert "Hello" not in caplog.text
    rows = [json.loads(record.message) for record in caplog.records if record.name == "camber.serve"]
    assert [row["status"] for row in rows] == [200, 200, 200]
    caplog.clear()
    with caplog.at_level(logging.INFO, "camber"):
        serving(log_text=True).post("/translate", json=BONJOUR)
    assert "Bonjour" in caplog.text


def test_metrics_are_in_the_format_of_prometheus(client: TestClient) -> None:
    for _ in range(2):
        client.post("/translate", json=BONJOUR)
    client.get("/nowhere/at/all")
    lines = client.get("/metrics").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert values['camber_requests_total{path="/translate",status="200"}'] == "2"
    assert values['camber_cache_total{found="yes"}'] == "1"
    assert values["camber_tokens_total"] == "1"
    assert values["camber_queue_texts"] == "0"
    assert not any("nowhere" in line for line in lines)
    buckets = [float(value) for name, value in values.items() if name.startswith("camber_translate_seconds_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == float(values["camber_translate_seconds_count"]) == 2
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert all(any(name.startswith(known) for known in named) for name in values)


def test_everything_that_is_answered_is_described(client: TestClient) -> None:
    told = client.get("/spec").json()
    paths = {
        path.replace("{}", "{id}"): {method.lower() for method in methods}
        for path, methods in routes().items()
        if "?" not in path
    }
    described = {path: set(methods) for path, methods in told["paths"].items()}
    assert described == paths


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").status_code == 200
    client.app.house.ready = False  # type: ignore[attr-defined]
    assert client.get("/ready").status_code == 503


def test_lines_of_a_text_come_back_as_they_were() -> None:
    for text in ("", "\n", "a", " a \r\n\n b\u2028c ", "…", "\ta\x0b"):
        pieces = pieces_of(text)
        assert pieces.join(pieces.texts) == text


# --- a process of its own --------------------------------------------------------------------------------------------


def test_a_server_that_is_told_to_stop_answers_what_it_accepted(french: Path) -> None:
    running = Running(french)
    results: list[Any] = []

    def ask(number: int) -> None:
        body = json.dumps({**BONJOUR, "q": [f"Ouvrir le fichier {number} {k}" for k in range(200)]}).encode()
        request = urllib.request.Request(running.url + "/translate", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            results.append(json.load(answer)["translatedText"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    _until(lambda: b"camber_queue_texts 0\n" not in _get(running.url + "/metrics"))
    assert running.stop() == 0
    for thread in threads:
        thread.join(30)
    assert [len(texts) for texts in results] == [200] * 3
    assert "stopped\n" in running.log


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return bytes(answer.read())


def test_a_port_that_is_taken_is_a_clear_error(server: Running, french: Path) -> None:
    from camber.serve.server import serve

    port = int(server.url.rpartition(":")[2])
    with pytest.raises(CamberError, match=f"cannot listen on 127.0.0.1 port {port}"):
        serve([french], port=port)
