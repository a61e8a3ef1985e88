"""Gaussian mixtures over the features of hypotheses, whose posteriors are features themselves (nguyen2007)."""
