"""Translation options: what every source phrase of a batch of sentences may become, scored before the search.

All that does not depend on context is computed here, once per rule: the weighted rule features, the weighted reordering
scores, and the language model's view of the phrase from inside. The search then only adds.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from camber.arrays.types import F4, F8, I4, I8, AnyArray
from camber.bend.weighing import Weighing
from camber.decode.phrase.features import PHRASE_PENALTY, REORDERING, UNKNOWN, WORD_PENALTY, log_of
from camber.decode.phrase.settings import DecodeSettings
from camber.kernel import kernel
from camber.lm.ngrams import step
from camber.rules.phrase.store import RuleStore


class LanguageModels(NamedTuple):
    """All language models of a decoder, laid into one pair of arrays."""

    nodes: AnyArray
    children: AnyArray
    weights: F8  # [models]


class Decoder(Protocol):
    """What options are scored with: a decoder's language models and weights."""

    settings: DecodeSettings
    weighing: Weighing
    bent_columns: I8
    language_models: LanguageModels
    roots: I8
    lm_words: I8


class Options(NamedTuple):
    """Options of `phrases` source phrases; those of phrase `p` are rows ``first[p]:first[p + 1]``.

    Rows are sorted by falling `estimate`. `order[o]` sorts the rows of every phrase again with the reordering score of
    orientation `o` (monotone, swap, discontinuous) added, and `score[o]` are the sums in that order.
    """

    first: I8  # [phrases + 1]
    rule: I8  # [options]; -1: an unknown word, passed through
    base: F8  # [options] weighted features without language models and reordering
    estimate: F8  # [options] base + weighted language model score from inside the phrase
    reorder: F8  # [options, 6] weighted logarithms, backward then forward
    order: I4  # [3, options]
    score: F8  # [3, options]
    word_first: I8  # [options + 1]
    words: I4  # [language models, words] ids of each language model
    target: I8  # [words] target word, or -1 - u for unknown word u
    inner_state: I4  # [language models, words] state after the word, seen from inside
    inner_rest: F8  # [language models, words] log probability of the words after this one, seen from inside


@kernel
def _select(
    phrases,  # int64[n] phrase of the rule store, or -1 - u: unknown word u
    limit,
    rule_offsets,
    target_ids,
    target_offsets,
    worth,  # float64: what the rules' own features are worth, phrase after phrase
    phrase_penalty,
    unknown,  # what an unknown word is worth, the penalties included
    nodes,
    children,
    roots,
    lm_weights,
    lm_words,  # int64[language models, target vocabulary]
    unknown_words,  # int64[language models, unknown words]
    first,  # out
    rule,  # out
    base,  # out
    estimate,  # out
):
    """Choose the best `limit` rules of every phrase by estimate; return how many words they have in all."""
    count = 0
    total_words = 0
    at = 0
    for p in range(len(phrases)):
        start = count
        first[p] = start
        if phrases[p] < 0:
            inside = 0.0
            for k in range(len(roots)):
                gain, _ = step(nodes, children, roots[k], unknown_words[k, -1 - phrases[p]])
                inside += lm_weights[k] * gain
            rule[count] = -1
            base[count] = unknown
            estimate[count] = base[count] + inside
            count += 1
            total_words += 1
            continue
        for r in range(rule_offsets[phrases[p]], rule_offsets[phrases[p] + 1]):
            a, b = target_offsets[r], target_offsets[r + 1]
            value = phrase_penalty + worth[at]
            at += 1
            inside = 0.0
            for k in range(len(roots)):
                state = roots[k]
                gain = 0.0
                for t in range(a, b):
                    g, state = step(nodes, children, state, lm_words[k, target_ids[t]])
                    gain += g
                inside += lm_weights[k] * gain
            guess = value + inside
            if count - start == limit:
                if guess <= estimate[count - 1]:
                    continue
                count -= 1
                dropped = rule[count]
                total_words -= target_offsets[dropped + 1] - target_offsets[dropped]
            slot = count
            while slot > start and estimate[slot - 1] < guess:
                rule[slot] = rule[slot - 1]
                base[slot] = base[slot - 1]
                estimate[slot] = estimate[slot - 1]
                slot -= 1
            rule[slot] = r
            base[slot] = value
            estimate[slot] = guess
            count += 1
            total_words += b - a
    first[len(phrases)] = count
    return total_words


@kernel
def _complete(
    phrases,
    first,
    rule,
    estimate,
    target_ids,
    target_offsets,
    reordering,  # float32[R, 6 or 0]
    reordering_weights,  # float64[6]
    nodes,
    children,
    roots,
    lm_words,
    unknown_words,
    reorder,  # out
    order,  # out
    score,  # out
    word_first,  # out
    words,  # out
    target,  # out
    inner_state,  # out
    inner_rest,  # out
):
    """Fill the columns of the chosen options: words, inner language model states, reordering, orders."""
    at = 0
    with_reordering = reordering.shape[1] == 6
    for p in range(len(phrases)):
        for o in range(first[p], first[p + 1]):
            word_first[o] = at
            r = rule[o]
            if r < 0:
                for k in range(len(roots)):
                    words[k, at] = unknown_words[k, -1 - phrases[p]]
                target[at] = phrases[p]
                at += 1
            else:
                for t in range(target_offsets[r], target_offsets[r + 1]):
                    for k in range(len(roots)):
                        words[k, at] = lm_words[k, target_ids[t]]
                    target[at] = target_ids[t]
                    at += 1
            for k in range(len(roots)):
                state = roots[k]
                for t in range(word_first[o], at):
                    gain, state = step(nodes, children, state, words[k, t])
                    inner_state[k, t] = state
                    inner_rest[k, t] = gain
                rest = 0.0
                for t in range(at - 1, word_first[o] - 1, -1):
                    gain = inner_rest[k, t]
                    inner_rest[k, t] = rest
                    rest += gain
            for m in range(6):
                reorder[o, m] = 0.0
                if with_reordering and r >= 0:
                    reorder[o, m] = reordering_weights[m] * log_of(reordering[r, m])
        for m in range(3):
            for o in range(first[p], first[p + 1]):
                value = estimate[o] + reorder[o, m]
                slot = o
                while slot > first[p] and score[m, slot - 1] < value:
                    score[m, slot] = score[m, slot - 1]
                    order[m, slot] = order[m, slot - 1]
                    slot -= 1
                score[m, slot] = value
                order[m, slot] = o
    word_first[first[len(phrases)]] = at


def rule_columns(own: int) -> I8:
    """Return the columns of what depends on a rule alone: its `own` features, and the words."""
    return np.array([*range(own), own + WORD_PENALTY], np.int64)


def rule_features(store: RuleStore, table: F4, phrases: I8, logarithms: bool) -> F8:
    """Return the features `rule_columns` of all rules of some phrases, phrase after phrase: float64[rules, own + 1].

    `table` is what the rules of the store have: float32[R, own], NaN where a rule lacks a feature.
    """
    sizes = store.rule_offsets[phrases + 1] - store.rule_offsets[phrases]
    found = np.empty((int(sizes.sum()), table.shape[1] + 1))
    _rule_features(phrases, store.rule_offsets, store.target_offsets, table, int(logarithms), found)
    return found


@kernel
def _rule_features(phrases, rule_offsets, target_offsets, table, logarithms, found):
    own = table.shape[1]
    at = 0
    for phrase in phrases:
        for r in range(rule_offsets[phrase], rule_offsets[phrase + 1]):
            for f in range(own):
                found[at, f] = log_of(table[r, f]) if logarithms else np.float64(table[r, f])
            found[at, own] = target_offsets[r] - target_offsets[r + 1]
            at += 1


def build_options(decoder: Decoder, store: RuleStore, table: F4, phrases: I8, unknown_words: I8) -> Options:
    """Score and select the options of `phrases` (rows of `store`, or -1 - u for unknown word u)."""
    weights, limit = decoder.weighing.linear, decoder.settings.options
    own = table.shape[1]
    other = weights[own:]  # of what comes behind the rules' own features
    known = phrases[phrases >= 0]
    sizes = store.rule_offsets[known + 1] - store.rule_offsets[known]
    values = rule_features(store, table, known, decoder.weighing.bend is None)
    worth = decoder.weighing.of_rules(values, weights[rule_columns(own)], decoder.bent_columns)
    room = int(np.minimum(sizes, limit).sum()) + len(phrases) - len(known) + 1
    first = np.zeros(len(phrases) + 1, np.int64)
    rule, base, estimate = np.empty(room, np.int64), np.empty(room), np.empty(room)
    roots, models = decoder.roots, decoder.language_models
    lm = models.nodes, models.children
    words = _select(
        phrases, limit, store.rule_offsets, store.target_ids, store.target_offsets, worth, other[PHRASE_PENALTY],
        other[PHRASE_PENALTY] - other[WORD_PENALTY] + other[UNKNOWN], *lm,
        roots, models.weights, decoder.lm_words, unknown_words, first, rule, base, estimate,
    )  # fmt: skip
    count, width = int(first[-1]), len(roots)
    reorder, order = np.empty((count, 6)), np.empty((3, count), np.int32)
    score, word_first = np.empty((3, count)), np.empty(count + 1, np.int64)
    ids, target = np.empty((width, words), np.int32), np.empty(words, np.int64)
    inner_state, inner_rest = np.empty((width, words), np.int32), np.empty((width, words))
    _complete(
        phrases, first, rule, estimate, store.target_ids, store.target_offsets, store.reordering,
        other[REORDERING : REORDERING + 6].copy(), *lm, roots, decoder.lm_words, unknown_words,
        reorder, order, score, word_first, ids, target, inner_state, inner_rest,
    )  # fmt: skip
    return Options(
        first, rule[:count].copy(), base[:count].copy(), estimate[:count].copy(), reorder, order, score, word_first,
        ids, target, inner_state, inner_rest,
    )  # fmt: skip
