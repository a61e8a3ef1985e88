"""Say whether features can tell the best hypotheses of an n-best list from all others (clark2014, Figures 4-6).

Three models over the same features are asked: *linear* (one weight for each feature), *globally non-linear* (one weight
for each value that a feature's sum over a hypothesis takes) and *locally non-linear* (one for each value that it takes
in a part; a hypothesis counts its parts). A pair is a hypothesis of the best quality in its sentence and one of lower
quality. The pairs are separable if some weights rank all of them right; a linear program looks for weights with a
margin of 1:

    minimise v   so that   w · (best - other) + v >= 1 for every pair,   v >= 0

The minimum is either 0 or 1 (weights with v < 1 can be scaled up until v is 0), so that rounding hardly blurs the
answer. If it is 1, the dual is a mixture of differences (best - other) that is 0: these few pairs contradict each
other. A perceptron is tried first, which is far quicker where pairs are easy to separate. Where many pairs meet about
as many indicators, the program may take minutes.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import offsets_from
from camber.arrays.types import F8, I8, Bools
from camber.errors import CamberError
from camber.features.feature import linear_table
from camber.nbest.nbest import NBest

Part = Mapping[str, float]  # a feature that is absent, or NaN, is not the value 0: it fires no indicator
Lists = Sequence[Sequence[Sequence[Part]]]  # sentences → hypotheses → parts
#: How many pairs the linear program begins with.
FIRST_PAIRS = 500
#: How many passes a perceptron is given before the program is asked, and the least lead, relative to its weights.
PASSES, _LEAD = 500, 1e-6
_Model = dict[tuple[int, Hashable], float]  # (hypothesis, feature or indicator) → value
#: Sums over parts are equal if they agree to so many digits of the feature's largest sum: 0.1 + 0.2 is 0.3.
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Separation:
    """What one kind of model can do."""

    separable: bool  # all sentences together, with the same weights
    margin: float  # the least lead of a best hypothesis over another, in lengths of the weights; 0 if inseparable
    pairs: int  # pairs of a best hypothesis and a worse one
    conflicts: list[tuple[int, int]]  # (best, other): a few pairs that contradict each other; empty if separable
    sentences: Bools  # [sentences]: each by itself
    weights: dict[Hashable, float]  # of features, or (feature, value): they rank all right; empty if inseparable


@dataclass(frozen=True, eq=False)
class Separability:
    """Whether the best hypotheses are separable: by a linear, a globally and a locally non-linear model."""

    linear: Separation
    globally: Separation
    locally: Separation

    def __str__(self) -> str:
        rows = (("linear", self.linear), ("globally non-linear", self.globally), ("locally non-linear", self.locally))
        return "\n".join(
            f"{name:20}{'separable' if separation.separable else 'inseparable':13}"
            f"{int(separation.sentences.sum()):,} of {len(separation.sentences):,} sentences by themselves"
            for name, separation in rows
        )


def separable(
    nbest: NBest | Lists,
    quality: npt.ArrayLike | Sequence[Sequence[float]],
    features: Sequence[str] | None = None,
    absent: float | None = None,
) -> Separability:
    """Say whether the best hypotheses of every sentence are separable from the others.

    `nbest` is a list with parts, or plain lists: sentences → hypotheses → parts, each a mapping of feature names to
    values. `quality` has one number for each hypothesis, in the same order; higher is better. `features` are those to
    look at, all by default. A feature that a part lacks (NaN) fires no indicator, nor does the value `absent` (if
    given). In lists of Camber's own decoders, parts that are no rules (words passed through, glue) have 0 for the
    features of rules: `absent=0.0` suits these. Sums of an `NBest` are those of what a linear model takes.

    >>> two_small, one_large = [{"h": 2.0}, {"h": 2.0}], [{"h": 4.0}]
    >>> answer = separable([[two_small, one_large]], [[1.0, 0.0]])
    >>> answer.linear.separable, answer.globally.separable, answer.locally.separable
    (False, False, True)
    """
    columns = _columns(nbest, features, absent)
    pairs, owners = _pairs(columns, quality)
    sums, has = columns.sums()
    named = dict(enumerate(columns.names))
    whole = [(h, f) for h, f in np.argwhere(has).tolist()]
    linear: _Model = {(h, named[f]): float(sums[h, f]) for h, f in whole}
    globally: _Model = {(h, (named[f], float(sums[h, f]))): 1.0 for h, f in whole}
    locally: _Model = {}
    for part, feature in np.argwhere(~np.isnan(columns.values)).tolist():
        key = (int(columns.hypotheses[part]), (named[feature], float(columns.values[part, feature]) + 0.0))
        locally[key] = locally.get(key, 0.0) + 1.0
    return Separability(
        *(_separation(model, pairs, owners, columns) for model in (linear, globally, locally)),
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """Parts in columns, NaN where a feature is absent."""

    names: list[str]
    values: F8  # [parts, features], raw
    linear: F8  # the same as a linear model takes them
    hypotheses: I8  # [parts]
    offsets: I8  # [sentences + 1]: hypotheses

    def sums(self) -> tuple[F8, Bools]:
        """Return the sums over each hypothesis, rounded, and whether any part has the feature; [hypotheses, F]."""
        shape = (int(self.offsets[-1]), len(self.names))
        sums, has = np.zeros(shape), np.zeros(shape, bool)
        present = ~np.isnan(self.values)
        np.add.at(sums, self.hypotheses, np.where(present, self.linear, 0.0))
        np.logical_or.at(has, self.hypotheses, present)
        for column, largest in zip(sums.T, np.abs(sums).max(axis=0, initial=0.0).tolist(), strict=True):
            if largest > 0.0:
                column[:] = np.round(column, DIGITS - 1 - math.floor(math.log10(largest))) + 0.0  # + 0.0: never -0
        return sums, has


def _columns(nbest: NBest | Lists, features: Sequence[str] | None, absent: float | None) -> _Columns:
    if isinstance(nbest, NBest):
        names = list(nbest.names)
        values = nbest.parts.dense()
        hypotheses = np.repeat(np.arange(nbest.hypotheses), np.diff(nbest.part_offsets))
        offsets = nbest.sentence_offsets
    else:
        flat = [hypothesis for sentence in nbest for hypothesis in sentence]
        parts = [part for hypothesis in flat for part in hypothesis]
        names = list(dict.fromkeys(name for part in parts for name in part))
        values = np.array([[part.get(name, np.nan) for name in names] for part in parts], np.float64)
        values = values.reshape(len(parts), len(names))
        hypotheses = np.repeat(np.arange(len(flat)), [len(hypothesis) for hypothesis in flat])
        offsets = offsets_from(map(len, nbest))
    if np.isinf(values).any():
        raise CamberError("a feature of a part is infinite; separability needs finite numbers")
    if absent is not None:
        values[values == absent] = np.nan
    linear = linear_table(nbest.features, values) if isinstance(nbest, NBest) else values
    if features is not None:
        if unknown := [name for name in features if name not in names]:
            raise CamberError(f"the list has no feature {', '.join(unknown)}; it has: {', '.join(names)}")
        chosen = [names.index(name) for name in features]
        names, values, linear = list(features), values[:, chosen], linear[:, chosen]
    return _Columns(names, values, linear, hypotheses, offsets)


def _pairs(columns: _Columns, quality: npt.ArrayLike) -> tuple[I8, I8]:
    """Return (best, other) int64[pairs, 2] of the hypotheses to tell apart, and the sentence of every pair."""
    if isinstance(quality, np.ndarray):
        good = quality.astype(np.float64).ravel()
    else:
        rows: Sequence[npt.ArrayLike] = quality  # type: ignore[assignment]
        good = np.concatenate([np.empty(0), *(np.atleast_1d(np.asarray(row, np.float64)) for row in rows)])
    if good.shape != (columns.offsets[-1],) or np.isnan(good).any():
        raise CamberError(f"{good.size} qualities for {columns.offsets[-1]} hypotheses; expected a number for each")
    pairs, owners = [np.empty((0, 2), np.int64)], [np.empty(0, np.int64)]
    for sentence, (start, end) in enumerate(zip(columns.offsets[:-1], columns.offsets[1:], strict=True)):
        if start == end:
            continue
        top = good[start:end] == good[start:end].max()
        best, other = start + np.flatnonzero(top), start + np.flatnonzero(~top)
        pairs.append(np.stack([np.repeat(best, len(other)), np.tile(other, len(best))], axis=1))
        owners.append(np.full(len(pairs[-1]), sentence))
    return np.concatenate(pairs), np.concatenate(owners)


def _separation(
    model: _Model,
    pairs: I8,
    owners: I8,
    columns: _Columns,
) -> Separation:
    """Ask the linear program about one model."""
    import scipy.sparse  # here, because whoever needs bins alone should not wait for it

    indicators: dict[Hashable, int] = {}
    numbers = [indicators.setdefault(name, len(indicators)) for _, name in model]
    table = scipy.sparse.csr_matrix(
        (list(model.values()), ([hypothesis for hypothesis, _ in model], numbers)),
        shape=(int(columns.offsets[-1]), len(indicators)),
    )
    # Features of any size are alike to the program, as weights may be of any size.
    units = np.asarray(abs(table).max(axis=0).todense()).ravel() if table.nnz else np.ones(len(indicators))
    units = np.where(units > 0.0, units, 1.0)
    table = table @ scipy.sparse.diags(1.0 / units)
    differences = (table[pairs[:, 0]] - table[pairs[:, 1]]).tocsr()
    weights, against = _solved(differences)
    sentences = np.ones(len(columns.offsets) - 1, bool)
    if weights is None:
        for sentence in np.unique(owners).tolist():
            sentences[sentence] = _solved(differences[np.flatnonzero(owners == sentence)])[0] is not None
        return Separation(False, 0.0, len(pairs), [(int(a), int(b)) for a, b in pairs[against]], sentences, {})
    length = float(np.sqrt(np.sum(weights * weights)))
    margin = float((differences @ weights).min()) / length if length > 0.0 else 0.0
    named = {name: float(weights[number] / units[number]) for name, number in indicators.items()}
    return Separation(True, margin, len(pairs), [], sentences, named)


def _solved(differences: Any) -> tuple[F8 | None, I8]:
    """Return weights that give every row of `differences` (sparse, [pairs, indicators]) a lead; or None, and the rows
    that contradict each other.

    A perceptron comes first: what is easy to separate it separates at once. Else the program is solved for
    those pairs that give the perceptron most trouble; pairs that its weights rank wrong join them, until none is left.
    """
    import scipy.sparse

    pairs, width = differences.shape
    # A lead may have any size, and small differences would drown in the solver's tolerance: make the largest of each 1.
    sizes = np.asarray(abs(differences).max(axis=1).todense()).ravel() if pairs and width else np.zeros(pairs)
    if not sizes.all():
        return None, np.flatnonzero(sizes == 0.0)[:1]  # two hypotheses that are the same to this model
    scaled = (scipy.sparse.diags(1.0 / sizes) @ differences).tocsr() if pairs else differences
    weights, leads = _by_perceptron(scaled)
    if not pairs or leads.min() > 0.0:
        return weights / (float(leads.min()) if pairs else 1.0), np.empty(0, np.int64)
    from scipy.optimize import linprog  # takes a while to import

    chosen = np.sort(np.argsort(leads, kind="stable")[:FIRST_PAIRS])
    while len(chosen):
        solution = linprog(
            np.append(np.zeros(width), 1.0),
            A_ub=-scipy.sparse.hstack([scaled[chosen], np.ones((len(chosen), 1))], format="csr"),
            b_ub=-np.ones(len(chosen)),
            bounds=[(None, None)] * width + [(0.0, None)],
            method="highs",
        )
        if solution.status != 0:
            raise CamberError(f"the linear program of separability was not solved: {solution.message}")
        if solution.fun > 0.5:
            return None, chosen[solution.ineqlin.marginals < -1e-9]
        weights = solution.x[:width]
        leads = scaled @ weights
        wrong = np.flatnonzero(leads < 0.5)
        if not len(wrong):
            break
        worst = wrong[np.argsort(leads[wrong], kind="stable")[: len(chosen)]]
        grown = np.union1d(chosen, worst)
        if len(grown) == len(chosen):
            raise CamberError("the linear program of separability was not solved: its weights miss its own margins")
        chosen = grown
    return weights, np.empty(0, np.int64)


def _by_perceptron(rows: Any) -> tuple[F8, F8]:
    """Return weights and the leads that they give to rows (sparse): all above 0 if the perceptron separated them.

    All rows that are wrong are added at once. If the rows are separable that ends with weights that do it, but it may
    take long, so it is given up after some passes.
    """
    weights, leads = np.zeros(rows.shape[1]), np.zeros(rows.shape[0])
    columns = rows.T.tocsr()
    for _ in range(PASSES):
        wrong = leads <= _LEAD * float(np.abs(weights).max(initial=0.0))  # a lead of rounding errors is none
        if not wrong.any():
            return weights, leads
        weights += columns @ wrong.astype(np.float64)
        leads = rows @ weights
    return weights, np.where(leads <= _LEAD * float(np.abs(weights).max(initial=0.0)), np.minimum(leads, 0.0), leads)
