"""Translation as regression: n-gram vectors of target sentences from those of source sentences."""
