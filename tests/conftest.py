"""A tiny model that many tests share, trained once."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # vectors are short: threads would only wait for each other

import pytest
from hypothesis import settings

from camber.corpus.hotel import generate
from camber.files import write_lines

# the first example of a property compiles a kernel: no deadline
settings.register_profile("camber", deadline=None)
settings.load_profile("camber")


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
