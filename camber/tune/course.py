"""The course of a tuning: a model of logarithms, the bend that starts from it, and how far sentences confirm that.

dev = DevSet(tokens, [reference_tokens], decoder.target_vocabulary, "bleu")
outcome = tune(decoder, dev, TuneSettings(tuner="pro", bend="anchored"))
outcome.weights.write("weights.tsv")
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from camber.bend.kinds import KEEP, NONE
from camber.decode.searcher import LogLinear
from camber.engine import LOCAL, Engine
from camber.progress import log
from camber.tune.acting import watched
from camber.tune.bending import bent_decoder
from camber.tune.confirming import confirmed
from camber.tune.dev_set import DevSet
from camber.tune.growing import grown_decoder
from camber.tune.loop import FIXED, Outcome, TuneSettings, check_bins, tune_bent
from camber.tune.tuner import Tuner

D = TypeVar("D", bound=LogLinear)


def tune(
    decoder: LogLinear,
    dev: DevSet,
    settings: TuneSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    tuner: Tuner | None = None,
) -> Outcome:
    """Tune the weights of a decoder on a dev set, and bend it before if the settings say so.

    `tuner` is used instead of one with default settings, for settings of its own.

    The first replica starts from the decoder's weights, further ones from weights a little off, each with a seed of its
    own (some tuners draw nothing at random); their best weights, each scaled to the same size, are averaged. A bend is
    cautious by default: the classical model is tuned first, and left only as far as held-out sentences confirm.
    """
    settings = settings or TuneSettings()
    remembering = decoder.remembering()
    classical = classical_first(remembering, dev, settings, seed, engine, tuner)
    bent = made_decoder(classical.decoder if classical else remembering, dev, settings, seed, engine)
    outcome = tune_bent(bent, dev, settings, seed, engine, tuner)
    if classical:
        outcome = confirmed(classical, outcome, dev, settings, seed, engine, tuner).outcome
    return replace(outcome, decoder=decoder.weighed(watched(outcome.decoder, dev, settings.nbest, engine)))


def classical_first(
    decoder: LogLinear, dev: DevSet, settings: TuneSettings, seed: int, engine: Engine, tuner: Tuner | None = None
) -> Outcome | None:
    """Tune the classical model that a cautious bend starts from; None where nothing is bent, or without caution."""
    if settings.bend in (KEEP, NONE) or not settings.cautious:
        return None
    bent = bent_decoder(decoder, dev.inputs, settings.bend, settings)
    check_bins(tuner or settings.make_tuner(), bent.bend)  # before any work that it would make useless
    log.info("first the classical model, from which the bend starts")
    straight = bent_decoder(decoder, dev.inputs, NONE, settings)
    return tune_bent(straight, dev, replace(settings, bend=NONE), seed, engine, tuner)


def made_decoder(decoder: D, dev: DevSet, settings: TuneSettings, seed: int, engine: Engine) -> D:
    """Return the decoder with the bend that the settings ask for: made from rules, and grown from lists if it grows."""
    bent = bent_decoder(decoder, dev.inputs, settings.bend, settings)
    if settings.bend == KEEP or not bent.bend.grows:
        return bent
    return grown_decoder(bent, dev, settings, settings.nbest, FIXED, seed=seed, engine=engine)
