"""Where words end, with regular expressions; their numbers, with a dictionary."""

import re

ANY_BLANK, IN_LINE, IN_ARPA = rb"[ \t-\r]", rb"[ \t\n\r]", rb"[ \t\n]|\r(?=\n|\Z)"


def word_end(data, at, blank):
    """Return the place after the word that begins at `at`."""
    match = re.compile(blank).search(data, at)
    return match.start() if match else len(data)


def numbers(words, lines):
    """Return the numbers of the words of each line; the first three are no line's words, others are 0."""
    number = {word.encode(): place for place, word in reversed(list(enumerate(words)))}
    found = [[number.get(word, 0) for word in line.encode().split()] for line in lines]
    return [[word if word > 2 else 0 for word in line] for line in found]
