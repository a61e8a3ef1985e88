"""Anderson's extrapolation of coordinate descent: from a few passes to where many more would lead.

The last iterates are mixed with the weights, summing up to 1, that make the mix of their differences the shortest; the
mix is taken only where the objective is lower there than at the last of them. (Bertrand and Massias, "Anderson
acceleration of coordinate descent", 2021.)
"""

from __future__ import annotations

import numpy as np

from camber.kernel import kernel

#: passes over the active set between two extrapolations
PASSES = 5


@kernel
def extrapolate(matrix, targets, t, penalty, room, size, norm):
    """Go to where the last passes seem to lead if that is better, and say whether it is (as 0 or 1).

    The first `size` of ``history[p]`` are the active weights after `p` passes; `norm` is the sum of their sizes now.
    """
    history, system, mix = room.history, room.system, room.mix
    for p in range(PASSES):
        for q in range(p + 1):
            total = 0.0
            for a in range(size):
                total += (history[p + 1, a] - history[p, a]) * (history[q + 1, a] - history[q, a])
            system[p, q] = total
    for p in range(PASSES):
        system[p, p] *= 1.0 + 1e-10
        mix[p] = 1.0
    if not _solve_small(system, mix):
        return 0
    total = 0.0
    for p in range(PASSES):
        total += mix[p]
    if total == 0.0:
        return 0
    trial = room.trial
    for i in range(len(trial)):
        trial[i] = 0.0
    for i in range(targets.offsets[t], targets.offsets[t + 1]):
        trial[targets.rows[i]] = targets.values[i]
    trial_norm = 0.0
    for a in range(size):
        weight = 0.0
        for p in range(PASSES):
            weight += mix[p] / total * history[p + 1, a]
        history[0, a] = weight
        if weight != 0.0:
            trial_norm += abs(weight)
            c = room.active[a]
            for k in range(matrix.offsets[c], matrix.offsets[c + 1]):
                trial[matrix.rows[k]] -= weight * matrix.values[k]
    length, trial_length = 0.0, 0.0
    for i in range(len(trial)):
        length += room.residual[i] * room.residual[i]
        trial_length += trial[i] * trial[i]
    if 0.5 * trial_length + penalty * trial_norm < 0.5 * length + penalty * norm:
        for a in range(size):
            room.weights[room.active[a]] = history[0, a]
        for i in range(len(trial)):
            room.residual[i] = trial[i]
        return 1
    return 0


@kernel
def _solve_small(system, right):
    """Solve a symmetric system of a few equations, given by its lower triangle, in place; say whether it could be."""
    n = len(right)
    for i in range(n):
        for j in range(i + 1):
            total = system[i, j]
            for k in range(j):
                total -= system[i, k] * system[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                system[i, i] = np.sqrt(total)
            else:
                system[i, j] = total / system[j, j]
    for i in range(n):
        total = right[i]
        for k in range(i):
            total -= system[i, k] * right[k]
        right[i] = total / system[i, i]
    for i in range(n - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, n):
            total -= system[k, i] * right[k]
        right[i] = total / system[i, i]
    return True
