"""Text that is ready to be translated, and what must be remembered of it until its translation is finished."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from camber.text.case import sentence_starts
from camber.text.retag import PlacedTag

_tags = re.compile("<[^<>]*>")


@dataclass(frozen=True)
class Prepared:
    """A sentence, prepared once; every candidate for its translation is finished with it.

    Whoever constrains the search of a sentence does so by the positions of `tokens`: those in `protected` stand for
    spans that come back as they were.
    """

    line: str  # raw, without white space around it
    tokens: tuple[str, ...]  # as the model sees them
    plain: tuple[str, ...]  # before their case was changed: they say how the line begins
    shouted: bool  # the line is written in capitals
    gaps: tuple[str, ...] = ()  # white space (and what is invisible) before every token, and behind the last
    written: tuple[str, ...] = ()  # every token as it stands in the line
    protected: dict[int, str] = field(default_factory=dict)  # position of a token → the span that it stands for
    tags: tuple[PlacedTag, ...] = ()  # which tags stood in it, and where
    escapes: bool = False  # the line is mark-up, in which & < > must be written as entities

    @cached_property
    def starts(self) -> frozenset[int]:
        """The positions of words that begin a sentence."""
        return frozenset(sentence_starts(self.plain))


@dataclass(frozen=True)
class Paragraph:
    """A raw line as sentences that are translated one by one, and what stands around them."""

    line: str
    sentences: tuple[Prepared, ...]
    between: tuple[str, ...]  # white space before every sentence, and behind the last

    @property
    def marked(self) -> bool:
        """Whether more than white space and tags stands around the sentences: a bullet, say."""
        return any(_tags.sub("", part).strip() for part in self.between)

    def join(self, texts: list[str]) -> str:
        """Put the translations of the sentences together."""
        return "".join(part for pair in zip(self.between, texts, strict=False) for part in pair) + self.between[-1]
