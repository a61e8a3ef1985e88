"""Regression of a sentence's target n-grams on its source n-grams, learnt from the pairs selected for it (bicici)."""
