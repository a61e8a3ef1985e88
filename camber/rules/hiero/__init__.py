"""Synchronous rules: the indexed corpus, extraction for a sentence, grammars."""
