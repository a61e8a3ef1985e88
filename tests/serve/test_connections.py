"""Connections that are slow, or end: they hold nobody up, and nothing is done for those that have gone."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient
from toys.running import Running

from camber.serve.app import App
from camber.serve.calls import Answer, Call
from camber.serve.connection import Connection
from camber.serve.house import House

BONJOUR = json.dumps({"q": "Bonjour", "source": "fr", "target": "en"}).encode()
HEAD = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def impatient(french: Path) -> Iterator[Running]:
    """A server that waits for half a second, works on two requests at a time, and takes 2 seconds for each."""
    running = Running(french, "--idle", "0.5", "--queue", "2", "--deadline", "2", "--cache", "0")
    yield running
    running.stop()


def _connect(server: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), 30)


def _answer(connection: socket.socket) -> bytes:
    """Return the head and the body of an answer."""
    come = b""
    while b"\r\n\r\n" not in come:
        come += connection.recv(65536)
    head, _, body = come.partition(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
    while len(body) < length:
        body += connection.recv(65536)
    return head + body


def _all(connection: socket.socket) -> bytes:
    """Return what comes until the other end closes the connection."""
    pieces = []
    try:
        while piece := connection.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def _post(body: bytes, *more: str) -> bytes:
    head = HEAD + "".join(f"{line}\r\n" for line in more) + f"Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _counts(server: Running) -> dict[str, float]:
    with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#")}


def _until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def _trickle(connection: socket.socket, piece: bytes, count: int = 600) -> None:
    """Send a piece again and again, until the other end has enough."""
    try:
        for _ in range(count):
            connection.sendall(piece)
            time.sleep(0.05)
    except OSError:
        return
    raise AssertionError("the other end never had enough")


def test_a_request_that_comes_letter_by_letter_is_not_waited_for(impatient: Running) -> None:
    with closing(_connect(impatient)) as connection:
        connection.sendall(HEAD.encode())
        _trickle(connection, b"X-More: 1\r\n")
    with closing(_connect(impatient)) as silent:
        assert _all(silent) == b""


def test_a_second_request_on_a_connection_is_not_waited_for_either(impatient: Running) -> None:
    with closing(_connect(impatient)) as connection:
        connection.sendall(_post(BONJOUR))
        assert b"Hello" in _answer(connection)
        _trickle(connection, b"G")


def test_bodies_that_do_not_end_take_nobodys_place(impatient: Running) -> None:
    slow = [_connect(impatient) for _ in range(4)]
    for connection, told in zip(slow, (50, 50, 1_000_000, 1_000_000), strict=True):
        connection.sendall(f"{HEAD}Content-Length: {told}\r\n\r\n{{".encode())
    with closing(_connect(impatient)) as connection:
        connection.sendall(_post(BONJOUR, "Connection: close"))
        assert b"Hello" in _all(connection)
    for connection in slow:
        told = _answer(connection)
        assert told.startswith(b"HTTP/1.1 408 ")
        assert b"its body did not come in time" in told
        _trickle(connection, b" ")
        connection.close()


def test_a_body_that_is_too_large_is_refused_and_not_listened_to_for_ever(impatient: Running) -> None:
    with closing(_connect(impatient)) as connection:
        connection.sendall(f"{HEAD}Content-Length: 99999999\r\n\r\n{{".encode())
        assert _answer(connection).startswith(b"HTTP/1.1 413 ")
        _trickle(connection, b" ")
    with closing(_connect(impatient)) as connection:  # its length is not told
        connection.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        for _ in range(5):
            connection.sendall(piece)
        assert _answer(connection).startswith(b"HTTP/1.1 413 ")


def test_as_many_connections_are_asked_for_as_the_system_gives() -> None:
    resource = pytest.importorskip("resource")
    from camber.serve import server

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[0], 512), before[1]))
        server._allow_connections()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(before[1], server._CONNECTIONS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


# --- in this process -------------------------------------------------------------------------------------------------


def test_an_answer_that_is_not_taken_is_given_up() -> None:
    gone: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        sending = asyncio.create_task(_flood(send))
        gone.append((await receive())["type"])
        sending.cancel()

    async def _flood(send: Any) -> None:
        while True:
            await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})

    config = uvicorn.Config(app, http=Connection, lifespan="off", log_config=None, timeout_keep_alive=1)
    server = uvicorn.Server(config)
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        with closing(socket.create_connection(listening.getsockname(), 30)) as slow, closing(socket.socket()) as deaf:
            deaf.connect(listening.getsockname())
            for connection in (deaf, slow):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for _ in range(30):  # a little from time to time is enough
                assert slow.recv(300_000)
                time.sleep(0.1)
            _until(lambda: gone == ["http.disconnect"])
        server.should_exit = True
        thread.join(30)
    assert gone == ["http.disconnect"] * 2


class Waiting:
    """A handler that waits, and notes what became of it."""

    def __init__(self) -> None:
        self.begun, self.go, self.calls, self.stopped = threading.Event(), threading.Event(), list[Call](), 0

    async def __call__(self, house: House, call: Call) -> Answer:
        self.calls.append(call)
        self.begun.set()
        try:
            while not self.go.is_set():
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        return Answer("done")


@pytest.fixture
def waiting(serving: Callable[..., TestClient]) -> tuple[App, Waiting]:
    """An application for one request at a time, which waits."""
    app: Any = serving(queue=1, deadline=20.0).app
    handler = Waiting()
    app.routes["/translate"]["POST"] = app.routes["/translate"]["POST"]._replace(handler=handler)
    return app, handler


async def _ask(app: App, leave: asyncio.Event) -> list[Any]:
    """Send a request in terms of ASGI; return what was sent back."""
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": b"{}", "more_body": False}])

    async def receive() -> Any:
        for message in messages:
            return message
        await leave.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/translate", "query_string": b"", "headers": []}
    await app(scope, receive, send)
    return sent


def _run(work: Callable[[], Any]) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))


def test_what_a_client_asked_for_is_given_up_when_it_goes_away(waiting: tuple[App, Waiting]) -> None:
    app, handler = waiting

    async def work() -> None:
        leaves, stays = asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(_ask(app, leaves))
        second = asyncio.create_task(_ask(app, leaves))  # waits for its place
        third = asyncio.create_task(_ask(app, stays))
        await asyncio.to_thread(handler.begun.wait, 30)
        leaves.set()
        assert await first == await second == []
        assert handler.stopped == 1
        handler.go.set()
        sent = await third
        assert sent[0]["status"] == 200
        assert len(handler.calls) == 2  # the second one was never begun
        assert app.house.metrics.total("camber_requests_total", path="/translate", status="499") == 2

    _run(work)


def test_the_time_that_a_request_waits_for_its_place_counts(waiting: tuple[App, Waiting]) -> None:
    app, handler = waiting

    async def work() -> None:
        stays = asyncio.Event()
        asked = [asyncio.create_task(_ask(app, stays)) for _ in range(2)]
        await asyncio.to_thread(handler.begun.wait, 30)
        await asyncio.sleep(0.1)
        later = app.house.deadline()
        handler.go.set()
        await asyncio.gather(*asked)
        assert len(handler.calls) == 2
        assert all(call.until < later for call in handler.calls)

    _run(work)


def test_a_pair_is_learnt_to_the_end_although_its_sender_has_gone(
    serving: Callable[..., TestClient], own_french: Path
) -> None:
    app: Any = serving([own_french], learn=True).app
    (model,) = app.house.models.values()
    before, begun, go = model.translator, threading.Event(), threading.Event()
    add = model.add

    def slowly(*arguments: str) -> int:
        begun.set()
        assert go.wait(30)
        return int(add(*arguments))

    model.add = slowly

    async def work() -> None:
        learning = asyncio.create_task(app.house.learn(model, "Fermez le chapitre.", "Shut it."))
        await asyncio.to_thread(begun.wait, 30)
        learning.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await learning
        while app.house.metrics.total("camber_reloads_total") == 0:
            await asyncio.sleep(0.01)
        assert model.translator is not before

    _run(work)


def test_the_log_names_no_connection(impatient: Running) -> None:
    with closing(_connect(impatient)) as connection:
        connection.sendall(b"no HTTP\r\n\r\n")
        assert _all(connection).startswith(b"HTTP/1.1 400 ")
    assert not re.search(r"Traceback|Exception in ASGI", "".join(impatient.log))
