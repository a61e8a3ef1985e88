"""Queries of a backoff model from the textbook: look for the longest n-gram that is listed."""

from __future__ import annotations


def log10_probability(model, context, word):
    """Return log10 p(word | context); `model` is {n-gram: (log10 probability, log10 backoff)}."""
    gram = (*context, word)
    if gram in model:
        return model[gram][0]
    if not context:
        return model[("<unk>",)][0] if ("<unk>",) in model else -100.0
    return model.get(tuple(context), (0.0, 0.0))[1] + log10_probability(model, context[1:], word)


def score(model, order, sentence):
    """Return the log10 probability of each word and of the end, after <s>."""
    vocabulary = {gram[0] for gram in model if len(gram) == 1} - {"<s>", "</s>"}
    history = ["<s>"]
    scores = []
    for word in [*(word if word in vocabulary else "<unk>" for word in sentence), "</s>"]:
        context = tuple(history[max(0, len(history) - order + 1) :]) if order > 1 else ()
        scores.append(log10_probability(model, context, word))
        history.append(word)
    return scores
