"""The report: Table 1, BLEU by n-gram length and by size, search errors, time and memory, with the paper's numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from plan import Chosen, Plan, choose, conditions_of, features_of, first_condition
from steps import METRIC, spread
from systems import Condition, bleu
from texts import Texts

from camber.corpus import Sentences
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.metrics.significance import stratified_randomisation

#: Table 1 of the paper: vocabulary of French and English, thousands of words, perplexity of dev and test
PAPER = {
    4000: (5084, 4039, 43, 39, 32.25, 31.92),
    6000: (6426, 5058, 64, 59, 30.81, 29.03),
    8000: (7377, 5716, 85, 79, 29.91, 28.94),
    10000: (8252, 6339, 106, 98, 27.55, 27.09),
    12000: (9006, 6861, 127, 118, 27.19, 26.41),
}
PAPER_SAYS = {
    "lsr": "within 0.5 of the baseline above 6,000 pairs",
    "mmr": "3.5 below the baseline at 12,000 pairs",
}


@dataclass(frozen=True)
class Report:
    """All that came out so far."""

    plan: Plan
    texts: dict[str, Texts]
    work: Path

    def outcome(self, condition: Condition) -> dict[str, Any] | None:
        """Return what came out of a condition, if it was run."""
        return self._read(condition.name)

    def _read(self, name: str) -> dict[str, Any] | None:
        place = self.work / f"{name}.json"
        document: dict[str, Any] | None = json.loads(place.read_text()) if place.exists() else None
        return document

    @cached_property
    def chosen(self) -> Chosen:
        """What was chosen on dev, of what is there."""
        return choose(self.plan, self.outcome)

    def test_bleu(self, condition: Condition) -> float | None:
        """Return BLEU of the test set, if it was translated."""
        outcome = self.outcome(condition)
        return bleu(outcome["translations"]["test"], self.texts[condition.corpus].pairs("test")[1]) if outcome else None

    def baseline(self, name: str, size: int) -> list[Condition]:
        """Return the replicas of the baseline that were run."""
        seeds = range(1, 1 + self.plan.seeds.get(name, 1))
        replicas = [Condition(name, size, "phrase", seed=seed) for seed in seeds]
        return [condition for condition in replicas if self.outcome(condition)]

    def text(self) -> str:
        """Return all tables."""
        return "\n\n".join("\n".join(lines) for lines in self._parts())

    def _parts(self) -> Iterator[list[str]]:
        yield self._statistics("short")
        yield self._orders()
        yield self._hyper_parameters()
        for name in self.plan.corpora:
            if any(self.baseline(name, size) for size in self.plan.corpora[name].sizes):
                yield self._sizes(name)
        yield self._beams()
        yield self._costs()

    def _statistics(self, name: str) -> list[str]:
        """Table 1; perplexities are those of a trigram model of the English side."""
        lines = [
            f"**Table 1: {self.plan.corpora[name].title}** (the paper's numbers in brackets)", "",
            "| pairs | vocabulary fr | en | words fr | en | perplexity dev | test |", "|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        texts = self.texts[name]
        held = {key: [line.split() for line in texts.pairs(key)[1]] for key in ("dev", "test")}
        sides = [[line.split() for line in side] for side in texts.pairs("train")]
        for size in self.plan.corpora[name].sizes:
            some = [side[:size] for side in sides]
            model = NgramModel.from_trie(estimate(Sentences.encode(some[1]), LmSettings(order=3)))
            own = [
                *(f"{len({word for line in side for word in line}):,}" for side in some),
                *(f"{sum(map(len, side)) / 1000:.0f}k" for side in some),
                *(f"{model.perplexity(lines_):.1f}" for lines_ in held.values()),
            ]
            paper = PAPER.get(size)
            if paper:
                beside = [*(f"{n:,}" for n in paper[:2]), *(f"{n}k" for n in paper[2:4]), *(f"{n}" for n in paper[4:])]
                own = [f"{one} ({other})" for one, other in zip(own, beside, strict=True)]
            lines.append(f"| {size:,} | {' | '.join(own)} |")
        return lines

    def orders(self, system: str) -> list[tuple[int, float, float]]:
        """Return BLEU of dev and test by the length of n-grams (Figure 3)."""
        rows = []
        for order in self.plan.orders:
            condition = first_condition(self.plan, system, order)
            outcome, test = self.outcome(condition), self.test_bleu(condition)
            if outcome and test is not None:
                rows.append((order, float(outcome["dev"]), test))
        return rows

    def _orders(self) -> list[str]:
        lines = [
            f"**Figure 3: BLEU by the longest n-gram**, {self.plan.first:,} short pairs; chosen on dev "
            f"(the paper chose 3 for LSR and 5 for MMR)",
            "", "| n | LSR dev | LSR test | MMR dev | MMR test |", "|---|---|---|---|---|",
        ]  # fmt: skip
        tables = [{row[0]: row[1:] for row in self.orders(system)} for system in ("lsr", "mmr")]
        for order in self.plan.orders:
            cells = [f"{value:.2f}" for table in tables for value in table.get(order, ())]
            lines.append(f"| {order} | {' | '.join(cells)} |")
        return lines

    def _hyper_parameters(self) -> list[str]:
        lsr, mmr = self.chosen
        tried = []
        for ridge in self.plan.ridges:
            outcome = self.outcome(replace(lsr, ridge=ridge, tested=False)) or self.outcome(replace(lsr, ridge=ridge))
            tried.append((f"ridge {ridge:g}", outcome))
        for cost in self.plan.costs:
            outcome = self.outcome(replace(mmr, cost=cost, tested=False)) or self.outcome(replace(mmr, cost=cost))
            tried.append((f"C {cost:g}", outcome))
        told = ", ".join(f"{name}: {outcome['dev']:.2f}" for name, outcome in tried if outcome)
        return [
            f"**Chosen on dev** at {self.plan.first:,} short pairs, for all corpora: n = {lsr.order}, ridge "
            f"{lsr.ridge:g} for LSR, n = {mmr.order}, C = {mmr.cost:g} for MMR. BLEU on dev: {told}."
        ]

    def _sizes(self, name: str) -> list[str]:
        corpus = self.plan.corpora[name]
        lines = [
            f"**Figure 4: {corpus.title}, BLEU on test** (p by stratified approximate randomisation against the "
            "baseline)", "",
            "| pairs | baseline | LSR | scale | − baseline | p | LSR, scale 1 | MMR | − baseline | p | "
            "baseline with LSR as a feature | − baseline | p |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        for size in corpus.sizes:
            replicas = self.baseline(name, size)
            scores = [score for condition in replicas if (score := self.test_bleu(condition)) is not None]
            cells = [spread(scores) if scores else "–"]
            for system in self.chosen:
                condition = replace(system, corpus=name, size=size)
                outcome, test = self.outcome(condition), self.test_bleu(condition)
                if outcome is None or test is None or not scores:
                    cells += ["–"] * (5 if system.system == "lsr" else 3)
                    continue
                own = self._compared([condition], replicas)
                if system.system == "lsr":
                    plain = self.test_bleu(replace(condition, scale=1.0))
                    cells += [own[0], f"{outcome['scale']:g}", *own[1:], f"{plain:.2f}" if plain else "–"]
                else:
                    cells += own
            lsr = replace(self.chosen.lsr, corpus=name, size=size)
            cells += self._compared([one for one in features_of(self.plan, lsr) if self.outcome(one)], replicas)
            lines.append(f"| {size:,} | {' | '.join(cells)} |")
        if name == "short":
            lines += ["", self._lengths(name, corpus.sizes[-1])]
            lines += ["", f"The paper: LSR {PAPER_SAYS['lsr']}; MMR {PAPER_SAYS['mmr']}."]
        return lines

    def _lengths(self, name: str, size: int) -> str:
        """Tell how long translations of the test set are beside the references."""
        words = sum(len(line.split()) for line in self.texts[name].pairs("test")[1])
        lsr, mmr = (replace(condition, corpus=name, size=size) for condition in self.chosen)
        systems = {
            "baseline": Condition(name, size, "phrase"),
            "LSR": lsr,
            "LSR, scale 1": replace(lsr, scale=1.0),
            "MMR": mmr,
        }
        shares = []
        for title, condition in systems.items():
            outcome = self.outcome(condition)
            if outcome:
                own = sum(len(line.split()) for line in outcome["translations"]["test"])
                shares.append(f"{title} {own / words:.2f}")
        return f"Words of translations at {size:,} pairs, as a share of the references': {', '.join(shares)}."

    def _compared(self, conditions: list[Condition], replicas: list[Condition]) -> list[str]:
        """Return BLEU of a system, its distance from the baseline and p; dashes, if either was not run."""
        scores, baseline = (
            [score for one in some if (score := self.test_bleu(one)) is not None] for some in (conditions, replicas)
        )
        if not scores or not baseline:
            return ["–"] * 3
        p = stratified_randomisation(METRIC, self._rows(replicas), self._rows(conditions))
        return [spread(scores), f"{np.mean(scores) - np.mean(baseline):+.2f}", f"{p:.3f}"]

    def _rows(self, conditions: Sequence[Condition]) -> list[Any]:
        """Return BLEU's statistics of every test sentence, for each of some systems."""
        references = self.texts[conditions[0].corpus].pairs("test")[1]
        outcomes = [self.outcome(condition) for condition in conditions]
        return [METRIC.statistics(one["translations"]["test"], [references]) for one in outcomes if one]

    def _beams(self) -> list[str]:
        plan = self.plan
        lines = [
            f"**Search errors**: the share of test sentences of at most {plan.words} words whose best translation a "
            f"beam misses that another one, of up to {plan.wide:,}, finds (the paper: within 1.5 % at beam 100)", "",
            f"| | sentences | {' | '.join(f'beam {beam}' for beam in (*plan.beams, plan.wide))} |",
            f"|---|---|{'---|' * (len(plan.beams) + 1)}",
        ]  # fmt: skip
        for condition in self.chosen:
            outcome = self._read(f"{condition.name}.beams")
            if outcome:
                shares = [f"{100 * outcome['missed'][str(beam)]:.1f} %" for beam in (*plan.beams, plan.wide)]
                lines.append(f"| {condition.system.upper()} | {outcome['sentences']} | {' | '.join(shares)} |")
        return lines

    def _costs(self) -> list[str]:
        lines = [
            "**Time and memory** (one thread; CPU-seconds of a training from text with all that is chosen or tuned on "
            "dev, milliseconds for a test sentence, the most memory of the whole process)", "",
            "| corpus | pairs | system | training, CPU-s | a sentence, ms | memory, MB |", "|---|---|---|---|---|---|",
        ]  # fmt: skip
        for name in self.plan.corpora:
            for condition in conditions_of(self.plan, name, self.chosen):
                outcome = self.outcome(condition)
                if outcome and not condition.scale and condition.seed == 1:
                    lines.append(
                        f"| {name} | {condition.size:,} | {condition.system} | {outcome['training']:.0f} | "
                        f"{1000 * outcome['sentence']:.1f} | {outcome['memory']:.0f} |"
                    )
        return lines
