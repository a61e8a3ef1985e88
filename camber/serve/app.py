"""The web application: which function answers which path, and what all answers have in common."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from camber.serve.calls import Answer, Call, Refusal, refused
from camber.serve.house import House
from camber.serve.protocols import apertium, deepl, libretranslate, moses, page, tmserver
from camber.serve.spec import spec

#: bytes of a body that is read before there is a place for the request
_SHORT = 65_536
#: what is told of clients that went away before they were answered, who see nothing of it
_GONE = 499

Handler = Callable[[House, Call], Awaitable[Answer]]
Refuse = Callable[[Refusal], Answer]

log = logging.getLogger("camber.serve")

_CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
    "access-control-allow-headers": "Authorization, Content-Type, X-API-Key",
    "access-control-expose-headers": f"Retry-After, {libretranslate.ECHO_HEADER}",
    "access-control-max-age": "86400",
}
#: of all that is not the page itself: it may do nothing in a browser
_NOTHING = "default-src 'none'; frame-ancestors 'none'"


class Route(NamedTuple):
    """Who answers a path with a method, and how errors look there."""

    handler: Handler
    refuse: Refuse = libretranslate.refusal
    works: bool = True  # it takes a place among the requests that are worked on


async def health(house: House, call: Call) -> Answer:
    """Say that the process is alive."""
    return Answer({"status": "ok"})


async def readiness(house: House, call: Call) -> Answer:
    """Say whether requests are answered: models are open and the server is not about to stop."""
    return Answer({"status": "ok"}) if house.ready else Answer({"status": "stopping"}, 503)


async def describe(house: House, call: Call) -> Answer:
    """Describe all of this."""
    return Answer(spec())


async def metrics(house: House, call: Call) -> Answer:
    """Tell counts and durations to Prometheus."""
    if house.keys is not None:
        house.allowed(call)
    return Answer(house.metrics.exposition(), type="text/plain; version=0.0.4; charset=utf-8")


_LANGPAIR = "/translate?langpair="  # the path that two protocols have is another one with this parameter
_UNIT = "/{source}/{target}/unit/{text}"


def routes() -> dict[str, dict[str, Route]]:
    """Return path → method → who answers; {} is any one part of a path."""
    apy = apertium.refusal
    found = {
        "/translate": {"POST": Route(libretranslate.translate)},
        _LANGPAIR: {method: Route(apertium.translate, apy) for method in ("GET", "POST")},
        "/listPairs": {"GET": Route(apertium.list_pairs, apy, works=False)},
        "/identifyLang": {method: Route(apertium.identify, apy) for method in ("GET", "POST")},
        "/RPC2": {"POST": Route(moses.call, moses.refusal)},
        "/RPC2/{}": {"POST": Route(moses.call, moses.refusal)},
        _UNIT: {
            "GET": Route(tmserver.unit, tmserver.refusal),
            "PUT": Route(tmserver.learn, tmserver.refusal),
            "POST": Route(tmserver.learn, tmserver.refusal),
        },
        "/tmserver/languages": {"GET": Route(tmserver.languages, tmserver.refusal, works=False)},
        "/languages": {"GET": Route(libretranslate.languages, works=False)},
        "/detect": {"POST": Route(libretranslate.detect)},
        "/suggest": {"POST": Route(libretranslate.suggest)},
        "/frontend/settings": {"GET": Route(libretranslate.frontend_settings, works=False)},
        "/spec": {"GET": Route(describe, works=False)},
        "/health": {"GET": Route(health, works=False)},
        "/ready": {"GET": Route(readiness, works=False)},
        "/metrics": {"GET": Route(metrics, works=False)},
    }
    for path, entries in page.PATHS.items():
        found[path] = {method: Route(handler, page.refusal, works) for method, handler, works in entries}
    for path, by_method in deepl.PATHS.items():
        found[path] = {method: Route(handler, deepl.refusal) for method, handler in by_method.items()}
    return found


class App:
    """An ASGI application around a house."""

    def __init__(self, house: House) -> None:
        self.house, self.routes = house, routes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.house.open()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.house.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = time.monotonic()
        call = Call(
            scope["method"],
            (scope.get("raw_path") or scope["path"].encode()).decode("latin-1"),
            scope["query_string"].decode("latin-1"),
            {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]},
        )
        label, route, allowed = self._find(call)
        try:
            async with AsyncExitStack() as held:
                answer = await self._answer(call, route, allowed, receive, held)
                if answer.stream is None:
                    await held.aclose()  # the place is another's while this is sent
                await _send(answer, call.method, send)
        except ClientDisconnect:
            answer = Answer(status=_GONE)
        took = time.monotonic() - begin
        self.house.metrics.observe("camber_request_seconds", "Seconds from a request to its answer.", took, path=label)
        self.house.metrics.count("camber_requests_total", "Requests.", path=label, status=str(answer.status))
        log.info(
            json.dumps(
                {
                    "method": call.method,
                    "path": label,
                    "status": answer.status,
                    "ms": round(1000 * took, 1),
                    "bytes": int(call.headers.get("content-length", "0") or 0)
                    if call.headers.get("content-length", "0").isdigit()
                    else 0,
                }
            )
        )

    def _find(self, call: Call) -> tuple[str, Route | None, Sequence[str]]:
        """Return a label for metrics (no text of a request), who answers, and the methods that the path knows."""
        label = self._label(call)
        by_method = self.routes.get(label, {})
        method = "GET" if call.method == "HEAD" else call.method
        return label, by_method.get(method), sorted(by_method)

    def _label(self, call: Call) -> str:
        path = call.path
        if path == "/translate" and re.search(r"(?:^|&)langpair=", call.query):
            return _LANGPAIR
        if path in self.routes:
            return path
        if tmserver.PATH.fullmatch(call.raw_path):
            return _UNIT
        parts = path.split("/")
        for known in self.routes:
            own = known.split("/")
            if len(own) == len(parts) and all(mine in ("{}", part) for mine, part in zip(own, parts, strict=True)):
                return known
        return "other"

    async def _answer(
        self, call: Call, route: Route | None, allowed: Sequence[str], receive: Receive, held: AsyncExitStack
    ) -> Answer:
        if call.method == "OPTIONS":
            return Answer(status=204)
        if route is None:
            if allowed:
                told = {"error": "Method Not Allowed"}
                return Answer(told, 405, headers={"allow": ", ".join([*allowed, "OPTIONS"])})
            return Answer({"error": "Not Found"}, 404)
        house, until = self.house, self.house.deadline()
        try:
            if not _is_short(call):
                await held.enter_async_context(house.place(until, to_read=True))
            call = await _read(call, receive, house.settings.body_limit, until)
            await held.enter_async_context(_attended(receive))
            if route.works:
                await held.enter_async_context(house.place(until))
            if call.is_slow:
                await house.slowly(lambda: call.fields)
            return await route.handler(house, call)
        except Refusal as error:
            return refused(error, route.refuse)
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("a request to %s failed", self._label(call))
            return route.refuse(Refusal(500, "internal error"))


def _is_short(call: Call) -> bool:
    """Say whether a body is so short that it is in memory already, whether it is read or not."""
    if "transfer-encoding" in call.headers:
        return False
    told = call.headers.get("content-length", "0")
    return told.isdigit() and int(told) <= _SHORT


@asynccontextmanager
async def _attended(receive: Receive) -> AsyncIterator[None]:
    """Stop what is done for a client that goes away; :class:`ClientDisconnect` then."""
    task, gone = asyncio.current_task(), False
    assert task is not None

    async def attend() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        task.cancel()

    attending = asyncio.create_task(attend())
    try:
        yield
    except asyncio.CancelledError:
        if gone and not task.uncancel():
            raise ClientDisconnect from None
        raise
    finally:
        attending.cancel()


async def _read(call: Call, receive: Receive, most: int, until: float) -> Call:
    """Return a call with its body, which must not be too large, nor take longer to come than a request may."""
    told = call.headers.get("content-length", "")
    if told.isdigit() and int(told) > most:
        raise Refusal(413, f"Invalid request: request ({told}) exceeds body limit ({most})")
    pieces, size = [], 0
    try:
        async with asyncio.timeout_at(until):
            while True:
                message: Mapping[str, Any] = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > most:
                    raise Refusal(413, f"Invalid request: request exceeds body limit ({most})")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise Refusal(408, "Invalid request: its body did not come in time") from None
    return replace(call, body=b"".join(pieces), until=until)


async def _send(answer: Answer, method: str, send: Send) -> None:
    headers = {
        "content-type": answer.type,
        "x-content-type-options": "nosniff",
        "content-security-policy": _NOTHING,
        "referrer-policy": "no-referrer",
        **_CORS,
        **{name.lower(): value for name, value in answer.headers.items()},
    }
    body = b"" if answer.stream is not None else answer.body
    if answer.status == 204:
        del headers["content-type"]
    elif answer.stream is None:
        headers["content-length"] = str(len(body))
    written = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": written})
    if answer.stream is not None and method != "HEAD":
        async with aclosing(answer.stream) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})
