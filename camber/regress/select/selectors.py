"""The ways to select pairs, by name, and their settings.

selector = make_selector("round-robin", bitext)
selector.select(sentence, 250)                  # numbers of pairs, best first
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from camber.corpus.bitext import Bitext
from camber.registry import Entry, Registry
from camber.settings import Settings, setting

if TYPE_CHECKING:
    from camber.regress.select.selector import Selector

PRODUCT, SUM = "product", "sum"
#: what is taken where nobody says otherwise
USUAL = "round-robin"

SELECTORS: Registry[type[Selector]] = Registry(
    "selector",
    "camber.selectors",
    {
        USUAL: Entry("camber.regress.select.round_robin:RoundRobin", "n-grams take turns, each with its best by dice"),
        "dice": Entry("camber.regress.select.dice:DiceSelector", "how well words go with the pair's target (bicici)"),
        "bm25": Entry("camber.regress.select.bm25:Bm25Selector", "common n-grams by BM25, as a search engine does it"),
        "decay": Entry(
            "camber.regress.select.decay:DecaySelector", "common n-grams, worth less once covered (Biçici & Yuret 2011)"
        ),
    },
)


@dataclass(frozen=True)
class SelectSettings(Settings, group="How pairs are compared"):
    """How pairs are compared with a sentence."""

    order: int = setting(2, "longest n-gram that sentences are compared by", low=1, high=16)
    denominator: str = setting(
        PRODUCT, "dice: 2 C(x, y) over the product C(x) C(y) (as printed), or over the sum", choices=(PRODUCT, SUM)
    )
    sample: int = setting(
        3000, "dice: pairs that are looked at for an n-gram that more of them have, at even distances", low=1
    )
    saturation: float = setting(1.5, "bm25: how soon repetitions stop to count (k1)", low=0)
    length_share: float = setting(0.75, "bm25: how much the length of a sentence matters (b)", low=0, high=1)
    decay: float = setting(0.5, "decay: what is left of an n-gram's worth when one more pair has it", low=0, high=1)
    length_power: float = setting(1.0, "decay: worth is divided by this power of the source length", low=0)


def make_selector(name: str, bitext: Bitext, settings: SelectSettings | None = None) -> Selector:
    """Index a corpus for a way to select."""
    return SELECTORS.load(name).of(bitext, settings or SelectSettings())
