"""A search that translates every sentence to itself, and one that does as it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.decode.derivation import Derivation
from camber.features.weights import Weights
from camber.model.translator import Translator
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

Links = list[tuple[int, int]]
Told = Callable[[Sequence[str]], tuple[list[str], Links]]


def copy(tokens: Sequence[str]) -> tuple[list[str], Links]:
    """Return the same tokens, linked one by one."""
    return list(tokens), [(at, at) for at in range(len(tokens))]


class ToldSearcher:
    """A search whose best derivation is what a function of the tokens says, with its links."""

    settings: Any = None
    source_vocabulary = Vocabulary([])

    def __init__(self, told: Told = copy) -> None:
        self.told = told
        self.links: dict[int, Links] = {}

    def searching(self, changes: Any) -> ToldSearcher:
        return self

    def decode(self, inputs: Sequence[Input], nbest: int = 1, **_: Any) -> Iterator[list[Derivation]]:
        for item in inputs:
            words, links = self.told(item.tokens)
            spans = np.zeros((len(words), 2), np.int64)
            found = Derivation((), words, 0.0, np.zeros((len(words), 0)), np.full(len(words), -1), spans, spans)
            self.links[id(found)] = links
            yield [found]

    def word_alignment(self, derivation: Derivation) -> Links:
        return self.links[id(derivation)]


def identity(told: Told = copy, **settings: Any) -> Translator:
    """Return a translator that gives back what it gets, as far as the text around the search allows."""
    return Translator(TextPipeline(TextSettings(**settings)), ToldSearcher(told), Weights({}))
