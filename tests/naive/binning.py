"""Uniform-population binning as in clark2014, Eq. 5-6 and Algorithm 1, in fractions."""

from fractions import Fraction


def ideal_size(frequencies, bins):
    """Eq. 5-6 with 1/N in place of 1/|X|, iterated until nothing changes; u' is a fraction of at most N parts."""
    f = [float(x) for x in frequencies]
    while True:
        u = sum(f) / bins
        if all(x <= u * (1 + 1e-14) for x in f):
            return Fraction(u).limit_denominator(bins)
        f = [min(x, u) for x in f]


def bins_of(frequencies, bins):
    """Algorithm 1: a list of bins, each a list of value numbers (from 1); values are numbered in rising order."""
    count = len(frequencies)
    u = ideal_size(frequencies, bins)
    f = [None] + [min(Fraction(x), u) for x in frequencies]
    b = {j: [] for j in range(1, bins + 1)}

    def remaining(j):  # printed as |X| - (N - j - 1), which counts bins from 0
        return count - (bins - j)

    def room(j):
        return j * u - sum(f[i] for k in range(1, j + 1) for i in b[k])

    i = 1
    for j in range(1, bins + 1):
        while i <= remaining(j) and f[i] <= room(j):
            b[j].append(i)
            i += 1
        if i <= remaining(j) and (f[i] - room(j)) / f[i] < Fraction(1, 2):
            b[j].append(i)
            i += 1
    return [b[j] for j in range(1, bins + 1)]


def bin_of(lows, value):
    """The bin whose range holds a value; -1 for an absent one."""
    if value != value or not lows:
        return -1
    found = 0
    for j, low in enumerate(lows):
        if value >= low:
            found = j
    return found
