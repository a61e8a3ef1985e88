"""What a re-ranker may add to the features of a list, and how it may bend them."""

from __future__ import annotations

from dataclasses import dataclass

from camber.bend.settings import BENDS, TREES, BendSettings, bend_setting
from camber.errors import SettingsError
from camber.settings import Settings, setting

#: scopes of trees: parts, whole hypotheses, or what suits a list
LOCAL, GLOBAL, AUTO = "local", "global", "auto"


@dataclass(frozen=True)
class FeatureSettings(Settings, group="Features made from the texts"):
    """Which features are made from the texts."""

    length: bool = setting(False, "add lengths in words and characters, and the ratio to the source if it is given")
    consensus: bool = setting(False, "add the agreement with the other hypotheses of the list")
    lm_language: str = setting("", "language whose rules tokenise the text for the language model (none: at spaces)")
    lm_lowercase: bool = setting(False, "lower-case the text for the language model")


ML, PERCEPTRON = "ml", "perceptron"  # kinds of kernels


@dataclass(frozen=True)
class ResponseSettings(BendSettings, group="Mixtures of kernels"):
    """How features bend: bins (lists are shorter than dev sets, so there are fewer of them), trees, kernels."""

    bits: int = bend_setting("bits", 4)
    beta: float = bend_setting("beta", 1000.0)
    leaves: int = bend_setting("leaves", 4)
    tree_scope: str = setting(
        AUTO,
        "what trees look at: the parts of a hypothesis (local), as JSON Lines of camber translate have them, or the "
        "whole hypothesis (global); auto: parts where the list has some that are rules",
        choices=(AUTO, LOCAL, GLOBAL),
        group=TREES,
    )
    softness: float = setting(
        0.0,
        "width of the edges of bins, which are sigmoids, as a share of the narrower bin beside them (0: hard edges)",
        low=0,
        high=1,
        group=BENDS,
    )
    lines: bool = setting(True, "keep the straight line of a feature beside its bins", group=BENDS)
    kernels: int = setting(64, "kernels at most", low=1, high=1_000_000)
    kernel_kind: str = setting(
        ML,
        "kernels by maximum likelihood, or the best hypotheses of sentences by the linear model and by the metric",
        choices=(ML, PERCEPTRON),
    )
    bandwidth: str = setting(
        "0.5,1,2", "factor of the kernels' standard deviations; of several, held-out sentences choose one"
    )
    mass: float = setting(0.99, "share of a hypothesis's posteriors that is kept, the greatest ones", low=1e-6, high=1)
    prior: float = setting(
        100.0, "variance of the Gaussian prior on the weights of kernels (0: no prior)", low=0, high=1e18
    )
    reestimate: int = setting(
        0, "rounds in which kernels are moved by the gradient of the objective (0: they stay)", low=0, high=1000
    )
    leave_out: bool = setting(
        True,
        "leave a sentence's own kernels out while its hypotheses are learnt from (perceptron)",
        contrary="leave-in",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.bandwidths
        if not self.leave_out and self.kernel_kind == ML:
            raise SettingsError(
                f"ResponseSettings.leave_out is False, which makes no difference to {ML} kernels: none belongs to a "
                f"sentence; take {PERCEPTRON} kernels, or leave it on"
            )

    @property
    def bandwidths(self) -> tuple[float, ...]:
        """The bandwidths to choose from, rising.

        >>> ResponseSettings(bandwidth="1, 0.25").bandwidths
        (0.25, 1.0)
        """
        try:
            factors = sorted({float(text) for text in self.bandwidth.split(",")})
        except ValueError:
            factors = []
        if not factors or not all(0.0 < factor <= 1e6 for factor in factors):
            raise SettingsError(
                f"ResponseSettings.bandwidth is {self.bandwidth!r}; expected numbers above 0, such as 0.5,1"
            )
        return tuple(factors)
