"""The bend of a model: the file `bins.tsv` beside its weights; a model without it takes logarithms of probabilities."""

from __future__ import annotations

from camber.bend.discrete import DiscreteBend
from camber.model.directory import Draft, ModelDirectory

BINS = "bins.tsv"


def read_bend(directory: ModelDirectory) -> DiscreteBend | None:
    """Return the bend of a model, or None where it has none."""
    return DiscreteBend.read(directory.file(BINS)) if BINS in directory else None


def write_bend(bend: DiscreteBend | None, draft: Draft) -> None:
    """Write the bend of a model that is being made; what another one left is removed."""
    if bend is None:
        draft.path(BINS).unlink(missing_ok=True)
    else:
        bend.write(draft.path(BINS))
