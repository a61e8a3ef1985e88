"""Servers for tests: one inside this process, and one as users run it, on a free port of this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient
from toys.french import french_model

from camber.serve.server import make_app
from camber.serve.settings import ServeSettings

#: seconds that a server of a test may take to start, and to stop
_PATIENCE = 60
COMMAND = [sys.executable, "-c", "from camber.cli import main; main()", "serve"]


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


class Running:
    """`camber serve` in a process of its own."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments), "--port", "0", "--threads", "1"],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        )
        self.log: list[str] = []
        stop = threading.Timer(_PATIENCE, self.process.kill)
        stop.start()
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if match := re.search(r"serving on (http://[\d.]+:\d+)", line):
                self.url = match[1]
                break
        else:
            raise RuntimeError("".join(self.log))
        stop.cancel()
        self._reader = threading.Thread(target=self.log.extend, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def stop(self) -> int:
        """End the server as a service manager does, and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self._reader.join(10)


@pytest.fixture(scope="session")
def server(french: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that real clients can talk to; it learns, and echoes unknown pairs."""
    own = Path(shutil.copytree(french, tmp_path_factory.mktemp("served") / "model"))
    running = Running(own, "--learn", "--unknown-pairs", "echo")
    yield running
    running.stop()
