"""What a rule is worth when some of its features are bent."""

from naive.binning import bin_of


def scores(features, weights, bent):
    """One number for each row of features; bent: (column, lows, values) for every bent feature."""
    found = []
    for row in features:
        total = sum(w * x for w, x in zip(weights, row, strict=True) if x == x)
        for column, lows, values in bent:
            number = bin_of(lows, row[column])
            if number >= 0:
                total += values[number]
        found.append(total)
    return found
