"""The page of a tuning: scores round by round, weights before and after, responses, and what it did to translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from camber.bend.bins import Bins
from camber.bend.response import Response
from camber.bend.trees.description import WeighedTree
from camber.corpus.inputs import Input, as_inputs
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.features.feature import COUNT, PROBABILITY
from camber.files import check_outputs, read_parallel
from camber.metrics.compare import compare
from camber.metrics.metric import make_metric
from camber.model.translator import Translator, load
from camber.pipeline.tune import tune_model
from camber.report import trees
from camber.report.blocks import cards, figure, section, table, write_page
from camber.report.charts import rounds
from camber.report.comparison import Comparison
from camber.report.curve_panel import legend, panel
from camber.report.drawing import drawing_style, svg
from camber.report.markup import Markup, element
from camber.report.pictures import contributions
from camber.tune.grid import GridOutcome, told_value
from camber.tune.loop import FIXED, Outcome

BEFORE, AFTER = "before", "tuned"
#: curves, trees and weights that a page shows; `camber curves` draws all
_CURVES, _TREES, _WEIGHTS = 12, 6, 40
#: bins of a straight curve, and lines whose rules are looked at for it
_BINS, _LOOKED_AT = 32, 200


def tune_and_report(
    report: str | Path,
    model: str | Path,
    dev_source: str | Path,
    dev_target: Sequence[str | Path] | str | Path,
    *,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    **more: Any,
) -> Outcome:
    """Tune a model as `camber.tune_model` does, and write a page about it; dev is translated before and after.

    >>> tune_and_report("report.html", "my-model", "dev.de", "dev.en").scores             # doctest: +SKIP
    array([31.4])
    """
    check_outputs(report)
    references = [dev_target] if isinstance(dev_target, str | Path) else list(dev_target)
    source, *targets = read_parallel(dev_source, *references)
    before = load(model)
    texts = {BEFORE: before.translate(source, engine=engine)}
    outcome = tune_model(
        model, dev_source, dev_target, out=out, settings=settings, seed=seed, engine=engine, **more
    )  # fmt: skip
    after = load(out or model)
    texts[AFTER] = after.translate(source, engine=engine)
    metric = (settings or {}).get("metric", "bleu")
    tokenize = "none" if before.text.settings.tokenizer == "none" else "13a"
    measure = make_metric(metric, tokenize)
    results = compare(texts, targets, list(dict.fromkeys([metric, "bleu"])), tokenize, trials=2000, seed=seed)
    tables = {name: measure.statistics(lines, targets) for name, lines in texts.items()}
    note = "This is the set that was tuned on: it flatters. What to expect of other text, other text tells."
    shown = Comparison(texts, tables, measure, results, targets, source, tokenize, note)
    _write(report, Path(out or model).name, outcome, before, after, shown)
    return outcome


def _write(
    path: str | Path, name: str, outcome: Outcome, before: Translator, after: Translator, shown: Comparison
) -> None:
    first, last = (result.score for result in shown.results[:2])
    passes = sum(len(replica.rounds) for replica in outcome.replicas)
    facts = [
        (f"{first:.2f} → {last:.2f}", f"{shown.results[0].metric} of the development set"),
        (f"{passes}", f"round{'s' * (passes != 1)}"),
        (f"{len(outcome.replicas)}", f"replica{'s' * (len(outcome.replicas) != 1)}"),
        (f"{max(replica.rounds[-1].hypotheses for replica in outcome.replicas):,}", "hypotheses in the list"),
    ]
    write_page(
        path,
        f"How {name} was tuned",
        "Weights are changed until the translations of a development set are as good as they get.",
        cards(facts),
        learning(outcome.to_rows()),
        *grid(outcome),
        *shown.sections(),
        weights(*(_tuned(translator.weights.values) for translator in (after, before))),
        *responses_of(after, shown.sources or ()),
        style=drawing_style() + trees.STYLE,
    )


def learning(rows: Sequence[str]) -> Markup:
    """Return scores and length ratios, round by round, from the lines of `rounds.tsv`."""
    replicas: dict[str, list[tuple[float, float]]] = {}
    for line in rows[1:]:
        replica, _, score, ratio, *_ = line.split("\t")
        replicas.setdefault(replica, []).append((float(score), float(ratio)))
    names = {key: f"replica {key}" if len(replicas) > 1 else "tuned" for key in replicas}
    scores = {names[key]: [one[0] for one in each] for key, each in replicas.items()}
    lengths = {names[key]: [one[1] for one in each] for key, each in replicas.items()}
    kept = [each.index(max(each)) for each in scores.values()]
    return section(
        "Learning curves",
        "In each round, the development set is translated with the weights of that round, new hypotheses join the "
        "list, and weights are fitted to all of it. The round with the best score is kept: the large dot. Scores of "
        "rounds are of the model's own tokens; all others, of text as it is read.",
        element(
            "div",
            figure(rounds(scores, "score of the rounds", "round", marked=kept), "Score of the best translations."),
            figure(rounds(lengths, "length ratio of the rounds", "round", marked=kept), "Their length ratio."),
            class_="pair",
        ),
    )


def grid(outcome: Outcome) -> list[Markup]:
    """Return the trials of a grid, if there was one."""
    if not isinstance(outcome, GridOutcome):
        return []
    names = list(outcome.trials[0].values)
    rows = [
        [
            "kept" if trial is outcome.best else "",
            *map(told_value, trial.values.values()),
            f"{trial.features:,}",
            *([f"{trial.dev:.2f}", f"{trial.hyper:.2f}"] if not trial.failure else ["", "failed"]),
        ]
        for trial in outcome.trials
    ]
    headings = ["", *names, "features", "dev", "hyper set"]
    lead = "Every combination was tuned; the one that translates the hyper set best was kept."
    return [section("Hyper-parameters", lead, table(headings, rows, numbers=set(range(1, len(headings)))))]


def _tuned(values: Mapping[str, float]) -> dict[str, float]:
    """Return the weights without those that tuning leaves alone, next to which others would not be seen."""
    return {name: value for name, value in values.items() if name not in FIXED}


def weights(after: Mapping[str, float], before: Mapping[str, float] | None = None) -> Markup:
    """Return the largest weights, scaled to sum to 1, because a common factor changes nothing."""
    names = [name for name in after if before is None or name in before] or list(after)
    sides = [np.array([side.get(name, 0.0) for name in names]) for side in (after, before) if side is not None]
    scaled = [values / (np.abs(values).sum() or 1.0) for values in sides]
    largest = np.argsort(-np.max(np.abs(scaled), axis=0), kind="stable")[:_WEIGHTS]
    shown = np.sort(largest)
    told = "" if len(shown) == len(names) else f" The {len(shown)} largest of {len(names):,} are shown."
    return section(
        "Weights",
        f"As shares of the sum of all weights, without their signs: a factor common to all changes nothing.{told}",
        figure(
            contributions([names[k] for k in shown], scaled[0][shown], None if before is None else scaled[1][shown],
                          "weights of the features"),
            "" if before is None else "Bars: tuned; ticks: before.",
        ),
    )  # fmt: skip


def responses_of(translator: Translator, lines: Sequence[str]) -> list[Markup]:
    """Return what features of a model add; those of a linear model are drawn over their values in rules for lines."""
    bend, values = translator.decoder.bend, translator.weights.values
    curves, forest = bend.show(values), bend.trees(values)
    if curves or forest:
        return responses(curves, forest)
    lead = "Nothing bends here: a feature adds its weight times its logarithm. Below, which values rules have."
    inputs = as_inputs([translator.source_tokens(line) for line in lines[:_LOOKED_AT]])
    return responses(straight_responses(translator.decoder, inputs), [], lead)


def straight_responses(decoder: LogLinear, inputs: Sequence[Input]) -> list[Response]:
    """Return what the probabilities and counts of rules for some sentences add to the score."""
    kinds = {feature.name: feature.kind for feature in decoder.inputs}
    found = []
    for name, (values, often) in decoder.rule_values(inputs).items():
        bins = Bins.at_most(_BINS, values, often)
        if kinds[name] in (PROBABILITY, COUNT) and len(bins) > 1:
            blank = Response(name, bins.lows, bins.highs, bins.populations, np.zeros(len(bins)))
            x = np.unique(np.concatenate([bins.lows, blank.positions, bins.highs]))
            curve = np.stack([x, decoder.bend.worth(name, x, decoder.weighing.weights)], axis=1)
            middles = decoder.bend.worth(name, blank.positions, decoder.weighing.weights)
            found.append(replace(blank, values=middles, curve=curve))
    return found


def responses(
    curves: Sequence[Response],
    forest: Sequence[WeighedTree],
    lead: str = "What the values of a feature add to the score.",
) -> list[Markup]:
    """Return curves and trees, if there are any."""
    parts = []
    if curves:
        more = "" if len(curves) <= _CURVES else f" {_CURVES} of {len(curves)} are shown; `camber curves` draws all."
        parts.append(
            section(
                "Response curves",
                f"{lead}{more}",
                element("div", svg(legend()), class_="legend"),
                *(element("figure", svg(panel(curve))) for curve in curves[:_CURVES]),
            )
        )
    if forest:
        parts.append(trees.section(forest[:_TREES]))
    return parts
