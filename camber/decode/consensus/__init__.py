"""Consensus: the hypothesis that has most in common with the others, of one search or of several."""
