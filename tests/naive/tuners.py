"""The tuners as the textbooks have them: loops over Python lists, no cleverness."""

import math
from itertools import pairwise

from naive.splitmix import MASK, mix


def bleu(sums, order=4):
    """BLEU (0 to 100) of summed statistics, with sacreBLEU's exponential smoothing."""
    length, reference = sums[0], sums[1]
    matches, totals = sums[2 : 2 + order], sums[2 + order : 2 + 2 * order]
    if not any(matches) or not all(totals):
        return 0.0
    logs, missed = 0.0, 0
    for match, total in zip(matches, totals, strict=True):
        if match == 0:
            missed += 1
            match = 0.5**missed
        logs += math.log(match / total)
    penalty = min(0.0, 1.0 - reference / length)
    return 100.0 * math.exp(logs / order + penalty)


def add(rows):
    return [sum(column) for column in zip(*rows, strict=True)]


def groups(offsets):
    return [range(a, b) for a, b in pairwise(offsets)]


def winners(offsets, scores):
    """The first hypothesis with the highest score, of every sentence that has any."""
    return [max(group, key=lambda h: (scores[h], -h)) for group in groups(offsets) if len(group)]


def line_search(offsets, scores, slopes, rows):
    """The highest BLEU on the line scores + x slopes: try a point between any two neighbouring crossings."""
    crossings = set()
    for group in groups(offsets):
        for i in group:
            for j in group:
                if slopes[i] != slopes[j]:
                    crossings.add((scores[i] - scores[j]) / (slopes[j] - slopes[i]))
    points = sorted(crossings)
    if not points:
        return bleu(add([rows[h] for h in winners(offsets, scores)])), 0.0
    tries = [points[0] - 1.0, points[-1] + 1.0]
    tries += [(a + b) / 2 for a, b in pairwise(points) if b - a > 1e-9 * (1 + abs(b))]
    best = max(tries, key=lambda x: on_line(offsets, scores, slopes, rows, x))
    return on_line(offsets, scores, slopes, rows, best), best


def on_line(offsets, scores, slopes, rows, x):
    moved = [score + x * slope for score, slope in zip(scores, slopes, strict=True)]
    return bleu(add([rows[h] for h in winners(offsets, moved)]))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def mira_epoch(offsets, order_of_sentences, features, rows, weights, background, c=0.01, decay=0.999):
    """One pass of k-best MIRA; changes `weights` and `background`; returns the sum of all weights on the way."""
    total = [0.0] * len(weights)
    for s in order_of_sentences:
        group = groups(offsets)[s]
        score = {h: dot(weights, features[h]) for h in group}
        gain = {}
        for h in group:
            sums = [a + b for a, b in zip(rows[h], background, strict=True)]
            logs = sum(math.log(sums[2 + n] / sums[6 + n]) for n in range(4)) / 4
            gain[h] = math.exp(logs + min(0.0, 1.0 - sums[1] / sums[0])) * sums[1]
        hope = max(group, key=lambda h: score[h] + gain[h])
        fear = max(group, key=lambda h: score[h] - gain[h])
        margin = gain[hope] - gain[fear]
        loss = margin - (score[hope] - score[fear])
        away = [a - b for a, b in zip(features[hope], features[fear], strict=True)]
        if margin > 1e-9 and loss > 0 and dot(away, away) > 0:
            step = min(c, loss / dot(away, away))
            for f, value in enumerate(away):
                weights[f] += step * value
        for i in range(len(background)):
            background[i] = decay * background[i] + rows[hope][i]
        total = [a + b for a, b in zip(total, weights, strict=True)]
    return total


def pro_pairs(offsets, quality, lengths, samples, threshold, keep, limit, seed):
    """Draw pairs and keep those that differ most; pairs (better, worse) by sentence and falling difference."""
    kept = []
    for s, group in enumerate(groups(offsets)):
        if len(group) < 2:
            continue
        state = mix(seed ^ mix(s + 1))
        found = []
        for draw in range(samples):
            state = (state + 0x9E3779B97F4A7C15) & MASK
            bits = mix(state)
            one = group[(bits >> 31 & 0x7FFFFFFF) * len(group) >> 31]
            two = group[(bits & 0x7FFFFFFF) * len(group) >> 31]
            if quality[one] < quality[two]:
                one, two = two, one
            difference = quality[one] - quality[two]
            if difference > 0 and difference >= threshold and abs(lengths[one] - lengths[two]) <= limit:
                found.append((-difference, draw, one, two))
        kept += [[one, two] for _, _, one, two in sorted(found)[:keep]]
    return kept


def logistic(pairs, features, weights):
    """Σ log(1 + exp(-(w · (better - worse))))."""
    return sum(math.log(1 + math.exp(-(dot(weights, features[a]) - dot(weights, features[b])))) for a, b in pairs)
