"""cdec's files: grammars, weights, `cdec.ini`."""
