"""Bend a decoder's features before tuning: bins from the rules of the dev set, and a start near the old model.

decoder = bent_decoder(decoder, inputs, "mnr", BendSettings(bits=8))
penalty = decoder.bend.penalty(BendSettings(beta=1.0), tuned=decoder.bend.names)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from camber.bend.kinds import CHOICES, KEEP, NONE, make_bend
from camber.bend.settings import BendSettings
from camber.bend.weighing import Weighing
from camber.corpus.inputs import Input
from camber.decode.searcher import LogLinear
from camber.errors import SettingsError
from camber.progress import log

D = TypeVar("D", bound=LogLinear)


def bent_decoder(decoder: D, inputs: Sequence[Input], kind: str, settings: BendSettings) -> D:
    """Return the decoder with other responses to its rules' features, and weights that come near to the old ones.

    "keep" changes nothing, "none" goes back to logarithms of probabilities. Bins are made from all rules for the
    sentences (clark2014, 3.2).
    """
    if kind not in CHOICES:
        raise SettingsError(f"no bend {kind!r}; there are {', '.join(CHOICES)}")
    if kind == KEEP or kind == decoder.bend.kind == NONE:
        return decoder
    seen = decoder.rule_values(inputs)
    bend = make_bend(kind, decoder.inputs, seen, settings)
    start = bend.start(decoder.weighing, seen)
    if bend.width:
        log.info("bend: %s weights of %s", f"{bend.width:,}", kind)
    return decoder.weighed(Weighing(bend, start))
