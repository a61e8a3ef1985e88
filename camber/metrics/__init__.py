"""Metrics: statistics per sentence, scores from sums of them."""

from camber.metrics.bleu import BLEU
from camber.metrics.chrf import ChrF
from camber.metrics.metric import Metric, make_metric
from camber.metrics.outside import Outside
from camber.metrics.ter import TER

__all__ = ["BLEU", "TER", "ChrF", "Metric", "Outside", "make_metric"]
