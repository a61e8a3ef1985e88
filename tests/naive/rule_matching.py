"""Which source sides match a sentence: try every place and every length of every gap."""


def matches_at(side, sentence, begin, at, span):
    """Whether the symbols of `side` (None: a gap) match from `at` on, for a rule that begins at `begin`."""
    if not side:
        return True
    if at >= len(sentence) or (span and at - begin >= span):
        return False
    if side[0] is not None:
        return sentence[at] == side[0] and matches_at(side[1:], sentence, begin, at + 1, span)
    last = min(len(sentence), begin + span) if span else len(sentence)
    return any(matches_at(side[1:], sentence, begin, end, span) for end in range(at + 1, last + 1))


def matching_sides(sides, sentence, span=0):
    """Return the sides that match somewhere."""
    return [side for side in sides if any(matches_at(side, sentence, b, b, span) for b in range(len(sentence)))]
