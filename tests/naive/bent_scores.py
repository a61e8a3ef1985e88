"""What a rule is worth when some of its features are bent."""

from dataclasses import dataclass

from naive.binning import bin_of


@dataclass
class Bend:
    """Bins of features: name → (least value of every bin, its weight); with overlap the neighbours' weights count."""

    features: dict[str, tuple[list[float], list[float]]]
    overlap: bool = False

    def hits(self, name, value):
        """Return the bins that a value hits."""
        lows, _ = self.features[name]
        own = bin_of(lows, value)
        near = (own - 1, own, own + 1) if self.overlap else (own,)
        return [number for number in near if 0 <= number < len(lows)]

    def worth(self, values):
        """Return what a rule's values add: name → value; a feature that is not there hits nothing."""
        there = [name for name in self.features if name in values]
        return sum(self.features[name][1][hit] for name in there for hit in self.hits(name, values[name]))


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
