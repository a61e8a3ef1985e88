"""What a decoder is given: sentences, each with all that the search must know about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """A tokenised sentence, and its number in the text: some grammars come line by line."""

    tokens: Sequence[str]
    number: int = 0

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.tokens)


def as_inputs(sentences: Iterable[Sequence[str]], first: int = 0) -> list[Input]:
    """Number tokenised sentences from `first` on.

    >>> as_inputs([["ein", "haus"], []])[1]
    Input(tokens=[], number=1)
    """
    return [Input(tokens, number) for number, tokens in enumerate(sentences, first)]
