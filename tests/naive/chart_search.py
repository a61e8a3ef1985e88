"""Translation with synchronous rules by the textbook: enumerate every derivation, score each from scratch, sort.

A rule is (source, target, features), perhaps with links and with what language models hear in place of the target:
symbols are words, or 1 and 2 for the non-terminals. A derivation is a tree
(rule, begin, end, [children]); a whole one is a list of trees, the pieces that glue puts behind each other.
"""

from __future__ import annotations

import itertools
import math

from naive.lending import likenesses, marked, plain
from naive.phrase_search import lm_score, lm_word

from camber.corpus.constraints import FREE

PASSED = "passed"


def spans_of(source, sentence, begin, end):
    """Yield, for every way to lay a source side over sentence[begin:end], the spans of its non-terminals."""
    if not source:
        if begin == end:
            yield ()
        return
    head, rest = source[0], source[1:]
    if isinstance(head, str):
        if begin < end and sentence[begin] == head:
            yield from spans_of(rest, sentence, begin + 1, end)
        return
    for cut in range(begin + 1, end + 1):
        for others in spans_of(rest, sentence, cut, end):
            yield ((begin, cut), *others)


def trees(rules, sentence, begin, end, limit, copy_known=True, terms=(), worth=None):
    """Return every derivation of X over a span; what covers a part of a term's words is none.

    The sentence's words in terms are `marked`, so that only likenesses have them.
    """
    if limit and end - begin > limit:
        return []
    found = []
    for term in terms:
        if term.begin < begin < term.end or term.begin < end < term.end:
            return []
        if (term.begin, term.end) == (begin, end):
            found += [(rule, begin, end, []) for rule in rules_of_term(rules, sentence, term, worth)]
    if any(term.begin <= begin and end <= term.end for term in terms):
        return found
    own = any(list(rule[0]) == [sentence[begin]] for rule in rules)
    if end == begin + 1 and (copy_known or not own):
        found.append((PASSED, begin, end, []))
    for rule in rules:
        for spans in spans_of(rule[0], sentence, begin, end):
            below = [trees(rules, sentence, a, b, limit, copy_known, terms, worth) for a, b in spans]
            found += [(rule, begin, end, list(children)) for children in itertools.product(*below)]
    return found


def rules_of_term(rules, sentence, term, worth):
    """Return the rules that a term allows: those of the grammar, if it has all of them, or else new ones."""
    source = tuple(plain(word) for word in sentence[term.begin : term.end])
    known = [next((rule for rule in rules if rule[0] == source and rule[1] == target), None) for target in term.targets]
    if None not in known:
        return known
    best = max((rule for rule in rules if rule[0] == source), key=worth, default=((), ()))[1]
    return [
        (source, target, (math.nan,) * 99, (), (*best[: len(target)], *target[len(best) :])) for target in term.targets
    ]


def without(rules, sentence, bans):
    """Return the rules that have no words of a ban on the source side, or not the banned row on the target side."""

    def banned(rule, ban):
        row, size = [str(symbol).lower() for symbol in rule[1]], len(ban.target)
        rows = [row[i : i + size] for i in range(len(row))]
        return set(rule[0]) & set(sentence[ban.begin : ban.end]) and [w.lower() for w in ban.target] in rows

    return [rule for rule in rules if not any(banned(rule, ban) for ban in bans)]


def derivations(rules, sentence, limit, copy_known=True, begin=0, terms=(), worth=None):
    """Yield every sequence of pieces that covers the sentence."""
    if begin == len(sentence):
        yield []
        return
    for end in range(begin + 1, len(sentence) + 1):
        pieces = trees(rules, sentence, begin, end, limit, copy_known, terms, worth)
        if pieces:
            for rest in derivations(rules, sentence, limit, copy_known, end, terms, worth):
                for piece in pieces:
                    yield [piece, *rest]


def text(tree, sentence, heard=False):
    """Return the target words of a tree, or what language models hear in their place."""
    rule, begin, _, children = tree
    if rule == PASSED:
        return [sentence[begin]]
    words = []
    for symbol in rule[4] if heard and len(rule) > 4 else rule[1]:
        words += [symbol] if isinstance(symbol, str) else text(children[symbol - 1], sentence, heard)
    return words


def nodes(tree):
    """Yield a tree's nodes, every node behind its children in target order."""
    rule, _, _, children = tree
    for symbol in rule[1] if rule != PASSED else ():
        if not isinstance(symbol, str):
            yield from nodes(children[symbol - 1])
    yield tree


def features(rules, derivation, sentence, names, language_models):
    """Return the features of a derivation by name."""
    values = dict.fromkeys(names, 0.0)
    values |= {"glue": len(derivation) - 1.0, "pass_through": 0.0, "source_oov": 0.0}
    known = {symbol for rule in rules for symbol in rule[0] if isinstance(symbol, str)}
    words, heard = [], []
    for piece in derivation:
        words += text(piece, sentence)
        heard += text(piece, sentence, heard=True)
        for rule, begin, _, _ in nodes(piece):
            if rule == PASSED:
                values["pass_through"] += 1
                values["source_oov"] += sentence[begin] not in known
            else:
                for name, value in own(rule, names).items():
                    values[name] += value
    values["word_penalty"] = -float(len(words))
    for k, ngrams in enumerate(language_models, 1):
        name = "lm" if k == 1 else f"lm{k}"
        values[name] = lm_score(ngrams, heard)
        values[f"{name}_oov"] = float(sum(lm_word(ngrams, word) == "<unk>" for word in heard))
    return words, values


def search(rules, sentence, names, language_models, weights, limit, bend=None, copy_known=True, constraints=FREE):
    """Return all (score, words, features), best first; a feature that is only bent has no weight."""
    found = []
    rules = without(rules, sentence, constraints.bans)
    limit = limit and max([limit, *(term.end - term.begin for term in constraints.terms)])
    worth = worth_of(names, weights)
    more = rules + likenesses(rules, sentence, constraints.terms, worth)
    place = marked(sentence, constraints.terms)
    for derivation in derivations(more, place, limit, copy_known, terms=constraints.terms, worth=worth):
        words, values = features(more, derivation, place, names, language_models)
        score = sum(weights.get(name, 0.0) * value for name, value in values.items())
        if bend is not None:
            score += sum(bent_worth(bend, rule, names) for piece in derivation for rule, _, _, _ in nodes(piece))
        found.append((score, words, values))
    return sorted(found, key=lambda item: -item[0])


def bent_worth(bend, rule, names):
    """Return what the bins that a rule's values fall into add; a word that is passed through hits none."""
    if rule == PASSED:
        return 0.0
    words = sum(isinstance(symbol, str) for symbol in rule[1])
    return bend.worth({**own(rule, names), "word_penalty": -words})


def worth_of(names, weights):
    """Return a function that says what a rule's features are worth."""
    return lambda rule: sum(weights[name] * value for name, value in own(rule, names).items())


def own(rule, names):
    """Return the rule's own features by name; one that is NaN is not there."""
    return {name: value for name, value in zip(names, rule[2], strict=False) if value == value}


def distinct(derivations):
    """Return the best score of every text."""
    best = {}
    for score, words, _ in derivations:
        best.setdefault(tuple(words), score)
    return best
