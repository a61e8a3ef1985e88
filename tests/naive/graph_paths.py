"""Paths through predicted n-grams by the textbook: enumerate every text, take its features by definition, sort.

A prediction is a dictionary {n-gram of words, with <s> and </s>: how often it is expected}.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass

from naive.backoff import log10_probability


@dataclass
class Task:
    """One sentence to be translated, and all that is known about it."""

    grams: dict  # tuple of words → expected count
    order: int
    source: list
    unknown: list  # source words that may be passed through
    language_models: list  # {n-gram: natural (log probability, backoff)}
    ratio: float
    alpha: float = 1.0

    @property
    def known(self):
        """All n-grams that lie inside a predicted one."""
        return {gram[i:j] for gram in self.grams for i in range(len(gram)) for j in range(i + 1, len(gram) + 1)}

    @property
    def copies(self):
        """Words that are passed through: unknown ones that no n-gram has."""
        return {word for word in self.unknown if (word,) not in self.known}

    @property
    def words(self):
        return sorted({gram[0] for gram in self.known if len(gram) == 1} - {"<s>", "</s>"} | self.copies)


def times(task, gram):
    """Return how often an n-gram may be used."""
    if gram[-1] in task.copies:
        return task.unknown.count(gram[-1])
    return max(1, round(task.grams[gram])) if gram in task.grams else math.inf


def features(task, text):
    """Return the features of every part of a text, by name; None if it has a copied word too often."""
    whole = ["<s>", *text, "</s>"]
    used = Counter()
    parts = []
    for place in range(1, len(whole)):
        due = min(task.order, place + 1)
        endings = [tuple(whole[place - n + 1 : place + 1]) for n in range(1, due + 1)]
        # the longest n-gram of the graph that ends here, and the suffixes that it has
        longest = max((n for n in range(1, due + 1) if endings[n - 1] in task.known), default=1)
        part = {"glue": due - longest, "copied": float(whole[place] in task.copies), "repeats": 0.0}
        for gram in endings[:longest]:
            if used[gram] < times(task, gram):
                if gram in task.grams:
                    part[f"regression_{len(gram)}"] = task.grams[gram] / times(task, gram)
            elif gram[-1] in task.copies:
                return None
            elif len(gram) == longest:
                part["repeats"] = 1.0
            used[gram] += 1
        for gram in endings[longest:]:
            used[gram] += 1
        for k, model in enumerate(task.language_models):
            # a text's own <s> and </s> are no marks; here there are none
            words = [word if (word,) in model else "<unk>" for word in whole]
            part["lm" if k == 0 else f"lm{k + 1}"] = log10_probability(model, tuple(words[:place]), words[place])
        part["word_penalty"] = -1.0 if place < len(whole) - 1 else 0.0
        parts.append(part)
    ratio = len(task.source) / len(text) if text else math.inf
    parts[-1]["brevity"] = math.exp(min(0.0, task.alpha * (task.ratio - ratio)))
    return parts


def score(parts, weights):
    """Return the weighted sum of features; a logarithm of the brevity penalty is at least -100."""
    total = 0.0
    for part in parts:
        for name, value in part.items():
            if name == "brevity":
                value = max(math.log(value), -100.0) if value > 0 else -100.0
            total += weights.get(name, 0.0) * value
    return total


def allowed(task, text, parts):
    """Say whether a text is a path without glue but around copied words."""
    copied = [False, *(word in task.copies for word in text), False]
    return all(part["glue"] == 0 or copied[k] or copied[k + 1] for k, part in enumerate(parts))


def all_paths(task, weights, longest, glue):
    """Return (score, text) of every path, best first, and whether glue was needed."""
    every = []
    for length in range(1, longest + 1):
        for text in itertools.product(task.words, repeat=length):
            parts = features(task, text)
            if parts is not None:
                every.append((score(parts, weights), text, allowed(task, text, parts)))
    strict = [item for item in every if item[2]]
    needed = not strict
    chosen = every if glue or needed else strict
    return sorted(((value, text) for value, text, _ in chosen), key=lambda item: -item[0]), needed
