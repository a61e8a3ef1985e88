"""A metric as another package would register it."""

from camber.metrics.chrf import ChrF
from camber.metrics.metric import Conventions


def chrf_of_words(how: Conventions) -> ChrF:
    """Make chrF2++."""
    return ChrF(lowercase=how.lowercase, word_order=2)
