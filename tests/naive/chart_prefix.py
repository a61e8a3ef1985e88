"""Translations that were begun, by synchronous rules: all derivations in which made-up pieces stand where they belong.

Beside what rules give, a short span may become words prefix[place:place + count], whatever rules there are: a piece
(("made", place), begin, end, []) that is only good where its first word is the word `place` of the translation. Such
pieces fill no gaps.
"""

from __future__ import annotations

from naive.chart_search import features, text, trees, worth_of
from naive.lending import likenesses, marked

LOOSE = 3


def made_leaves(sentence, begin, end, prefix, terms, ordinary):
    """Return what a span may be used up for."""
    whole = any((term.begin, term.end) == (begin, end) for term in terms)
    free = not any(term.begin <= word < term.end for term in terms for word in range(begin, end))
    if not ordinary or not (whole or (free and end - begin <= LOOSE)):
        return []
    leaves = []
    for place in range(len(prefix)):
        left = len(prefix) - place
        for count in sorted({*range(1, min(LOOSE, left) + 1), left}):
            leaves.append(((("made", place), tuple(prefix[place : place + count]), ()), begin, end, []))
    return leaves


def completions(
    rules, sentence, names, language_models, weights, limit, prefix, costs, *, copy_known=True, terms=(), last=None
):
    """Return all (score, words) that begin with the prefix, best first.

    costs: of a made-up word (by the word), of the source words begin .. end. `last`: what the last word may be.
    """
    limit = limit and max([limit, *(term.end - term.begin for term in terms)])
    last = last or {prefix[-1]}
    found = []
    worth_of_rule = worth_of(names, weights)
    rules = rules + likenesses(rules, sentence, terms, worth_of_rule)
    sentence = marked(sentence, terms)

    def sequences(begin):
        if begin == len(sentence):
            yield []
            return
        for end in range(begin + 1, len(sentence) + 1):
            ordinary = trees(rules, sentence, begin, end, limit, copy_known, terms, worth_of_rule)
            for piece in [*ordinary, *made_leaves(sentence, begin, end, prefix, terms, ordinary)]:
                for rest in sequences(end):
                    yield [piece, *rest]

    given, worth = costs
    for derivation in sequences(0):
        words = [word for piece in derivation for word in text(piece, sentence)]
        if len(words) < len(prefix) or words[: len(prefix) - 1] != list(prefix[:-1]):
            continue
        if words[len(prefix) - 1] not in last:
            continue
        start, made = 0, []
        for piece in derivation:
            made += [(piece, start)] if piece[0][0][:1] == ("made",) else []
            start += len(text(piece, sentence))
        if any(leaf[0][0][1] != at for leaf, at in made):
            continue
        plain = [
            ((("x",), piece[0][1], (float("nan"),) * 99), *piece[1:]) if piece[0][0][:1] == ("made",) else piece
            for piece in derivation
        ]
        _, values = features(rules, plain, sentence, names, language_models)
        score = sum(weights.get(name, 0.0) * value for name, value in values.items())
        for (rule, begin, end, _), _ in made:
            score += worth(begin, end) - sum(given(word) for word in rule[1])
        found.append((score, words))
    return sorted(found, key=lambda item: -item[0])
