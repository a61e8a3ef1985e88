"""What a translation has of its source: which of its tokens are copies, and what protected tokens stand for.

A model knows protected text by its class alone. Its word alignment tells which span a class token of a translation
stands for. All spans come back, each once: what the search dropped is put where its neighbours went, what it doubled is
left out, and either is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from camber.text.brackets import has_marks, mend_brackets, mend_quotes
from camber.text.prepared import Prepared
from camber.text.protect import CLASS_OF, CLOSE, OPEN

Links = Sequence[tuple[int, int]]


class Restored(NamedTuple):
    """Tokens of a translation, each with the source position that it is a copy of."""

    tokens: list[str]
    origins: list[int]  # -1: not a copy
    links: Links  # (source, target), after what was put back or left out
    repairs: list[str]  # what had to be done, for people
    numbers: list[int]  # which of the given tokens each one is; -1: it was put back

    @property
    def best(self) -> list[int]:
        """The source position that each token comes from, -1 if none is known."""
        best = list(self.origins)
        for at, to in self.links:
            if best[to] < 0:
                best[to] = at
        return best


def restore(tokens: Sequence[str], source: Prepared, links: Links | None, begun: int = 0) -> Restored:
    """Find the origins of tokens, and mend what is protected; without links, class tokens are taken in order.

    Nothing is put back among the first `begun` tokens, which somebody wrote.
    """
    if tuple(tokens) == source.tokens and (links is None or {(at, at) for at in source.protected} <= set(links)):
        whole = range(len(tokens))
        return Restored(list(tokens), list(whole), [(at, at) for at in whole], [], list(whole))
    origins = _copies(tokens, source, links or ())
    repairs: list[str] = []
    out, numbers = list(tokens), list(range(len(tokens)))
    if source.protected or not CLASS_OF.keys().isdisjoint(tokens):
        spare = _assign(out, origins, source, in_order=links is None, repairs=repairs)
        links = _leave_out(out, origins, numbers, links or (), repairs)
        if spare:
            links = _put_back(out, origins, numbers, links, spare, source, repairs, begun)
        _order_pairs(out, origins, source, repairs)
    if has_marks(out) or has_marks(source.tokens):
        links = _mend_pairs(out, origins, numbers, links or (), source, repairs, begun)
    return Restored(out, origins, links or (), repairs, numbers)


def _mend_pairs(
    tokens: list[str],
    origins: list[int],
    numbers: list[int],
    links: Links,
    source: Prepared,
    repairs: list[str],
    begun: int,
) -> Links:
    """Let brackets and quotation marks be in pairs."""
    now = [links]

    def put_back(at: int) -> None:
        now[0] = _put_back(tokens, origins, numbers, now[0], [at], source, repairs, begun)

    def leave_out(to: int) -> None:
        repairs.append(f"{tokens[to]} without its partner was left out")
        del tokens[to], origins[to], numbers[to]
        now[0] = [(at, other - (other > to)) for at, other in now[0] if other != to]

    for mend in (mend_brackets, mend_quotes):
        mend(tokens, origins, source.tokens, put_back, leave_out)
    return now[0]


def _copies(tokens: Sequence[str], source: Prepared, links: Links) -> list[int]:
    """Return the source position that each token is a copy of: linked, and the same token."""
    origins = [-1] * len(tokens)
    used: set[int] = set()
    there = source.tokens
    for at, to in sorted([link for link in links if there[link[0]] == tokens[link[1]]], key=itemgetter(1, 0)):
        if at in used:
            continue
        if origins[to] < 0 or (to and origins[to - 1] + 1 == at):
            used.add(at)
            origins[to] = at
    return origins


def _assign(
    tokens: list[str], origins: list[int], source: Prepared, *, in_order: bool, repairs: list[str]
) -> list[int]:
    """Give class tokens without an origin a span of their class, from left to right; return the spans that are left."""
    taken = {at for at in origins if at >= 0}
    spare: dict[str, list[int]] = {}
    for at in reversed(source.protected):
        if at not in taken:
            spare.setdefault(source.tokens[at], []).append(at)
    for to, token in enumerate(tokens):
        if origins[to] < 0 and spare.get(token):
            origins[to] = spare[token].pop()
            if not in_order:
                repairs.append(f"{source.protected[origins[to]]} took the place of its class")
    return sorted(at for places in spare.values() for at in places)


def _leave_out(tokens: list[str], origins: list[int], numbers: list[int], links: Links, repairs: list[str]) -> Links:
    """Leave out class tokens that stand for nothing."""
    kept = [to for to, token in enumerate(tokens) if origins[to] >= 0 or token not in CLASS_OF]
    if len(kept) == len(tokens):
        return links
    place = {to: new for new, to in enumerate(kept)}
    repairs += [f"a second {token} was left out" for to, token in enumerate(tokens) if to not in place]
    tokens[:], origins[:] = [tokens[to] for to in kept], [origins[to] for to in kept]
    numbers[:] = kept
    return [(at, place[to]) for at, to in links if to in place]


def _put_back(
    tokens: list[str],
    origins: list[int],
    numbers: list[int],
    links: Links,
    positions: Sequence[int],
    source: Prepared,
    repairs: list[str],
    begun: int,
) -> Links:
    """Insert spans that are missing: behind what became of the word before, or before that of the word behind."""
    import numpy as np

    size = len(links)
    at, to = np.zeros((2, size + len(positions)), np.int64)
    at[:size], to[:size] = np.array(links, np.int64).reshape(-1, 2).T
    known = set(at[:size].tolist())
    for position in positions:
        repairs.append(f"{source.protected.get(position, source.plain[position])} was put back")
        here = len(tokens)
        for distance in range(1, len(source.tokens) + 1):
            if position - distance in known:
                here = int(to[:size][at[:size] == position - distance].max()) + 1
                break
            if position + distance in known:
                here = int(to[:size][at[:size] == position + distance].min())
                break
        here = max(here, min(begun, len(tokens)))
        tokens.insert(here, source.tokens[position])
        origins.insert(here, position)
        numbers.insert(here, -1)
        to[:size] += to[:size] >= here
        at[size], to[size] = position, here
        size += 1
        known.add(position)
    return list(zip(at.tolist(), to.tolist(), strict=True))


def _order_pairs(tokens: list[str], origins: list[int], source: Prepared, repairs: list[str]) -> None:
    """Let what opens come before what closes it, and no pair into another one."""
    pairs: dict[int, int] = {}  # what opens → what closes, and the other way round
    opened = -1
    for at in sorted(source.protected):
        kind = CLASS_OF[source.tokens[at]]
        if kind == OPEN:
            opened = at
        elif kind == CLOSE and opened >= 0:
            pairs[opened], pairs[at] = at, opened
            opened = -1
    slots = [to for to, at in enumerate(origins) if at in pairs]
    if not slots:
        return
    wanted: dict[int, None] = {}
    for to in slots:
        wanted |= dict.fromkeys(sorted((origins[to], pairs[origins[to]])))
    if list(wanted) != [origins[to] for to in slots]:
        repairs.append("what opens was put before what closes it")
        for to, at in zip(slots, wanted, strict=True):
            origins[to], tokens[to] = at, source.tokens[at]
