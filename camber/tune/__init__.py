"""Tuners: weights from an n-best list with a metric, one interface for all.

    data = TuningData.of(nbest, metric, [references])
    tuned = make_tuner("mira").fit(data, start, seed=1)

The names below are imported when they are first used: a command that only lists the tuners needs no kernels.
"""

from __future__ import annotations

import importlib
from typing import Any

_homes = {
    "ExpectedBleu": "camber.tune.expected",
    "Likelihood": "camber.tune.likelihood",
    "Mert": "camber.tune.mert",
    "Mira": "camber.tune.mira",
    "Pro": "camber.tune.pro",
    "Tuned": "camber.tune.data",
    "Tuner": "camber.tune.data",
    "TuningData": "camber.tune.data",
    "TUNERS": "camber.tune.tuners",
    "make_tuner": "camber.tune.tuners",
}

__all__ = [*_homes]


def __getattr__(name: str) -> Any:
    if name in _homes:
        return getattr(importlib.import_module(_homes[name]), name)
    raise AttributeError(f"module 'camber.tune' has no attribute {name!r}")
