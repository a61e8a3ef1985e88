"""Likenesses of rules for terms, rule by rule: the term's own words in place of what links say that its words become.

A sentence's words in terms are marked, equal terms alike, and so are they in likenesses.
"""

from __future__ import annotations

#: likenesses with one source side
MOST = 3


def mark(term, sentence, place):
    """Return what stands for a word of a term."""
    words = " ".join(sentence[term.begin : term.end])
    return f"{sentence[term.begin + place]}\0{words}\0{term.targets}\0{place}"


def plain(word):
    """Return a word without its mark."""
    return word.split("\0")[0]


def marked(sentence, terms):
    """Return a sentence with its terms' words marked."""
    out = list(sentence)
    for term in terms:
        out[term.begin : term.end] = [mark(term, sentence, place) for place in range(term.end - term.begin)]
    return out


def likenesses(rules, sentence, terms, worth):
    """Return the likenesses of rules (source, target, features, links), for a sentence with terms."""
    kinds = {}
    for term in terms:
        kinds.setdefault((tuple(sentence[term.begin : term.end]), term.targets), term)
    order = sorted(kinds.items(), key=lambda item: -len(item[0][0]))
    usable = set(marked(sentence, terms)) | {1, 2}
    found = {}
    for rule in rules:
        for way in range(max((len(term.targets) for term in terms), default=0)):
            new = likeness(rule, order, sentence, way)
            if new is not None and set(new[0]) <= usable:
                found.setdefault(new[:2], []).append(new)
    best = [max(alike, key=worth) for alike in found.values()]
    out = []
    for side in {rule[0]: None for rule in best}:
        out += sorted((rule for rule in best if rule[0] == side), key=worth, reverse=True)[:MOST]
    return out


def likeness(rule, order, sentence, way):
    """Return a rule's likeness with the targets of this number; None if it has none."""
    source, target, values, links = *rule[:3], rule[3] if len(rule) > 3 else ()
    new_source, new_target = list(source), list(target)
    place, terms = 0, 0
    while place < len(source):
        here = [item for item in order if source[place : place + len(item[0][0])] == item[0][0]]
        if not here:
            place += 1
            continue
        (words, targets), term = here[0]
        inside = {t for s, t in links if place <= s < place + len(words)}
        outside = {t for s, t in links if not place <= s < place + len(words)}
        contiguous = sorted(inside) == list(range(min(inside, default=0), max(inside, default=-1) + 1))
        if not inside or inside & outside or not contiguous or len(words) == len(source):
            return None
        if way >= len(targets) or len(targets[way]) != len(inside):
            return None
        new_source[place : place + len(words)] = [mark(term, sentence, k) for k in range(len(words))]
        new_target[min(inside) : max(inside) + 1] = targets[way]
        place += len(words)
        terms += 1
    return (tuple(new_source), tuple(new_target), values, links, tuple(target)) if terms else None
