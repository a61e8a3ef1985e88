"""Tuners: weights from an n-best list with a metric, one interface for all.

data = TuningData.of(nbest, metric, [references])
tuned = make_tuner("mira").fit(data, start, seed=1)
"""

from __future__ import annotations

from typing import Any

from camber.errors import SettingsError
from camber.tune.data import Tuned, Tuner, TuningData
from camber.tune.expected import ExpectedBleu
from camber.tune.likelihood import Likelihood
from camber.tune.mert import Mert
from camber.tune.mira import Mira
from camber.tune.pro import Pro

#: Short name → class.
TUNERS: dict[str, type[Mert | Pro | Mira | ExpectedBleu | Likelihood]] = {
    "mert": Mert,
    "pro": Pro,
    "mira": Mira,
    "expected-bleu": ExpectedBleu,
    "likelihood": Likelihood,
}

__all__ = [
    "TUNERS",
    "ExpectedBleu",
    "Likelihood",
    "Mert",
    "Mira",
    "Pro",
    "Tuned",
    "Tuner",
    "TuningData",
    "make_tuner",
]


def make_tuner(name: str, settings: dict[str, Any] | None = None) -> Mert | Pro | Mira | ExpectedBleu | Likelihood:
    """Make a tuner by its short name: mert, pro, mira, expected-bleu, likelihood.

    >>> make_tuner("mert", {"restarts": 5})
    Mert(restarts=5, directions=4, rounds=100)
    """
    if name not in TUNERS:
        raise SettingsError(f"unknown tuner {name!r}; known: {', '.join(TUNERS)}")
    return TUNERS[name].from_dict(settings or {})
