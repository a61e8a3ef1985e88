"""camber score: measure translations against references."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from camber.cli.options import FILE, seed_option

if TYPE_CHECKING:
    from camber.metrics.compare import Result


@click.command(short_help="Measure translations against references.")
@click.argument("hypotheses", metavar="HYP...", nargs=-1, required=True, type=FILE)
@click.option("--ref", "references", multiple=True, required=True, type=FILE, help="Reference; may be repeated.")
@click.option("--metric", "metrics", default="bleu", show_default=True, help="bleu, sbp, chrf, ter, or some: bleu,ter")
@click.option("--tokenize", default="13a", show_default=True, help="sacreBLEU's tokenizer for BLEU: 13a, none, intl, …")
@click.option("--lowercase", is_flag=True, help="Ignore case.")
@click.option("--samples", default=1000, show_default=True, type=click.IntRange(1), help="Bootstrap samples.")
@click.option("--trials", default=10_000, show_default=True, type=click.IntRange(1), help="Randomisation trials.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@seed_option
def command(
    hypotheses: tuple[Path, ...],
    references: tuple[Path, ...],
    metrics: str,
    tokenize: str,
    lowercase: bool,
    samples: int,
    trials: int,
    as_json: bool,
    seed: int,
) -> None:
    """Measure translations against references; several HYP are compared with the first (- is standard input).

    BLEU is sacreBLEU's: text is tokenised as in mteval-v13a unless --tokenize says otherwise. For text that is already
    tokenised say --tokenize none.
    """
    from camber.metrics.compare import compare, warn_if_tokenised

    if len(set(hypotheses)) < len(hypotheses):
        raise click.UsageError("a HYP is given twice")
    texts = {path: _lines(path) for path in dict.fromkeys((*references, *hypotheses))}
    _check_lengths(texts)
    systems = {str(path): texts[path] for path in hypotheses}
    if tokenize != "none":
        warn_if_tokenised(systems)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    results = compare(systems, [texts[path] for path in references], names, tokenize, lowercase, samples, trials, seed)
    if as_json:
        click.echo(json.dumps([result.to_dict() for result in results], indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(_table(results)))


def _lines(path: Path) -> list[str]:
    from camber.corpus.reading import decode_lines, read_lines
    from camber.errors import InputError

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


def _table(results: list[Result]) -> list[str]:
    """Lay out the results: a block per metric, its signature below."""
    lines: list[str] = []
    width = max(len(result.system) for result in results)
    compared = any(result.difference is not None for result in results)
    for metric in dict.fromkeys(result.metric for result in results):
        block = [result for result in results if result.metric == metric]
        heads = f"{'':{width}}  {metric:>8}  {'95 % interval':>15}"
        lines.append(heads + (f"  {'difference':>10}  {'p bootstrap':>11}  {'p random.':>9}" if compared else ""))
        for result in block:
            line = f"{result.system:{width}}  {result.score:8.2f}  {result.low:6.2f} … {result.high:6.2f}"
            if result.difference is not None:
                line += f"  {result.difference:+10.2f}  {result.bootstrap_p:11.4f}  {result.randomisation_p:9.4f}"
            lines.append(line)
        lines += [f"{metric}|{block[-1].signature}", ""]
    return lines[:-1]
