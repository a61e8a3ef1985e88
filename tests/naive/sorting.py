"""Sorted stretches of lists, by Python's own stable sort."""


def sort_rising(values, first, last):
    """Return the list with ``values[first:last]`` sorted."""
    return [*values[:first], *sorted(values[first:last]), *values[last:]]


def sort_falling(items, first, last, scores):
    """Return the list with ``items[first:last]`` sorted by falling score."""
    return [*items[:first], *sorted(items[first:last], key=lambda item: -scores[item]), *items[last:]]


def insert_falling(entries, score, item):
    """Return a list of (score, item), falling by score, with one more, behind its equals."""
    return sorted([*entries, (score, item)], key=lambda entry: -entry[0])
