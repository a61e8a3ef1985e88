"""Run a server: `serve(["my-model"])`, until it is told to stop; then what was accepted is finished first."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from camber.engine import LOCAL, Threads
from camber.engine.threads import default_threads
from camber.errors import CamberError
from camber.progress import log
from camber.serve.settings import ServeSettings

#: connections at a time that are asked of the system; those that wait their turn are many
_CONNECTIONS = 65_536
#: seconds after which a thread gives way to another one
_TURN = 0.0005
_named = re.compile(r"([A-Za-z]{2,8}(?:[-_][A-Za-z]{4})?(?:_[A-Za-z]{2})?)-([A-Za-z]{2,8}(?:[-_]\w+)*)=(.+)", re.DOTALL)


def serve(
    models: Sequence[str | Path],
    *,
    host: str = "127.0.0.1",
    port: int = 5000,
    settings: ServeSettings | None = None,
    keys: str | Path | None = None,
    glossary: str | Path | None = None,
    glossaries: str | Path | None = None,
    threads: int = 0,
) -> None:
    """Serve models until the process is told to stop (SIGINT, SIGTERM).

    `glossary` holds for all translations; in the folder `glossaries`, those that clients make are kept.

    A model is a directory, or ``fr-en=DIRECTORY`` where it does not say which languages it translates. Port 0 is any
    that is free; the log says which.
    """
    settings = settings or ServeSettings()
    app = make_app(models, settings=settings, keys=keys, glossary=glossary, glossaries=glossaries, threads=threads)
    try:
        import uvicorn

        from camber.serve.connection import Connection
    except ImportError:
        raise CamberError(MISSING) from None
    listening = _listen(host, port)
    _allow_connections()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=settings.idle,  # type: ignore[arg-type]  # parts of a second do as well
        # requests end by themselves at their deadline
        timeout_graceful_shutdown=int(settings.deadline) + 5,
    )
    shown = f"[{host}]" if ":" in host else host
    log.info("serving on http://%s:%d (process %d)", shown, listening.getsockname()[1], os.getpid())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    try:
        with _ending_well(), _taking_turns(), _writing_aside():
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
    log.info("stopped")


@contextmanager
def _ending_well() -> Iterator[None]:
    """Let the signals that stop the server be no more than that: uvicorn raises them again when it has stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _taking_turns() -> Iterator[None]:
    """Let threads give way to each other often.

    The one that answers gives way whenever it sends something, and would then wait for as long as decoders may go on.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _writing_aside() -> Iterator[None]:
    """Let a thread of its own write the log: writing is giving way, too."""
    logger = logging.getLogger("camber")
    before, lines = list(logger.handlers), SimpleQueue[logging.LogRecord]()
    listener = QueueListener(lines, *before, respect_handler_level=True)
    listener.start()
    logger.handlers = [QueueHandler(lines)]
    try:
        yield
    finally:
        logger.handlers = before
        listener.stop()


MISSING = "the server needs packages that are not installed; install them with: pip install 'camber[serve]'"


def make_app(
    models: Sequence[str | Path],
    *,
    settings: ServeSettings | None = None,
    keys: str | Path | None = None,
    glossary: str | Path | None = None,
    glossaries: str | Path | None = None,
    threads: int = 0,
) -> Any:
    """Return the application (ASGI) for models, to be run by any server."""
    try:
        from camber.serve.app import App
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "starlette":
            raise CamberError(MISSING) from None
        raise
    from camber.serve.hosted import Hosted
    from camber.serve.house import House
    from camber.serve.keys import Keys

    if not models:
        raise CamberError("no model to serve")
    hosted = []
    for model in models:
        source, target, path = named_model(str(model))
        hosted.append(Hosted(path, source, target, Path(glossary) if glossary else None))
    count = threads or (LOCAL.count if isinstance(LOCAL, Threads) else 0) or default_threads()
    folder = Path(glossaries) if glossaries else None
    return App(House(hosted, settings or ServeSettings(), Keys(keys) if keys else None, count, folder))


def named_model(text: str) -> tuple[str, str, str]:
    """Take ``fr-en=DIRECTORY`` apart; a directory alone has no languages.

    >>> named_model("pt_BR-en=models/a"), named_model("models/a")
    (('pt_BR', 'en', 'models/a'), ('', '', 'models/a'))
    """
    match = _named.fullmatch(text)
    if match is None or Path(text).exists():
        return "", "", text
    return match[1], match[2], match[3]


def _allow_connections() -> None:
    """Let the process have as many files, and so connections, as it may."""
    try:
        import resource
    except ImportError:  # another kind of system, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, _CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _listen(host: str, port: int) -> socket.socket:
    """Open the port now: whether it is free is known before anything else is done."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        raise CamberError(f"cannot listen on {host} port {port}: {error.strerror}; choose another --port") from None
    return listening
