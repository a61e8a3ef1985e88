"""Translations of the same text beside each other: scores with error bars, lengths, sentences that won and lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from camber.arrays.types import F8, AnyArray
from camber.metrics.bleu import BLEU
from camber.metrics.compare import Result
from camber.metrics.metric import Metric, References, grouped_references
from camber.report.axes import signed
from camber.report.blocks import figure, section, table, two_sides
from camber.report.charts import Measured, changes, error_bars, ratios
from camber.report.markup import Markup, element, join

#: sentences that are listed of each sort
SHOWN = 8


@dataclass(frozen=True)
class Comparison:
    """Some systems' translations, the first of which the others are compared with."""

    texts: Mapping[str, Sequence[str]]  # system → a line for each sentence
    tables: Mapping[str, AnyArray]  # system → statistics [sentences, columns] by `metric`
    metric: Metric
    results: Sequence[Result]  # by this metric and others
    references: References
    sources: Sequence[str] | None = None
    tokenize: str = "13a"  # how words are told apart where lengths are counted
    note: str = ""  # on what was measured

    def sections(self) -> list[Markup]:
        """Return all parts of the page."""
        first, *others = self.texts
        lengths = [self.lengths()] if self.references else []  # outside scores need none
        return [self.scores(), *lengths, *(self.sentences(first, other) for other in others)]

    # --- the whole text ----------------------------------------------------------------------------------------------

    def scores(self) -> Markup:
        """Return scores, with error bars and what is known about their differences."""
        metrics = list(dict.fromkeys(result.metric for result in self.results))
        pictures = []
        for name in metrics:
            rows = [Measured(one.system, one.score, one.low, one.high) for one in self.results if one.metric == name]
            pictures.append(figure(error_bars(rows, f"{name} with its 95 % intervals", name), self._direction(name)))
        several = any(result.run_sd is not None for result in self.results)
        compared = any(result.difference is not None for result in self.results)
        headings = ["system", "metric", "score", "95 % interval"]
        headings += ["± between runs"] * several + ["difference", "p (randomisation)", "p (bootstrap)"] * compared
        rows_ = []
        for one in self.results:
            row: list[object] = [one.system, one.metric, f"{one.score:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
            row += ["" if one.run_sd is None else f"{one.run_sd:.2f}"] * several
            row += ["" if one.difference is None else signed(one.difference)] * compared
            chances = [one.randomisation_p, one.bootstrap_p]
            row += ["" if chance is None else f"{chance:.4f}" for chance in chances] * compared
            rows_.append(row)
        count = len(next(iter(self.texts.values())))
        lead = f"{count:,} sentences. {self.note}".strip()
        lead += " An interval holds 95 % of the scores of texts drawn again from these sentences (bootstrap)."
        if compared:
            lead += f" Differences are from {next(iter(self.texts))}; p is how often chance alone makes one as large."
        signatures = list(dict.fromkeys(result.signature for result in self.results))
        return section(
            "Scores",
            lead,
            element("div", *pictures, class_="flow"),
            table(headings, rows_, numbers=set(range(2, len(headings)))),
            element("p", join((element("code", one) for one in signatures), " "), class_="note"),
        )

    def _direction(self, name: str) -> str:
        less = name == self.metric.name and not self.metric.higher_is_better
        return "Less is better." if less or name == "TER" else "More is better."

    def lengths(self) -> Markup:
        """Return how long outputs are beside their references."""
        metric = BLEU(self.tokenize)
        rows = {name: metric.statistics(lines, self.references)[:, :2] for name, lines in self.texts.items()}
        expected = next(iter(rows.values()))[:, 1]
        told = []
        for name, counts in rows.items():
            ours, theirs = (int(side) for side in counts.sum(0))
            told.append([name, f"{ours:,}", f"{theirs:,}", f"{ours / theirs:.3f}" if theirs else ""])
        picture: list[Markup] = []
        if expected.sum():
            label = "length ratio by the length of the reference"
            shown = ratios({name: counts[:, 0] for name, counts in rows.items()}, expected, label)
            picture = [figure(shown, "Words of translations over words of references; 1 is as long.")]
        return section(
            "Lengths",
            "How many words the translations have, and their references (of several, the closest ones).",
            table(["system", "words", "of references", "ratio"], told, numbers={1, 2, 3}, narrow=True),
            element("div", *picture, class_="flow"),
        )

    # --- sentences ---------------------------------------------------------------------------------------------------

    def gains(self, first: str, other: str) -> F8:
        """Return what the score of all sentences gains when one of them comes from the other system, for each.

        Statistics are sums, so that a sentence is taken out of them and put in by itself.
        """
        ours, theirs = (np.asarray(self.tables[name], np.float64) for name in (first, other))
        total = ours.sum(0)
        gained = np.asarray(self.metric.score(total - ours + theirs), np.float64) - float(self.metric.score(total))
        gained[(ours == theirs).all(1)] = 0.0
        return gained if self.metric.higher_is_better else -gained

    def sentences(self, first: str, other: str) -> Markup:
        """Return where another system is better and worse than the first, with the words that differ."""
        gained, name = self.gains(first, other), self.metric.name
        one, two = self.texts[first], self.texts[other]
        counts = [int((gained > 0).sum()), int((gained < 0).sum())]
        same = sum(a == b for a, b in zip(one, two, strict=True))
        groups = grouped_references(self.references) if self.references else [[] for _ in one]
        order = np.argsort(-gained, kind="stable").tolist()
        best = [k for k in order[:SHOWN] if gained[k] > 0]
        worst = [k for k in order[::-1][:SHOWN] if gained[k] < 0]
        parts = [
            figure(
                changes(gained, f"what sentences change in {name}", f"change of {name} by one sentence"),
                f"What {name} of the whole text gains or loses by one sentence; sentences without a change are left "
                "out.",
            )
        ]
        for title, rows in (("Won", best), ("Lost", worst)):
            if rows:
                parts += [element("h3", title), self._listed(rows, first, other, gained, groups)]
        return section(
            f"{other} against {first}",
            join(
                [
                    f"{counts[0]:,} sentences are better, {counts[1]:,} worse; {same:,} of {len(one):,} are the same. "
                    "Words that only one of both has are marked ",
                    element("ins", "so"),
                    " if a reference has them, and ",
                    element("del", "so"),
                    " if not.",
                ]
            ),
            *parts,
        )

    def _listed(self, rows: Sequence[int], first: str, other: str, gained: F8, groups: list[list[str]]) -> Markup:
        lines = []
        for k in rows:
            left, right = two_sides(self.texts[first][k], self.texts[other][k], groups[k])
            source = [self.sources[k]] if self.sources is not None else []
            lines.append([f"{k + 1:,}", signed(float(gained[k]), 3), *source, left, right, " / ".join(groups[k])])
        known = ["source"] if self.sources is not None else []
        return table(["sentence", self.metric.name, *known, first, other, "reference"], lines, numbers={0, 1})
