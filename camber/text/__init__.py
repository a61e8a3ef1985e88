"""Text at the edges: tokenise, case, detokenise."""
