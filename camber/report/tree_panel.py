"""The picture of one tree: questions from the left, what leaves add at the right, and what it changed below.

Every question and every leaf has a line of its own, in the order of the answers: what leads to "yes" stands above its
question, what leads to "no" below. A path is as wide as the share of the parts that take it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from camber.bend.trees.acts import Example
from camber.bend.trees.description import WeighedTree, percent, summary
from camber.report.axes import number
from camber.report.drawing import Drawing, Item, Point, Runs, Shape, Text
from camber.report.markup import text_width
from camber.text.difference import Piece, differences

_MARGIN = 24.0
_HEAD, _NOTE, _TOP = 27.0, 48.0, 84.0
_ROW, _BOX = 31.0, 24.0  # heights
_PADDING, _ROOM = 9.0, 1.12  # inside boxes; some fonts are wide
_STEP, _GAP = 22.0, 30.0  # a child stands at least so far to the right of its parent; what stays free behind boxes
_FLOW, _BEND = 13.0, 11.0  # how wide the path of all parts is, and the radius of a turn
_LEAF = 500.0  # where leaves are told, if nothing is in the way
_BARS = (78.0, 172.0)  # where their bars begin and end, from there
_SHARES = 236.0  # where their shares end, from there
_LINE = 17.0  # height of a line of text
_WIDEST = 300.0  # of a question
_BEFORE = 6  # words that are shown before the first difference, where not all have room


@dataclass(frozen=True)
class _Plan:
    """Where nodes and leaves (leaf `k` as ``~k``) stand."""

    rows: dict[int, int]
    depths: dict[int, int]
    step: float
    leaf: float  # where the column of leaves begins
    questions: dict[int, str]  # by node, short enough for a box
    shares: dict[int, float]  # of the parts that come by

    def left(self, node: int) -> float:
        return self.leaf if node < 0 else _MARGIN + self.depths[node] * self.step

    def middle(self, node: int) -> float:
        return _TOP + (self.rows[node] + 0.5) * _ROW

    @property
    def stem(self) -> float:
        """How far from the left edge of a box paths go up and down."""
        return min(14.0, 0.5 * self.step)

    @property
    def bend(self) -> float:
        return min(_BEND, 0.5 * self.step)

    @property
    def flow(self) -> float:
        return min(_FLOW, 0.8 * self.step)


def title(tree: WeighedTree) -> str:
    """Say in a line what a tree weighs and gained, and what it did."""
    did = "" if tree.tree.acts is None else f" · {summary(tree.tree.acts)}"
    return f"weight {number(tree.weight)} · gain {number(tree.tree.gain)}{did}"


def tree_panel(tree: WeighedTree, *, examples: bool = True) -> Drawing:
    """Draw a tree, with what it changed unless that is told elsewhere."""
    plan = _plan(tree)
    shown = tree.tree.acts.examples if examples and tree.tree.acts else ()
    bottom = _TOP + _ROW * len(plan.rows) + 8.0
    items: list[Item] = [
        Text(_MARGIN, _HEAD, tree.name, "head"),
        Text(_MARGIN, _NOTE, title(tree)),
        *_paths(tree, plan),
        *_boxes(tree, plan),
        *_leaves(tree, plan),
        *_examples(shown, bottom + _LINE, (plan.leaf + _SHARES - _MARGIN) / _ROOM),
    ]
    height = bottom + (0.0 if not shown else 12.0 + len(shown) * (3 * _LINE + 9.0)) + 10.0
    return Drawing(plan.leaf + _SHARES + _MARGIN, height, items, f"{tree.name}: {title(tree)}")


def _plan(weighed: WeighedTree) -> _Plan:
    tree = weighed.tree
    rows: dict[int, int] = {}
    depths = dict(tree.walk())
    shares: dict[int, float] = {}

    def place(node: int) -> float:
        """Give lines to a node and all below it, those of the answer "yes" first; return its share of the parts."""
        if node < 0:
            rows[node] = len(rows)
            shares[node] = weighed.share(~node)
        else:
            low, high = tree.children[node].tolist()
            share = place(low)
            rows[node] = len(rows)
            shares[node] = share + place(high)
        return shares[node]

    place(0 if len(tree.features) else -1)
    nodes = range(len(tree.features))
    questions = {node: _shortened(weighed.question(node, lambda value: number(value, 4))) for node in nodes}
    widths = {node: _box_width(weighed, node, questions[node]) for node in nodes}
    room = _LEAF - _GAP - _MARGIN
    steps = [(room - widths[node]) / depths[node] for node in nodes if depths[node]]
    step = max(_STEP, min([max(widths.values(), default=0.0) + _GAP, *steps]))
    right = max((_MARGIN + depths[node] * step + widths[node] for node in nodes), default=0.0)
    return _Plan(rows, depths, step, max(_LEAF, right + _GAP), questions, shares)


def _shortened(text: str) -> str:
    """Cut the middle out of a question that is too long for its box."""
    if text_width(text, 12.0) <= _WIDEST:
        return text

    def ends(half: int) -> str:
        return text[:half].rstrip() + "…" + text[len(text) - half :].lstrip()

    return ends(bisect_right(range(len(text) // 2), _WIDEST, key=lambda half: text_width(ends(half), 12.0)) - 1)


def _gain(tree: WeighedTree, node: int) -> str:
    return f"gain {number(tree.gain(node))}"


def _box_width(tree: WeighedTree, node: int, question: str) -> float:
    return 3 * _PADDING + _ROOM * (text_width(question, 12.0) + text_width(_gain(tree, node), 10.5))


def _paths(tree: WeighedTree, plan: _Plan) -> list[Item]:
    """Draw the way from every question to what its answers lead to."""
    flows: list[list[Point]] = []
    labels: list[Item] = []
    for node in range(len(tree.tree.features)):
        for child, side, answer in zip(tree.tree.children[node].tolist(), (-1, 1), ("yes", "no"), strict=True):
            x, end = plan.left(node) + plan.stem, plan.left(child)
            start, goal = plan.middle(node) + side * _BOX / 2, plan.middle(child)
            wide = max(1.0, plan.flow * plan.shares[child])
            flows.append(_path(x, start, end - (6.0 if child < 0 else 0.0), goal, wide, plan.bend))
            if end - x - plan.bend > 30.0:
                labels.append(Text(x + plan.bend + 5.0, goal - wide / 2 - 3.0, answer, "tiny"))
    return [Shape("flow", flows, closed=True), *labels]


def _path(x: float, start: float, end: float, goal: float, wide: float, bend: float) -> list[Point]:
    """Return the outline of a path: from (x, start) up or down to the height `goal`, then to the right up to `end`."""
    up = -1.0 if goal < start else 1.0
    half = wide / 2
    middle = (x + bend, goal - up * bend)

    def corner(radius: float) -> list[Point]:
        turns = [math.pi / 2 * k / 6 for k in range(7)]
        return [(middle[0] - radius * math.cos(turn), middle[1] + up * radius * math.sin(turn)) for turn in turns]

    outer, inner = corner(bend + half), corner(max(bend - half, 0.0))
    return [
        (x - half, start),
        *outer,
        (end, goal + up * half),
        (end, goal - up * half),
        *inner[::-1],
        (x + half, start),
    ]


def _boxes(tree: WeighedTree, plan: _Plan) -> list[Item]:
    items: list[Item] = []
    for node, question in plan.questions.items():
        left, middle = plan.left(node), plan.middle(node)
        wide = _box_width(tree, node, question)
        items += [
            Shape("node", [_rounded(left, middle - _BOX / 2, left + wide, middle + _BOX / 2)], closed=True),
            Text(left + _PADDING, middle + 4.0, question, "told"),
            Text(left + wide - _PADDING, middle + 4.0, _gain(tree, node), "tiny", "end"),
        ]
    return items


def _rounded(left: float, top: float, right: float, bottom: float, radius: float = 5.0) -> list[Point]:
    points: list[Point] = []
    corners = [(right - radius, top + radius), (right - radius, bottom - radius),
               (left + radius, bottom - radius), (left + radius, top + radius)]  # fmt: skip
    for quarter, (x, y) in enumerate(corners):
        turns = [math.pi / 2 * (quarter - 1 + k / 4) for k in range(5)]
        points += [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]
    return points


def _leaves(tree: WeighedTree, plan: _Plan) -> list[Item]:
    """Tell what every leaf adds, by a number and a bar (lines have none), and which share of the parts comes there."""
    ends = sorted((node for node in plan.rows if node < 0), key=lambda node: plan.rows[node])
    worths = {node: tree.worth(~node) for node in ends}
    begin, finish = (plan.leaf + place for place in _BARS)
    zero, half = (begin + finish) / 2, (finish - begin) / 2
    largest = max(abs(constant) for constant, _ in worths.values()) or 1.0
    top, bottom = _TOP - 4.0, _TOP + _ROW * len(plan.rows)
    items: list[Item] = [Text(plan.leaf + _SHARES, _TOP - 10.0, "of parts", "tiny", "end")]
    if tree.tree.linear:
        heading = f"adds, with x of {tree.features[tree.tree.slope].name}"
        items.append(Text(plan.leaf, _TOP - 10.0, _cut(heading, _SHARES - 54.0), "tiny"))
    else:
        items += [
            Text(plan.leaf, _TOP - 10.0, "adds to the score", "tiny"),
            Shape("grid", [[(zero, top), (zero, bottom)]]),
        ]
    for node in ends:
        constant, slope = worths[node]
        y = plan.middle(node)
        if tree.tree.linear:
            sign = "−" if slope < 0 else "+"
            items.append(Text(plan.leaf, y + 4.0, f"{_signed(constant)} {sign} {number(abs(slope))} x", "told"))
        else:
            long = max(1.0, half * abs(constant) / largest) if constant else 0.0
            sides = (zero, zero + long) if constant > 0 else (zero - long, zero)
            bar = [(sides[0], y - 6.0), (sides[1], y - 6.0), (sides[1], y + 6.0), (sides[0], y + 6.0)]
            items += [
                Text(plan.leaf, y + 4.0, _signed(constant), "told"),
                Shape("plus" if constant > 0 else "minus", [bar], closed=True),
            ]
        items.append(Text(plan.leaf + _SHARES, y + 4.0, percent(plan.shares[node]), "note", "end"))
    return items


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)


# --- examples --------------------------------------------------------------------------------------------------------


def _examples(examples: Sequence[Example], top: float, wide: float) -> list[Item]:
    items: list[Item] = []
    y = top
    indent = 54.0
    for example in examples:
        pieces = differences(example.with_tree, example.without)
        source = _cut(example.source, wide - indent)
        items += [Text(_MARGIN, y, f"{example.sentence:,}", "note"), Text(_MARGIN + indent, y, source, "note")]
        for letters, side in (("with", 0), ("without", 1)):
            y += _LINE
            items += [
                Text(_MARGIN, y, letters, "note"),
                Runs(_MARGIN + indent, y, _window(pieces, side, letters, wide - indent)),
            ]
        y += _LINE + 9.0
    return items


def _cut(text: str, widest: float) -> str:
    """Cut the end off a text that is too long for its line."""
    if text_width(text, 12.0) <= widest:
        return text
    room = widest - text_width("…", 12.0)
    keep = bisect_right(range(len(text)), room, key=lambda size: text_width(text[:size], 12.0)) - 1
    return text[: max(keep, 0)].rstrip() + "…"


def _window(pieces: Sequence[Piece], side: int, letters: str, widest: float) -> list[tuple[str, str]]:
    """Return one of two texts as runs; where it is too long, it begins a few words before the first difference."""
    runs = [((piece.one, piece.two)[side], "told" if piece.same else letters) for piece in pieces]
    if sum(text_width(words, 12.6) for words, _ in runs) > widest and pieces[0].same:
        before = runs[0][0].split(" ")
        if len(before) > _BEFORE:
            runs[0] = ("… " + " ".join(before[-_BEFORE:]), "told")
    left = widest
    kept: list[tuple[str, str]] = []
    for words, kind in runs:
        wide = text_width(words, 12.6 if kind != "told" else 12.0)
        if wide > left:
            return [*kept, (_cut(words, left), kind)]
        kept.append((words, kind))
        left -= wide
    return [run for run in kept if run[0]]


__all__ = ["title", "tree_panel"]
