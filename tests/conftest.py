"""A tiny model that many tests share, trained once."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # vectors are short: threads would only wait for each other

import pytest
from hypothesis import settings

from camber.corpus.hotel import generate
from camber.files import write_lines

# the first example of a property compiles a kernel: no deadline
settings.register_profile("camber", deadline=None)
settings.load_profile("camber")


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, dict[str, str]], None]:
    """Pretend that a package with entry points of one of our groups, name → "module:attribute", is installed.

    Our groups have nothing else then. Other groups stay as they are: Numba looks for its own when it first compiles.
    """

    def pretend(group: str, homes: dict[str, str]) -> None:
        points = EntryPoints(EntryPoint(name, home, group) for name, home in homes.items())
        others = importlib.metadata.entry_points

        def entry_points(**wanted: Any) -> Any:
            ours = wanted.get("group", "").startswith("camber.")
            return points.select(**wanted) if ours else others(**wanted)

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)

    return pretend


@pytest.fixture(scope="session")
def hotel_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, dev and test files (.es, .en) of a small hotel corpus."""
    folder = tmp_path_factory.mktemp("hotel")
    corpus = generate(train=400, dev=40, test=40, seed=3)
    for name in ("train", "dev", "test"):
        source, target = getattr(corpus, name)
        write_lines(folder / f"{name}.es", source)
        write_lines(folder / f"{name}.en", target)
    return folder


@pytest.fixture(scope="session")
def hotel_model(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A phrase model trained on it."""
    return _trained(hotel_files, tmp_path_factory.mktemp("model") / "hotel", "phrase")


@pytest.fixture(scope="session")
def hotel_hiero(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hierarchical model trained on it."""
    return _trained(hotel_files, tmp_path_factory.mktemp("hiero") / "hotel", "hiero")


def _trained(files: Path, path: Path, method: str) -> Path:
    from camber.pipeline.settings import TrainSettings
    from camber.pipeline.train import train

    settings = TrainSettings.from_dict({"lm": {"order": 3}, "align": {"model": "quick"}})
    train(files / "train.es", files / "train.en", path, method=method, held_out=0, settings=settings)
    return path
