"""camber rerank: fit a re-ranker to an n-best list of any engine, and apply it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from camber.cli.groups import Grouped, option
from camber.cli.options import FILE, engine_option, json_option, pick, refuse_idle, seed_option, settings_options
from camber.errors import SettingsError
from camber.metrics.metric import CLOSEST, REFERENCE_LENGTHS
from camber.nbest.formats import AUTO, FORMATS
from camber.rerank.learners import LEARNERS, usual_tuner
from camber.rerank.settings import FeatureSettings, ResponseSettings
from camber.tune.tuners import TUNERS, tuner_settings

#: headings of flags
LIST, METRIC, FITTING = "The list", "Metric", "Fitting"

if TYPE_CHECKING:
    from camber.nbest import NBest


def _list_options(command: Any) -> Any:
    for flag in (
        option(
            "--at-least", type=click.IntRange(1), default=1, help="Leave out features of fewer hypotheses.", group=LIST
        ),
        option(
            "--scores",
            multiple=True,
            metavar="NAME=FILE",
            help="A feature from a file, a number per hypothesis and line (log probability, COMET, …); repeatable.",
            group=FeatureSettings.group,
        ),
        option(
            "--candidates", type=click.IntRange(1), metavar="N", help="Lines for every sentence, for flat.", group=LIST
        ),
        option(
            "--format",
            "--nbest-format",
            "nbest_format",
            type=click.Choice([AUTO, *FORMATS]),
            default=AUTO,
            show_default=True,
            help="Format of the list; flat (N lines of text for every sentence) must be named.",
            group=LIST,
        ),
        option(
            "--regression",
            type=FILE,
            help="A model with a regression (camber train --method kernel, or --regression), whose score becomes a "
            "feature; needs --source.",
            group=FeatureSettings.group,
        ),
        click.option("--source", type=FILE, help="The source text, for the length ratio and for --regression."),
        click.option("--nbest", "path", type=FILE, required=True, help="The n-best list, plain or .gz."),
    ):
        command = flag(command)
    return command


@click.group(short_help="Re-rank the n-best lists of any engine.")
def command() -> None:
    """Re-rank the n-best lists of any engine: Moses, Marian, Joshua, cdec, fairseq, JSON Lines, TSV or plain text."""


@command.command(cls=Grouped)
@_list_options
@click.option("--ref", "references", multiple=True, type=FILE, help="Reference; may be repeated.")
@click.option("--model", type=FILE, required=True, help="Directory for the fitted model.")
@click.option(
    "--learner",
    type=click.Choice(list(LEARNERS)),
    default="linear",
    show_default=True,
    help="One weight per feature, or a curve: free, of overlapping bins, smooth (lnr), monotone where it may (mnr); or "
    "trees that ask about several, or kernels in the space of all (mixture).",
)
@settings_options(ResponseSettings)
@option(
    "--tuner",
    type=click.Choice(list(TUNERS)),
    show_default="for curves pro, for trees mert; else expected-bleu, or mert (mixture: pro) for other metrics",
    group=FITTING,
)
@option(
    "--tuner-options",
    default="",
    metavar="NAME=V…",
    help='Settings of the tuner\'s own, such as "variance=10 brevity=capped"; an unknown one lists them all.',
    group=FITTING,
)
@option(
    "--metric",
    default="bleu",
    show_default=True,
    help="bleu, sbp, chrf, ter, or extra:NAME: outside scores (extra:-NAME if less is better), no feature then.",
    group=METRIC,
)
@option(
    "--tokenize",
    default="13a",
    show_default=True,
    help="sacreBLEU's tokenizer for BLEU; none: tokenised.",
    group=METRIC,
)
@option("--lowercase", is_flag=True, help="Ignore case in the metric.", group=METRIC)
@option(
    "--reference-length",
    type=click.Choice(REFERENCE_LENGTHS),
    default=CLOSEST,
    show_default=True,
    help="Which of several references BLEU's brevity penalty looks at.",
    group=METRIC,
)
@option(
    "--extra",
    "outside",
    multiple=True,
    metavar="NAME=FILE",
    help="As --scores, but only for --metric extra:NAME.",
    group=METRIC,
)
@option(
    "--lm",
    type=FILE,
    help="Language model (ARPA) whose score becomes a feature; the model keeps it.",
    group=FeatureSettings.group,
)
@settings_options(FeatureSettings)
@option(
    "--cautious/--no-cautious",
    default=True,
    show_default=True,
    help="Leave the list's own order only as far as held-out sentences of the list confirm; takes four fits.",
    group=FITTING,
)
@option(
    "--grid",
    metavar="KEY=V,V…",
    help='Settings of the learner to choose by cross-validation on the list, such as "leaves=2,4 tree_keep=100,300" or '
    '"bits=3,5 beta=10,1000".',
    group=FITTING,
)
@option(
    "--held-out", type=click.IntRange(2), metavar="K", help="Cross-validate with K folds of sentences.", group=FITTING
)
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Write a page, too: wins and losses, curves.")
@json_option("Write the report as JSON, with weights, curves and trees.")
@seed_option
@engine_option
def fit(
    path: Path,
    source: Path | None,
    nbest_format: str,
    candidates: int | None,
    at_least: int,
    references: tuple[Path, ...],
    model: Path,
    scores: tuple[str, ...],
    outside: tuple[str, ...],
    lm: Path | None,
    regression: Path | None,
    held_out: int | None,
    tuner_options: str,
    page: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Fit a re-ranker to an n-best list with references, and report what it gains.

    The list's own order is one of its features; --lm, --length and --consensus make more from the texts. The model
    keeps all that, so that `camber rerank apply` makes the same ones. Features of --scores must be given there again,
    and so must --regression.

    A list may be that of a part of a text: --ref and --source have the lines of that part, or of the whole text.
    """
    from camber.features.weights import Weights
    from camber.files import check_outputs, read_lines
    from camber.metrics.bleu import BLEU
    from camber.metrics.metric import make_metric
    from camber.model.directory import check_place
    from camber.nbest.beside import lines_beside
    from camber.rerank.choice import combinations
    from camber.rerank.report import evaluate
    from camber.rerank.reranker import Reranker
    from camber.tune.grid import parse_grid

    check_place(model, "rerank")
    check_outputs(page, inputs=(path, source, *references))
    learner = values["learner"]
    useful = LEARNERS.load(learner).settings(learner)
    refuse_idle([name for name in ResponseSettings().to_dict() if name not in useful], f"to --learner {learner}")
    metric = make_metric(values["metric"], values["tokenize"], lowercase=values["lowercase"])
    if not isinstance(metric, BLEU):
        refuse_idle(["tree_alpha"], f"to --metric {values['metric']}")
    if lm is None:
        refuse_idle(["lm_language", "lm_lowercase"], "without --lm")
    features, responses = pick(FeatureSettings, values), pick(ResponseSettings, values)
    if values["grid"] is not None:
        values["grid"] = parse_grid(values["grid"], ResponseSettings)
        refuse_idle(values["grid"], "beside a --grid that names it")
        combinations(values["grid"], responses, useful, learner)  # wrong ones are told before a long list is read
    sides = {file: read_lines(file) for file in (*references, *([source] if source else []))}
    exact = len(next(iter(sides.values()))) if sides and candidates else None  # no numbers tell what is missing there
    nbest = _with_scores(_read(path, nbest_format, at_least, candidates, exact), scores, outside, values["metric"])
    sides = {file: lines_beside(nbest, lines, file) for file, lines in sides.items()}
    texts, sources = [sides[file] for file in references], sides[source] if source else None
    options = tuner_settings(values["tuner"] or usual_tuner(learner, values["metric"]), tuner_options)
    reranker = Reranker(
        lm=lm, regression=regression, tuner_settings=options, **features.to_dict(), **responses.to_dict(), **values
    )
    report = evaluate(reranker, nbest, texts, sources, held_out or 0)
    text = "\n".join(report.lines())
    reranker.save(model, text)
    weights = Weights.read(model / "weights.tsv").values
    if page:
        from camber.report.reranking import write_fit

        write_fit(page, reranker, report, nbest, texts, weights, sources)
    if as_json:
        learnt = {
            "weights": weights,
            "curves": [response.to_dict() for response in reranker.responses()],
            "trees": [tree.to_json() for tree in reranker.fitted.trees()],
        }
        text = json.dumps(report.to_dict() | learnt, indent=1, ensure_ascii=False)
    click.echo(text)


@command.command(cls=Grouped)
@click.argument("model", type=FILE)
@_list_options
@click.option("--nbest-out", type=FILE, help="Write the whole list, re-scored and sorted; by its ending, or Moses'.")
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Write a page about what changed.")
@click.option("--ref", "references", multiple=True, type=FILE, help="Reference, for --report; may be repeated.")
@click.option("--output", type=FILE, help="File for the best texts (default: standard output).")
@click.option(
    "--output-format",
    type=click.Choice(["text", "jsonl"]),
    show_default="by the ending of --output, or text",
    help="A text for every sentence, or JSON Lines with sentence, rank (0: the best), text and score.",
)
@click.option("--all", "everything", is_flag=True, help="In JSON Lines, all hypotheses of a sentence, best first.")
def apply(
    model: Path,
    path: Path,
    source: Path | None,
    nbest_format: str,
    candidates: int | None,
    at_least: int,
    scores: tuple[str, ...],
    regression: Path | None,
    nbest_out: Path | None,
    page: Path | None,
    references: tuple[Path, ...],
    output: Path | None,
    output_format: str | None,
    everything: bool,
) -> None:
    """Re-rank a list with a fitted model and write the best text of every sentence.

    There is a line for each sentence of --source; without it, for each from the first to the last sentence of the list.
    """
    from camber.files import check_outputs, read_lines, write_lines
    from camber.nbest.beside import lines_beside
    from camber.rerank.output import best_lines, json_lines
    from camber.rerank.reranker import Reranker

    ending = Path(str(output or "").removesuffix(".gz")).suffix
    as_json = (output_format or ("jsonl" if ending in (".jsonl", ".json") else "text")) == "jsonl"
    if everything and not as_json:
        raise click.UsageError("--all makes no difference to text; use --output-format jsonl, or --nbest-out")
    if references and not page:
        raise click.UsageError("--ref makes no difference without --report")
    check_outputs(nbest_out, output, page, inputs=(source, *references))
    check_outputs(output, page, inputs=[path])
    reranker = Reranker.load(model)
    reranker.regression = regression
    sources = read_lines(source) if source else None
    nbest = _read(path, nbest_format, at_least, candidates, len(sources) if sources and candidates else None)
    nbest = _with_scores(nbest, scores, (), reranker.metric, fitted=True)
    if source and sources:
        if len(sources) >= nbest.first + len(nbest):
            nbest = nbest.in_text(len(sources))
        sources = lines_beside(nbest, sources, source)
    texts = [lines_beside(nbest, read_lines(file), file) for file in references]
    ranked = reranker.rerank(nbest, sources)
    if page:
        from camber.report.reranking import write_applied

        write_applied(page, reranker, nbest, ranked, texts, sources)
    lines = json_lines(ranked, everything=everything) if as_json else best_lines(ranked, path)
    if nbest_out:
        ranked.write(nbest_out)
    if output:
        write_lines(output, lines)
    else:
        sys.stdout.writelines(line + "\n" for line in lines)
        sys.stdout.flush()


def _read(path: Path, format: str, at_least: int, candidates: int | None, sentences: int | None) -> NBest:
    """Read a list, without the sentences of the text before its first and after its last."""
    from camber.nbest import NBest

    try:
        return NBest.read(path, format, sentences, at_least, candidates).covered()
    except SettingsError as error:
        raise click.UsageError(str(error)) from None


def _with_scores(
    nbest: NBest, scores: tuple[str, ...], outside: tuple[str, ...], metric: str, *, fitted: bool = False
) -> NBest:
    """Add scores from files: features, but for those that are the metric (which a model that is `fitted` needs not)."""
    from camber.metrics.metric import outside_column
    from camber.nbest.beside import scores_beside

    objective = outside_column(metric)
    seen: set[str] = set()
    for flag, text in (*(("--scores", text) for text in scores), *(("--extra", text) for text in outside)):
        name, _, file = text.partition("=")
        if not name or not file:
            raise click.UsageError(f"{flag} {text}: expected NAME=FILE")
        if name in seen:
            raise click.UsageError(f"{flag} {text}: scores named {name} are given twice")
        if name in nbest.names:
            raise click.UsageError(f"{flag} {text}: the list has a feature {name} of its own; choose another name")
        seen.add(name)
        if name != objective and flag == "--extra":
            raise click.UsageError(
                f"{flag} {text} makes no difference without --metric extra:{name}; --scores makes a feature of it"
            )
        if name == objective and fitted:
            raise click.UsageError(f"{flag} {text}: the model was fitted to {name}, which is no feature; leave it out")
        column = scores_beside(nbest, name, Path(file))
        nbest = nbest.with_extra(name, column) if name == objective else nbest.with_feature(name, column)
    return nbest
