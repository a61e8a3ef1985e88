"""Settings of translation by regression: what is learnt, and how the sentence behind a prediction is searched for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from camber.regress.spectrum import BLENDED, WEIGHTED, Spectrum
from camber.settings import Settings, setting

#: the regressions of wang2007: least squares with a ridge, and maximum margin
LEAST_SQUARES, MAXIMUM_MARGIN = "lsr", "mmr"
NONE = "none"


@dataclass(frozen=True)
class KernelSettings(Settings, group="Regression of n-gram vectors"):
    """Which regression is learnt, from which n-grams."""

    regression: str = setting(
        LEAST_SQUARES,
        "least squares (lsr), or maximum margin (mmr)",
        choices=(LEAST_SQUARES, MAXIMUM_MARGIN),
    )
    order: int = setting(3, "longest n-gram of the vectors of sentences", low=1, high=16)
    weighting: str = setting(
        BLENDED, "what a common n-gram counts: 1, or its number of words", choices=(BLENDED, WEIGHTED)
    )
    ridge: float = setting(0.1, "of least squares: what is added to the Gram matrix's diagonal", low=1e-9)
    cost: float = setting(1.0, "of maximum margin: C, what a pair inside the margin costs", low=1e-9)
    gap: float = setting(1e-3, "of maximum margin: relative duality gap at which to stop", low=1e-12)
    epochs: int = setting(100, "of maximum margin: passes over all pairs at most", low=1)

    @property
    def to_learn(self) -> tuple[object, ...]:
        """What matters to learning; a ridge matters when a model is opened."""
        margin = (self.cost, self.gap, self.epochs) if self.regression == MAXIMUM_MARGIN else ()
        return self.regression, self.order, self.weighting, *margin

    @property
    def spectrum(self) -> Spectrum:
        """Which n-grams make the vector of a sentence."""
        return Spectrum(self.order, self.weighting)


@dataclass(frozen=True)
class RegressionSettings(Settings, group="Regression of n-gram vectors"):
    """Whether a regression is a feature of phrase models."""

    regression: str = setting(
        NONE,
        "of phrase models: one more feature, what a regression of n-gram vectors predicts, by least squares (lsr) or "
        "maximum margin (mmr)",
        choices=(NONE, LEAST_SQUARES, MAXIMUM_MARGIN),
    )

    def of(self, kernel: KernelSettings) -> KernelSettings | None:
        """Return how the regression is learnt, all else being as in `kernel`; None: there is none."""
        return None if self.regression == NONE else replace(kernel, regression=self.regression)


@dataclass(frozen=True)
class PreimageSettings(Settings, group="Search of regression models"):
    """How wide the search is."""

    beam: int = setting(100, "hypotheses kept for every stack; a list of candidates has no more", low=1)
    options: int = setting(10, "translation options for each source phrase, by p(t|s)", low=1)
    scale: float = setting(
        0.0,
        "of least squares: what predictions are multiplied by (0: training chooses on the dev set, or takes 1)",
        low=0.0,
    )
    window: int = setting(50, "longer sentences are decoded in windows of this many words", low=10)
