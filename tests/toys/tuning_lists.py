"""Random n-best lists with BLEU statistics, and lists whose quality is a known linear function of the features."""

import numpy as np

from camber.metrics import BLEU
from camber.metrics.metric import Metric
from camber.tune.data import TuningData


def random_list(rng, sentences=6, most=6, features=3, empty=True, whole=False):
    """A list with random sizes (0 and 1 too), features (integers if `whole`, so that ties occur) and statistics."""
    sizes = rng.integers(0 if empty else 2, most + 1, sentences)
    rows = int(sizes.sum())
    table = rng.integers(-2, 3, (rows, features)).astype(float) if whole else rng.standard_normal((rows, features))
    return TuningData(
        tuple(f"f{i}" for i in range(features)), table, np.cumsum([0, *sizes]), bleu_rows(rng, rows), BLEU("none")
    )


def bleu_rows(rng, rows):
    """Statistics that a text of 4 to 12 words could have."""
    length = rng.integers(4, 13, rows)
    matches = [rng.integers(1, length + 1)]
    for _ in range(3):
        matches.append(rng.integers(0, np.maximum(matches[-1], 1)))
    totals = [np.maximum(length - n, 0) for n in range(4)]
    matches = [np.minimum(match, total) for match, total in zip(matches, totals, strict=True)]
    return np.column_stack([length, rng.integers(4, 13, rows), *matches, *totals]).astype(float)


class Mean(Metric):
    """The mean of an outside score per sentence: statistics are (score, 1)."""

    name = "mean"

    def statistics(self, hypotheses, references, sentences=None):
        raise NotImplementedError

    def score(self, statistics):
        sums = np.asarray(statistics, float)
        return 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0)

    def signature(self, references):
        return "mean"


def linear_list(rng, sentences, candidates, gold, noise=0.0):
    """Candidates with random features whose quality is ``gold · features`` (Hopkins and May 2011, section 4)."""
    features = rng.uniform(0.0, 500.0, (sentences * candidates, len(gold)))
    quality = features @ gold
    quality = (quality - quality.min()) / (quality.max() - quality.min())
    if noise:
        features = features + rng.normal(0.0, noise, features.shape)
    return TuningData(
        tuple(f"f{i}" for i in range(len(gold))),
        features,
        np.arange(0, sentences * candidates + 1, candidates),
        np.column_stack([quality, np.ones(len(quality))]),
        Mean(),
    )


def cosine(a, b):
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))
