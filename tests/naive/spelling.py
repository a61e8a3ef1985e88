"""Where words end, with regular expressions; their numbers, with a dictionary."""

import re


def word_end(data, at, *, in_arpa):
    """Return the place after the word that begins at `at`: in ARPA files only some blanks end one."""
    blank = rb"[ \t\n]|\r(?=\n|\Z)" if in_arpa else rb"[ \t-\r]"
    match = re.compile(blank).search(data, at)
    return match.start() if match else len(data)


def numbers(words, lines):
    """Return the numbers of the words of each line; the first three are no line's words, others are 0."""
    number = {word.encode(): place for place, word in reversed(list(enumerate(words)))}
    found = [[number.get(word, 0) for word in line.encode().split()] for line in lines]
    return [[word if word > 2 else 0 for word in line] for line in found]
