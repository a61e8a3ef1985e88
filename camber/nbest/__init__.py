"""N-best lists: sentences → hypotheses → parts, in columns; readers and writers."""
