"""Trees that look at the context of a synchronous rule: its features are put together where it is placed.

Without such trees the kernels get None in place of a `ChartContext`, and are compiled without all this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8
from camber.bend.trees.context import ContextTrees, worth_in_context
from camber.decode.chart.features import GLUE, LM, PASS_THROUGH, PER_LM, SOURCE_OOV, WORD_PENALTY
from camber.kernel import kernel_inlined
from camber.lm.ngrams import UNKNOWN
from camber.rules.columns import rule_value


class ChartContext(NamedTuple):
    """Trees in context, and room for the features of one part."""

    trees: ContextTrees
    unit: float  # what a natural logarithm of 1, and a word of the penalty, count
    vector: F8  # [inputs]


@kernel_inlined
def put_language_model(context, columns, k, final):
    """Fill in what language model `k` says of the words whose whole context is known; `columns` are the grammar's."""
    context.vector[columns + LM + PER_LM * k] = final * context.unit


@kernel_inlined
def part_worth(context, rules, r, models):
    """Return what the trees add for a rule; the language models' scores are in the vector already.

    A word that is passed through is no rule, and gets nothing.
    """
    if r >= len(rules.columns.table):
        return 0.0
    vector, columns = context.vector, rules.columns.width
    for k in range(len(context.trees.inputs)):
        column = context.trees.inputs[k]
        if column < columns:
            vector[column] = rule_value(rules.columns, r, column)
    vector[columns + GLUE] = 0.0
    vector[columns + PASS_THROUGH] = 0.0
    vector[columns + SOURCE_OOV] = 0.0
    words = np.int64(0)
    for k in range(models):
        vector[columns + LM + PER_LM * k + 1] = 0.0
    for t in range(rules.target_offsets[r], rules.target_offsets[r + 1]):
        if rules.target[t] >= 0:
            words += 1
            for k in range(models):
                if rules.words[k, t] == UNKNOWN:
                    vector[columns + LM + PER_LM * k + 1] += 1.0
    vector[columns + WORD_PENALTY] = -context.unit * words
    return worth_in_context(context.trees, vector)
