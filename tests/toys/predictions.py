"""Sources of predicted n-grams for tests: what is predicted for each sentence is written down."""

from __future__ import annotations

from camber.corpus import Vocabulary
from camber.regress.graph import Prediction, marks_of


class WrittenGrams:
    """Give each sentence (a tuple of words) its n-grams, {n-gram of words: expected count}."""

    def __init__(self, grams, orders=(1, 2), ratio=1.0, words=()):
        self.grams, self.orders, self.ratio = grams, orders, ratio
        every = {word for some in grams.values() for gram in some for word in gram} - {"<s>", "</s>"}
        self.target_words = Vocabulary([*words, *sorted(every - set(words))])
        self.source_words = Vocabulary(sorted({word for sentence in grams for word in sentence}))
        self.recorded = {}
        self.asked = 0  # how many sentences were predicted

    def remembering(self):
        return self

    def predictions(self, inputs):
        return [self.prediction(item.tokens) for item in inputs]

    def prediction(self, tokens):
        self.asked += 1
        begin, end = marks_of(self.target_words)
        number = {"<s>": begin, "</s>": end}
        some = self.grams[tuple(tokens)]
        ids = [[number[w] if w in number else self.target_words.id(w) for w in gram] for gram in some]
        unknown = [place for place, word in enumerate(tokens) if word.startswith("?")]
        return Prediction.of(ids, list(some.values()), unknown=unknown)
