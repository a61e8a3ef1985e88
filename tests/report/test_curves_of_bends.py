"""From bins and weights to a page: what a bend learnt is what is drawn."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np

import camber
from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend
from camber.features.feature import Feature


def test_the_responses_of_a_bend_are_drawn(tmp_path: Path) -> None:
    values = np.exp(np.random.default_rng(5).normal(-3, 2, 500)).round(4)
    bins = {"p_coherent": Bins.make(values, 4), "count_s": Bins.make([1, 1, 1, 2, 3], 4)}
    bend = DiscreteBend(tuple(map(Feature, ("lm", "p_coherent", "count_s"))), bins)
    learnt = {name: float(place) for place, name in enumerate(bend.names)}
    weights = SimpleNamespace(values=learnt)
    model = SimpleNamespace(decoder=SimpleNamespace(bend=bend), weights=weights, directory=None)
    drawn = camber.curves(model, tmp_path / "curves.html", ["count_s", "p_coherent"])
    assert [(response.feature, len(response), response.direction) for response in drawn] == [
        ("count_s", 3, 1),
        ("p_coherent", 16, 1),
    ]
    assert drawn[0].values.tolist() == [learnt[f"count_s@{k}"] for k in range(3)]
    assert "bin 1 of 3 · 1 · 3 values · adds 17" in (tmp_path / "curves.html").read_text("utf-8")
