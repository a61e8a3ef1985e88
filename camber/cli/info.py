"""camber info: say what a model is made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from camber.cli.options import FILE, json_option

if TYPE_CHECKING:
    from camber.bend.bend import Bend
    from camber.features.weights import Weights
    from camber.model.directory import ModelDirectory


@click.command(help=__doc__)
@click.argument("model", type=FILE)
@click.option("--verify", is_flag=True, help="Read every byte and compare checksums.")
@json_option("The same for machines.")
def command(model: Path, verify: bool, as_json: bool) -> None:
    import json

    from camber.model.directory import ModelDirectory

    directory, weights, bend = ModelDirectory.opened(model, partial(_read, everything=verify), verify=verify)
    curves = [] if bend is None else bend.show(weights.values)
    bent = {curve.feature: len(curve) for curve in curves}
    trees = [] if bend is None else bend.trees(weights.values)
    shape = bend and {"kind": bend.kind, "bins": bent, "trees": [tree.to_json() for tree in trees]}
    told = _kernels(bend, weights.values)
    facts = {
        "kind": directory.kind,
        "signature": directory.signature,
        "version": directory.version,
        "bytes": directory.size,
        "sizes": directory.sizes,
        "settings": directory.settings,
        "bend": shape,
        "weights": weights.values,
        "curves": [curve.to_dict() for curve in curves],
    }
    if as_json:
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    click.echo(
        f"{model}: a {directory.kind} model of {directory.size / 1e6:,.1f} MB, made by Camber {directory.version}"
    )
    click.echo(f"signature  {directory.signature}")
    own = {} if bend is None else set(bend.names[len(bend.names) - bend.width :])
    linear = {name: value for name, value in weights.values.items() if name not in own}
    tables = [("sizes", directory.sizes), *directory.settings.items()]
    if weights.values:
        tables.append((_title(directory), linear))
    if bend is not None:  # thousands of weights are for pictures, not for reading
        bins = "; bins of each feature, which `camber curves` draws" if bent else ""
        tables.append((f"bend: {bend.kind}{bins}", bent))
    for title, table in tables:
        click.echo(f"\n{title}")
        for name, value in table.items():
            shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
            click.echo(f"  {name:<34}{shown}")
    for tree in trees:
        click.echo("\n".join(tree.lines()))
    for line in told:
        click.echo(line)
    if verify:
        click.echo("\nevery file is as it was written")


def _read(directory: ModelDirectory, *, everything: bool) -> tuple[ModelDirectory, Weights, Bend | None]:
    """Read what is told of a model, its weights and its bend, or everything, which checks it."""
    from camber.features.weights import Weights

    if everything:
        _open_everything(directory)
    weights = Weights.read(directory.file("weights.tsv")) if "weights.tsv" in directory else Weights({})
    if "bent" not in directory.settings and "bins.tsv" not in directory:
        return directory, weights, None
    from camber.model.bend import read_bend  # imports kernels, so only where it is needed

    return directory, weights, read_bend(directory)


def _kernels(bend: Bend | None, weights: Mapping[str, float]) -> list[str]:
    """Return what there is to tell about kernels, if there are any."""
    if bend is None:
        return []
    from camber.bend.mixtures.bend import MixtureBend

    return bend.told(weights) if isinstance(bend, MixtureBend) else []


def _title(directory: ModelDirectory) -> str:
    """Return what the table of weights is called; those of older hierarchical models have other units."""
    if directory.format < 2 and directory.kind == "hiero":
        return "weights, of costs -log10 p and of log10(1 + count): an older model, which is read in natural logarithms"
    return "weights"


def _open_everything(directory: ModelDirectory) -> None:
    """Open all that using a model would open: its arrays are checked then, whatever its checksums say."""
    from camber.align.aligner import Aligner
    from camber.model.directory import RERANKER
    from camber.model.translator import open_translator
    from camber.pipeline.add import ALIGNER

    if directory.kind == RERANKER:
        from camber.rerank.reranker import Reranker

        Reranker.of(directory)
        return
    memory = open_translator(directory).memory
    if memory is not None and memory.trained is not None:
        memory.trained.check()
    if f"{ALIGNER}/aligner.json" in directory:
        Aligner.load(directory.path / ALIGNER).after(directory.journal.lessons())
