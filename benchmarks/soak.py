#!/usr/bin/env python3
"""A server under twice the load that it can bear, for half an hour: is every answer right, and does memory stay flat?

    python benchmarks/soak.py [--minutes 30] [--model MODEL] [--data ../shared] [--threads 2]

All five protocols, short and long texts, HTML, batches, pairs that are learnt, and a model that is replaced every 20
seconds, French to English. First it measures how much the server can do with this mixture (`capacity`). Then requests
come at twice that rate, whether earlier ones are answered or not; some clients go away before. Meanwhile others send
heads and bodies that do not end, bodies that are too large, nonsense, wrong keys, and XML that would grow without end.
Then comes a client like Weblate, with lists of 20 texts: twice the capacity for some seconds, again and again, so that
the queue never reaches the deadline. At last the server is told to stop under load.

Each answer is compared with what the models say alone. The script ends with 1 if one is lost, or not the one that was
asked for, if anything is refused but past its deadline and with Retry-After, if memory grows in the second half of the
load, or if the server does not end well.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from serve import COMMAND, Server

import camber
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.pipeline.add import add
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.serve.tokens import translate_tokens

#: seconds that a client waits for an answer, at most; one that has not come then is lost
LONGEST = 60.0
#: connections and files that may be open, if whoever runs this may ask for so many
FILES = 2**16
#: by how much the memory of a server may grow from the third quarter of the load to the last
FLAT = 0.05
#: seconds after which a process that does nothing but wait was not slow, but stopped, with its server
_STOOD = 5.0
_JSON = {"content-type": "application/json"}
_FORM = {"content-type": "application/x-www-form-urlencoded"}


class Question(NamedTuple):
    """A request, and what its answer may be."""

    kind: str
    message: bytes
    #: what of the answer's body is compared
    read: Callable[[bytes], Any]
    right: list[Any]


class Told(NamedTuple):
    """What came of a request."""

    kind: str
    outcome: str
    took: float
    sent: float


class Memory(NamedTuple):
    """What a server takes at a time: seconds since its start, MB of its own and of files, and open files."""

    at: float
    own: float
    pages: float
    files: int


# --- questions and what models say alone -----------------------------------------------------------------------------


def request(path: str, body: bytes | str = b"", headers: dict[str, str] | None = None, method: str = "POST") -> bytes:
    """Return the bytes of a request."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def of_json(*path: str | int) -> Callable[[bytes], Any]:
    """Return what takes a value out of a JSON answer."""

    def read(body: bytes) -> Any:
        value = json.loads(body)
        for step in path:
            value = value[step]
        return value

    return read


def of_page(body: bytes) -> Any:
    """Return the texts of the page's lines, in order, without those of its head."""
    rows = sorted((json.loads(line) for line in body.splitlines()[1:]), key=lambda row: row["place"])
    return [row["text"] for row in rows]


def of_units(body: bytes) -> Any:
    """Return what tmserver tells."""
    return [[unit["source"], unit["target"], unit["quality"]] for unit in json.loads(body)]


def of_rpc(body: bytes) -> Any:
    """Return the text of an answer in XML-RPC."""
    return xmlrpc.client.loads(body)[0][0]["text"]  # type: ignore[index]


class Questions:
    """Requests of all sorts, with what the models that take turns say to them."""

    def __init__(self, models: Sequence[Path], key: str, lines: Sequence[str], seed: int) -> None:
        self.models = [camber.load(model) for model in models]
        self.key, self.lines, self.random = key, list(lines), random.Random(seed)

    def said(self, texts: Sequence[str], **options: Any) -> list[list[str]]:
        """Return what each model makes of texts."""
        return [model.translate(texts, engine=Threads(1), **options) for model in self.models]

    def all(self, count: int) -> list[list[Question]]:
        """Return questions of each kind, as many of each as their share of the whole."""
        makers: list[tuple[Callable[[int], list[Question]], float]] = [
            (self.singles, 0.30), (self.forms, 0.08), (self.markup, 0.10), (self.long, 0.01), (self.deepl, 0.12),
            (self.apertium, 0.10), (self.moses, 0.10), (self.units, 0.08), (self.pages, 0.04), (self.batches, 0.07),
        ]  # fmt: skip
        return [make(max(2, round(share * count))) for make, share in makers]

    def _some(self, count: int) -> list[str]:
        return [self.random.choice(self.lines) for _ in range(count)]

    def singles(self, count: int) -> list[Question]:
        """Single sentences, as LibreTranslate's clients send them."""
        texts = self._some(count)
        return [
            Question("sentence", self._libre({"q": text}), of_json("translatedText"), list(right))
            for text, *right in zip(texts, *self.said(texts), strict=True)
        ]

    def _libre(self, content: dict[str, Any], target: str = "en") -> bytes:
        told = {"source": "fr", "target": target, "api_key": self.key, **content}
        return request("/translate", json.dumps(told), _JSON)

    def forms(self, count: int) -> list[Question]:
        """Forms, in the body and in the path."""
        texts, found = self._some(count), []
        for row, (text, *right) in enumerate(zip(texts, *self.said(texts), strict=True)):
            form = urlencode({"q": text, "source": "FR", "target": "en", "api_key": self.key})
            message = request("/translate", form, _FORM) if row % 2 else request(f"//translate/?{form}")
            found.append(Question("form", message, of_json("translatedText"), list(right)))
        return found

    def markup(self, count: int) -> list[Question]:
        """Paragraphs with tags."""
        texts = []
        for line in self._some(count):
            first, *rest = line.split()
            texts.append(f"<p><b>{escape(first)}</b> {escape(' '.join(rest))}</p>")
        return [
            Question("html", self._libre({"q": text, "format": "html"}), of_json("translatedText"), list(right))
            for text, *right in zip(texts, *self.said(texts, format="html"), strict=True)
        ]

    def batches(self, count: int, size: int = 20) -> list[Question]:
        """Lists, as Weblate sends them; some texts are empty."""
        found = []
        for _ in range(count):
            texts = [*self._some(size - 1), ""]
            right = [list(said) for said in self.said(texts)]
            found.append(Question("list of 20", self._libre({"q": texts}), of_json("translatedText"), right))
        return found

    def long(self, count: int) -> list[Question]:
        """Texts of 100 lines."""
        found = []
        for _ in range(count):
            texts = self._some(100)
            right = ["\n".join(said) for said in self.said(texts)]
            message = self._libre({"q": "\n".join(texts)})
            found.append(Question("text of 100 lines", message, of_json("translatedText"), list(right)))
        return found

    def deepl(self, count: int) -> list[Question]:
        """DeepL's protocol; every second one with an element that is to stay as it is."""
        headers = {"authorization": f"DeepL-Auth-Key {self.key}", **_JSON}
        texts, found = self._some(count), []
        for text, *right in zip(texts, *self.said(texts), strict=True):
            content = {"text": [text], "source_lang": "FR", "target_lang": "EN-GB"}
            message = request("/v2/translate", json.dumps(content), headers)
            found.append(Question("DeepL", message, of_json("translations", 0, "text"), list(right)))
        return found

    def apertium(self, count: int) -> list[Question]:
        """Apertium's protocol, with a raw bar in the path."""
        texts, found = self._some(count), []
        for text, *right in zip(texts, *self.said(texts), strict=True):
            path = f"/translate?langpair=fr|en&markUnknown=no&key={self.key}&q={quote(text)}"
            message = request(path, method="GET")
            found.append(Question("Apertium", message, of_json("responseData", "translatedText"), list(right)))
        return found

    def moses(self, count: int) -> list[Question]:
        """Moses' XML-RPC: tokens."""
        texts = [" ".join(re.findall(r"\w+|[^\w\s]", text)) for text in self._some(count)]
        said = [[best[0].text for best in translate_tokens(model, texts)] for model in self.models]
        headers = {"content-type": "text/xml", "x-api-key": self.key}
        found = []
        for text, *right in zip(texts, *said, strict=True):
            body = xmlrpc.client.dumps(({"text": text, "align": True},), "translate")
            found.append(Question("Moses", request("/RPC2", body, headers), of_rpc, list(right)))
        return found

    def units(self, count: int) -> list[Question]:
        """tmserver: what the memory has."""
        found = []
        for text in self._some(count):
            right = []
            for model in self.models:
                assert model.memory is not None
                right.append([[it.source, it.target, it.percent] for it in model.memory.matches(text, 0.5, 5)])
            message = request(f"/fr/en/unit/{quote(text, safe='')}", b"", {"x-api-key": self.key}, "GET")
            found.append(Question("tmserver", message, of_units, right))
        return found

    def pages(self, count: int) -> list[Question]:
        """What the page asks, which is answered line by line."""
        found = []
        for _ in range(count):
            texts = self._some(3)
            content = {"text": "\n".join(texts), "source": "fr", "target": "en", "stream": True}
            message = request("/api/translate", json.dumps(content), {"x-api-key": self.key, **_JSON})
            found.append(Question("page", message, of_page, [list(said) for said in self.said(texts)]))
        return found

    def learning(self, number: int) -> tuple[Question, Question]:
        """A pair to be learnt by the other model, and the question whether it knows it."""
        source, target = f"zorglub{number} xyloph{number}", f"Zurglob {number} and phylox {number}"
        content = {"q": source, "s": target, "source": "fr", "target": "en-x-learner", "api_key": self.key}
        learn = Question("learn", request("/suggest", json.dumps(content), _JSON), of_json("success"), [True])
        ask = self._libre({"q": source}, "en-x-learner")
        return learn, Question("learnt", ask, of_json("translatedText"), [target])


# --- clients ---------------------------------------------------------------------------------------------------------


class Pulse:
    """Notes by how much this process, which is all clients, is late itself, and when it stood still."""

    def __init__(self) -> None:
        self.latest, self.worst = time.monotonic(), 0.0
        self.stood: list[float] = []

    async def beat(self) -> None:
        """Go on until cancelled."""
        while True:
            await asyncio.sleep(0.1)
            self.look()

    def look(self) -> None:
        """Note how long it was since the last look."""
        now = time.monotonic()
        late = now - self.latest - 0.1
        self.latest = now
        if late > _STOOD:
            self.stood.append(now)
        else:
            self.worst = max(self.worst, late)

    def stood_since(self, begin: float) -> bool:
        """Say whether all stood still at some time since then."""
        self.look()
        return any(end > begin for end in self.stood)


class Clients:
    """Sends requests, and notes what became of each."""

    def __init__(self, port: int, deadline: float, pulse: Pulse) -> None:
        self.port, self.deadline = port, deadline
        self.told: list[Told] = []
        self.wrong: list[str] = []
        self.pulse = pulse
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        # an address has 28,000 ports, each of which rests for a minute: hundreds of connections a second want more
        self._places = itertools.cycle(f"127.0.0.{number}" for number in range(1, 9))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Lend a connection; one that was used before, if there is one that still lives."""
        reader, writer = None, None
        while self._free and writer is None:
            reader, writer = self._free.pop()
            if reader.at_eof() or writer.is_closing():
                writer.close()
                writer = None
        if reader is None or writer is None:
            place = (next(self._places), 0) if sys.platform == "linux" else None
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22, local_addr=place)
        try:
            yield reader, writer
        except BaseException:
            writer.transport.abort()
            raise
        if len(self._free) < 100:
            self._free.append((reader, writer))
        else:
            writer.close()

    async def ask(self, question: Question, leaves: float = 0.0) -> str:
        """Send a request and compare its answer; who `leaves` goes away after so many seconds."""
        sent = time.monotonic()
        try:
            async with asyncio.timeout(leaves or LONGEST), self.connection() as (reader, writer):
                writer.write(question.message)
                status, headers, body = await answer(reader)
                if headers.get("connection") == "close":
                    writer.close()
            took = time.monotonic() - sent
            outcome = self._judged(question, status, headers, body, took)
        except TimeoutError:
            took, outcome = time.monotonic() - sent, "went away" if leaves else "LOST: no answer"
        except (OSError, asyncio.IncompleteReadError) as error:
            took, outcome = time.monotonic() - sent, f"LOST: {type(error).__name__} {getattr(error, 'errno', '')}"
        if outcome not in ("right", "WRONG", "went away") and self.pulse.stood_since(sent):
            outcome = "all stood still"
        self.told.append(Told(question.kind, outcome, took, sent))
        return outcome

    def _judged(self, question: Question, status: int, headers: dict[str, str], body: bytes, took: float) -> str:
        if status in (429, 503):
            late, hint = took >= 0.98 * self.deadline, "retry-after" in headers
            if late and hint:
                return "refused past the deadline"
            self.wrong.append(f"{question.kind}: {status} after {took:.1f} s, retry-after {headers.get('retry-after')}")
            return "REFUSED too early" if hint else "REFUSED without retry-after"
        if status != 200:
            self.wrong.append(f"{question.kind}: {status} {body[:200]!r}")
            return f"STATUS {status}"
        if question.kind == "page" and b'"error"' in body.splitlines()[-1]:
            return "refused past the deadline"
        try:
            found = question.read(body)
        except (ValueError, KeyError, IndexError, xmlrpc.client.Error) as error:
            found = f"{type(error).__name__}: {body[:200]!r}"
        if found in question.right:
            return "right"
        self.wrong.append(f"{question.kind}: {found!r:.300} is none of {question.right!r:.600}")
        return "WRONG"

    def close(self) -> None:
        """Close what is open."""
        for _, writer in self._free:
            writer.close()
        self._free.clear()


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    """Read an answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    elif headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body = b""
    return int(head[0].split()[1]), headers, body


async def in_turns(clients: Clients, questions: Iterator[Question], count: int, seconds: float) -> float:
    """Let some clients ask one after the other for a while; return the answers a second."""
    end = time.monotonic() + seconds
    done = 0

    async def one() -> None:
        nonlocal done
        while time.monotonic() < end:
            await clients.ask(next(questions))
            done += 1

    begin = time.monotonic()
    await asyncio.gather(*(one() for _ in range(count)))
    return done / (time.monotonic() - begin)


async def at_rate(
    clients: Clients,
    questions: Iterator[Question],
    rate: float,
    seconds: float,
    draw: random.Random,
    leaving: float = 0.0,
    last: float = 0.0,
) -> None:
    """Ask at a rate, whether earlier requests are answered or not, and wait for all; a share goes away early.

    With `last`, do not wait for those that are sent so many seconds before the end.
    """
    asked: set[asyncio.Task[Any]] = set()
    begin = due = time.monotonic()
    while due < begin + seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        leaves = draw.uniform(0.05, clients.deadline) if draw.random() < leaving else 0.0
        task = asyncio.create_task(clients.ask(next(questions), leaves))
        asked.add(task)
        task.add_done_callback(asked.discard)
        due = max(due + draw.expovariate(rate), time.monotonic() - _STOOD)
    while asked and not last:
        await asyncio.wait(asked)


# --- those who mean no good ------------------------------------------------------------------------------------------

_ENTITIES = "".join(f"<!ENTITY {two} '{10 * f'&{one};'}'>" for one, two in itertools.pairwise("abcdefghij"))
_BOMB = f"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>{_ENTITIES}]><methodCall><methodName>&j;</methodName></methodCall>"


def attacks(key: str) -> list[tuple[str, bytes, set[int]]]:
    """Return bad requests, with what they may be answered."""
    rpc = {"content-type": "text/xml", "x-api-key": key}
    bonjour = {"q": "Bonjour", "source": "fr", "target": "en", "api_key": key}
    deep = b'{"q":' * 20000
    parts = {"content-type": "multipart/form-data; boundary=x", "x-api-key": key}
    return [
        ("wrong key", request("/translate", json.dumps({**bonjour, "api_key": key[:-1]}), _JSON), {403}),
        ("no key", request("/translate", json.dumps({**bonjour, "api_key": ""}), _JSON), {400}),
        ("wrong DeepL key", request("/v2/translate", '{"text":["a"],"target_lang":"EN"}', _JSON), {403}),
        ("too large", request("/translate", b"", {}).replace(b"Length: 0", b"Length: 99999999"), {413}),
        ("too long", request("/translate", json.dumps({**bonjour, "q": "mot " * 30000}), _JSON), {400}),
        ("too many", request("/translate", json.dumps({**bonjour, "q": ["a"] * 5000}), _JSON), {400}),
        ("broken JSON", request("/translate", b'{"q": "a', _JSON), {400}),
        ("deep JSON", request("/translate", deep, _JSON), {400}),
        ("half a surrogate", request("/translate", json.dumps({**bonjour, "q": "\ud800 a"}), _JSON), {200, 400}),
        ("numbers", request("/translate", json.dumps({**bonjour, "q": {"a": [1e308]}, "source": 7}), _JSON), {400}),
        ("bytes", request("/translate", bytes(range(256)) * 100, {**_FORM, "x-api-key": key}), {400}),
        ("parts", request("/translate", b"--x\r\n" * 20000, parts), {400}),
        ("entities", request("/RPC2", _BOMB, rpc), {200}),
        ("entities, UTF-16", request("/RPC2", _BOMB.encode("utf-16"), rpc), {200}),
        ("an entity of a file", request("/RPC2", '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', rpc), {200}),
        ("broken XML", request("/RPC2", b"<methodCall><", rpc), {200}),
        ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
        ("long head", request("/translate", b"", {"x-long": "a" * 200_000}), {400}),
        ("two lengths", request("/translate", b"", {"content-length": "7"}), {400}),
        ("unknown path", request("/%ff%00/../../etc/passwd", method="GET"), {404}),
        ("large in pieces", b"", {413}),
    ]


class Attackers:
    """Sends bad requests until it is told to stop."""

    def __init__(self, port: int, key: str, idle: float, deadline: float, pulse: Pulse) -> None:
        self.port, self.idle, self.deadline, self.pulse = port, idle, deadline, pulse
        self.attacks = attacks(key)
        self.told: Counter[tuple[str, str]] = Counter()
        self.lived: list[float] = []
        self.bad: list[str] = []

    async def bad_requests(self) -> None:
        """Send one bad request after the other."""
        for name, message, allowed in itertools.cycle(self.attacks):
            begin = time.monotonic()
            try:
                async with asyncio.timeout(LONGEST):
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    try:
                        if name == "large in pieces":
                            sending = asyncio.create_task(_endless(writer))
                            status, _, body = await answer(reader)
                            sending.cancel()
                        else:
                            writer.write(message)
                            status, _, body = await answer(reader)
                    finally:
                        writer.transport.abort()
            except (OSError, asyncio.IncompleteReadError) as error:
                outcome = type(error).__name__
                may = name in ("no HTTP", "long head", "large in pieces")  # these need not wait for their answer
                if not may and not self.pulse.stood_since(begin):
                    self.bad.append(f"{name}: {error!r}")
            else:
                outcome = str(status)
                late = status in (408, 429, 503) and time.monotonic() - begin > 0.98 * self.deadline
                if status not in allowed and not late:
                    self.bad.append(f"{name}: {status} {body[:200]!r}")
                if allowed == {200} and status == 200 and b"<fault>" not in body:
                    self.bad.append(f"{name}: {body[:200]!r}")
            self.told[name, outcome] += 1
            await asyncio.sleep(0.2)

    async def slow_head(self) -> None:
        """Send a head letter by letter, again and again."""
        while True:
            await self._slowly(b"POST /translate HTTP/1.1\r\nHost: localhost\r\n", b"X-A: b\r\n", "slow head")

    async def slow_body(self, size: int) -> None:
        """Send a body letter by letter, again and again."""
        head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
        while True:
            await self._slowly(head.encode(), b" ", "slow body")

    async def _slowly(self, head: bytes, piece: bytes, name: str) -> None:
        begin = time.monotonic()
        outcome = "closed"
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                writer.write(head)
                while not reader.at_eof() and not writer.is_closing():
                    await asyncio.sleep(0.5)
                    writer.write(piece)
                    await writer.drain()
                    if self.pulse.stood_since(begin):
                        break
                    if time.monotonic() - begin > self.idle + self.deadline + 30:
                        outcome = "never closed"
                        self.bad.append(f"{name}: open for {time.monotonic() - begin:.0f} s")
                        break
            finally:
                writer.transport.abort()
        if not self.pulse.stood_since(begin):
            self.lived.append(time.monotonic() - begin)
        self.told[name, outcome] += 1
        await asyncio.sleep(0.5)

    def all(self) -> list[Awaitable[None]]:
        """Return all that is done at a time."""
        bodies = [self.slow_body(size) for size in (1000, 60_000, 1_000_000) for _ in range(20)]
        return [self.bad_requests(), *(self.slow_head() for _ in range(60)), *bodies]


async def _endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    with suppress(OSError):
        while True:
            writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            await writer.drain()


# --- the run ---------------------------------------------------------------------------------------------------------


async def replacing(place: Path, models: Sequence[Path], seconds: float) -> None:
    """Put models in each other's place, in turns."""
    for number, model in enumerate(itertools.cycle([*models[1:], models[0]])):
        await asyncio.sleep(seconds)
        staged, old = place.with_name(f"staged{number}"), place.with_name(f"old{number}")
        await asyncio.to_thread(shutil.copytree, model, staged, copy_function=os.link)
        place.rename(old)
        staged.rename(place)
        await asyncio.to_thread(shutil.rmtree, old)


async def learning(clients: Clients, questions: Questions, seconds: float) -> None:
    """Teach pairs one after the other, and ask for each."""
    for number in itertools.count():
        learn, ask = questions.learning(number)
        while await clients.ask(learn) == "refused past the deadline":
            await asyncio.sleep(1)
        await clients.ask(ask)
        await asyncio.sleep(seconds)


async def watching(server: Server, series: list[Memory], seconds: float) -> None:
    """Note memory and open files from time to time."""
    begin = time.monotonic()
    while True:
        memory = server.memory()
        files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
        series.append(Memory(time.monotonic() - begin, memory["RssAnon"], memory["RssFile"], files))
        await asyncio.sleep(seconds)


async def slowest(port: int, key: str) -> str:
    """Return how long requests to /translate took, as the server saw it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request("/metrics", b"", {"x-api-key": key}, "GET"))
    _, _, body = await answer(reader)
    writer.close()
    found = re.findall(r'camber_request_seconds_bucket{path="/translate",le="([^"]+)"} (\d+)', body.decode())
    bounds = [(bound, int(count)) for bound, count in found]
    total = bounds[-1][1]
    return ", ".join(f"{count / total:.1%} within {bound} s" for bound, count in bounds if float(bound) >= 1.0)


@asynccontextmanager
async def meanwhile(*works: Awaitable[None]) -> AsyncIterator[None]:
    """Do something else as long as the block takes; what goes wrong in it is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for told in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(told, Exception):
                raise told


def summary(told: Sequence[Told]) -> None:
    """Print how many requests of each kind came to what."""
    outcomes = sorted({item.outcome for item in told})
    print(f"  {'kind':20}" + "".join(f"{outcome:>28}" for outcome in outcomes))
    for kind in [*sorted({item.kind for item in told}), "all"]:
        counts = Counter(item.outcome for item in told if kind in (item.kind, "all"))
        print(f"  {kind:20}" + "".join(f"{counts[outcome]:>28,}" for outcome in outcomes))
    took = sorted(item.took for item in told if item.outcome == "right")
    if took:
        print(
            f"  seconds to right answers: median {statistics.median(took):.2f}, 95 % within "
            f"{took[int(0.95 * len(took))]:.2f}, most {took[-1]:.2f}"
        )


async def soak(server: Server, questions: Questions, place: Path, turns: Sequence[Path], minutes: float) -> bool:
    """Do everything; say whether all was as it should be."""
    draw, deadline = random.Random(questions.random.random()), 15.0
    begin = time.monotonic()
    kinds = questions.all(400)
    pools = [itertools.cycle(kind) for kind in kinds]
    counts = [len(kind) for kind in kinds]
    mixture = (next(draw.choices(pools, counts)[0]) for _ in itertools.count())
    lists = itertools.cycle(questions.batches(20))
    print(f"{sum(counts)} questions, {time.monotonic() - begin:.0f} s to find out what the models say", flush=True)
    pulse = Pulse()
    clients = Clients(server.port, deadline, pulse)
    attackers = Attackers(server.port, questions.key, 30.0, deadline, pulse)
    series: list[Memory] = []
    seconds = 60 * minutes
    good = True

    async with meanwhile(watching(server, series, seconds / 360), pulse.beat()):
        await in_turns(clients, mixture, 16, min(5.0, seconds / 20))
        cpu, start = server.cpu(), time.monotonic()
        capacity = await in_turns(clients, mixture, 16, min(20.0, seconds / 10))
        cores = (server.cpu() - cpu) / (time.monotonic() - start)
        weblate = await in_turns(clients, lists, 8, min(10.0, seconds / 20))
        print(
            f"capacity: {capacity:.0f} requests a second of the mixture, with {cores:.2f} cores; "
            f"{weblate:.1f} lists of 20 a second",
            flush=True,
        )
        good &= _verdict("capacity, 16 clients in turns", clients)

        clients = Clients(server.port, deadline, pulse)
        cpu, start = server.cpu(), time.monotonic()
        first = len(series)
        others = [replacing(place, turns, 20.0), learning(clients, questions, 2.0)]
        async with meanwhile(*others, *attackers.all()):
            await at_rate(clients, mixture, 2 * capacity, 0.7 * seconds, draw, leaving=0.03)
        wall = time.monotonic() - start
        right = sum(item.outcome == "right" for item in clients.told)
        print(
            f"twice the capacity for {0.7 * seconds:.0f} s: {right / wall:.0f} right answers a second "
            f"({right / wall / capacity:.0%} of capacity), {(server.cpu() - cpu) / wall:.2f} cores; "
            f"the clients themselves were late by {pulse.worst:.1f} s at most, and stopped {len(pulse.stood)} times"
        )
        loaded = series[first:]
        good &= _verdict("twice the capacity", clients)
        print("  those who mean no good: " + ", ".join(f"{a} {b} ×{n}" for (a, b), n in sorted(attackers.told.items())))
        print(f"  slow ones were listened to for {max(attackers.lived, default=0):.0f} s at most")
        for line in attackers.bad[:20]:
            print(f"  NOT AS IT SHOULD BE: {line}")
        good &= not attackers.bad
        print("  the server's own view: " + await slowest(server.port, questions.key))

        clients = Clients(server.port, deadline, pulse)
        end = time.monotonic() + 0.2 * seconds
        bursts = 0
        while time.monotonic() < end:
            await at_rate(clients, lists, 2 * weblate, 0.3 * deadline, draw)
            bursts += 1
        print(
            f"lists of 20 at twice the capacity for {0.3 * deadline:.1f} s, {bursts} times, the queue emptied between"
        )
        good &= _verdict("like Weblate", clients)
        late = [item for item in clients.told if item.outcome not in ("right", "all stood still")]
        good &= not late
        print(f"  refused: {len(late)}")

    clients = Clients(server.port, deadline, pulse)
    async with meanwhile(at_rate(clients, mixture, 2 * capacity, 60.0, draw, last=60.0), pulse.beat()):
        await asyncio.sleep(5)
        stopped = time.monotonic()
        server.process.terminate()
        while server.process.poll() is None and time.monotonic() < stopped + 60:
            await asyncio.sleep(0.05)
        took = time.monotonic() - stopped
        await asyncio.sleep(0.5)
    before = [item for item in clients.told if item.sent < stopped - 0.5]
    print(f"told to stop: ended after {took:.1f} s with {server.process.poll()}; what was sent before that:")
    summary(before)
    good &= server.process.poll() == 0 and all(item.outcome[0].islower() for item in before)
    clients.close()

    return _series(series, loaded) and good


def _verdict(name: str, clients: Clients) -> bool:
    print(name)
    summary(clients.told)
    for line in clients.wrong[:20]:
        print(f"  NOT AS IT SHOULD BE: {line}")
    clients.close()
    return all(item.outcome[0].islower() for item in clients.told)


def _series(series: Sequence[Memory], loaded: Sequence[Memory]) -> bool:
    """Print what memory did, and say whether it stayed flat at twice the capacity.

    What a server needs at most it meets by and by: the longest queue, the largest documents, while a model is replaced.
    So it has the first half of the load to reach its size. Then the medians of the two quarters that are left may
    differ by `FLAT` at most: 15 MB of 300, which is what 150 bytes lost with every request would come to.
    """
    print("minute, MB of its own, MB of files, open files:")
    some = series[:: max(1, len(series) // 60)]
    print("  " + "; ".join(f"{it.at / 60:.1f} {it.own:.0f} {it.pages:.0f} {it.files}" for it in some))
    quarter = len(loaded) // 4
    if not quarter:
        return True
    own = [it.own for it in loaded]
    medians = [statistics.median(own[k * quarter : (k + 1) * quarter]) for k in range(4)]
    growth = medians[3] / medians[2] - 1
    told = ", ".join(f"{value:.0f}" for value in medians)
    print(
        f"  its own at twice the capacity, medians of the quarters: {told} MB; from the third to the last "
        f"{growth:+.1%}, {FLAT:.0%} may be"
    )
    return growth <= FLAT


def main() -> None:
    """Make models, start a server, and load it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument(
        "--model", type=Path, help="a French-English phrase model (default: one of 30,000 pairs is made)"
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # twice the capacity times the seconds that requests may wait
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(FILES, most), max(FILES, most)))
    corpus = options.data / "data" / "tatoeba-fr-en"
    if not corpus.is_dir():
        sys.exit(f"no {corpus}; give the folder of the data with --data")
    lines = read_lines(corpus / "test.fr") + read_lines(corpus / "dev.fr")
    lines += [line for line in read_lines(options.data / "data" / "pythondocs-fr-en" / "test.fr") if len(line) < 300]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, second, place, learner = (folder / part for part in ("first", "second", "served", "learner"))
        if options.model is None:
            settings = TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}})
            for side in ("fr", "en"):
                write_lines(folder / side, read_lines(corpus / f"train.{side}")[:30_000])
            train(folder / "fr", folder / "en", first, settings=settings, tuned=False, keep_work=False)
        else:
            shutil.copytree(options.model, first)
        shutil.copytree(first, second)
        some = lines[::20]
        add(second, some, [f"the other model says {number}" for number in range(len(some))], engine=Threads(1))
        shutil.copytree(first, place, copy_function=os.link)
        shutil.copytree(first, learner)
        new_key = [*COMMAND, "serve", "--keys", str(folder / "keys"), "--new-key", "soak", "--new-key-learns"]
        key = subprocess.run(new_key, check=True, capture_output=True, text=True).stdout.strip()
        questions = Questions([first, second], key, lines, options.seed)
        server = Server(
            place, f"fr-en-x-learner={learner}", "--keys", folder / "keys", "--threads", options.threads, "--cache", 200
        )
        try:
            good = asyncio.run(soak(server, questions, place, [first, second], options.minutes))
        finally:
            server.stop()
    print("all as it should be" if good else "NOT all as it should be")
    sys.exit(not good)


if __name__ == "__main__":
    main()
