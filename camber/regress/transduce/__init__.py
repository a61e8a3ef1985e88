"""Transduction: each sentence is translated by what is learnt from the pairs that were selected for it alone (bicici)."""
