"""What predictions of least squares are multiplied by: the scale that translates a dev set best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from camber.arrays.ragged import offsets_from
from camber.corpus.inputs import Input
from camber.engine import LOCAL, Engine
from camber.metrics.metric import Metric
from camber.progress import each, log
from camber.regress.decoder import BATCH, RegressionDecoder

#: what is tried
SCALES = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
#: one number needs no more sentences; longer ones are passed over, because windows have predictions of their own
SENTENCES = 300


def best_scale(
    decoder: RegressionDecoder,
    inputs: Sequence[Input],
    references: Sequence[Sequence[str]],
    finish: Callable[[int, list[str]], str],
    metric: Metric,
    engine: Engine = LOCAL,
) -> float:
    """Return the scale under which the first sentences are translated best; a prediction is made once for all scales.

    `references` are the lines of every reference, `finish` makes a text of the words for a sentence.
    """
    rows = [row for row, item in enumerate(inputs) if 0 < len(item) <= decoder.settings.window][:SENTENCES]
    if not rows:
        return 1.0
    batches = [[inputs[row] for row in rows[first : first + BATCH]] for first in range(0, len(rows), BATCH)]
    found = each(engine.map(_best_words, decoder, batches), "decode", len(rows), "sentences", len)
    texts = [words for batch in found for words in batch]
    sides = [[lines[row] for row in rows] for lines in references]
    scores = []
    for k, scale in enumerate(SCALES):
        finished = [finish(row, words[k]) for row, words in zip(rows, texts, strict=True)]
        scores.append(float(metric.score(metric.statistics(finished, sides).sum(0))))
        log.info("scale %.1f: %s %.2f on %s dev lines", scale, metric.name.upper(), scores[-1], f"{len(rows):,}")
    return SCALES[int(np.argmax(scores))]


def _best_words(decoder: RegressionDecoder, batch: Sequence[Input]) -> list[list[list[str]]]:
    rules = decoder.rules.batch(batch)
    offsets = offsets_from(map(len, batch)).tolist()
    return [
        decoder.best_words(item, rules, rules.spans[a:b], SCALES)
        for item, a, b in zip(batch, offsets[:-1], offsets[1:], strict=True)
    ]
