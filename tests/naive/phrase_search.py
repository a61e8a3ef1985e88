"""Phrase translation by the textbook: enumerate every derivation, score each from scratch, sort.

A model is a dictionary of rules and dictionaries of n-grams; a derivation is a list of (begin, end, rule) in target
order. Nothing here is clever: it is what the decoder must agree with on sentences of a few words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from naive.bent_scores import Bend

from camber.corpus.constraints import FREE

SCORES = ("p_s_given_t", "lex_s_given_t", "p_t_given_s", "lex_t_given_s")
COUNTS = ("count_s", "count_t", "count_st")
MSD = ("monotone", "swap", "discontinuous")


@dataclass(frozen=True)
class Rule:
    """One translation of a source phrase, with raw probabilities."""

    target: tuple[str, ...]
    scores: tuple[float, ...] = ()  # 4; none: a word that is passed through
    reordering: tuple[float, ...] = ()  # 6, backward then forward; none: no reordering model
    links: tuple[tuple[int, int], ...] = ((0, 0),)
    counts: tuple[int, ...] = (1, 1, 1)  # c(s), c(t), c(s, t); 0: not known
    more: tuple[tuple[str, float], ...] = ()  # other features by name
    made: bool = False  # no rule, but what a constraint wants
    said: tuple[str, ...] = ()  # what is written, where that differs from what language models hear


@dataclass
class Model:
    """Rules by source phrase; n-grams as natural (log probability, backoff) by word tuple, one dictionary per LM."""

    rules: dict[tuple[str, ...], list[Rule]]
    language_models: list[dict[tuple[str, ...], tuple[float, float]]] = field(default_factory=list)
    bend: Bend | None = None  # without it, probabilities and counts enter as logarithms
    names: tuple[str, ...] = SCORES  # the rules' own features
    indicators: frozenset[str] = frozenset()  # those of them that enter as they are
    scored: dict[tuple[str, ...], float] | None = None  # what each n-gram of a translation adds, for one sentence


def log_of(probability):
    """Return the logarithm; a probability of 0 counts as e^-100."""
    return max(math.log(probability), -100.0) if probability > 0 else -100.0


def own(model, rule):
    """Return the raw values of the rule's own features that are known, by name; none of a word that is passed on."""
    if not rule.scores:
        return {}
    values = dict(zip(SCORES, rule.scores, strict=True))
    values |= {name: count for name, count in zip(COUNTS, rule.counts, strict=True) if count}
    values |= dict(rule.more)
    return {name: values[name] for name in model.names if name in values}


def linear(model, name, value):
    """Return what a weight multiplies, of one of a rule's own features."""
    return value if model.bend is not None or name in model.indicators else log_of(value)


# --- features of one derivation ---------------------------------------------------------------------------------------


def log_probability(ngrams, context, word):
    """Return log p(word | context): the n-gram itself, else the context's backoff and a shorter context."""
    if (*context, word) in ngrams:
        return ngrams[(*context, word)][0]
    return ngrams.get(context, (0.0, 0.0))[1] + log_probability(ngrams, context[1:], word)


def lm_word(ngrams, word):
    """Return the word as the model sees it; the three special tokens are never words of a text."""
    return word if (word,) in ngrams and word not in ("<s>", "</s>", "<unk>") else "<unk>"


def lm_score(ngrams, words, begin=True, end=True):
    """Return the log probability of a text, after `<s>` and with `</s>` if wanted."""
    history = ("<s>",) if begin else ()
    total = 0.0
    for word in [lm_word(ngrams, word) for word in words] + ["</s>"] * end:
        total += log_probability(ngrams, history, word)
        history = (*history, word)
    return total


def orientation(previous, span):
    """Say how a source span lies to the one that was translated before it (None: the start of the sentence)."""
    before = previous or (None, 0)
    if span[0] == before[1]:
        return 0
    return 1 if span[1] == before[0] else 2


def features(model, derivation):
    """Return the features of a derivation by name."""
    values = dict.fromkeys(model.names, 0.0)
    values |= {f"reorder_{name}_{side}": 0.0 for side in ("backward", "forward") for name in MSD}
    values |= {"distortion": 0.0, "word_penalty": 0.0, "phrase_penalty": float(len(derivation)), "unknown": 0.0}
    previous, previous_rule = None, None
    for begin, end, rule in derivation:
        values["distortion"] -= abs(begin - (previous[1] if previous else 0))
        values["word_penalty"] -= len(rule.target)
        if not rule.scores and not rule.made:
            values["unknown"] += 1.0
        for name, value in own(model, rule).items():
            values[name] += linear(model, name, value)
        turn = orientation(previous, (begin, end))
        if rule.reordering:
            values[f"reorder_{MSD[turn]}_backward"] += log_of(rule.reordering[turn])
        if previous_rule and previous_rule.reordering:
            values[f"reorder_{MSD[turn]}_forward"] += log_of(previous_rule.reordering[3 + turn])
        previous, previous_rule = (begin, end), rule
    words = text(derivation)
    for k, ngrams in enumerate(model.language_models, 1):
        values["lm" if k == 1 else f"lm{k}"] = lm_score(ngrams, words)
    if model.scored is not None:
        values["regression"] = ngram_sum(model.scored, words)
    return values


def ngram_sum(scored, words):
    """Return what all n-grams of a text add."""
    ends = range(1, len(words) + 1)
    return sum(scored.get(tuple(words[start:end]), 0.0) for end in ends for start in range(end))


def text(derivation):
    """Return the target words of a derivation, as language models hear them."""
    return [word for _, _, rule in derivation for word in rule.target]


def written(derivation):
    """Return the target words of a derivation, as they are written."""
    return [word for _, _, rule in derivation for word in rule.said or rule.target]


def score(model, derivation, weights):
    """Return weights · features, and what the bins of the rules add; a feature that is only bent has no weight."""
    total = sum(weights.get(name, 0.0) * value for name, value in features(model, derivation).items())
    return total + sum(bent_worth(model, rule) for _, _, rule in derivation)


def bent_worth(model, rule):
    """Return what the bins that a rule's values fall into add; a word that is passed through hits none."""
    if model.bend is None or not rule.scores:
        return 0.0
    return model.bend.worth({**own(model, rule), "word_penalty": -len(rule.target)})


# --- all derivations --------------------------------------------------------------------------------------------------


def options(model, phrase, weights, limit, rules=None, alone=True):
    """Return the best `limit` rules of a phrase by score without context; an unknown word is passed through."""
    rules = model.rules.get(phrase, []) if rules is None else rules
    if not rules and len(phrase) == 1 and alone:
        return [Rule(phrase)]

    def estimate(rule):
        value = weights["phrase_penalty"] - weights["word_penalty"] * len(rule.target)
        if model.bend is None:
            value += sum(weights[name] * linear(model, name, p) for name, p in own(model, rule).items())
        else:
            value += sum(weights.get(name, 0.0) * p for name, p in own(model, rule).items())
            value += bent_worth(model, rule)
        for k, ngrams in enumerate(model.language_models, 1):
            value += weights["lm" if k == 1 else f"lm{k}"] * lm_score(ngrams, rule.target, begin=False, end=False)
        return value

    by_probability = sorted(
        rules, key=lambda rule: -max(rule.scores[2:3], default=0.0)
    )  # p(t|s) decides between equal estimates
    return sorted(by_probability, key=estimate, reverse=True)[:limit]


def obedient(model, sentence, a, b, constraints):
    """Return the rules for words a .. b - 1 that obey constraints, None where all do."""
    terms = [term for term in constraints.terms if term.begin < b and a < term.end]
    bans = [ban for ban in constraints.bans if ban.begin < b and a < ban.end]
    rules = [
        rule
        for rule in model.rules.get(tuple(sentence[a:b]), [])
        if not any(_has(rule.target, ban.target) for ban in bans)
    ]
    if not terms:
        return rules if bans else None
    if [(a, b)] == [(term.begin, term.end) for term in terms]:
        wanted = terms[0].targets
        known = [rule for target in wanted for rule in rules if rule.target == target]
        best = max(rules, key=lambda rule: rule.scores[2]).target if rules else ()
        if len(known) == len(wanted):
            return known
        return [Rule((*best[: len(row)], *row[len(best) :]), made=True, said=row) for row in wanted]
    some = [rule for rule in rules if all(_translated(rule, term, a, b) for term in terms)]
    if len(terms) > 1 or not (a <= terms[0].begin and terms[0].end <= b):
        return some
    probable = sorted(rules, key=lambda rule: -rule.scores[2])[:3]
    return some + [like for rule in probable for like in _likenesses(rule, terms[0], a)]


def _likenesses(rule, term, a):
    """Yield a rule with other words where its links say that it translates a term, as many as it has there."""
    places = sorted({t for s, t in rule.links if term.begin <= a + s < term.end})
    others = {t for s, t in rule.links if not term.begin <= a + s < term.end}
    if places and places == list(range(places[0], places[-1] + 1)) and not others & set(places):
        before, now, after = (
            rule.target[: places[0]],
            rule.target[places[0] : places[-1] + 1],
            rule.target[places[-1] + 1 :],
        )
        for row in term.targets:
            if len(row) == len(now) and row != now:
                yield replace(rule, said=(*before, *row, *after))


def _has(target, piece):
    """Say whether a piece is in a target, in any case."""
    low = [word.lower() for word in target]
    return any(low[i : i + len(piece)] == [word.lower() for word in piece] for i in range(len(low)))


def _translated(rule, term, a, b):
    """Say whether a rule for words a .. b - 1 has a whole term inside and makes of it what it wants, by its links."""
    if term.begin < a or b < term.end:
        return False
    places = {t for s, t in rule.links if term.begin <= a + s < term.end}
    others = {t for s, t in rule.links if not term.begin <= a + s < term.end}
    between = list(range(min(places, default=0), max(places, default=-1) + 1))
    return not places & others and sorted(places) == between and tuple(rule.target[t] for t in between) in term.targets


def allowed(covered, last_end, begin, end, limit):
    """Say whether a phrase may come next: not too far a jump, and the first gap stays within reach."""
    if any(covered >> position & 1 for position in range(begin, end)):
        return False
    gap = 0
    while covered >> gap & 1:
        gap += 1
    return limit < 0 or (abs(begin - last_end) <= limit and (begin == gap or end - gap <= limit))


def in_place(nexts, covered, last_end, stays):
    """Return the spans that may come next if some words come right behind the one before them.

    Where that is not possible, no such word comes before the one that it follows.
    """
    if last_end in stays and any(a == last_end for a, _ in nexts):
        return [(a, b) for a, b in nexts if a == last_end]
    return [(a, b) for a, b in nexts if a not in stays or a in (0, last_end) or covered >> a - 1 & 1]


def staying(choices, length):
    """Return the words that come right behind the one before them: those passed through, and the next ones."""
    passed = {a for a in range(length) if any(not rule.scores and not rule.made for rule in choices[a, a + 1])}
    return passed | {a + 1 for a in passed}


def enumerate_derivations(model, sentence, weights, limit, option_limit=20, constraints=FREE, moving=False):
    """Yield every derivation: all segmentations, all orders within the distortion limit, all options."""
    length = len(sentence)
    spans = [(a, b) for a in range(length) for b in range(a + 1, length + 1)]
    choices = {}
    for a, b in spans:
        alone = not any(term.begin < b and a < term.end for term in constraints.terms)
        rules = obedient(model, sentence, a, b, constraints)
        choices[a, b] = options(model, tuple(sentence[a:b]), weights, option_limit, rules, alone)
        if any(a < wall < b for wall in constraints.walls):
            choices[a, b] = []

    stays = set() if moving else staying(choices, length)

    def in_order(covered, begin):
        """Say whether all words before a wall that is before a phrase are covered."""
        return all(covered & (1 << wall) - 1 == (1 << wall) - 1 for wall in constraints.walls if wall <= begin)

    def grow(covered, done):
        if covered == (1 << length) - 1:
            yield done
            return
        last_end = done[-1][1] if done else 0
        nexts = [
            (a, b)
            for (a, b), rules in choices.items()
            if rules and allowed(covered, last_end, a, b, limit) and in_order(covered, a)
        ]
        for a, b in in_place(nexts, covered, last_end, stays):
            for rule in choices[a, b]:
                yield from grow(covered | (1 << b) - (1 << a), [*done, (a, b, rule)])

    yield from grow(0, [])


def search(model, sentence, weights, limit, option_limit=20, constraints=FREE, moving=False):
    """Return all (score, derivation), best first."""
    every = enumerate_derivations(model, sentence, weights, limit, option_limit, constraints, moving)
    scored = [(score(model, derivation, weights), derivation) for derivation in every]
    return sorted(scored, key=lambda pair: -pair[0])


def distinct(derivations):
    """Keep the best derivation of every text."""
    best = {}
    for value, derivation in derivations:
        best.setdefault(tuple(text(derivation)), value)
    return best


# --- the best score of a longer sentence ------------------------------------------------------------------------------


def best_score(model, sentence, weights, limit, order):
    """Return the best score by dynamic programming over (coverage, last phrase, last order - 1 words).

    All context of every feature is in that key, so the maximum is exact.
    """
    length = len(sentence)
    longest = max(map(len, model.rules))
    spans = [(a, b) for a in range(length) for b in range(a + 1, min(length, a + longest) + 1)]
    choices = {(a, b): options(model, tuple(sentence[a:b]), weights, 20) for a, b in spans}
    stays = staying(choices, length)
    start = [("<s>",)] * len(model.language_models)
    stacks = [{} for _ in range(length + 1)]
    stacks[0][0, None, None, tuple(start)] = 0.0
    for size, stack in enumerate(stacks[:-1]):
        for (covered, span, last, histories), value in stack.items():
            last_end = span[1] if span else 0
            near = [(a, b) for a, b in spans if limit < 0 or abs(a - last_end) <= limit]
            nexts = [(a, b) for a, b in near if choices[a, b] and allowed(covered, last_end, a, b, limit)]
            for a, b in in_place(nexts, covered, last_end, stays):
                for rule in choices[a, b]:
                    complete = size + b - a == length
                    new, after = _extend(model, weights, (span, last, histories), (a, b, rule), complete, order)
                    key = covered | (1 << b) - (1 << a), (a, b), rule, after
                    target = stacks[size + b - a]
                    target[key] = max(target.get(key, -math.inf), value + new)
    return max(stacks[-1].values())


def _extend(model, weights, state, step, complete, order):
    """Return what one more phrase adds to the score, and the language models' histories after it."""
    span, last, histories = state
    previous = [(*span, last)] if span else []
    after = features(Model(model.rules), [*previous, step])
    before = features(Model(model.rules), previous)
    added = sum(weights[name] * (after[name] - before[name]) for name in after)
    # the phrase before was taken to be the first of its sentence, in both: only what follows it differs
    new = []
    for k, (ngrams, history) in enumerate(zip(model.language_models, histories, strict=True), 1):
        for word in [lm_word(ngrams, word) for word in step[2].target] + ["</s>"] * complete:
            added += weights["lm" if k == 1 else f"lm{k}"] * log_probability(ngrams, history, word)
            history = (*history, word)[-(order - 1) :] if order > 1 else ()
        new.append(history)
    return added, tuple(new)
