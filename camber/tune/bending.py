"""Bend a decoder's features before tuning: bins from the rules of the dev set, and a start near the old model.

decoder = bent_decoder(decoder, sentences, "mnr", bits=8)
penalty = neighbours(decoder.bend, first=6, beta=1.0, gamma=2.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from camber.bend.discrete import KINDS, DiscreteBend, bend_features
from camber.decode.derivation import Decoder
from camber.errors import SettingsError
from camber.progress import log
from camber.tune.regularise import LinearNeighbours, MonotoneNeighbours, Regulariser

#: what `bend` may be in the settings of tuning
BENDS = ("keep", "none", *KINDS)

D = TypeVar("D", bound=Decoder)


def bent_decoder(decoder: D, sentences: Sequence[Sequence[str]], kind: str, bits: int) -> D:
    """Return the decoder with other responses to its rules' features, and weights that come near to the old ones.

    "keep" changes nothing, "none" goes back to logarithms of probabilities. The bins are made from all rules for the
    tokenised `sentences` (clark2014, 3.2).
    """
    if kind not in BENDS:
        raise SettingsError(f"no bend {kind!r}; there are {', '.join(BENDS)}")
    if kind == "keep" or (kind == "none" and decoder.bend is None):
        return decoder
    if kind == "raw" and not decoder.has_raw_values:
        raise SettingsError("the rules of this model have no raw values, only what its tables say; choose another bend")
    values = decoder.rule_values(sentences)
    linear = dict(zip(decoder.inputs, decoder.weighing.linear.tolist(), strict=True))
    if kind in ("none", "raw"):
        # the straight line through what the values were worth, as often as they occur
        shape = None if kind == "none" else DiscreteBend(decoder.inputs, {}, kind)
        straight = decoder.bent(dict.fromkeys(decoder.inputs, 1.0), shape)
        for name, (seen, often) in values.items():
            linear[name] = _slope(straight.worth(name, seen), decoder.worth(name, seen), often)
        return decoder.bent(linear, shape)
    if decoder.bend is None and decoder.has_raw_values:  # a weight of logarithms says nothing about raw values
        linear |= {name: 0.0 for name, (seen, _) in values.items() if not len(seen)}
    bend = bend_features(decoder.inputs, values, kind, bits)
    start = bend.start(decoder.worth, linear)
    log.info("bend: %s features in %s bins", f"{len(bend.bins):,}", f"{bend.width:,}")
    return decoder.bent(dict(zip(bend.names, start.tolist(), strict=True)), bend)


def _slope(x: np.ndarray, y: np.ndarray, often: np.ndarray) -> float:
    """Return the slope of the weighted least squares line of y over x; through the origin where x does not vary.

    Without any value there is nothing to go by, and the slope is 0.
    """
    if not len(x):
        return 0.0
    middle = float(np.average(x, weights=often))
    if (x == middle).all():
        return float(np.average(y, weights=often)) / middle if middle else 0.0
    x = x - middle
    spread = float((often * x * x).sum())
    return float((often * x * y).sum()) / spread if spread > 0 else 0.0


def neighbours(bend: DiscreteBend | None, first: int, beta: float, gamma: float) -> Regulariser | None:
    """Return what ties neighbouring bins of a bend; `first`: the place of the first bin among the tuned weights."""
    if bend is None or bend.kind not in ("lnr", "mnr"):
        return None
    chains = bend.chains + first
    return LinearNeighbours(beta, chains) if bend.kind == "lnr" else MonotoneNeighbours(beta, gamma, chains)
