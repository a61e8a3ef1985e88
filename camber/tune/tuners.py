"""The tuners by name."""

from __future__ import annotations

from typing import Any

from camber.errors import SettingsError
from camber.tune.data import Tuner

#: name → what it is, for help texts
TUNERS = {
    "mert": "exact line search on the corpus metric (Och 2003)",
    "pro": "pairwise ranking (Hopkins & May 2011)",
    "mira": "batch MIRA (Cherry & Foster 2012)",
    "expected-bleu": "gradient ascent on expected BLEU (Nguyen et al. 2007)",
    "likelihood": "likelihood of the oracle",
}


def make_tuner(name: str, **settings: object) -> Tuner:
    """Make a tuner by its name, with settings of its own."""
    from camber.tune.expected import ExpectedBleu
    from camber.tune.likelihood import Likelihood
    from camber.tune.mert import Mert
    from camber.tune.mira import Mira
    from camber.tune.pro import Pro

    classes: dict[str, Any] = {
        "mert": Mert,
        "pro": Pro,
        "mira": Mira,
        "expected-bleu": ExpectedBleu,
        "likelihood": Likelihood,
    }
    if name not in classes:
        raise SettingsError(f"no tuner {name!r}; there are {', '.join(classes)}")
    tuner: Tuner = classes[name].from_dict(settings)
    return tuner
