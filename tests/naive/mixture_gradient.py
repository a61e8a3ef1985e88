"""Posteriors of a mixture and their derivatives, kernel by kernel, with all cross terms."""

import math


def posteriors(point, means, variances, log_priors, left_out=()):
    """The posteriors of all kernels at a point; one row of variances may stand for all."""
    logs = []
    for m, (mean, prior) in enumerate(zip(means, log_priors, strict=True)):
        spread = variances[m if len(variances) > 1 else 0]
        far = sum((x - mu) ** 2 / v + math.log(v) for x, mu, v in zip(point, mean, spread, strict=True))
        logs.append(-math.inf if m in left_out else prior - 0.5 * far)
    best = max(logs)
    odds = [math.exp(log - best) for log in logs]
    return [odd / sum(odds) for odd in odds]


def gradient(points, means, variances, log_priors, weights, slopes, left_out=None):
    """Derivatives of Σ slope · Σ weight · posterior in means, logarithms of variances and of priors."""
    kernels, features = range(len(means)), range(len(means[0]))
    by_mean = [[0.0 for _ in features] for _ in kernels]
    by_variance = [[0.0 for _ in features] for _ in variances]
    by_prior = [0.0 for _ in kernels]
    for p, (point, slope) in enumerate(zip(points, slopes, strict=True)):
        h = posteriors(point, means, variances, log_priors, () if left_out is None else left_out[p])
        for m in kernels:
            row = m if len(variances) > 1 else 0
            for r in kernels:  # the feature whose change is looked at; its own kernel's, or another's
                change = h[m] * (1 - h[m]) if r == m else -h[r] * h[m]
                by_prior[m] += slope * weights[r] * change
                for f in features:
                    away = (point[f] - means[m][f]) / variances[row][f]
                    by_mean[m][f] += slope * weights[r] * change * away
                    squared = away * (point[f] - means[m][f])
                    by_variance[row][f] += slope * weights[r] * change * 0.5 * (squared - 1)
    return by_mean, by_variance, by_prior
