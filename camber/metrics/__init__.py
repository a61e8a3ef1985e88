"""Metrics: statistics per sentence, scores from sums of them."""
