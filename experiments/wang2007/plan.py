"""Which conditions there are, and what is chosen on dev."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from systems import Condition
from texts import CORPORA, Corpus


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    corpora: dict[str, Corpus]
    sentences: int = 300  # to tune on, and to test
    orders: tuple[int, ...] = (2, 3, 4, 5, 6, 7)
    ridges: tuple[float, ...] = (0.1, 1.0, 10.0)
    costs: tuple[float, ...] = (0.1, 1.0, 10.0)
    seeds: dict[str, int] = field(default_factory=lambda: {"short": 3})  # replicas of MERT; 1 for other corpora
    beams: tuple[int, ...] = (10, 30, 100, 300)
    wide: int = 3000
    words: int = 10  # of sentences whose search errors are counted

    @property
    def first(self) -> int:
        """The size at which everything is chosen."""
        return self.corpora["short"].sizes[0]


FULL = Plan({corpus.name: corpus for corpus in CORPORA})
QUICK = Plan(
    {corpus.name: replace(corpus, sizes=(200, 400)) for corpus in CORPORA},
    sentences=12, orders=(2, 3), ridges=(0.1, 1.0), costs=(1.0,), seeds={"short": 2}, beams=(3, 10), wide=50, words=6,
)  # fmt: skip


#: every system of the experiment
SYSTEMS = ("phrase", "mmr", "lsr", "feature")


class Chosen(NamedTuple):
    """The regressions that did best on dev."""

    lsr: Condition
    mmr: Condition


def first_condition(plan: Plan, system: str, order: int) -> Condition:
    """Return a regression of the corpus and size at which everything is chosen."""
    return Condition("short", plan.first, system, order)


def choose(plan: Plan, run: Callable[[Condition], dict[str, Any] | None]) -> Chosen:
    """Choose the length of n-grams first, then the ridge and C; conditions without an outcome are passed over."""

    def best(conditions: list[Condition]) -> Condition:
        outcomes = [(outcome["dev"], c) for c in conditions if (outcome := run(c)) is not None]
        return max(outcomes, key=lambda item: item[0], default=(0.0, conditions[0]))[1]

    mmr = best([first_condition(plan, "mmr", order) for order in plan.orders])
    mmr = best([mmr, *(replace(mmr, cost=cost, tested=False) for cost in plan.costs if cost != mmr.cost)])
    lsr = best([first_condition(plan, "lsr", order) for order in plan.orders])
    lsr = best([lsr, *(replace(lsr, ridge=ridge, tested=False) for ridge in plan.ridges if ridge != lsr.ridge)])
    return Chosen(replace(lsr, tested=True), replace(mmr, tested=True))


def conditions_of(plan: Plan, name: str, chosen: Chosen) -> Iterator[Condition]:
    """Yield the conditions of a corpus: both regressions, the first also as the paper has it, and the baseline."""
    for size in plan.corpora[name].sizes:
        for seed in range(1, 1 + plan.seeds.get(name, 1)):
            yield Condition(name, size, "phrase", seed=seed)
        yield replace(chosen.mmr, corpus=name, size=size)
        lsr = replace(chosen.lsr, corpus=name, size=size)
        yield lsr
        if name == "short":
            yield replace(lsr, scale=1.0)  # the paper multiplies predictions by nothing
            yield from features_of(plan, lsr)


def features_of(plan: Plan, lsr: Condition) -> list[Condition]:
    """Return replicas of the baseline with a regression as one more feature, which the paper does not have."""
    seeds = range(1, 1 + plan.seeds.get(lsr.corpus, 1))
    return [replace(lsr, system="feature", seed=seed) for seed in seeds]
