"""Gaussian mixtures with diagonal covariances, kernel by kernel (nguyen2007, section 3.4.3)."""

import math


def log_density(point, mean, variances, log_prior, bandwidth=1.0):
    total = log_prior
    for value, middle, variance in zip(point, mean, variances, strict=True):
        variance = bandwidth**2 * variance
        total -= 0.5 * math.log(2.0 * math.pi * variance) + (value - middle) ** 2 / (2.0 * variance)
    return total


def posteriors(point, means, variances, log_priors, bandwidth=1.0, excluded=()):
    """All posteriors of a point, and its log likelihood; none where no kernel is left."""
    logs = [
        -math.inf if k in excluded else log_density(point, mean, variance, prior, bandwidth)
        for k, (mean, variance, prior) in enumerate(zip(means, variances, log_priors, strict=True))
    ]
    best = max(logs)
    if best == -math.inf:
        return [0.0] * len(logs), best
    shares = [math.exp(value - best) for value in logs]
    return [share / sum(shares) for share in shares], best + math.log(sum(shares))


def truncated(shares, mass, most):
    """The fewest shares that hold the mass, at most so many: {kernel: share}."""
    kept = {}
    for kernel in sorted(range(len(shares)), key=lambda k: (-shares[k], k))[:most]:
        if shares[kernel] > 0.0 and (sum(kept.values()) < mass):
            kept[kernel] = shares[kernel]
    return kept


def em_round(points, means, variances, log_priors, floors):
    """One round: new means, variances, priors (not as logarithms), and the log likelihood before."""
    masses = [0.0] * len(means)
    once = [[0.0] * len(floors) for _ in means]
    rows, total = [], 0.0
    for point in points:
        shares, log_likelihood = posteriors(point, means, variances, log_priors)
        rows.append(shares)
        total += log_likelihood
        for k, share in enumerate(shares):
            masses[k] += share
            for f, value in enumerate(point):
                once[k][f] += share * value
    new = [[value / mass for value in row] for row, mass in zip(once, masses, strict=True)]
    spread = [[0.0] * len(floors) for _ in means]
    for point, shares in zip(points, rows, strict=True):
        for k, share in enumerate(shares):
            for f, value in enumerate(point):
                spread[k][f] += share * (value - new[k][f]) ** 2
    widths = [
        [max(value / mass, floor) for value, floor in zip(row, floors, strict=True)]
        for row, mass in zip(spread, masses, strict=True)
    ]
    return new, widths, [mass / len(points) for mass in masses], total


def nearest(query, points, count):
    """The nearest points, as (squared distance, number)."""
    found = [(sum((a - b) ** 2 for a, b in zip(query, point, strict=True)), n) for n, point in enumerate(points)]
    return sorted(found)[:count]
