"""Bends: learnt, non-linear responses to features.

`bins` cuts a feature's values into bins, `lookup` finds bins inside kernels, `separable` says whether bending can help
at all.
"""

from camber.bend.separable import Separability, Separation, separable

__all__ = ["Separability", "Separation", "separable"]
