"""Servers for tests: one inside this process, and one as users run it, on a free port of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient
from toys.french import french_model
from toys.running import Running

from camber.serve.server import make_app
from camber.serve.settings import ServeSettings


@pytest.fixture(scope="session")
def french(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A French-English model; who changes it takes `own_french`."""
    return french_model(tmp_path_factory.mktemp("french"))


@pytest.fixture
def own_french(french: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(french, tmp_path / "own"))


@pytest.fixture
def client(french: Path) -> Iterator[TestClient]:
    """A client of a server with default settings."""
    with TestClient(make_app([french], threads=1), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def serving(french: Path) -> Iterator[Callable[..., TestClient]]:
    """Make clients of servers with other settings: ``serving(learn=True)``."""
    opened = []

    def make(models: Any = None, **values: Any) -> TestClient:
        others = {name: values.pop(name) for name in ("keys", "glossary") if name in values}
        app = make_app(models or [french], settings=ServeSettings(**values), threads=1, **others)
        client = TestClient(app, raise_server_exceptions=False)
        opened.append(client.__enter__())
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture(scope="session")
def server(french: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that real clients can talk to; it learns, and echoes unknown pairs."""
    own = Path(shutil.copytree(french, tmp_path_factory.mktemp("served") / "model"))
    running = Running(own, "--learn", "--unknown-pairs", "echo")
    yield running
    running.stop()
