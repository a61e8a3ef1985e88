"""The memory of a model: its training pairs, if it keeps them, and lines that were added with their translations.

Added pairs come back word for word when their source does. All pairs can be looked for by likeness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from camber.align.pharaoh import Alignment
from camber.errors import ModelError, SettingsError
from camber.files import decode_lines, read_bytes
from camber.formats.bilingual.unit import Segment
from camber.memory.codes import segment_in, unlike
from camber.memory.match import Match
from camber.memory.segments import Found, Segments
from camber.memory.words import NEAR
from camber.model.directory import ModelDirectory
from camber.text.pipeline import TextPipeline
from camber.text.tags import TEXT

#: the folder of the training pairs
FOLDER = "memory"
#: raw lines, and the source lines as the model sees them: version 0.1 kept them instead of a journal; combinations do
FILES = ("added/source.txt", "added/target.txt", "added/tokens.txt")


@dataclass(frozen=True)
class Remembered:
    """What else is known of an added pair."""

    links: str | None = None  # as in Pharaoh format, between its tokens
    number: int = 0  # among all pairs that were ever added, from 1
    author: str = ""
    time: str = ""
    coded: tuple[str, str] | None = None  # both sides with their inline codes, if they have some


@dataclass(frozen=True)
class Memory:
    """Added pairs in the order in which they came, and the pairs of the training.

    >>> memory = Memory(["Ein Haus."], ["A house."], ["ein Haus ."])
    >>> memory.recall("ein  Haus.", ["ein", "Haus", "."])
    'A house.'
    """

    source: Sequence[str]  # raw lines
    target: Sequence[str]
    tokens: Sequence[str]  # of the source lines, with blanks between them
    facts: Sequence[Remembered] = ()
    trained: Segments | None = None  # without those that were taken back
    text: TextPipeline | None = None

    def __len__(self) -> int:
        """Return the number of added pairs."""
        return len(self.source)

    def recall(self, line: str, tokens: Sequence[str] = ()) -> str | None:
        """Return the target of the pair with this source line, or else with these tokens; the latest of several."""
        at = self._place(line, tokens)
        return None if at is None else self.target[at]

    def recalled(self, line: str, tokens: Sequence[str] = ()) -> Match | None:
        """Return the pair that :meth:`recall` has the target of."""
        at = self._place(line, tokens)
        if at is None:
            return None
        fact = self.facts[at] if self.facts else Remembered()
        links = tuple(_links(fact.links))
        return Match(
            self.source[at], self.target[at], 1.0, self._size + fact.number, links, True, fact.author, fact.time,
            fact.coded,
        )  # fmt: skip

    def _place(self, line: str, tokens: Sequence[str]) -> int | None:
        at = self._lines.get(line)
        return self._sentences.get(" ".join(tokens)) if at is None else at

    @cached_property
    def _lines(self) -> dict[str, int]:
        return {line: at for at, line in enumerate(self.source)}

    @cached_property
    def _sentences(self) -> dict[str, int]:
        return {line: at for at, line in enumerate(self.tokens)}

    def matches(self, line: str, threshold: float = 0.7, best: int = 3, format: str = TEXT) -> list[Match]:
        """Return the pairs whose sources are like a raw line, at least so much, the most like ones first.

        Of equals, added pairs come before those of the training, then those that came more often, then later ones.
        In a line of another format than plain text, tags are inline codes: they may be written otherwise in the pair,
        and each that is missing or too much counts as little as a tag.
        """
        if not 0 < threshold <= 1:
            raise SettingsError(f"a threshold of {threshold:g}: expected a share above 0 and up to 1, such as 0.7")
        asked = segment_in(line, format) if format != TEXT and ("<" in line or "&" in line) else None
        # where no text has tags in it, a line with codes is compared by its text and its codes
        plain = asked is None or not asked.codes or self._has_tags
        found = self._found(line, threshold, best) if plain else []
        if asked is not None:
            for near, match in self._found(asked.text, threshold, best):
                less = _with_penalty(near, asked, match)
                if less.likeness >= threshold:
                    found.append((less, replace(match, likeness=less.likeness)))
        matches: dict[tuple[str, str], Match] = {}
        for _, match in sorted(found, key=lambda item: item[0].distance / item[0].length):
            matches.setdefault((match.source, match.target), match)
        return list(matches.values())[:best]

    @cached_property
    def _has_tags(self) -> bool:
        return any(segments is not None and segments.has_tags for segments in (self._added, self.trained))

    def _found(self, line: str, threshold: float, best: int) -> list[tuple[Found, Match]]:
        """Return the best matches of added pairs, then those of the training."""
        found: list[tuple[Found, Match]] = []
        if self._added is not None:
            for near in self._added.nearest(line, threshold, best):
                found.append((near, self._added_match(self._added, near)))
        if self.trained is not None:
            for near in self.trained.nearest(line, threshold, best):
                source, target = self.trained.pair(near.segment)
                links = tuple(self.trained.links(near.segment) or ())
                coded = self.trained.coded(near.segment)
                found.append((near, Match(source, target, near.likeness, near.segment + 1, links, coded=coded)))
        return found

    def exact(self, line: str) -> Match | None:
        """Return the best pair whose source is a raw line, tags included; white space around it does not count."""
        matches = self.matches(line, 1.0, 1)
        return matches[0] if matches else None

    def numbered(self) -> list[Match]:
        """Return all added pairs with their numbers."""
        return [
            Match(source, target, 1.0, self._size + fact.number, added=True, author=fact.author, time=fact.time)
            for source, target, fact in zip(self.source, self.target, self.facts, strict=True)
        ]

    def pair(self, number: int) -> tuple[str, str] | None:
        """Return the pair that has a number in listings, None if there is none or it was taken back."""
        if self.trained is not None and 1 <= number <= self._size:
            hidden = self.trained.hidden is not None and self.trained.hidden[number - 1]
            return None if hidden else self.trained.pair(number - 1)
        places = [at for at, fact in enumerate(self.facts) if self._size + fact.number == number]
        return (self.source[places[0]], self.target[places[0]]) if places else None

    def pairs_of(self, source: str) -> list[tuple[str, str]]:
        """Return all pairs with a raw source line."""
        pairs = [pair for pair in zip(self.source, self.target, strict=True) if pair[0] == source]
        if self.trained is not None:
            gone = self.trained.hidden
            repeats = [at for at in self.trained.repeats(source) if gone is None or not gone[at]]
            pairs += [self.trained.pair(segment) for segment in repeats]
        return list(dict.fromkeys(pairs))

    @property
    def _size(self) -> int:
        return 0 if self.trained is None else len(self.trained)

    @cached_property
    def _added(self) -> Segments | None:
        if not self.source or self.text is None:
            return None
        links = Alignment.from_pairs([_links(fact.links) for fact in self.facts])
        coded = {at: fact.coded for at, fact in enumerate(self.facts) if fact.coded is not None}
        return Segments.build(self.text, self.source, self.target, links, coded=coded)

    def _added_match(self, segments: Segments, near: Found) -> Match:
        source, target = segments.pair(near.segment)
        fact = self.facts[self._last[source, target]]
        links = tuple(segments.links(near.segment) or ())
        number = self._size + fact.number
        return Match(
            source, target, near.likeness, number, links, True, fact.author, fact.time, segments.coded(near.segment)
        )

    @cached_property
    def _last(self) -> dict[tuple[str, str], int]:
        return {pair: at for at, pair in enumerate(zip(self.source, self.target, strict=True))}

    @classmethod
    def joined(cls, memories: Sequence[Memory | None]) -> Memory | None:
        """Return the added pairs of several models as one memory; where two know a line, the first one does."""
        known = [memory for memory in reversed(memories) if memory is not None and memory.source]
        if not known:
            return None
        sides = [
            [line for memory in known for line in getattr(memory, name)] for name in ("source", "target", "tokens")
        ]
        facts = [Remembered(None, number) for number in range(1, len(sides[0]) + 1)]
        return cls(sides[0], sides[1], sides[2], facts)

    @classmethod
    def open(cls, directory: ModelDirectory, text: TextPipeline | None = None) -> Memory | None:
        """Return the memory of a model, None if nothing was ever added to it and it keeps nothing of its training."""
        sides: list[list[str]] = [[], [], []]
        facts: list[Remembered] = []
        gone = directory.journal.taken_back
        if FILES[0] in directory:
            paths = [directory.file(name) for name in FILES]
            sides = [decode_lines(read_bytes(path), path, exact=True) for path in paths]
            if len({len(side) for side in sides}) > 1:
                raise ModelError(f"{paths[0].parent}: files of different lengths; copy or train the model again")
            facts = [Remembered(None, number) for number in range(1, len(sides[0]) + 1)]
            stay = [at for at, pair in enumerate(zip(*sides[:2], strict=True)) if pair not in gone]
            sides, facts = [[side[at] for at in stay] for side in sides], [facts[at] for at in stay]
        before = directory.recorded_size("added_pairs")
        for number, pair, call in directory.journal.remaining:
            for side, own in zip(sides, (pair.source, pair.target, pair.tokens), strict=True):
                side.append(own)
            facts.append(Remembered(pair.links, before + number, call.author, call.time, pair.coded))
        trained = None
        if text is not None and f"{FOLDER}/words.npy" in directory:
            trained = Segments.open(directory.path / FOLDER, text)
            trained = trained.hiding(gone) if gone else trained
        memory = cls(sides[0], sides[1], sides[2], facts, trained, text)
        return memory if sides[0] or trained is not None else None


def _links(pharaoh: str | None) -> list[tuple[int, int]]:
    return [(int(s), int(t)) for s, t in (link.split("-") for link in (pharaoh or "").split())]


def _with_penalty(near: Found, asked: Segment, match: Match) -> Found:
    """Return how like a line with inline codes is to a match that was found by its text alone."""
    other = segment_in(match.coded[0]) if match.coded is not None else Segment((match.source,))
    most = max(len(asked.codes), len(other.codes))
    return near._replace(distance=near.distance + NEAR * unlike(asked, other), length=near.length + NEAR * most)
