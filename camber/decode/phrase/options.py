"""Translation options: what every source phrase of a batch of sentences may become, scored before the search.

All that does not depend on context is computed here, once per rule: the weighted rule features, the weighted reordering
scores, and the language model's view of the phrase from inside. The search then only adds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from camber.arrays.ragged import places_of
from camber.arrays.types import F4, F8, I4, I8, Array, Records
from camber.bend.weighing import Weighing
from camber.decode.phrase.features import PHRASE_PENALTY, REORDERING, UNKNOWN, WORD_PENALTY, log_of
from camber.decode.phrase.in_context import PhraseContext, part_worth, put_language_model
from camber.decode.phrase.ngram_scores import NgramAutomaton, add_inside, read_inside
from camber.kernel import kernel
from camber.kernel.sort import insert_falling
from camber.kernel.table import empty_table, first_slot, mix, next_slot
from camber.lm.ngrams import step
from camber.rules.columns import fill_values
from camber.rules.phrase.source import PhraseBatch
from camber.rules.phrase.store import RuleStore

#: what the search looks up whenever it places an option
FACT = np.dtype(
    [
        ("outside", np.float64),  # base - estimate: what the language models said from inside, taken back
        ("first", np.uint32),  # words first .. last
        ("last", np.uint32),
        ("turn", np.int64),  # equal where nothing that follows can tell two options apart by their reordering
    ]
)
#: a word, as a language model has it; the state after it and the log probability of what follows, seen from inside
HEARD = np.dtype([("word", np.int32), ("state", np.int32), ("rest", np.float64)])

#: numbers that are made at a time to weigh rules: with many features, those of all rules of a batch would be a lot
_CELLS = 1 << 20


class LanguageModels(NamedTuple):
    """All language models of a search, laid into one pair of arrays, and what scores n-grams for its sentence."""

    nodes: npt.NDArray[Any]
    children: npt.NDArray[Any]
    weights: F8  # [models]
    highest: F8  # [models] more than a word can be worth
    ngrams: NgramAutomaton | None = None


class Words(NamedTuple):
    """What the language models call the words of rules, and where they begin to read."""

    roots: I8  # [models] states without any context
    known: I8  # [models, target words of the rules]
    unknown: I8  # [models, unknown words of the batch]


class _Rules(NamedTuple):
    """The columns of a rule store that options are made from."""

    rule_offsets: I8
    target_ids: I4
    target_offsets: I8
    reordering: F4  # [R, 6 or 0]


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
    order: Array  # uint32[3, options]
    score: F8  # [3, options]
    facts: Records  # FACT[options]
    word_first: I8  # [options + 1]
    target: I8  # [words] target word, or -1 - u for unknown word u
    heard: Records  # HEARD[language models, words]; n-grams of the sentence have a row behind them


class Chosen(NamedTuple):
    """The rules that become options, phrase by phrase and by falling estimate."""

    phrases: I8
    first: I8  # [phrases + 1]
    rule: I8  # [options]
    base: F8
    estimate: F8
    words: int  # of all options together

    def target_words(self, store: RuleStore) -> I8:
        """Return the target words that options have, rising."""
        rules = self.rule[self.rule >= 0]
        starts = store.target_offsets[rules]
        return np.unique(store.target_ids[places_of(starts, store.target_offsets[rules + 1] - starts)]).astype(np.int64)


def choose_options(
    weighing: Weighing,
    limit: int,
    batch: PhraseBatch,
    phrases: I8,
    models: LanguageModels,
    words: Words,
    context: PhraseContext | None = None,
) -> Chosen:
    """Score the rules of `phrases` (rows of the batch's store, or -1 - u for unknown word u); keep `limit` of each.

    What scores n-grams for a sentence must know first which words these have, so it has no say in this.
    """
    store, own = batch.store, batch.columns.width
    other = weighing.linear[own:]  # of what comes behind the rules' own features
    known = phrases[phrases >= 0]
    rows = rules_of(store, known)
    worth = np.empty(len(rows))
    step = max(1, _CELLS // (own + 1))
    for at in range(0, len(rows), step):
        worth[at : at + step] = weighing.rule_worth(rule_values(batch, rows[at : at + step]), rule_columns(own))
    if batch.bound is not None:
        made = batch.bound.made[rows]  # no rule: nothing is known of it but its words
        sizes = store.target_offsets[rows + 1] - store.target_offsets[rows]
        worth = np.where(made, -other[WORD_PENALTY] * sizes, worth) + batch.bound.penalty[rows]
    sizes = store.rule_offsets[known + 1] - store.rule_offsets[known]
    room = int(np.minimum(sizes, limit).sum()) + len(phrases) - len(known) + 1
    first = np.zeros(len(phrases) + 1, np.int64)
    rule, base, estimate = np.empty(room, np.int64), np.empty(room), np.empty(room)
    unknown = other[PHRASE_PENALTY] - other[WORD_PENALTY] + other[UNKNOWN]
    total = _select(
        phrases,
        limit,
        _rules(store),
        worth,
        other[PHRASE_PENALTY],
        unknown,
        models,
        words,
        context,
        first,
        rule,
        base,
        estimate,
    )
    count = int(first[-1])
    return Chosen(phrases, first, rule[:count].copy(), base[:count].copy(), estimate[:count].copy(), int(total))


def lay_out(
    chosen: Chosen,
    weighing: Weighing,
    batch: PhraseBatch,
    models: LanguageModels,
    words: Words,
    context: PhraseContext | None = None,
) -> Options:
    """Lay out what was chosen, as the search reads it; n-grams inside options count now."""
    phrases, first, rule, base, estimate, total = chosen
    rules, other = _rules(batch.store), weighing.linear[batch.columns.width :]
    if models.ngrams is not None:
        rule, base, estimate = rule.copy(), base.copy(), estimate.copy()
        add_inside(models.ngrams, phrases, rules, first, rule, base, estimate)
    count, width = len(rule), len(words.roots) + (models.ngrams is not None)
    options = Options(
        first=first,
        rule=rule,
        base=base,
        estimate=estimate,
        reorder=np.empty((count, 6)),
        order=np.empty((3, count), np.uint32),
        score=np.empty((3, count)),
        facts=np.empty(count, FACT),
        word_first=np.empty(count + 1, np.int64),
        target=np.empty(total, np.int64),
        heard=np.empty((width, total), HEARD),
    )
    _read_out(phrases, rules, models, words, options)
    _reorder(rules, other[REORDERING : REORDERING + 6].copy(), options)
    turns = options.reorder[:, 3:] + 0.0  # no -0.0
    if context is not None and rules.reordering.shape[1] == 6:
        # a weight of 0 hides from the scores what trees can see
        seen = np.where(rule[:, np.newaxis] < 0, np.nan, rules.reordering[rule, 3:].astype(np.float64))
        turns = np.concatenate((turns, seen), axis=1)
    _tell_turns(np.ascontiguousarray(turns).view(np.int64), empty_table(count), options.facts)
    return options


def _rules(store: RuleStore) -> _Rules:
    return _Rules(store.rule_offsets, store.target_ids, store.target_offsets, store.reordering)


def rule_columns(own: int) -> I8:
    """Return the columns of what depends on a rule alone and can be bent: its `own` features, and the words."""
    return np.array([*range(own), own + WORD_PENALTY], np.int64)


def rules_of(store: RuleStore, phrases: I8) -> I8:
    """Return the rules of some phrases, in their order."""
    starts = store.rule_offsets[phrases]
    return places_of(starts, store.rule_offsets[phrases + 1] - starts)


def rule_values(batch: PhraseBatch, rules: I8) -> F8:
    """Return the raw features `rule_columns` of some rules: float64[rules, own + 1]."""
    values = np.empty((len(rules), batch.columns.width + 1))
    fill_values(batch.columns, rules, values)
    values[:, -1] = batch.store.target_offsets[rules] - batch.store.target_offsets[rules + 1]
    return values


@kernel
def _select(phrases, limit, rules, worth, phrase_penalty, unknown, models, words, context, first, rule, base, estimate):
    """Choose the best `limit` rules of every phrase by estimate; return how many words they have in all.

    worth float64: what the rules' own features are worth, phrase after phrase; unknown: what an unknown word is worth,
    the penalties included. The last four are filled.
    """
    count = 0
    total_words = 0
    at = 0
    for p in range(len(phrases)):
        start = count
        first[p] = start
        if phrases[p] < 0:
            inside = 0.0
            for k in range(len(words.roots)):
                gain, _ = step(models.nodes, models.children, words.roots[k], words.unknown[k, -1 - phrases[p]])
                inside += models.weights[k] * gain
            rule[count] = -1
            base[count] = unknown
            estimate[count] = base[count] + inside
            count += 1
            total_words += 1
            continue
        for r in range(rules.rule_offsets[phrases[p]], rules.rule_offsets[phrases[p] + 1]):
            a, b = rules.target_offsets[r], rules.target_offsets[r + 1]
            value = phrase_penalty + worth[at]
            at += 1
            # what is left could at most bring a rule up to here
            hope = np.inf if context is not None else 0.0
            for k in range(len(words.roots)):
                hope += models.highest[k] * (b - a) if models.weights[k] >= 0.0 else np.inf
            beaten = estimate[count - 1] if count - start == limit else -np.inf
            inside = 0.0
            for k in range(len(words.roots)):
                state = words.roots[k]
                gain = 0.0
                for t in range(a, b):
                    if value + (inside + models.weights[k] * gain) + hope <= beaten:
                        break
                    g, state = step(models.nodes, models.children, state, words.known[k, rules.target_ids[t]])
                    gain += g
                inside += models.weights[k] * gain
                if context is not None:
                    put_language_model(context, k, gain)
            if context is not None:
                inside += part_worth(context, r, b - a, np.int64(-1), 0, 0)
            guess = value + inside
            if count - start == limit:
                if guess <= estimate[count - 1]:
                    continue
                count -= 1
                dropped = rule[count]
                total_words -= rules.target_offsets[dropped + 1] - rules.target_offsets[dropped]
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
def _read_out(phrases, rules, models, words, options):
    """Fill the words of the options, and the language models' view of them from inside."""
    at = 0
    for p in range(len(phrases)):
        for o in range(options.first[p], options.first[p + 1]):
            start = at
            options.word_first[o] = start
            r = options.rule[o]
            if r < 0:
                for k in range(len(words.roots)):
                    options.heard[k, at]["word"] = words.unknown[k, -1 - phrases[p]]
                options.target[at] = phrases[p]
                at += 1
            else:
                for t in range(rules.target_offsets[r], rules.target_offsets[r + 1]):
                    for k in range(len(words.roots)):
                        options.heard[k, at]["word"] = words.known[k, rules.target_ids[t]]
                    options.target[at] = rules.target_ids[t]
                    at += 1
            for k in range(len(words.roots)):
                state = words.roots[k]
                for t in range(start, at):
                    heard = options.heard[k, t]
                    gain, state = step(models.nodes, models.children, state, np.int64(heard["word"]))
                    heard["state"] = state
                    heard["rest"] = gain
                rest = 0.0
                for t in range(at - 1, start - 1, -1):
                    heard = options.heard[k, t]
                    gain = heard["rest"]
                    heard["rest"] = rest
                    rest += gain
            fact = options.facts[o]
            fact["outside"] = options.base[o] - options.estimate[o]
            fact["first"] = start
            fact["last"] = at
            read_inside(models.ngrams, options, len(words.roots), start, at)
    options.word_first[options.first[len(phrases)]] = at


@kernel
def _reorder(rules, weights, options):
    """Fill the reordering scores, and sort every phrase's options with those of each orientation added."""
    with_reordering = rules.reordering.shape[1] == 6
    for p in range(len(options.first) - 1):
        first, last = options.first[p], options.first[p + 1]
        for o in range(first, last):
            r = options.rule[o]
            for m in range(6):
                options.reorder[o, m] = 0.0
                if with_reordering and r >= 0:
                    options.reorder[o, m] = weights[m] * log_of(rules.reordering[r, m])
        for m in range(3):
            for o in range(first, last):
                value = options.estimate[o] + options.reorder[o, m]
                insert_falling(options.score[m], options.order[m], first, o, value, o)


@kernel
def _tell_turns(keys, slots, facts):
    """Number the distinct rows of `keys` int64[options, …]; slots: an empty table for as many."""
    for o in range(len(keys)):
        hashed = np.int64(0)
        for k in range(keys.shape[1]):
            hashed = mix(hashed ^ keys[o, k])
        slot = first_slot(slots, hashed)
        while slots[slot] >= 0:
            other = slots[slot]
            same = True
            for k in range(keys.shape[1]):
                same = same and keys[other, k] == keys[o, k]
            if same:
                break
            slot = next_slot(slots, slot)
        if slots[slot] < 0:
            slots[slot] = o
        facts[o]["turn"] = slots[slot]
