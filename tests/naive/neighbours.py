"""Penalties on neighbouring bins, term by term (clark2014, Eq. 9-10 and 12-13), and on walks away from a line."""

import math


def linear(weights, strength, chains):
    total = 0.0
    for first, end in chains:
        for j in range(first + 1, end - 1):
            total += ((weights[j - 1] + weights[j + 1]) / 2 - weights[j]) ** 2
    return strength * total


def monotone(weights, strength, gamma, chains):
    total = 0.0
    for first, end in chains:
        for j in range(first + 1, end - 1):
            above = (weights[j - 1] + weights[j + 1]) / 2 - weights[j]
            below = (weights[j - 1] - weights[j + 1]) / 2
            if above == 0.0:
                continue
            damping = 1.0 if below == 0.0 else math.tanh(abs(above / below)) ** (2 * gamma)
            total += damping * above**2
    return strength * total


def walk(weights, strength, chains, gaps):
    total, at = 0.0, 0
    for first, end in chains:
        for j in range(first, end - 1):
            total += (weights[j + 1] - weights[j]) ** 2 / gaps[at + j - first]
        at += end - first
    return strength * total


def against_the_line(weights, strength, chains, gaps, lines, rises):
    total, at = 0.0, 0
    for first, end in chains:
        for j in range(first, end - 1):
            slope = weights[lines[at + j - first]]
            step = slope * rises[at + j - first] + weights[j + 1] - weights[j]
            if slope > 0.0 > step or slope < 0.0 < step:
                total += step**2 / gaps[at + j - first]
        at += end - first
    return strength * total
