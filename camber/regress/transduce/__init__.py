"""Transduction: each sentence is translated by what pairs selected for it alone teach (bicici)."""
