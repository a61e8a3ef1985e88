"""Kernels beside a linear model: the posteriors of a Gaussian mixture over the features of a hypothesis (nguyen2007).

    bend = MixtureBend(inputs, mixture, centre, scale, bandwidth=0.5)
    bend.names                              # the features, then kernel1, kernel2, …

Each feature keeps its weight, and each kernel has one, which counts in its own part of the feature space. Whole
hypotheses are looked at, so this bend is global: it can re-rank, and a decoder refuses it.

Kernels see each feature less its mean and divided by its standard deviation, both of all hypotheses of the list that
they were made from. So no unit matters, nor where its zero is. A feature that a hypothesis lacks is taken for its mean,
which says nothing about where the hypothesis is. A feature that never varied tells kernels nothing, whatever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from camber.arrays.types import F8, I8, AnyArray
from camber.bend.bend import GLOBAL, Design, Seen
from camber.bend.log import LogBend
from camber.bend.mixtures.mixture import Mixture, Posteriors
from camber.bend.neighbours import Regulariser
from camber.bend.response import Response
from camber.bend.settings import BendSettings
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, InputError, SettingsError
from camber.features.feature import Feature, names_of
from camber.features.parts import Parts
from camber.files import decode_lines, read_bytes, write_lines

if TYPE_CHECKING:
    from camber.bend.trees.context import ContextTrees
    from camber.bend.trees.description import WeighedTree
    from camber.bend.weighing import Weighing

MIXTURE = "mixture"
#: posteriors of a hypothesis at most: a million hypotheses take half a gigabyte
MOST = 64
HEADER = "# camber mixture 1"
_NUMBERS = ("kernels", "bandwidth", "mass", "most")
_ARRAYS = ("means", "variances", "log_priors")
_REMEDY = "fit the model again"
_ROWS = 1 << 16  # hypotheses at a time whose posteriors are in memory
_TOLD = 10  # kernels


@dataclass(frozen=True, eq=False)
class MixtureBend:
    """A weight for every input, and one for every kernel of a mixture over all of them."""

    inputs: tuple[Feature, ...]
    mixture: Mixture | None  # over the inputs less `centre`, divided by `scale`; None: no kernel
    centre: F8  # [inputs]
    scale: F8  # [inputs], above 0
    _: KW_ONLY
    bandwidth: float = 1.0  # of the kernels' standard deviations
    mass: float = 0.99  # posteriors are cut to this share of their sum
    most: int = MOST

    FILE: ClassVar[str] = "mixture.tsv"
    kind: ClassVar[str] = MIXTURE
    scope: ClassVar[str] = GLOBAL
    grows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        wide = len(self.inputs)
        seen = wide if self.mixture is None else self.mixture.means.shape[1]
        if (seen, *self.centre.shape, *self.scale.shape) != (wide, wide, wide):
            raise CamberError(f"kernels over {seen} features, expected {wide}")
        if not (np.isfinite(self.centre).all() and np.isfinite(self.scale).all() and (self.scale > 0).all()):
            raise CamberError("the centres of features must be finite, their scales finite and above 0")
        if taken := {*names_of(self.inputs)} & {*self.kernel_names}:
            raise CamberError(f"a feature is called {min(taken)!r}, which is the name of a kernel; rename it")

    @classmethod
    def without_kernels(cls, inputs: Sequence[Feature], values: F8, mass: float = 0.99) -> MixtureBend:
        """Return one without kernels whose centre and scale are those of features [hypotheses, inputs].

        >>> bend = MixtureBend.without_kernels([Feature("x")], np.array([[1.0], [np.nan], [3.0]]))
        >>> bend.centre.tolist(), bend.scale.tolist(), bend.points(np.array([[5.0], [np.nan]])).tolist()
        ([2.0], [1.0], [[3.0], [0.0]])
        """
        wide = len(inputs)
        centre, scale = np.zeros(wide), np.ones(wide)
        for place, (feature, column) in enumerate(zip(inputs, values.T, strict=True)):
            there = feature.linear(column[~np.isnan(column)])
            if len(there):
                centre[place], spread = float(there.mean()), float(there.std())
                # rounding of the mean is no variation
                scale[place] = spread if spread > 1e-10 * float(np.abs(there).max()) else 1.0
        return cls(tuple(inputs), None, centre, scale, mass=mass)

    @cached_property
    def kernel_names(self) -> tuple[str, ...]:
        """Names of the kernels' weights."""
        return tuple(f"kernel{number}" for number in range(1, self.width + 1))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What has weights: the inputs, then the kernels."""
        return (*names_of(self.inputs), *self.kernel_names)

    @property
    def width(self) -> int:
        """The number of kernels."""
        return 0 if self.mixture is None else len(self.mixture)

    @property
    def kernels(self) -> Mixture:
        """The mixture, where there is one."""
        if self.mixture is None:
            raise CamberError("this model has no kernels")
        return self.mixture

    # --- what the inputs are worth ------------------------------------------------------------------------------------

    @cached_property
    def _line(self) -> LogBend:
        return LogBend(self.inputs)

    def points(self, values: F8) -> F8:
        """Return where hypotheses [hypotheses, inputs], NaN where absent, are as kernels see them: the same shape."""
        columns = [feature.linear(column) for feature, column in zip(self.inputs, values.T, strict=True)]
        scaled = (np.column_stack(columns) - self.centre) / self.scale if columns else np.zeros(values.shape)
        return np.nan_to_num(scaled, copy=False)

    def posteriors(self, values: F8, owners: I8 | None = None, engine: Engine = LOCAL) -> Posteriors:
        """Return the posteriors of hypotheses [hypotheses, inputs]; kernels of the sentences `owners` are left out."""
        return self._posteriors_at(self.points(values), owners, engine)

    def _posteriors_at(self, points: F8, owners: I8 | None = None, engine: Engine = LOCAL) -> Posteriors:
        return self.kernels.posteriors(
            points, bandwidth=self.bandwidth, mass=self.mass, most=self.most, owners=owners, engine=engine
        )

    def kernel_worth(self, values: F8, weights: F8) -> F8:
        """Return what the kernels add to the scores of hypotheses [hypotheses, inputs]; weights float64[kernels]."""
        worth = np.zeros(len(values))
        if not weights.any():
            return worth
        for start in range(0, len(values), _ROWS):
            rows = slice(start, start + _ROWS)
            self.posteriors(values[rows]).sparse.add_products(weights, worth[rows])
        return worth

    def apart(self, weights: F8) -> tuple[F8, F8]:
        """Return the weights of the inputs, and those of the kernels."""
        return weights[: len(self.inputs)], weights[len(self.inputs) :]

    def rule_worth(self, values: F8, columns: I8, weights: F8) -> F8:
        """Return the scores of whole hypotheses, float64[rows]; inputs that are not among the columns are absent."""
        line, kernels = self.apart(weights)
        wide = np.full((len(values), len(self.inputs)), np.nan)
        wide[:, columns] = values
        return self._line.rule_worth(values, columns, line) + self.kernel_worth(wide, kernels)

    def worth(self, name: str, values: F8, weights: F8) -> F8:
        """Return what raw values of one input add to the score by themselves, float64[values]: without kernels."""
        return self._line.worth(name, values, self.apart(weights)[0])

    def beyond_linear(self, name: str, values: F8, weights: F8) -> F8:
        """Return zeros: kernels look at all inputs, and one alone has only its line."""
        return np.zeros(len(values))

    def linear_weights(self, weights: F8) -> F8:
        """Return the weights of the inputs."""
        return self.apart(weights)[0].copy()

    def in_context(self, columns: I8, weights: F8) -> ContextTrees | None:
        """Return nothing: no search can use it."""
        return None

    def design(self, parts: Parts, offsets: I8) -> Design:
        """Return the sums over the parts of every hypothesis, and the posteriors of kernels there."""
        sums = parts.linear_sums(offsets)
        if self.mixture is None:
            return Design(np.nan_to_num(sums), None)
        return Design(np.nan_to_num(sums), self._posteriors_at(np.nan_to_num((sums - self.centre) / self.scale)).sparse)

    # --- how it is made -----------------------------------------------------------------------------------------------

    @classmethod
    def settings(cls, kind: str) -> tuple[str, ...]:
        """Return none: a re-ranker has the settings of kernels."""
        return ()

    @classmethod
    def make(cls, kind: str, inputs: Sequence[Feature], seen: Seen, settings: BendSettings) -> NoReturn:
        """Refuse: rules alone do not tell where hypotheses are."""
        raise SettingsError("kernels are made from n-best lists: camber rerank fit --learner mixture")

    def start(self, old: Weighing, seen: Seen) -> dict[str, float]:
        """Return the weights of a linear model; kernels count nothing yet."""
        return {**self._line.start(old, seen), **dict.fromkeys(self.kernel_names, 0.0)}

    def penalty(self, settings: BendSettings, tuned: Sequence[str]) -> Regulariser | None:
        """Tie nothing."""
        return None

    # --- for people ---------------------------------------------------------------------------------------------------

    def show(self, weights: Mapping[str, float]) -> list[Response]:
        """Return no curves: a kernel looks at several features."""
        return []

    def trees(self, weights: Mapping[str, float]) -> list[WeighedTree]:
        """There are none."""
        return []

    def raw_means(self, kernels: I8) -> F8:
        """Return where some kernels sit, in the units of the inputs: float64[kernels, inputs]."""
        return self.kernels.means[kernels] * self.scale + self.centre

    def heaviest(self, kernel_weights: F8, most: int) -> I8:
        """Return the kernels whose weights are the farthest from their mean, the first among equals first.

        The posteriors of a hypothesis add up to 1, so what all weights have in common ranks nothing.
        """
        away = np.abs(kernel_weights - kernel_weights.mean()) if len(kernel_weights) else kernel_weights
        return np.argsort(-away, kind="stable")[:most]

    def told(self, weights: Mapping[str, float]) -> list[str]:
        """Say how many kernels there are, how wide they are, which count most, and where these are."""
        vector = np.array([weights[name] for name in self.kernel_names])
        lines = [
            f"{self.width:,} kernels, bandwidth {self.bandwidth:g}, posteriors cut to {100 * self.mass:g} % of "
            f"their mass and {self.most} kernels"
        ]
        if not vector.any():
            return [*lines, "all kernels have the weight 0: the model is linear"]
        chosen = self.heaviest(vector, _TOLD)
        lines.append(f"the {len(chosen)} kernels whose weights differ most from the others, and where they are:")
        for kernel, where in zip(chosen.tolist(), self.raw_means(chosen), strict=True):
            away = self.kernels.means[kernel]
            at = np.argsort(-np.abs(away), kind="stable")[:4]  # where it is unlike the usual hypothesis
            place = ", ".join(f"{self.inputs[k].name} {where[k]:.4g} ({away[k]:+.1f} sd)" for k in at.tolist())
            lines.append(f"  {self.kernel_names[kernel]:<12} weight {vector[kernel]:+.4g}  {place}")
        return lines

    # --- files --------------------------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Write ``mixture.tsv``, and the kernels as arrays beside it."""
        lines = [HEADER]
        lines += [f"# {name} {number!r}" for name, number in zip(_NUMBERS, self._numbers(), strict=True)]
        lines += ["# kernels see (value - centre) / scale; what is absent counts as the centre", "name\tcentre\tscale"]
        for feature, *numbers in zip(names_of(self.inputs), self.centre.tolist(), self.scale.tolist(), strict=True):
            lines.append("\t".join([feature, *map(repr, numbers)]))
        write_lines(path, lines)
        for name in _ARRAYS if self.mixture is not None else ():
            with open(_array_path(path, name), "wb") as stream:
                np.save(stream, np.ascontiguousarray(getattr(self.mixture, name)), allow_pickle=False)

    def _numbers(self) -> tuple[int, float, float, int]:
        return self.width, float(self.bandwidth), float(self.mass), int(self.most)

    @classmethod
    def read(cls, path: str | Path, inputs: Sequence[Feature] | None = None) -> MixtureBend:
        """Read what :meth:`write` wrote; without `inputs`, those that it names are taken for numbers of hypotheses."""
        lines = decode_lines(read_bytes(path), path)
        if len(lines) < 7 or lines[0] != HEADER:
            raise InputError("no mixture of ours in this file", path, 1, remedy=_REMEDY)
        numbers = [
            _number_of(line, name, path, 2 + at)
            for at, (line, name) in enumerate(zip(lines[1:5], _NUMBERS, strict=True))
        ]
        rows = [_feature_of(line, path, number) for number, line in enumerate(lines[7:], 8)]
        names = tuple(name for name, *_ in rows)
        if inputs is not None and names_of(inputs) != names:
            told = f"kernels over {', '.join(names)}, but the features are {', '.join(names_of(inputs))}"
            raise InputError(told, path, 8, remedy=_REMEDY)
        kernels, bandwidth, mass, most = numbers
        arrays = [_read_array(_array_path(path, name)) for name in _ARRAYS] if kernels else []
        if arrays and arrays[0].shape != (kernels, len(rows)):
            expected = f"{kernels:g} kernels over {len(rows)} features"
            raise InputError(f"means of shape {arrays[0].shape}, expected {expected}", path, remedy=_REMEDY)
        table = np.array([numbers for _, *numbers in rows], np.float64).reshape(-1, 2)
        try:
            return cls(
                tuple(map(Feature, names)) if inputs is None else tuple(inputs),
                Mixture(arrays[0], arrays[1], arrays[2]) if arrays else None, table[:, 0].copy(), table[:, 1].copy(),
                bandwidth=bandwidth, mass=mass, most=int(most),
            )  # fmt: skip
        except CamberError as error:
            raise InputError(f"no mixture: {error}", path, remedy=_REMEDY) from None


def _array_path(path: str | Path, name: str) -> Path:
    return Path(path).with_name(f"kernels.{name}.npy")


def _read_array(path: Path) -> F8:
    try:
        array: AnyArray = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged header makes NumPy raise anything from SyntaxError to MemoryError
        raise InputError(f"cannot be read as an array ({error})", path, remedy=_REMEDY) from None
    if array.dtype != np.float64:
        raise InputError(f"numbers of type {array.dtype}, expected float64", path, remedy=_REMEDY)
    return array


def _number_of(line: str, name: str, path: str | Path, place: int) -> float:
    try:
        mark, given, value = line.split()
        if (mark, given) != ("#", name) or not (0 if name == _NUMBERS[0] else 1e-9) <= float(value) < 2**62:
            raise ValueError(line)
        return float(value)
    except ValueError:
        raise InputError(f"{line!r}, expected '# {name}' and a number", path, place, remedy=_REMEDY) from None


def _feature_of(line: str, path: str | Path, place: int) -> tuple[str, float, float]:
    try:
        name, centre, scale = line.split("\t")
        return name, float(centre), float(scale)
    except ValueError:
        raise InputError(f"{line!r} is no feature, its centre and its scale", path, place, remedy=_REMEDY) from None
