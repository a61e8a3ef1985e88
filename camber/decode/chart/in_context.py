"""Trees that look at the context of a synchronous rule: its features are put together where it is placed.

Without such trees the kernels get None in place of a `ChartContext`, and are compiled without all this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F8, I8
from camber.bend.trees.context import ContextTrees, worth_in_context
from camber.decode.chart.features import LM, PER_LM, WORD_PENALTY
from camber.kernel import kernel, kernel_inlined
from camber.lm.ngrams import UNKNOWN
from camber.rules.columns import rule_value
from camber.rules.hiero.grammar import Grammar


class ChartContext(NamedTuple):
    """Trees in context, what they must know about the rules, and room for the features of one part."""

    trees: ContextTrees
    unit: float  # what a natural logarithm of 1, and a word of the penalty, count
    known_inputs: I8  # [known] inputs of the trees that depend on a rule alone
    known: F8  # [rules, known] what these are for every rule of the grammar, raw
    vector: F8  # [inputs]


def known_values(grammar: Grammar, inputs: I8, lm_words: I8, unit: float) -> F8:
    """Return inputs of the scope "rule" for all rules of a grammar, raw: float64[rules, inputs].

    lm_words: int64[models, target words], what the language models call the target words.
    """
    known = np.empty((len(grammar), len(inputs)))
    heard = grammar.target if grammar.heard is None else grammar.heard
    _fill_known(grammar.columns, heard, grammar.target_offsets, lm_words, inputs, unit, known)
    return known


@kernel
def _fill_known(columns, target, target_offsets, lm_words, inputs, unit, known):
    own = columns.width
    for r in range(len(known)):
        for k in range(len(inputs)):
            column = inputs[k] - own
            if column < 0:
                known[r, k] = rule_value(columns, r, inputs[k])
                continue
            value = 0.0  # neither glue nor a word that is passed through
            model = (column - LM) // PER_LM
            if column == WORD_PENALTY or column >= LM:
                count = np.int64(0)
                for t in range(target_offsets[r], target_offsets[r + 1]):
                    if target[t] >= 0 and (column == WORD_PENALTY or lm_words[model, target[t]] == UNKNOWN):
                        count += 1
                value = -unit * count if column == WORD_PENALTY else np.float64(count)
            known[r, k] = value


@kernel_inlined
def put_language_model(context, columns, k, final):
    """Fill in what language model `k` says of the words whose whole context is known; `columns` are the grammar's."""
    context.vector[columns + LM + PER_LM * k] = final * context.unit


@kernel_inlined
def part_worth(context, r):
    """Return what the trees add for a rule; the language models' scores are in the vector already.

    A word that is passed through is no rule, and gets nothing.
    """
    if r >= len(context.known):
        return 0.0
    for k in range(len(context.known_inputs)):
        context.vector[context.known_inputs[k]] = context.known[r, k]
    return worth_in_context(context.trees, context.vector)
