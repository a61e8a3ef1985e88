"""What a decoder is given: sentences, each with all that the search must know about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from camber.corpus.constraints import FREE, Constraints


@dataclass(frozen=True)
class Input:
    """A tokenised sentence, its number in the text (some grammars come line by line), and what must be obeyed."""

    tokens: Sequence[str]
    number: int = 0
    constraints: Constraints = field(default=FREE, repr=False)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)

    def part(self, begin: int, end: int) -> Input:
        """Return some words of the sentence, with what must be obeyed of them."""
        return replace(self, tokens=self.tokens[begin:end], constraints=self.constraints.part(begin, end))


def as_inputs(sentences: Iterable[Sequence[str]], first: int = 0) -> list[Input]:
    """Number tokenised sentences from `first` on.

    >>> as_inputs([["ein", "haus"], []])[1]
    Input(tokens=[], number=1)
    """
    return [Input(tokens, number) for number, tokens in enumerate(sentences, first)]
