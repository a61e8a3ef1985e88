"""Decoders: search for the best translations of a sentence under a model."""
