"""Word alignment: models, symmetrisation, lexical tables, the alignment error rate."""
