"""What the translation of a sentence must be: terms, words that are not wanted, a beginning.

Constraints speak of the tokens of one sentence, as the model sees them. Searches obey them; whoever makes them from
glossaries or requests settles first what cannot be obeyed:

    constraints, notes = settle(tokens, [Term(1, 2, (("home",),), "maison → home")], [], ("the",))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from camber.errors import CamberError

Row = tuple[str, ...]

#: words of a prefix: what a search for its continuation takes grows with their square
MOST_PREFIX = 250


@dataclass(frozen=True)
class Term:
    """Source words begin .. end (exclusive) become one of the target rows, all of them and nothing else."""

    begin: int
    end: int
    targets: tuple[Row, ...]
    name: str = ""  # what notes call it


@dataclass(frozen=True)
class Ban:
    """No rule for the source words begin .. end (exclusive), or some of them, may have a target row within it.

    Case makes no difference.
    """

    begin: int
    end: int
    target: Row
    name: str = ""

    def within(self, row: Sequence[str]) -> bool:
        """Say whether a row of target words has the banned one in it.

        >>> Ban(0, 1, ("big", "house")).within(["a", "Big", "house"])
        True
        """
        return contains(folded(row), folded(self.target))


@dataclass(frozen=True)
class Constraints:
    """Terms that do not overlap, from left to right; bans; the words that the translation begins with; and walls.

    A wall at a place keeps order: the words before it are translated before those behind it.
    """

    terms: tuple[Term, ...] = ()
    bans: tuple[Ban, ...] = ()
    prefix: Row = ()
    #: the last word of the prefix may be the beginning of a longer one
    open: bool = False
    walls: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        end = 0
        for term in self.terms:
            if not end <= term.begin < term.end:
                raise CamberError(f"{term.name or term}: terms must be in order, must not overlap, and have words")
            if not term.targets or not all(term.targets):
                raise CamberError(f"{term.name or term}: a term without a translation")
            end = term.end
            if any(term.begin < wall < term.end for wall in self.walls):
                raise CamberError(f"{term.name or term}: a term with a wall inside")
        if len(self.prefix) > MOST_PREFIX:
            raise CamberError(f"a prefix of {len(self.prefix):,} words; at most {MOST_PREFIX} can be completed")

    def __bool__(self) -> bool:
        """Say whether there is anything to obey."""
        return bool(self.terms or self.bans or self.prefix or self.walls)

    def part(self, begin: int, end: int) -> Constraints:
        """Return what concerns some words of the sentence only; the prefix is that of the whole."""
        terms = tuple(
            replace(term, begin=term.begin - begin, end=term.end - begin)
            for term in self.terms
            if begin <= term.begin and term.end <= end
        )
        bans = tuple(
            replace(ban, begin=max(ban.begin, begin) - begin, end=min(ban.end, end) - begin)
            for ban in self.bans
            if ban.begin < end and begin < ban.end
        )
        walls = tuple(wall - begin for wall in self.walls if begin < wall < end)
        return replace(self, terms=terms, bans=bans, walls=walls)


#: nothing to obey
FREE = Constraints()


def settle(
    tokens: Sequence[str], terms: Iterable[Term], bans: Iterable[Ban], prefix: Row = (), *, open: bool = False
) -> tuple[Constraints, list[str]]:
    """Return what can be obeyed, and a note for each term that cannot, and for a prefix that is too long.

    Of terms that overlap, those that come first are kept. A target that a ban forbids is no target.

    >>> settle(["ein", "haus"], [Term(1, 2, ((),), "haus")], [])[1]
    ['haus: a term without a translation']
    """
    bans, notes = list(bans), []
    kept: list[Term] = []
    taken: list[Term | None] = [None] * len(tokens)  # the term that each word belongs to
    over: dict[int, list[Ban]] = {}  # the bans on each word
    for ban in bans:
        for at in range(max(0, ban.begin), min(ban.end, len(tokens))):
            over.setdefault(at, []).append(ban)
    for term in terms:
        name = term.name or " ".join(tokens[term.begin : term.end]) or f"words {term.begin} to {term.end}"
        targets = tuple(dict.fromkeys(filter(None, term.targets)))
        near = {id(ban): ban for at in range(term.begin, term.end) for ban in over.get(at, ())}.values()
        allowed = tuple(row for row in targets if not any(ban.within(row) for ban in near))
        other = next(filter(None, taken[max(0, term.begin) : max(0, term.end)]), None)
        if not 0 <= term.begin < term.end <= len(tokens):
            notes.append(f"{name}: a term that is not in the sentence")
        elif not targets:
            notes.append(f"{name}: a term without a translation")
        elif other is not None:
            notes.append(f"{name}: a term that overlaps another one, {other.name}")
        elif not allowed:
            notes.append(f"{name}: a term whose translation is forbidden, too")
        else:
            kept.append(replace(term, targets=allowed, name=name))
            taken[term.begin : term.end] = [kept[-1]] * (term.end - term.begin)
    sound = []
    for ban in bans:
        begin, end = max(0, ban.begin), min(ban.end, len(tokens))
        name = ban.name or " ".join(ban.target)
        if not ban.target or begin >= end:
            notes.append(f"{name}: nothing is forbidden by it in this sentence")
        else:
            sound.append(replace(ban, begin=begin, end=end, name=name))
    if len(prefix) > MOST_PREFIX:
        notes.append(f"{' '.join(prefix[:5])} …: a beginning of {len(prefix):,} words, more than {MOST_PREFIX}")
        prefix = ()
    ordered = tuple(sorted(kept, key=lambda term: term.begin))
    return Constraints(ordered, tuple(sound), tuple(prefix), open and bool(prefix)), notes


def folded(words: Iterable[str]) -> Row:
    """Return words without their case."""
    return tuple(word.casefold() for word in words)


def contains(row: Sequence[str], piece: Sequence[str]) -> bool:
    """Say whether a row of words has a piece in it."""
    return any(tuple(row[at : at + len(piece)]) == tuple(piece) for at in range(len(row) - len(piece) + 1))
