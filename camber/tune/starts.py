"""Fit from many starts: the vertices of the unit hypercube (nguyen2007, section 4.3.1), all of them or some by lot.

    fits = fit_from_vertices(data, ExpectedBleu(), most=256, seed=1)
    fits.metrics, fits.weights[:, 3]      # what became of every start: for histograms

How far the outcomes lie apart says how many hills the objective has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.engine import LOCAL, Engine, Threads
from camber.errors import SettingsError, UnmovedError
from camber.progress import each
from camber.tune.data import TuningData
from camber.tune.tuner import Tuner

MOST = 256
_LISTED = 20  # dimensions: all vertices of so many fit in memory, and are drawn without trying again


@dataclass(frozen=True, eq=False)
class Fits:
    """What became of every start."""

    starts: F8  # [starts, features]
    weights: F8  # [starts, features]
    metrics: F8  # [starts]: the corpus score of the list
    objectives: F8  # [starts], in the tuner's own terms; NaN where it found nothing better than the start

    def __len__(self) -> int:
        """Return the number of starts."""
        return len(self.starts)

    def metrics_on(self, data: TuningData) -> F8:
        """Return the corpus score of another list by every start's weights, float64[starts]."""
        return np.array([data.corpus_score(weights) for weights in self.weights])


def vertices(dimensions: int, most: int = MOST, seed: int = 1) -> F8:
    """Return all vertices of the unit hypercube, or `most` different ones by lot, float64[vertices, dimensions].

    >>> vertices(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> len(np.unique(vertices(40, 100), axis=0))
    100
    """
    if dimensions < 1 or most < 1:
        raise SettingsError(f"{most} vertices in {dimensions} dimensions; expected at least 1 of each")
    rng = np.random.default_rng(seed)
    if dimensions <= _LISTED:
        every = 1 << dimensions
        chosen = np.arange(every) if every <= most else np.sort(rng.permutation(every)[:most])
        return ((chosen[:, None] >> np.arange(dimensions - 1, -1, -1)) & 1).astype(np.float64)
    drawn: dict[bytes, F8] = {}
    while len(drawn) < most:  # a vertex hardly ever comes twice: there are more than a million
        vertex = rng.integers(0, 2, dimensions).astype(np.float64)
        drawn.setdefault(vertex.tobytes(), vertex)
    return np.array(list(drawn.values()))


class _Task(NamedTuple):
    """What all fits share."""

    data: TuningData
    tuner: Tuner
    seed: int


def fit_from_vertices(
    data: TuningData,
    tuner: Tuner,
    *,
    most: int = MOST,
    sizes: npt.ArrayLike = 1.0,
    fixed: npt.ArrayLike = 0.0,
    seed: int = 1,
    engine: Engine = LOCAL,
) -> Fits:
    """Fit weights from all vertices of the hypercube over the tuned features, or from `most` of them by lot.

    The edges of the cube have the length 1, or `sizes` (a number, or one for each tuned feature). Weights that are not
    tuned have the values `fixed`. A tuner that finds nothing better leaves its start as it is.
    """
    cube = vertices(len(data.free), most, seed) * np.asarray(sizes, np.float64)
    starts = np.tile(np.broadcast_to(np.asarray(fixed, np.float64), (len(data.names),)), (len(cube), 1))
    starts[:, data.free] = cube
    _ = data.columns, data.owners  # computed once, before threads would each do so
    found = engine.map(_fitted, _Task(data, tuner, seed), list(starts))
    outcomes = list(each(found, "fit from vertices", len(starts), "starts"))
    weights, metrics, objectives = zip(*outcomes, strict=True)
    return Fits(starts, np.array(weights), np.array(metrics), np.array(objectives))


def _fitted(task: _Task, start: F8) -> tuple[F8, float, float]:
    try:
        tuned = task.tuner.fit(task.data, start, seed=task.seed, engine=Threads(1))
    except UnmovedError:
        return start, task.data.corpus_score(start), float("nan")
    return tuned.weights, tuned.metric, tuned.objective
