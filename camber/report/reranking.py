"""The pages of `camber rerank`: what fitting gained, and what applying changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from camber.metrics.bleu import BLEU
from camber.metrics.compare import compare_tables
from camber.metrics.metric import Metric
from camber.metrics.outside import Outside
from camber.nbest import NBest
from camber.report import trees
from camber.report.axes import signed
from camber.report.blocks import cards, section, table, two_sides, write_page
from camber.report.comparison import SHOWN, Comparison
from camber.report.drawing import drawing_style
from camber.report.markup import Markup, element, join
from camber.report.tuning import responses, weights
from camber.rerank.report import HELD_OUT, ORACLE, OWN, TUNED, Report
from camber.rerank.reranker import Reranker, as_references
from camber.tune.grid import told_value

#: of the tests of differences on a page
_TRIALS = 2000


def write_fit(
    path: str | Path,
    reranker: Reranker,
    report: Report,
    nbest: NBest,
    references: Sequence[Sequence[str]],
    values: Mapping[str, float],
    sources: Sequence[str] | None = None,
) -> None:
    """Write a page about a fit: `values` are the weights that the model keeps."""
    metric = reranker.make_metric()
    other = HELD_OUT if HELD_OUT in report.chosen else TUNED
    order = [OWN, *([HELD_OUT] if other == HELD_OUT else []), TUNED, ORACLE]
    tables = {name: report.chosen[name].statistics for name in order}
    results = compare_tables(
        metric, {name: [rows] for name, rows in tables.items()}, len(references), trials=_TRIALS, seed=reranker.seed
    )
    note = "Tuned is on the list that it was fitted to, which flatters."
    if other == HELD_OUT:
        note += " Held out, every sentence is re-ranked by weights that were fitted without it."
    shown = Comparison(
        {name: _texts(nbest, report.chosen[name].rows.tolist()) for name in (OWN, other)},
        {name: tables[name] for name in (OWN, other)},
        metric,
        results,
        as_references(references),
        nbest.sources if sources is None else sources,
        _words_by(reranker, metric),
        note,
    )
    facts = [
        (f"{report.one_best:.2f} → {report.held_out.tuned if report.held_out else report.tuned:.2f}",
         f"{report.metric}, {other}"),
        (f"{report.oracle:.2f}", "of the best hypotheses in the list"),
        (f"{report.sentences:,}", "sentences"),
        (f"{report.hypotheses:,}", "hypotheses"),
    ]  # fmt: skip
    write_page(
        path,
        "What re-ranking gains",
        report.summary(),
        cards(facts),
        *shown.sections(),
        *_trials(report),
        weights({name: value for name, value in values.items() if name in reranker.fitted.names} or values),
        *responses(reranker.responses(), reranker.fitted.trees()),
        style=drawing_style() + trees.STYLE,
    )


def write_applied(
    path: str | Path,
    reranker: Reranker,
    nbest: NBest,
    ranked: NBest,
    references: Sequence[Sequence[str]] = (),
    sources: Sequence[str] | None = None,
) -> None:
    """Write a page about what re-ranking changed, and, with references, what that gained."""
    own, best = _texts(nbest, nbest.best().tolist()), ranked.best_texts()
    changed = [k for k, (one, two) in enumerate(zip(own, best, strict=True)) if one != two]
    words = [sum(len(line.split()) for line in side) for side in (own, best)]
    facts = [
        (f"{len(changed):,}", f"of {len(own):,} sentences changed"),
        (f"{words[1] / words[0]:.3f}" if words[0] else "–", "their length ratio to the list's own choice"),
    ]
    lines = nbest.sources if sources is None else sources
    body: list[Markup] = []
    if references:
        metric = reranker.make_metric()
        if isinstance(metric, Outside):
            metric = Reranker(tokenize=reranker.tokenize, lowercase=reranker.lowercase).make_metric()
        texts = {OWN: own, "re-ranked": best}
        tables = {name: metric.statistics(side, references) for name, side in texts.items()}
        results = compare_tables(
            metric, {name: [rows] for name, rows in tables.items()}, len(references), trials=_TRIALS, seed=reranker.seed
        )
        shown = Comparison(texts, tables, metric, results, references, lines, _words_by(reranker, metric))
        body = shown.sections()
        facts.insert(0, (f"{results[0].score:.2f} → {results[1].score:.2f}", results[0].metric))
    else:
        body = [_changed(changed, own, ranked, lines)]
    write_page(path, "What re-ranking changed", "The list's own first choice, and that of the re-ranker.", cards(facts),
               *body)  # fmt: skip


def _changed(changed: Sequence[int], own: Sequence[str], ranked: NBest, sources: Sequence[str] | None) -> Markup:
    """List the sentences in which the new choice leads by most."""
    leads = {k: _lead(ranked, k, own[k]) for k in changed}
    rows = []
    for k in sorted(changed, key=lambda k: -leads[k])[: 4 * SHOWN]:
        left, right = two_sides(own[k], ranked.texts[int(ranked.sentence_offsets[k])])
        rows.append([f"{ranked.first + k + 1:,}", signed(leads[k], 3), *([sources[k]] if sources else []), left, right])
    headings = ["sentence", "leads by", *(["source"] if sources else []), OWN, "re-ranked"]
    return section(
        "Other translations",
        join(
            [
                "The new choice leads by so much in score; the largest are shown. Words that it drops are marked ",
                element("del", "so"),
                ", new ones ",
                element("ins", "so"),
                ". Whether it is better, references can tell (--ref).",
            ]
        ),
        table(headings, rows, numbers={0, 1}),
    )


def _lead(ranked: NBest, sentence: int, text: str) -> float:
    """Return by how much the best hypothesis leads before one of this text."""
    if ranked.scores is None:
        return 0.0
    start, end = ranked.sentence_offsets[sentence : sentence + 2].tolist()
    place = next((row for row in range(start, end) if ranked.texts[row] == text), start)
    return float(ranked.scores[start] - ranked.scores[place])


def _trials(report: Report) -> list[Markup]:
    if not report.trials:
        return []
    names = list(report.trials[0].values)
    rows = [
        [*map(told_value, trial.values.values()), "failed" if trial.score is None else f"{trial.score:.2f}"]
        for trial in report.trials
    ]
    lead = f"{report.metric} of every combination by cross-validation; the best was taken."
    return [section("Hyper-parameters", lead, table([*names, report.metric], rows, numbers=set(range(len(names) + 1))))]


def _texts(nbest: NBest, rows: Sequence[int]) -> list[str]:
    return ["" if row < 0 else nbest.texts[row] for row in rows]


def _words_by(reranker: Reranker, metric: Metric) -> str:
    return reranker.tokenize if isinstance(metric, BLEU) else "13a"
