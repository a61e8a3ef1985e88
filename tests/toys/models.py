"""Random tiny models, and the same models as the package's own types."""

from __future__ import annotations

import math

import numpy as np
from naive.phrase_search import MSD, SCORES, Model, Rule

from camber.corpus import Vocabulary
from camber.lm.ngrams import NgramModel
from camber.lm.trie import SPECIAL, trie_from_rows
from camber.rules.phrase.store import RuleStore, offsets_from

SOURCE = ("a", "b", "c", "d")
TARGET = ("u", "v", "w", "x", "y", "</s>")  # the last is an ordinary token of the text here


def random_ngrams(rng, order, words=TARGET[:-2]):
    """Draw n-grams whose prefixes are all there, but not all suffixes; values are exact in single precision."""

    def value(low, high):
        return float(np.float32(rng.uniform(low, high)))

    vocabulary = (*SPECIAL, *words)
    ngrams = {(word,): (value(-5, -0.5), value(-1.5, 0.3) * (rng.random() < 0.7)) for word in vocabulary}
    level = [gram for gram in ngrams if gram != ("</s>",)]
    for n in range(2, order + 1):
        grams = [(*prefix, word) for prefix in level for word in vocabulary if word != "<s>" and rng.random() < 0.4]
        for gram in grams:
            ngrams[gram] = value(-4, -0.1), (value(-1.5, 0.3) if n < order and rng.random() < 0.7 else 0.0)
        level = [gram for gram in grams if gram[-1] != "</s>"]
    return ngrams


def random_rules(rng, longest=3, targets=3, with_reordering=True, share=1.0):
    """Draw rules for some of the phrases over SOURCE, with links in about half of them."""
    rules = {}
    level = [()]
    for length in range(1, longest + 1):
        level = [(*phrase, word) for phrase in level for word in SOURCE]
        for phrase in level:
            if rng.random() > share * (1.1 - length / 4):
                continue
            seen = int(rng.integers(5))
            texts = {tuple(rng.choice(TARGET, rng.integers(1, 4))) for _ in range(rng.integers(1, targets + 1))}
            for text in sorted(texts):
                links = tuple((int(rng.integers(length)), t) for t in range(len(text)) if rng.random() < 0.5)
                probabilities = (np.float32(rng.random(10)) * 0.98 + 0.01).astype(np.float32).tolist()
                rule = Rule(
                    tuple(map(str, text)),
                    tuple(probabilities[:4]),
                    tuple(probabilities[4:]) * with_reordering,
                    links,
                    (seen, *rng.integers(5, size=2).tolist()),
                )
                rules.setdefault(phrase, []).append(rule)
    return rules


def random_weights(rng, names):
    """Draw weights of either sign, some of them 0."""
    weights = {name: float(rng.normal()) * float(rng.random() < 0.9) for name in names}
    if "lm" in weights:
        weights["lm"] = float(abs(rng.normal()) + 0.2)
    return weights


def store_of(rules):
    """Lay rules out as a rule store."""
    source = Vocabulary(sorted({word for phrase in rules for word in phrase}))
    target = Vocabulary(sorted({word for some in rules.values() for rule in some for word in rule.target}))
    phrases = sorted(rules, key=lambda phrase: source.encode(phrase).tolist())
    flat = [rule for phrase in phrases for rule in sorted(rules[phrase], key=lambda rule: -rule.scores[2])]
    links = [link for rule in flat for link in rule.links]
    reordering = np.array([rule.reordering for rule in flat], np.float32).reshape(len(flat), -1)
    return RuleStore(
        source_ids=source.encode([word for phrase in phrases for word in phrase]).astype(np.int32),
        source_offsets=offsets_from(np.array([len(phrase) for phrase in phrases], np.int64)),
        rule_offsets=offsets_from(np.array([len(rules[phrase]) for phrase in phrases], np.int64)),
        source_counts=np.array([rules[phrase][0].counts[0] for phrase in phrases], np.int64),
        target_ids=target.encode([word for rule in flat for word in rule.target]).astype(np.int32),
        target_offsets=offsets_from(np.array([len(rule.target) for rule in flat], np.int64)),
        scores=np.array([rule.scores for rule in flat], np.float32).reshape(len(flat), len(SCORES)),
        counts=np.array([rule.counts[1:] for rule in flat], np.int32).reshape(len(flat), 2),
        reordering=reordering if reordering.shape[1] == 2 * len(MSD) else np.zeros((len(flat), 0), np.float32),
        links=np.array(links, np.uint8).reshape(len(links), 2),
        link_offsets=offsets_from(np.array([len(rule.links) for rule in flat], np.int64)),
        source_vocabulary=source,
        target_vocabulary=target,
        max_phrase_length=max(map(len, phrases), default=0),
    )


def ngram_model_of(ngrams):
    """Compile a dictionary of n-grams."""
    words = [gram[0] for gram in ngrams if len(gram) == 1]
    number = {word: index for index, word in enumerate(words)}
    rows, probability, backoff = [], [], []
    for n in range(1, max(map(len, ngrams)) + 1):
        grams = [gram for gram in ngrams if len(gram) == n]
        rows.append(np.array([[number[word] for word in gram] for gram in grams], np.int32).reshape(-1, n))
        probability.append(np.array([ngrams[gram][0] / math.log(10) for gram in grams]))
        backoff.append(np.array([ngrams[gram][1] / math.log(10) for gram in grams]))
    return NgramModel.from_trie(trie_from_rows(words, rows, probability, backoff))


def random_model(rng, language_models=1, order=3, **kwargs):
    """Draw rules and language models."""
    ngrams = [random_ngrams(rng, order) for _ in range(language_models)]
    rules = random_rules(rng, **kwargs)
    while not rules:
        rules = random_rules(rng, **kwargs)
    return Model(rules, ngrams)
