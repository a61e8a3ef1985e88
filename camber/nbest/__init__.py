"""N-best lists: sentences → hypotheses → parts, in columns; readers and writers."""

from camber.nbest.nbest import NBest

__all__ = ["NBest"]
