"""camber score: measure translations against references."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from camber.cli.groups import Grouped, option
from camber.cli.options import FILE, json_option, seed_option
from camber.metrics.metric import CLOSEST, REFERENCE_LENGTHS

#: headings of flags
CONVENTIONS, TESTS = "Conventions of the metrics", "Intervals and tests"


@click.command(cls=Grouped, short_help="Measure translations against references.")
@click.argument("hypotheses", metavar="[HYP]...", nargs=-1, type=FILE)
@click.option("--ref", "references", multiple=True, required=True, type=FILE, help="Reference; may be repeated.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=F,F,…",
    help="A system with the outputs of several optimiser runs; may be repeated.",
)
@click.option(
    "--metric", "metrics", default="bleu", show_default=True, help="bleu, sbp, chrf, ter, extra:NAME, or some: bleu,ter"
)
@click.option(
    "--extra",
    "outside",
    multiple=True,
    metavar="NAME=F,F,…",
    help="Outside scores (COMET, …) for extra:NAME: a number per line, a file for every output in order.",
)
@option(
    "--tokenize",
    default="13a",
    show_default=True,
    help="sacreBLEU's tokenizer for BLEU: 13a, none, intl, …",
    group=CONVENTIONS,
)
@option("--lowercase", is_flag=True, help="Ignore case.", group=CONVENTIONS)
@option(
    "--reference-length",
    type=click.Choice(REFERENCE_LENGTHS),
    default=CLOSEST,
    show_default=True,
    help="Which of several references BLEU's brevity penalty looks at.",
    group=CONVENTIONS,
)
@option("--samples", default=1000, show_default=True, type=click.IntRange(1), help="Bootstrap samples.", group=TESTS)
@option(
    "--trials", default=10_000, show_default=True, type=click.IntRange(1), help="Randomisation trials.", group=TESTS
)
@click.option(
    "--report", type=FILE, metavar="FILE.html", help="Write a page, too: error bars, lengths, wins and losses."
)
@click.option("--source", type=FILE, help="The source text, for --report.")
@json_option("Write JSON.")
@click.option("--latex", is_flag=True, help="Write a LaTeX table.")
@seed_option
def command(
    hypotheses: tuple[Path, ...],
    references: tuple[Path, ...],
    systems: tuple[str, ...],
    metrics: str,
    outside: tuple[str, ...],
    tokenize: str,
    lowercase: bool,
    reference_length: str,
    samples: int,
    trials: int,
    report: Path | None,
    source: Path | None,
    as_json: bool,
    latex: bool,
    seed: int,
) -> None:
    """Measure translations against references; all systems are compared with the first (HYP - is standard input).

    BLEU is sacreBLEU's: text is tokenised as in mteval-v13a unless --tokenize says otherwise. For text that is already
    tokenised say --tokenize none.

    A system tuned several times is given with all its outputs: --system base=a,b,c --system new=d,e,f. Then means and
    standard deviations are told, and the test is stratified approximate randomisation (Clark et al. 2011).
    """
    from camber.files import check_outputs
    from camber.metrics.compare import compare, warn_if_tokenised, warn_if_unsplit
    from camber.metrics.tables import latex_table, text_table

    check_outputs(report, inputs=(source, *references, *hypotheses))
    if source and not report:
        raise click.UsageError("--source makes no difference without --report")
    if as_json and latex:
        raise click.UsageError("--json and --latex exclude each other")
    if len(set(hypotheses)) < len(hypotheses):
        raise click.UsageError("a HYP is given twice")
    paths = {str(path): [path] for path in hypotheses}
    for name, files in (_named(text, "--system") for text in systems):
        if name in paths:
            raise click.UsageError(f"two systems are named {name}")
        paths[name] = files
    if not paths:
        raise click.UsageError("nothing to score; give HYP or --system")
    texts = {
        path: _lines(path)
        for path in dict.fromkeys(
            (*references, *([source] if source else []), *(f for runs in paths.values() for f in runs))
        )
    }
    _check_lengths(texts)
    outputs = {name: [texts[path] for path in files] for name, files in paths.items()}
    if tokenize != "none":
        warn_if_tokenised({name: runs[0] for name, runs in outputs.items()})
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    if {"bleu", "sbp"} & set(names):
        warn_if_unsplit([texts[path] for path in references], tokenize)
    how: dict[str, Any] = {
        "lowercase": lowercase,
        "reference_length": reference_length,
        "outside": dict(_outside(text, paths) for text in outside),
    }
    targets = [texts[path] for path in references]
    results = compare(outputs, targets, names, tokenize, samples=samples, trials=trials, seed=seed, **how)
    if report:
        from camber.report.scores import write_scores

        lines = texts[source] if source else None
        write_scores(report, outputs, targets, results, names[0], tokenize, sources=lines, **how)
    if as_json:
        click.echo(json.dumps([result.to_dict() for result in results], indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join((latex_table if latex else text_table)(results)))


def _named(text: str, option: str) -> tuple[str, list[Path]]:
    """Take NAME=F,F,… apart."""
    name, _, files = text.partition("=")
    paths = [Path(file) for file in files.split(",") if file]
    if not name or not paths:
        raise click.UsageError(f"{option} {text}: expected NAME=FILE or NAME=FILE,FILE,…")
    return name, paths


def _outside(text: str, systems: dict[str, list[Path]]) -> tuple[str, dict[str, list[list[float]]]]:
    """Read the outside scores of all outputs: name → system → numbers of every run."""
    from camber.numbers import number

    name, files = _named(text, "--extra")
    wanted = sum(map(len, systems.values()))
    if len(files) != wanted:
        raise click.UsageError(f"--extra {name}: {len(files)} files for {wanted} outputs; expected one for each")
    columns = iter([[number(line, name, path, n) for n, line in enumerate(_lines(path), 1)] for path in files])
    return name, {system: [next(columns) for _ in runs] for system, runs in systems.items()}


def _lines(path: Path) -> list[str]:
    from camber.errors import InputError
    from camber.files import decode_lines, read_lines

    if str(path) != "-":
        return read_lines(path)
    lines = decode_lines(sys.stdin.buffer.read())
    if not lines:
        raise InputError("nothing to read", "standard input", remedy="pipe one sentence per line into it")
    return lines


def _check_lengths(texts: dict[Path, list[str]]) -> None:
    from camber.errors import InputError

    (first, lines), *others = texts.items()
    for path, other in others:
        if len(other) != len(lines):
            raise InputError(
                f"{len(other):,} lines, but {len(lines):,} in {first}",
                path,
                min(len(other), len(lines)) + 1,
                remedy="line n of every file must be the same sentence",
            )
