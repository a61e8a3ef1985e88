"""Phrase pairs: extraction, scoring, the rule store, and pairs that came later."""
