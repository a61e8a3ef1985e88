"""MERT (Och 2003): weights that maximise the corpus metric of the best hypotheses, by exact line searches.

Along a line ``w + x d`` the score of a hypothesis is a straight line in x, so the best hypothesis of a sentence follows
the upper envelope of its lines and changes at a few breakpoints only. Between the breakpoints of all sentences the
metric is constant: adding the differences of statistics from left to right visits every value that it can take.

    tuned = Mert(restarts=20).fit(data, start, seed=1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.types import F8
from camber.bend.neighbours import Regulariser
from camber.engine import LOCAL, Engine
from camber.kernel import kernel
from camber.metrics.bleu import BLEU
from camber.metrics.sentence import bleu_of_row, bleu_parameters
from camber.progress import each
from camber.settings import Settings, setting
from camber.tune.data import Tuned, TuningData, add_products
from camber.tune.descent import rprop
from camber.tune.expected import ExpectedBleu
from camber.tune.guards import check_task, finished
from camber.tune.tuner import ANY_METRIC

_LEAST_GAIN = 1e-7  # of the metric (0 to 100): less is rounding
_NARROW = 1e-9  # intervals narrower than this, relative to 1 + their place, are rounding
_GENERATION = 4  # starts that do not know of each other; not the number of threads, so that this changes nothing
_OUTSIDE = 0.1  # how far beyond the outermost breakpoint to step, in units of 1 + its size


@dataclass(frozen=True)
class Line:
    """The best point of a line search: the middle of an interval between breakpoints."""

    step: float
    quality: float  # the metric there, higher is better
    low: float  # the interval, which may be unbounded
    high: float


class LineSearch:
    """Search a list along any direction; one object per thread, because it owns the kernels' working space."""

    def __init__(self, data: TuningData) -> None:
        self.data = data
        self.parameters = bleu_parameters(data.metric)
        rows = data.hypotheses
        longest = int(np.diff(data.sentence_offsets).max(initial=0))
        self._room: Any = [np.empty(longest, kind) for _ in range(2) for kind in (np.float64, np.float64, np.int64)]
        self._breaks, self._pairs = np.empty(rows), np.empty((rows, 2), np.int64)
        self._first = np.empty(len(data), np.int64)
        self._sums = np.empty((1, data.statistics.shape[1]))

    def along(self, scores: F8, slopes: F8) -> Line:
        """Return the best point of the line: scores now and their change per unit of x, both float64[hypotheses]."""
        data = self.data
        count = _envelopes(
            data.sentence_offsets,
            slopes,
            scores,
            self._room[0],
            self._room[1],
            self._room[2],
            self._room[3],
            self._room[4],
            self._room[5],
            self._breaks,
            self._pairs,
            self._first,
        )
        breaks = self._breaks[:count]
        sweep = np.argsort(breaks)  # equal ones in any order: nothing is measured between them
        self._sums[0] = data.sums_of(self._first)  # at the far left
        if self.parameters is not None:
            best, quality = _best_interval(breaks, sweep, self._pairs, data.statistics, self._sums, *self.parameters)
        else:
            rows = np.empty((count + 1, self._sums.shape[1]))
            _all_sums(sweep, self._pairs, data.statistics, self._sums, rows)
            best, quality = _highest_interval(breaks[sweep], data.quality(rows))
        low = -np.inf if best == 0 else float(breaks[sweep[best - 1]])
        high = np.inf if best == count else float(breaks[sweep[best]])
        return Line(_middle(low, high), quality, low, high)


def _middle(low: float, high: float) -> float:
    """Return a point inside an interval: its middle, or a little way beyond its one end."""
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - _OUTSIDE * (1.0 + abs(high))
    if np.isinf(high):
        return low + _OUTSIDE * (1.0 + abs(low))
    return 0.5 * (low + high)


@kernel
def _envelopes(offsets, slopes, scores, up, up_scores, up_who, down, down_scores, down_who, breaks, pairs, first):
    """Fill `breaks` with the points where a best hypothesis changes, `pairs` with (left, right); return their number.

    `first` gets the best hypothesis of every sentence at minus infinity (-1: none). The envelope is walked from x = 0
    to both sides: of all steeper lines, the one that crosses the present one first comes next. An envelope has few
    corners, so this is several times faster than sorting the lines by slope. The other arrays are working space.
    """
    count = 0
    for s in range(len(first)):
        start, end = offsets[s], offsets[s + 1]
        if start == end:
            first[s] = -1
            continue
        # views that count from 0 spare the kernel a test of every index for being negative
        lines, heights = slopes[start:end], scores[start:end]
        top = 0
        height = heights[0]
        for i in range(1, len(heights)):
            if heights[i] > height:
                top = i
                height = heights[i]
        slope = lines[top]
        top += start
        rising = falling = 0
        for i in range(len(heights)):  # without branches, whose outcome would be a coin toss
            steep, score = lines[i], heights[i]
            up[rising] = steep
            up_scores[rising] = score
            up_who[rising] = start + i
            rising += steep > slope
            down[falling] = -steep
            down_scores[falling] = score
            down_who[falling] = start + i
            falling += steep < slope
        count, _ = _walk(up, up_scores, up_who, rising, top, slope, height, breaks, pairs, count)
        right = count
        count, first[s] = _walk(down, down_scores, down_who, falling, top, -slope, height, breaks, pairs, count)
        for k in range(right, count):  # to the left: x was negated, and the pairs are the other way round
            breaks[k] = -breaks[k]
            pairs[k, 0], pairs[k, 1] = pairs[k, 1], pairs[k, 0]
    return count


@kernel
def _walk(slopes, scores, who, left, now, slope, height, breaks, pairs, count):
    """Follow the envelope from x = 0 to the right over `left` steeper lines; return the new count and the last line."""
    since = 0.0
    while left > 0:
        best = 0
        drop, climb = height - scores[0], slopes[0] - slope
        for i in range(1, left):
            # crossings at drop / climb, compared without dividing; of equal ones the steepest line goes on
            d, c = height - scores[i], slopes[i] - slope
            ours, theirs = d * climb, drop * c
            if ours <= theirs and (ours < theirs or c > climb):
                drop, climb, best = d, c, i
        since = max(since, drop / climb)
        breaks[count] = since
        pairs[count, 0] = now
        now, slope, height = who[best], slopes[best], scores[best]
        pairs[count, 1] = now
        count += 1
        kept = 0
        for i in range(left):
            steep = slopes[i]
            slopes[kept] = steep
            scores[kept] = scores[i]
            who[kept] = who[i]
            kept += steep > slope
        left = kept
    return count, now


@kernel
def _best_interval(breaks, sweep, pairs, statistics, sums, order, smooth, value):
    """Return the interval (0: before the first breakpoint) with the highest BLEU, the first among equals.

    Return its BLEU too. `sums` starts as the statistics at the far left.
    """
    count = len(sweep)
    best, best_score = 0, -1.0
    for i in range(count + 1):
        # an interval without width, or narrower than rounding, can hold no weights
        if i == 0 or i == count or breaks[sweep[i]] - breaks[sweep[i - 1]] > _NARROW * (1.0 + abs(breaks[sweep[i]])):
            score = bleu_of_row(sums, 0, order, smooth, value)
            if score > best_score:
                best_score = score
                best = i
        if i < count:
            old, new = pairs[sweep[i], 0], pairs[sweep[i], 1]
            for c in range(sums.shape[1]):
                sums[0, c] += statistics[new, c] - statistics[old, c]
    return best, best_score


@kernel
def _all_sums(sweep, pairs, statistics, sums, rows):
    """Fill `rows` with the sums of every interval, from the left."""
    for c in range(rows.shape[1]):
        rows[0, c] = sums[0, c]
    for i in range(len(sweep)):
        old, new = pairs[sweep[i], 0], pairs[sweep[i], 1]
        for c in range(rows.shape[1]):
            rows[i + 1, c] = rows[i, c] + statistics[new, c] - statistics[old, c]


def _highest_interval(ends: F8, quality: F8) -> tuple[int, float]:
    """Return the interval with the highest metric, the first among equals, that is wide enough to be real."""
    wide = np.ones(len(quality), bool)
    if len(ends) > 1:
        wide[1:-1] = np.diff(ends) > _NARROW * (1.0 + np.abs(ends[1:]))
    highest = int(np.argmax(np.where(wide, quality, -np.inf)))
    return highest, float(quality[highest])


class _Ground(NamedTuple):
    """What all climbs of a generation know."""

    mert: Mert
    data: TuningData
    first: F8  # the weights that were given
    base: F8  # what fixed features add to every score
    scales: F8
    known: list[F8]  # directions of earlier summits
    highest: _Summit | None  # of the earlier generations


def _climbed(ground: _Ground, start: tuple[int, np.random.SeedSequence]) -> _Summit:
    """Climb from the start that a restart has."""
    restart, seed = start
    data, rng = ground.data, np.random.default_rng(seed)
    weights = ground.first[data.free]
    if ground.highest is not None:
        weights = _nearby(rng, ground.highest.weights, ground.scales, ground.mert.noise)
    elif restart == 1 and isinstance(data.metric, BLEU):
        weights = smooth_start(data, ground.first)
    elif restart > 0 or not weights.any():
        weights = _anywhere(rng, weights, ground.scales)
    return ground.mert.climb(data, ground.base, ground.scales, weights, rng, ground.known)


@dataclass(frozen=True)
class Mert(Settings):
    """Minimum error rate training, here as the maximisation of any corpus metric."""

    takes: ClassVar[frozenset[str]] = frozenset({ANY_METRIC})
    step: ClassVar[float] = 1.0

    restarts: int = setting(20, "starting points: the given one, random ones, and some near the best so far", low=1)
    directions: int = setting(6, "random directions to try where no single weight helps", low=0)
    noise: float = setting(0.2, "how far from the best so far to start again, relative to its size", low=0.0)
    rounds: int = setting(100, "largest number of passes over the weights from one start", low=1)

    def fit(
        self,
        data: TuningData,
        start: npt.ArrayLike,
        *,
        seed: int,
        engine: Engine = LOCAL,
        regulariser: Regulariser | None = None,
    ) -> Tuned:
        """Return the weights with the highest corpus metric of all climbs; objective and metric are the same number.

        The first generation starts from the given weights, from the maximum of expected BLEU near them (a smooth
        landscape leads to better regions), and from random points. Every later one starts near the best so far.
        """
        first = data.start(start)
        check_task(self, data, regulariser)
        scales = data.scales()
        base = data.base(first)
        seeds = np.random.SeedSequence(seed).spawn(self.restarts)
        summits: list[_Summit] = []
        highest: _Summit | None = None
        for generation in range(0, self.restarts, _GENERATION):
            members = range(generation, min(generation + _GENERATION, self.restarts))
            known = [_unit(summit.weights, scales) for summit in summits]
            ground = _Ground(self, data, first, base, scales, known, highest)
            found = engine.map(_climbed, ground, [(restart, seeds[restart]) for restart in members])
            summits += each(found, f"climb from start {generation + 1} of {self.restarts}", len(members))
            highest = max(summits, key=lambda summit: summit.quality)  # the first among equals
        assert highest is not None
        best = first.copy()
        best[data.free] = highest.weights
        sign = 1.0 if data.metric.higher_is_better else -1.0
        info = {
            "searches": sum(summit.searches for summit in summits),
            "restarts": [sign * summit.quality for summit in summits],
        }
        moved = any(summit.moves for summit in summits)
        return finished(data, _rescaled(data, best, first), sign * highest.quality, info, moved=moved)

    def climb(
        self,
        data: TuningData,
        base: F8,
        scales: F8,
        start: F8,
        rng: np.random.Generator,
        known: list[F8],
    ) -> _Summit:
        """Follow line searches upwards from one start until neither a weight nor a random direction helps."""
        search = LineSearch(data)
        weights = start.copy()

        def scores_of(point: F8) -> F8:
            scores = base.copy()
            add_products(data.columns, point, scores)
            return scores

        def quality_of(scores: F8) -> float:
            return float(data.quality(data.sums_of(data.best_by(scores))[None])[0])

        scores = scores_of(weights)
        quality = quality_of(scores)
        searches = moves = failures = 0
        limit = self.rounds * (len(weights) + self.directions)
        for direction, slopes in _directions(data, scales, self.directions, rng, known):
            line = search.along(scores, slopes)
            searches += 1
            failures += 1
            if line.quality > quality + _LEAST_GAIN:
                there = scores + line.step * slopes
                # the envelope's arithmetic and the scores' may disagree in the last digit: believe the scores
                if (reached := quality_of(there)) > quality + _LEAST_GAIN:
                    weights = weights + line.step * direction
                    moves, failures = moves + 1, 0
                    scores = scores_of(weights) if moves % 8 == 0 else there
                    quality = reached if moves % 8 else quality_of(scores)
            if failures >= len(weights) + self.directions or searches >= limit:
                break
        return _Summit(quality_of(scores_of(weights)), weights, searches, moves)


@dataclass(frozen=True)
class _Summit:
    """Where a climb ended."""

    quality: float
    weights: F8  # [free]
    searches: int
    moves: int


def _directions(
    data: TuningData, scales: F8, more: int, rng: np.random.Generator, known: list[F8]
) -> Iterator[tuple[F8, F8]]:
    """Yield directions and slopes for ever: every weight in random order, then `more` others, and so on.

    The others are differences of two summits known from earlier generations, which lie along the ridges of the
    landscape, in turn with random ones.
    """
    axes = np.eye(len(scales))
    while True:
        for axis in rng.permutation(len(axes)).tolist():
            yield axes[axis], data.columns[axis]
        for turn in range(more):
            if len(known) > 1 and turn % 2 == 0:
                one, other = rng.choice(len(known), 2, replace=False).tolist()
                direction = known[one] - known[other]
            else:
                direction = rng.standard_normal(len(scales)) / scales
            slopes = np.zeros(data.hypotheses)
            add_products(data.columns, direction, slopes)
            yield direction, slopes


def _unit(weights: F8, scales: F8) -> F8:
    """Scale weights to one size, because only their direction matters to a ranking."""
    return weights / (np.sqrt(((weights * scales) ** 2).sum()) or 1.0)


def smooth_start(data: TuningData, start: F8) -> F8:
    """Return tuned weights, float64[free], some steps up the expected BLEU from `start`, which they equal in size."""
    free = start[data.free]
    size = np.abs(free).sum() or 1.0
    objective = ExpectedBleu().objective(data, start)
    point = rprop(objective, free, 1.0 / data.scales(), steps=50).point
    if data.fixed.any():  # then the size means something
        return point
    return point * (size / np.abs(point).sum()) if point.any() else free


def _nearby(rng: np.random.Generator, weights: F8, scales: F8, noise: float) -> F8:
    """Draw a start near `weights`, in units of the features' spread."""
    size = np.sqrt(((weights * scales) ** 2).mean())
    return weights + noise * size * rng.standard_normal(len(weights)) / scales


def _anywhere(rng: np.random.Generator, weights: F8, scales: F8) -> F8:
    """Draw a start anywhere: about as large as `weights`, in units of the features' spread."""
    size = np.abs(weights * scales).mean() or 1.0
    return rng.uniform(-1.0, 1.0, len(weights)) * 2.0 * size / scales


def _rescaled(data: TuningData, weights: F8, start: F8) -> F8:
    """Give the tuned weights the start's sum of sizes, which changes no ranking unless fixed features do count."""
    held = np.flatnonzero(data.fixed & (start != 0.0))
    first = np.repeat(data.sentence_offsets[:-1], np.diff(data.sentence_offsets))
    if any((data.features[:, column] != data.features[first, column]).any() for column in held.tolist()):
        return weights
    size, wanted = np.abs(weights[data.free]).sum(), np.abs(start[data.free]).sum()
    scaled = weights.copy()
    if size > 0 and wanted > 0:
        scaled[data.free] *= wanted / size
    elif size > 0:
        scaled[data.free] /= size
    return scaled
