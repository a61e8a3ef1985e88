"""Trees that look at the context of a phrase: its features are put together where it is placed.

Without such trees the kernels get None in place of a `PhraseContext`, and are compiled without all this.
"""

from __future__ import annotations

from typing import NamedTuple

from camber.arrays.types import F8, Array, Bools
from camber.bend.trees.context import ContextTrees, worth_in_context
from camber.decode.phrase.features import DISTORTION, LM, PHRASE_PENALTY, REORDERING, UNKNOWN, WORD_PENALTY, log_of
from camber.kernel import kernel_inlined
from camber.rules.columns import RuleColumns, rule_value


class PhraseContext(NamedTuple):
    """What trees in context need to know about rules, and room for the features of one part."""

    trees: ContextTrees
    rules: RuleColumns  # the rules' own features, raw
    reordering: Array  # float32[R, 6 or 0]
    vector: F8  # [inputs]
    made: Bools  # [rules] made up for a constraint, and no rules at all; or [0]: there are none


@kernel_inlined
def part_worth(context, rule, words, previous, orientation, jump):
    """Return what the trees add for a rule behind the rule `previous` (-1: none, or an unknown word).

    An unknown word, or what a constraint made up, is no rule, and gets nothing. The language models' scores are in the
    vector already. jump: source words between the two phrases.
    """
    if rule < 0 or (len(context.made) > 0 and context.made[rule]):
        return 0.0
    vector, own = context.vector, context.rules.width
    for k in range(len(context.trees.inputs)):
        column = context.trees.inputs[k]
        if column < own:
            vector[column] = rule_value(context.rules, rule, column)
        elif column < own + DISTORTION:
            vector[column] = 0.0
    if context.reordering.shape[1] == 6:
        vector[own + REORDERING + orientation] = log_of(context.reordering[rule, orientation])
        if previous >= 0:
            vector[own + REORDERING + 3 + orientation] = log_of(context.reordering[previous, 3 + orientation])
    vector[own + DISTORTION] = -jump
    vector[own + WORD_PENALTY] = -words
    vector[own + PHRASE_PENALTY] = 1.0
    vector[own + UNKNOWN] = 0.0
    return worth_in_context(context.trees, vector)


@kernel_inlined
def put_language_model(context, k, score):
    """Fill in what language model `k` says about a part."""
    context.vector[context.rules.width + LM + k] = score
