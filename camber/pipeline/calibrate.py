"""Find out on a dev set how sure a model's translations may be taken to be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from camber.confidence.calibration import CANDIDATES, Calibration, fit_calibration
from camber.corpus.inputs import Input
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, TuneError
from camber.files import read_parallel
from camber.metrics.chrf import ChrF
from camber.model.directory import check_place
from camber.model.translator import Translator, load
from camber.pipeline.rewrite import with_confidence
from camber.progress import Watcher, log, step, watched


def calibrate(
    translator: Translator, source: Sequence[str], references: Sequence[Sequence[str]], engine: Engine = LOCAL
) -> Calibration:
    """Fit confidences to the translations of raw dev lines with one or more references each."""
    if not source or not references:
        raise TuneError("the dev set is empty; give at least one sentence with a reference")
    prepared = [translator.prepare(line) for line in source]
    inputs = [Input(sentence.tokens, number) for number, sentence in enumerate(prepared)]
    with step("calibrate"):
        lists = list(translator.decoder.decode(inputs, CANDIDATES, engine=engine))
    align, finish = translator.decoder.word_alignment, translator.text.finish
    texts = [finish(best[0].words, sentence, align(best[0])) for best, sentence in zip(lists, prepared, strict=True)]
    chrf = ChrF()
    scores = np.asarray(chrf.score(chrf.statistics(texts, references)), np.float64).reshape(len(texts)) / 100.0
    targets = [list(map(translator.text.target_tokens, lines, source)) for lines in references]
    return fit_calibration(lists, [sentence.tokens for sentence in prepared], targets, scores)


@watched
def calibrate_model(
    model: str | Path,
    dev_source: str | Path,
    dev_target: Sequence[str | Path] | str | Path,
    *,
    out: str | Path | None = None,
    engine: Engine = LOCAL,
    progress: Watcher | None = None,
) -> Calibration:
    """Calibrate a model of any kind on a dev set and write it back (or to `out`), whole or not at all."""
    targets = [dev_target] if isinstance(dev_target, str | Path) else list(dev_target)
    translator = load(model)
    assert translator.directory is not None
    check_place(out or model, translator.directory.kind)
    source, *references = read_parallel(dev_source, *targets)
    translator = translator.calibrated(calibrate(translator, source, references, engine))
    with_confidence(model, out or model, translator)
    assert translator.calibration is not None
    return translator.calibration


def calibrated_if_possible(
    translator: Translator, source: Sequence[str], references: Sequence[Sequence[str]], engine: Engine
) -> Translator:
    """Return a translator that was just tuned, calibrated on the same dev set; where that is impossible, say why."""
    try:
        return translator.calibrated(calibrate(translator, source, references, engine))
    except CamberError as error:
        log.warning("not calibrated: %s", error)
        return translator
