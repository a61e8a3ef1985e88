"""The bend of a model: its file beside the weights; a model without one takes logarithms of probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from camber.bend.bend import Bend
from camber.bend.kinds import bend_class
from camber.bend.log import LogBend
from camber.features.feature import Feature
from camber.model.directory import Draft, ModelDirectory

#: the table of `model.toml` that names the kind of a bend that has a file
TABLE = "bent"
#: the file of bins, and the kind whose class reads it, for models that do not name a kind
BINS, BINNED = "bins.tsv", "bins"


def read_bend(directory: ModelDirectory, inputs: Sequence[Feature] | None = None) -> Bend:
    """Return the bend of a model whose parts have these features (None: their names are all that matters)."""
    kind = directory.settings.get(TABLE, {}).get("kind", BINNED if BINS in directory else "")
    if not kind:
        return LogBend(tuple(inputs or ()))
    bend = bend_class(kind)
    return bend.read(directory.file(bend.FILE), inputs)


def write_bend(bend: Bend, draft: Draft) -> None:
    """Write the bend of a model that is being made; what another one left is removed."""
    former = draft.settings.pop(TABLE, {}).get("kind", BINNED)
    for part in former.split("+"):
        draft.path(bend_class(part).FILE).unlink(missing_ok=True)
    if bend.FILE:
        bend.write(draft.path(bend.FILE))
        draft.settings[TABLE] = {"kind": bend.kind}
