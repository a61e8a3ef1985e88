"""The tuners by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from camber.errors import SettingsError, TuneError
from camber.registry import Entry, Registry

if TYPE_CHECKING:
    from camber.tune.tuner import Tuner

#: the tuners' classes, which are settings, too
TUNERS: Registry[Any] = Registry(
    "tuner",
    "camber.tuners",
    {
        "mert": Entry("camber.tune.mert:Mert", "exact line search on the corpus metric (Och 2003)"),
        "pro": Entry("camber.tune.pro:Pro", "pairwise ranking (Hopkins & May 2011)"),
        "mira": Entry("camber.tune.mira:Mira", "batch MIRA (Cherry & Foster 2012)"),
        "expected-bleu": Entry(
            "camber.tune.expected:ExpectedBleu", "gradient ascent on expected BLEU (Nguyen et al. 2007)"
        ),
        "held-bleu": Entry("camber.tune.held:HeldBleu", "expected BLEU near the weights that tuning began with"),
        "blend": Entry(
            "camber.tune.blend:Blend", "the mean of held-bleu, pro and mira, as far as held-out sentences confirm it"
        ),
        "likelihood": Entry("camber.tune.likelihood:Likelihood", "likelihood of the oracle"),
    },
)


def make_tuner(name: str, **settings: object) -> Tuner:
    """Make a tuner by its name, with settings of its own."""
    tuner: Tuner = TUNERS.load(name).from_dict(settings)
    return tuner


def tuner_settings(name: str, text: str) -> dict[str, Any]:
    """Read settings of a tuner's own from a line, and check them.

    >>> tuner_settings("expected-bleu", "variance=10 brevity=capped")
    {'variance': 10.0, 'brevity': 'capped'}
    """
    if not text:
        return {}
    values: dict[str, Any] = TUNERS.load(name).values_of(text)
    make_tuner(name, **values)
    return values


def takers(needs: Iterable[str]) -> list[str]:
    """Return the names of the tuners that take all that is needed (constants of :mod:`camber.tune.tuner`)."""
    wanted = frozenset(needs)
    return [name for name, tuner in TUNERS.load_all().items() if wanted <= tuner.takes]


def check_tuner(name: str, needs: Iterable[str], task: str, otherwise: str = "") -> None:
    """Refuse a tuner that does not take all that a task needs, before anything is computed.

    `otherwise` is another way out than another tuner.
    """
    if not frozenset(needs) <= TUNERS.load(name).takes:
        raise SettingsError(_refusal(name, needs, task) + (f", or {otherwise}" if otherwise else ""))


def refuse(tuner: Tuner, needs: Iterable[str], task: str) -> TuneError:
    """Return the error of a tuner that does not take all that its task needs."""
    own = type(tuner)
    return TuneError(_refusal(next((n for n, c in TUNERS.load_all().items() if c is own), own.__name__), needs, task))


def _refusal(name: str, needs: Iterable[str], task: str) -> str:
    *most, last = takers(needs) or ["a tuner of another package"]
    return f"{name} cannot fit {task}; use {' or '.join(filter(None, [', '.join(most), last]))}"
