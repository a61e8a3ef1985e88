"""N-best lists: sentences → hypotheses → parts, in columns; readers and writers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from camber.lazy import attach

if TYPE_CHECKING:
    from camber.nbest.nbest import NBest

    __all__ = ["NBest"]
else:
    __getattr__, __dir__, __all__ = attach(__name__, {"NBest": "camber.nbest.nbest"})
