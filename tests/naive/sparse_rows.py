"""Sparse rows as what they stand for: a list of lists, mostly zeros."""

import itertools
import math


def gather(keys, row_offsets, width):
    """How often each row names each column; negative names count for nothing."""
    rows = []
    for first, last in itertools.pairwise(row_offsets):
        row = [0.0] * width
        for key in keys[first:last]:
            if key >= 0:
                row[key] += 1.0
        rows.append(row)
    return rows


def products(table, weights):
    return [sum(cell * weight for cell, weight in zip(row, weights, strict=True)) for row in table]


def project(table, slopes, width):
    sums = [0.0] * width
    for row, slope in zip(table, slopes, strict=True):
        for column, cell in enumerate(row):
            sums[column] += slope * cell
    return sums


def differences(table, left, right):
    return [[a - b for a, b in zip(table[i], table[j], strict=True)] for i, j in zip(left, right, strict=True)]


def spreads(table, group_offsets, width):
    """The standard deviation of every column around the mean of its group."""
    squares = [0.0] * width
    for first, last in itertools.pairwise(group_offsets):
        for column in range(width):
            cells = [row[column] for row in table[first:last]]
            if cells:
                mean = sum(cells) / len(cells)
                squares[column] += sum((cell - mean) ** 2 for cell in cells)
    return [math.sqrt(square / max(1, len(table))) for square in squares]
