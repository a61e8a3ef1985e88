"""Penalties on neighbouring bins, term by term (clark2014, Eq. 9-10 and 12-13)."""

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
