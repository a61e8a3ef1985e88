"""Tuners: weights from an n-best list with a metric, one interface for all.

    data = TuningData.of(nbest, metric, [references])
    tuned = make_tuner("mira").fit(data, start, seed=1)

The names below are imported when they are first used: a command that only lists the tuners needs no kernels.
"""

from __future__ import annotations

from camber.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Blend": "camber.tune.blend",
        "ExpectedBleu": "camber.tune.expected",
        "HeldBleu": "camber.tune.held",
        "Likelihood": "camber.tune.likelihood",
        "Mert": "camber.tune.mert",
        "Mira": "camber.tune.mira",
        "Pro": "camber.tune.pro",
        "Tuned": "camber.tune.data",
        "Tuner": "camber.tune.tuner",
        "TuningData": "camber.tune.data",
        "TUNERS": "camber.tune.tuners",
        "make_tuner": "camber.tune.tuners",
    },
)
