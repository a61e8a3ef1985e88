"""Models of older formats, read in today's terms.

In format 1, the features of hierarchical rules were cdec's: costs -log10 p and log10(1 + c), or raw values where the
settings of extraction said so. Now they are raw always, and what is done to them is a bend. Hierarchical rules had
tight edges before there was a setting for it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from camber.bend.bend import Bend
from camber.bend.kinds import BENDS
from camber.bend.settings import BendSettings
from camber.features.feature import PROBABILITY
from camber.features.weights import Weights
from camber.model.directory import ModelDirectory

#: what hierarchical models were extracted with that do not say so
_BEFORE = {"edges": "tight"}
#: the first format in which one name means one value in one unit
RAW_VALUES = 2


def extraction_settings(directory: ModelDirectory) -> dict[str, Any]:
    """Return how the rules of a hierarchical model are extracted."""
    recorded = _BEFORE | directory.settings.get("hiero", {})
    recorded.pop("logarithms", None)
    return recorded


def in_todays_terms(directory: ModelDirectory, bend: Bend) -> tuple[Bend, Weights]:
    """Return the bend of a model and its weights, of any format that can be read."""
    weights = Weights.read(directory.file("weights.tsv"), bend.names)
    extraction = directory.settings.get("hiero", {})
    if directory.format >= RAW_VALUES or directory.kind != "hiero" or bend.FILE:
        return bend, weights
    if not extraction.get("logarithms", True):
        return BENDS.load("raw").make("raw", bend.inputs, {}, BendSettings()), weights
    units = {
        feature.name: (-1.0 if feature.kind == PROBABILITY else 1.0) / math.log(10.0)
        for feature in bend.inputs
        if feature.logarithmic
    }
    values = {name: value * units.get(name, 1.0) for name, value in weights.values.items()}
    return bend, replace(weights, values=values)
