"""camber rerank: fit a re-ranker to an n-best list of any engine, and apply it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from camber.cli.options import FILE, engine_option, pick, refuse_idle, seed_option, settings_options
from camber.nbest.formats import AUTO, FORMATS
from camber.rerank.learners import LEARNERS
from camber.rerank.settings import FeatureSettings, ResponseSettings
from camber.tune.tuners import TUNERS

if TYPE_CHECKING:
    from camber.nbest import NBest


def _list_options(command: Any) -> Any:
    for option in (
        click.option("--at-least", type=click.IntRange(1), default=1, help="Leave out features of fewer hypotheses."),
        click.option("--nbest-format", type=click.Choice([AUTO, *FORMATS]), default=AUTO, show_default=True),
        click.option("--source", type=FILE, help="The source text, for the length ratio."),
        click.option("--nbest", "path", type=FILE, required=True, help="The n-best list, plain or .gz."),
    ):
        command = option(command)
    return command


@click.group(short_help="Re-rank the n-best lists of any engine.")
def command() -> None:
    """Re-rank the n-best lists of any engine: Moses, Marian, Joshua, cdec, fairseq, or JSON Lines and TSV."""


@command.command()
@_list_options
@click.option("--ref", "references", multiple=True, type=FILE, help="Reference; may be repeated.")
@click.option("--model", type=FILE, required=True, help="Directory for the fitted model.")
@click.option(
    "--learner",
    type=click.Choice(list(LEARNERS)),
    default="linear",
    show_default=True,
    help="One weight per feature, or a curve: free, of overlapping bins, smooth (lnr), monotone where it may (mnr); or "
    "trees that ask about several.",
)
@settings_options(ResponseSettings)
@click.option("--tuner", type=click.Choice(list(TUNERS)), show_default="mert; for curves pro")
@click.option("--metric", default="bleu", show_default=True, help="bleu, sbp, chrf, ter, or extra:NAME.")
@click.option("--tokenize", default="13a", show_default=True, help="sacreBLEU's tokenizer for BLEU; none: tokenised.")
@click.option("--lowercase", is_flag=True, help="Ignore case in the metric.")
@click.option(
    "--extra", "outside", multiple=True, metavar="NAME=FILE", help="Outside scores, a number per hypothesis and line."
)
@click.option("--lm", type=FILE, help="Language model (ARPA) whose score becomes a feature; the model keeps it.")
@settings_options(FeatureSettings)
@click.option(
    "--cautious/--no-cautious",
    default=True,
    show_default=True,
    help="Leave the list's own order only as far as held-out sentences of the list confirm; takes four fits.",
)
@click.option(
    "--grid",
    metavar="KEY=V,V…",
    help='Settings of the learner to choose by cross-validation on the list, such as "leaves=2,4 tree_keep=100,300" or '
    '"bits=3,5 beta=10,1000".',
)
@click.option("--held-out", type=click.IntRange(2), metavar="K", help="Cross-validate with K folds of sentences.")
@click.option("--json", "as_json", is_flag=True, help="Write the report as JSON.")
@seed_option
@engine_option
def fit(
    path: Path,
    source: Path | None,
    nbest_format: str,
    at_least: int,
    references: tuple[Path, ...],
    model: Path,
    outside: tuple[str, ...],
    lm: Path | None,
    held_out: int | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Fit a re-ranker to an n-best list with references, and report what it gains.

    The list's own order is one of its features; --lm, --length and --consensus make more from the texts. The model
    keeps all that, so that `camber rerank apply` makes the same ones.
    """
    from camber.files import read_lines
    from camber.metrics.bleu import BLEU
    from camber.metrics.metric import make_metric
    from camber.model.directory import check_place
    from camber.rerank.choice import combinations
    from camber.rerank.report import evaluate
    from camber.rerank.reranker import Reranker
    from camber.tune.grid import parse_grid

    check_place(model, "rerank")
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
    texts = [read_lines(file) for file in references]
    sources = read_lines(source) if source else None
    sides = (*texts, *([sources] if sources else []))
    nbest = _read(path, nbest_format, at_least, len(sides[0]) if sides else None)
    for name, file in (_named(text) for text in outside):
        nbest = nbest.with_extra(name, _numbers(file, name))
    reranker = Reranker(lm=lm, **features.to_dict(), **responses.to_dict(), **values)
    report = evaluate(reranker, nbest, texts, sources, held_out or 0)
    text = "\n".join(report.lines())
    reranker.save(model, text)
    click.echo(json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if as_json else text)


@command.command()
@click.argument("model", type=FILE)
@_list_options
@click.option("--nbest-out", type=FILE, help="Write the whole list, re-scored and sorted; by its ending, or Moses'.")
@click.option("--output", type=FILE, help="File for the best texts (default: standard output).")
def apply(
    model: Path,
    path: Path,
    source: Path | None,
    nbest_format: str,
    at_least: int,
    nbest_out: Path | None,
    output: Path | None,
) -> None:
    """Re-rank a list with a fitted model and write the best text of every sentence."""
    from camber.errors import CamberError
    from camber.files import check_outputs, read_lines, write_lines
    from camber.rerank.reranker import Reranker

    check_outputs(nbest_out, output)
    reranker = Reranker.load(model)
    sources = read_lines(source) if source else None
    nbest = _read(path, nbest_format, at_least, len(sources) if sources else None)
    ranked = reranker.rerank(nbest, sources)
    best = ranked.best_texts()
    for sentence, text in enumerate(best):
        if "\n" in text or "\r" in text:
            raise CamberError(f"{path}: the best text of sentence {sentence} has a line end: {text!r}")
    if nbest_out:
        ranked.write(nbest_out)
    if output:
        write_lines(output, best)
    else:
        sys.stdout.writelines(line + "\n" for line in best)
        sys.stdout.flush()


def _read(path: Path, format: str, at_least: int, sentences: int | None) -> NBest:
    from camber.nbest import NBest

    return NBest.read(path, format, sentences, at_least)


def _named(text: str) -> tuple[str, Path]:
    name, _, file = text.partition("=")
    if not name or not file:
        raise click.UsageError(f"--extra {text}: expected NAME=FILE")
    return name, Path(file)


def _numbers(path: Path, name: str) -> list[float]:
    from camber.files import read_lines
    from camber.nbest.reading import number

    return [number(line, name, path, place) for place, line in enumerate(read_lines(path), 1)]
