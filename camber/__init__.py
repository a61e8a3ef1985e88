"""Camber: machine translation and n-best re-ranking in which every feature may bend.

    model = camber.train(source="train.de", target="train.en", model="my-model")
    model.translate(["Guten Morgen."])

The names below are imported when they are first used, so that ``import camber`` is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_homes = {
    "CamberError": "camber.errors",
    "NBest": "camber.nbest",
    "TrainSettings": "camber.pipeline.settings",
    "Reranker": "camber.rerank.reranker",
    "Threads": "camber.engine",
    "curves": "camber.report.curves",
    "add": "camber.pipeline.add",
    "train": "camber.pipeline.train",
    "tune_model": "camber.pipeline.tune",
    "load": "camber.model.translator",
}

__all__ = ["__version__", *_homes]


def __getattr__(name: str) -> Any:
    if name in _homes:
        return getattr(importlib.import_module(_homes[name]), name)
    raise AttributeError(f"module 'camber' has no attribute {name!r}")
