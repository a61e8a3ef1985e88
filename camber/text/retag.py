"""Tags back into a translation, by the word alignment.

Every target token has the tags of the source token that it is linked to. A pair of tags goes around the first and the
last token that should be inside it; where pairs would overlap, the border goes where the fewest tokens are on the wrong
side. No tag is doubled or lost, pairs nest as in the source, and beside a tag there is white space where there was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from camber.text.tags import CLOSE, OPEN, Stretch, Tag

#: a place in a translation: before a token, or so many characters into it
Place = tuple[int, int]


class Retagged(NamedTuple):
    """A text with tags, and where its tokens stand in it."""

    text: str
    places: list[tuple[int, int]]


class PlacedTag(NamedTuple):
    """A tag of a sentence: before which of its tokens it stands."""

    text: str
    kind: str
    partner: int  # the place of the tag that it belongs to in the sentence's tags; -1: none, -2: in another sentence
    token: int
    inside: int  # characters of the token that are before it
    left: bool  # no white space between what is before and the tag
    gap: str = ""  # what is between the tokens that it stands between (or the edge of the sentence)
    skip: int = 0  # characters of it that are before the tag
    last: bool = False  # nothing but tags is behind it


def tags_of_sentences(
    stretch: Stretch, places: Sequence[tuple[int, int]], tags: Sequence[Tag]
) -> list[list[tuple[int, int, str]]]:
    """Return the tags of each sentence of a stretch; those before the first and behind the last one belong to none."""
    out: list[list[tuple[int, int, str]]] = [[] for _ in places]
    sentence = 0
    for number, at, text in stretch.tags:
        while sentence + 1 < len(places) and at >= places[sentence + 1][0]:
            sentence += 1
        if not places or not places[0][0] <= at <= places[-1][1]:
            continue
        # where one sentence ends and the next one begins at once, what closes belongs to the former, if nothing opened
        closes = tags[number].kind != OPEN and not out[sentence]
        before = closes and sentence > 0 and places[sentence - 1][1] == at == places[sentence][0]
        out[sentence - before].append((number, min(at, places[sentence - before][1]), text))
    return out


def placed_tags(
    own: Sequence[tuple[int, int, str]], tags: Sequence[Tag], found: Sequence[tuple[int, int]], raw: Sequence[str]
) -> tuple[PlacedTag, ...]:
    """Return the tags of a sentence with the tokens that they stand before; `found` are the places of the tokens."""
    numbers = {number: place for place, (number, _, _) in enumerate(own)}
    ends = [end for _, end in found]
    placed = []
    for number, at, text in own:
        tag = tags[number]
        partner = -1 if tag.partner < 0 else numbers.get(tag.partner, -2)
        token = bisect_right(ends, at)
        before = ends[token - 1] if token else 0
        start = found[token][0] if token < len(found) else len(raw)
        inside = len("".join(raw[start:at])) if start < at else 0
        left = before == at
        if inside or before == start:  # there is no white space beside it
            left = tag.kind == CLOSE or (token > 0 and left and tag.kind != OPEN)
        between = raw[before:start] if not inside else ""
        placed.append(
            PlacedTag(
                text,
                tag.kind,
                partner,
                token,
                inside,
                left,
                "".join(between),
                len("".join(between[: at - before])),
                last=token == len(found),
            )
        )
    return tuple(placed)


@dataclass
class _Node:
    """A pair of tags, or a tag that stands alone, with what is inside."""

    order: int  # in the source
    first: int  # source tokens inside: first .. last (exclusive)
    last: int
    opening: PlacedTag | None = None
    closing: PlacedTag | None = None
    begins: bool = True  # false: it began in an earlier sentence
    ends: bool = True
    children: list[_Node] = field(default_factory=list)
    low: int = 0  # target tokens inside: low .. high (exclusive)
    high: int = 0

    @property
    def alone(self) -> bool:
        return self.opening is None or self.closing is None


def retag(
    tags: Sequence[PlacedTag], tokens: Sequence[str], gaps: Sequence[str], origins: Sequence[int], best: Sequence[int]
) -> Retagged:
    """Join tokens, with white space before each and behind the last, and put the tags of their source between them.

    `origins` and `best` have the source token that each is a copy of, and that it is linked to; -1: none.

    >>> tags = [PlacedTag("<b>", OPEN, 1, 1, 0, False), PlacedTag("</b>", CLOSE, 0, 2, 0, True)]
    >>> retag(tags, ["here", "press"], ["", " ", ""], [-1, -1], [1, 0]).text
    '<b>here</b> press'
    """
    root = _tree(tags, 1 + max([tag.token for tag in tags] + list(best)))
    targets: dict[int, list[int]] = {}
    for to, at in enumerate(best):
        if at >= 0:
            targets.setdefault(at, []).append(to)
    root.low, root.high = 0, len(tokens)
    placed: list[tuple[Place, PlacedTag]] = []
    copies = {at: to for to, at in enumerate(origins) if at >= 0}
    _settle(root, targets, copies)
    _emit(root, (0, 0), (len(tokens), 0), copies, placed)
    return _written(placed, tokens, gaps)


def _tree(tags: Sequence[PlacedTag], tokens: int) -> _Node:
    """Nest the tags of a sentence."""
    root = _Node(-1, 0, tokens)
    # what began in an earlier sentence and ends here is around all that is before its end: the last to end is outermost
    earlier = [place for place, tag in enumerate(tags) if tag.kind == CLOSE and tag.partner == -2]
    stack = [root]
    for place in reversed(earlier):
        node = _Node(-1 - place, 0, tokens, begins=False)
        stack[-1].children.append(node)
        stack.append(node)
    for place, tag in enumerate(tags):
        paired = tag.partner != -1
        if tag.kind == OPEN and paired:
            node = _Node(place, tag.token, tokens, opening=tag, ends=tag.partner != -2)
            stack[-1].children.append(node)
            stack.append(node)
        elif tag.kind == CLOSE and paired and len(stack) > 1:
            node = stack.pop()
            node.closing = tag
            node.last = tag.token + (tag.inside > 0)
        else:
            stack[-1].children.append(_Node(place, tag.token, tag.token, opening=tag))
    return root


def _settle(node: _Node, targets: dict[int, list[int]], copies: dict[int, int]) -> None:
    """Give what is inside a node its target tokens, from the outside in."""
    wide: list[tuple[_Node, list[int]]] = []
    narrow: list[tuple[_Node, list[int]]] = []
    for child in node.children:
        inside = _inside(child, node, targets) if child.last > child.first else []
        if inside or not (child.begins and child.ends):
            child.low = min(inside, default=node.high) if child.begins else node.low
            child.high = max(inside, default=node.low - 1) + 1 if child.ends else node.high
        else:
            child.low = child.high = _nearest(child, node, targets)
        (wide if child.high > child.low else narrow).append((child, inside))
    wide.sort(key=lambda item: (_centre(*item), item[0].order))
    for (before, those), (after, these) in pairwise(wide):
        if before.high > after.low and not _meet_inside(before, after, copies):
            cut = _cut(those, these, after.low, before.high)
            before.high, after.low = max(before.low, cut), min(cut, after.high)
            after.low = max(after.low, before.high)
            after.high = max(after.high, after.low)
    lows = [child.low for child, _ in wide]
    for child, _ in narrow:
        place = bisect_right(lows, child.low) - 1
        if place >= 0 and lows[place] < child.low < wide[place][0].high:  # not into another pair
            around = wide[place][0]
            child.low = child.high = around.low if child.low - around.low <= around.high - child.low else around.high
    for child in node.children:
        _settle(child, targets, copies)
    node.children.sort(key=lambda child: (child.low, child.order))


def _meet_inside(before: _Node, after: _Node, copies: dict[int, int]) -> bool:
    """Say whether one pair ends in a word in which the next one begins, and the word is still there."""
    if before.closing is None or after.opening is None or not after.opening.inside:
        return False
    token = after.opening.token
    return before.closing.token == token and before.high - 1 == after.low == copies.get(token)


def _inside(child: _Node, node: _Node, targets: dict[int, list[int]]) -> list[int]:
    """Return the target tokens of what is inside a pair, as far as they are inside the one around it."""
    found = [to for at in range(child.first, child.last) for to in targets.get(at, ())]
    return [to for to in found if node.low <= to < node.high]


def _centre(child: _Node, inside: list[int]) -> float:
    if not child.begins:
        return -1.0
    return sum(inside) / len(inside) if inside else float(child.low)


def _cut(before: list[int], after: list[int], low: int, high: int) -> int:
    """Return the border between two pairs that has the fewest tokens on the wrong side."""
    wrong = sum(to >= low for to in before)
    first, second = set(before), set(after)
    cut, least = low, wrong
    for place in range(low, high):
        wrong += (place in second) - (place in first)
        if wrong < least:
            cut, least = place + 1, wrong
    return cut


def _nearest(child: _Node, node: _Node, targets: dict[int, list[int]]) -> int:
    """Return where something without text goes: to the word that it stood beside."""
    tag = child.opening or child.closing
    left = tag is not None and tag.left
    at = child.first
    for distance in range(50):
        before, behind = targets.get(at - 1 - distance), targets.get(at + distance)
        for found, shift in ((before, 1), (behind, 0)) if left else ((behind, 0), (before, 1)):
            if found:
                place = (max(found) if shift else min(found)) + shift
                return min(max(place, node.low), node.high)
    return node.low if not at else node.high


def _emit(node: _Node, begin: Place, end: Place, copies: dict[int, int], placed: list[tuple[Place, PlacedTag]]) -> None:
    """List the tags of a node in their order, each with its place; all lie between `begin` and `end`."""
    done = begin
    for child in node.children:
        start = max(done, min(_place(child.opening, child.low, copies, opens=True), end))
        stop = max(start, min(_place(child.closing, child.high, copies, opens=False), end))
        if child.opening is not None:
            placed.append((start, child.opening))
        if not child.alone or not child.begins or not child.ends:
            _emit(child, start, stop, copies, placed)
            done = stop
        else:
            done = start
        if child.closing is not None:
            placed.append((stop, child.closing))


def _place(tag: PlacedTag | None, border: int, copies: dict[int, int], *, opens: bool) -> Place:
    """Return the place of a tag at a border between tokens; one inside of a word that was copied is inside it again."""
    if tag is not None and tag.inside and copies.get(tag.token) == (border if opens else border - 1):
        return (copies[tag.token], tag.inside)
    if tag is not None and tag.inside and opens and tag.partner == -1 and tag.token in copies:
        return (copies[tag.token], tag.inside)
    return (border, 0)


def _between(tags: Sequence[PlacedTag], gap: str, *, at_edge: bool = False) -> list[str]:
    """Return the tags that stand between two tokens, and the white space there.

    That goes where the fewest tags have it on the wrong side; if it is that of the source, tags may be in the middle.
    """
    if (at_edge or len(gap) > 1) and all(tag.gap == gap for tag in tags):
        out, done = [], 0
        for tag in tags:
            out += [gap[done : tag.skip], tag.text]
            done = max(done, tag.skip)
        return [*out, gap[done:]]
    wrong = sum(tag.left for tag in tags)
    split, least = 0, wrong
    for count, tag in enumerate(tags, 1):
        wrong += -1 if tag.left else 1
        if wrong < least:
            split, least = count, wrong
    return [*(tag.text for tag in tags[:split]), gap, *(tag.text for tag in tags[split:])]


def _turned(at_end: str, at_start: str) -> str:
    """Return a tag with the white space that belongs to it on its other side, where a text ends or starts with it.

    >>> _turned("<x/> ", ""), _turned("", " <x/>")
    (' <x/>', '<x/> ')
    """
    ending, starting = at_end.rstrip(), at_start.lstrip()
    return at_end[len(ending) :] + ending + starting + at_start[: len(at_start) - len(starting)]


def _written(placed: list[tuple[Place, PlacedTag]], tokens: Sequence[str], gaps: Sequence[str]) -> Retagged:
    out: list[str] = []
    places: list[tuple[int, int]] = []
    place = length = 0
    for to in range(len(tokens) + 1):
        following = placed[place][0][0] if place < len(placed) else len(tokens)
        if to < following:  # no tag is beside most tokens
            gap, token = gaps[to], tokens[to]
            out += [gap, token]
            start = length + len(gap)
            length = start + len(token)
            places.append((start, length))
            continue
        here: list[PlacedTag] = []
        while place < len(placed) and placed[place][0] == (to, 0):
            here.append(placed[place][1])
            place += 1
        if to == len(tokens):
            here = [tag if tag.last or not tokens else tag._replace(text=_turned(tag.text, "")) for tag in here]
            out += _between(here, gaps[to], at_edge=True)
            break
        if to == 0:
            here = [tag if tag.token == 0 else tag._replace(text=_turned("", tag.text)) for tag in here]
        out += _between(here, gaps[to], at_edge=to == 0)
        token, done = tokens[to], 0
        length += len(gaps[to]) + sum(len(tag.text) for tag in here)
        start = length
        while place < len(placed) and placed[place][0][0] == to:
            (_, inside), tag = placed[place]
            out += [token[done:inside], tag.text]
            length += len(tag.text)
            done = inside
            place += 1
        out.append(token[done:])
        length += len(token)
        places.append((start, length))
    return Retagged("".join(out), places)
