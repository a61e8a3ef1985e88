"""Instance selection: the pairs of a corpus that help most to translate a sentence, or a text."""
