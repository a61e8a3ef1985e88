"""The language models of a model: the folders `lm1`, `lm2`, … in the order in which they have weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, islice, takewhile
from pathlib import Path

from camber.lm.ngrams import NgramModel


def save_language_models(models: Sequence[NgramModel], folder: Path) -> None:
    """Write language models into folders of their own below `folder`."""
    for number, model in enumerate(models, 1):
        (folder / f"lm{number}").mkdir()
        model.save(folder / f"lm{number}", "lm")


def open_language_models(folder: Path, most: int | None = None) -> list[NgramModel]:
    """Open what :func:`save_language_models` wrote, in the same order: the tenth comes after the ninth."""
    places = (folder / f"lm{number}" for number in islice(count(1), most))
    return [NgramModel.load(place, "lm") for place in takewhile(Path.is_dir, places)]


def language_sizes(models: Sequence[NgramModel]) -> dict[str, int]:
    """Return what a reader of `model.toml` wants to know about language models."""
    return {"language_models": len(models), "lm_order": max((model.order for model in models), default=0)}
