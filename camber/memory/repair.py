"""What of a remembered pair holds for a line that is like its source, and what must be translated anew.

The words of both sides are cut into *zones*, as small as the links allow, that stand in the same order on both sides.
Where all words of a zone are in the line, its translation is kept: these words become that and nothing else. What lies
between such words is free, and may change places with what is kept; words that are kept side by side stay so.
Placeholders at an edge are free, too: beside another noun they may have to stand on its other side. Target words
without links stay if what stands beside them stays on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from camber.corpus.constraints import Ban, Constraints, Row, Term
from camber.text.protect import CLASS_OF, find_spans

#: what notes call a part of a remembered pair
NAME = "memory"
#: words of a line that must stand together as in a match, so that their translation is kept
SHORTEST = 4


class _Zone(NamedTuple):
    source: tuple[int, int]  # begin, end
    target: tuple[int, int]


class _Kept(NamedTuple):
    zone: int
    begin: int  # in the line
    end: int


def repair(line: Sequence[str], source: Sequence[str], target: Row, links: Sequence[tuple[int, int]]) -> Constraints:
    """Return what shall stay of a pair for a line like its source, as terms and walls between them.

    >>> line, source, target = list("abcdxf"), list("abcdef"), tuple("ABCDEF")
    >>> kept = repair(line, source, target, [(k, k) for k in range(6)])
    >>> [(term.begin, term.end, term.targets) for term in kept.terms][:2], kept.walls
    ([(0, 1, (('A',),)), (1, 2, (('B',),))], (1, 2, 3))
    """
    zones = _zones(len(source), len(target), links)
    kept = _kept(zones, _places(line, source), line)
    terms = []
    for number, item in enumerate(kept):
        first, last = zones[item.zone].target
        if item.zone == 0:
            first = 0
        after = kept[number + 1] if number + 1 < len(kept) else None
        if item.zone == len(zones) - 1:
            last = len(target)
        elif after is not None and after.zone == item.zone + 1 and after.begin == item.end:
            last = zones[after.zone].target[0]
        terms.append(Term(item.begin, item.end, (tuple(target[first:last]),), NAME))
    walls = tuple(one.end for one, two in pairwise(terms) if one.end == two.begin)
    return Constraints(tuple(terms), walls=walls)


def filled(target: str, instead: Sequence[tuple[str, str]]) -> str | None:
    """Return a translation with other protected text in it, None if it has not all of it, and as often.

    `instead` has what stood in the source, and what stands there now, for each place.

    >>> filled("See {a}, {b}.", [("{b}", "{x}"), ("{a}", "{y}")])
    'See {y}, {x}.'
    """
    new = dict(instead)
    spans = find_spans(target)
    there = Counter(target[start:end] for start, end, _ in spans)
    if len({*instead}) != len(new) or there != Counter(old for old, _ in instead):
        return None
    pieces, done = [], 0
    for start, end, _ in spans:
        pieces += [target[done:start], new[target[start:end]]]
        done = end
    return "".join([*pieces, target[done:]])


def beside(own: Constraints, asked: Constraints) -> Constraints:
    """Return what is kept of a pair beside what was asked for, which comes first; nothing beside a prefix."""
    if asked.prefix:
        return asked
    terms = [
        term
        for term in own.terms
        if not any(other.begin < term.end and term.begin < other.end for other in asked.terms)
        and not any(_is_banned(ban, term) for ban in asked.bans)
    ]
    walls = tuple(wall for wall in own.walls if not any(term.begin < wall < term.end for term in asked.terms))
    ordered = tuple(sorted((*asked.terms, *terms), key=lambda term: term.begin))
    return Constraints(ordered, asked.bans, walls=walls)


def _is_banned(ban: Ban, term: Term) -> bool:
    return ban.begin < term.end and term.begin < ban.end and ban.within(term.targets[0])


def _places(line: Sequence[str], source: Sequence[str]) -> list[int]:
    """Return where each word of a line stands in a source, -1 where it does not."""
    places = [-1] * len(line)
    for at, there, size in SequenceMatcher(None, line, source, autojunk=False).get_matching_blocks():
        places[at : at + size] = range(there, there + size)
    return places


def _zones(source: int, target: int, links: Sequence[tuple[int, int]]) -> list[_Zone]:
    """Cut a pair where no link crosses; source words without links go with the zone before them, or the first.

    >>> _zones(4, 4, [(0, 0), (1, 2), (2, 1), (3, 3)])
    [_Zone(source=(0, 1), target=(0, 1)), _Zone(source=(1, 3), target=(1, 3)), _Zone(source=(3, 4), target=(3, 4))]
    """
    zones: list[_Zone] = []
    for s, t in sorted(links):
        zone = _Zone((s, s + 1), (t, t + 1))
        while zones and (zones[-1].target[1] > zone.target[0] or zones[-1].source[1] > zone.source[0]):
            last = zones.pop()
            zone = _Zone(
                (min(last.source[0], zone.source[0]), max(last.source[1], zone.source[1])),
                (min(last.target[0], zone.target[0]), max(last.target[1], zone.target[1])),
            )
        zones.append(zone)
    starts = [0, *(zone.source[0] for zone in zones[1:]), source]
    return [_Zone((starts[k], starts[k + 1]), zone.target) for k, zone in enumerate(zones)]


def _kept(zones: list[_Zone], places: list[int], line: Sequence[str]) -> list[_Kept]:
    """Return the zones all of whose words stand in the line, one behind the other."""
    where = {place: at for at, place in enumerate(places) if place >= 0}
    kept = []
    for number, zone in enumerate(zones):
        first, last = zone.source
        at = where.get(first)
        if at is not None and all(where.get(first + k) == at + k for k in range(last - first)):
            kept.append(_Kept(number, at, at + last - first))
    return _in_runs(kept, len(zones), line)


def _in_runs(kept: list[_Kept], zones: int, line: Sequence[str]) -> list[_Kept]:
    """Return what stands in runs of enough words; a word or two, alone among others, say little."""
    runs: list[list[_Kept]] = []
    for item in kept:
        if runs and runs[-1][-1].end == item.begin and runs[-1][-1].zone + 1 == item.zone:
            runs[-1].append(item)
        else:
            runs.append([item])
    for run in runs:
        while run and run[0].begin + run[0].zone > 0 and _has_placeholder(run[0], line):
            del run[0]
        while run and (run[-1].end < len(line) or run[-1].zone < zones - 1) and _has_placeholder(run[-1], line):
            del run[-1]
    return [item for run in runs if run and run[-1].end - run[0].begin >= SHORTEST for item in run]


def _has_placeholder(item: _Kept, line: Sequence[str]) -> bool:
    return not CLASS_OF.keys().isdisjoint(line[item.begin : item.end])
