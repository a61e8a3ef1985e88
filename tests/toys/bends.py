"""Random bends, as the package has them and as the twins do."""

from __future__ import annotations

from naive.bent_scores import Bend

from camber.bend.bins import Bins
from camber.bend.discrete import DiscreteBend


def random_bend(rng, inputs, values, kind="bins"):
    """Draw bins for some of the features with `values` (name → numbers), and weights for everything.

    Bins are made from a part of the values only, so that some are met that no bin has seen. Return the bend, the
    weights by name, and the twin's bend.
    """
    bins = {}
    for name, every in values.items():
        seen = [value for value in every if value == value]
        if seen and rng.random() < 0.8:
            some = rng.choice(seen, max(1, len(seen) // 2))
            bins[name] = Bins.make(some, bits=int(rng.integers(1, 4)))
    bend = DiscreteBend(tuple(inputs), bins, kind, tuple(name for name in ("word_penalty",) if name in bins))
    weights = {name: float(rng.normal()) for name in bend.names}
    if "lm" in weights:
        weights["lm"] = abs(weights["lm"]) + 0.2
    twin = {
        name: (found.lows.tolist(), [weights[f"{name}@{number}"] for number in range(len(found))])
        for name, found in bins.items()
    }
    return bend, weights, Bend(twin, kind == "overlap")
