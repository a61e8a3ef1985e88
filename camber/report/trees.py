"""Trees of a model as a part of a page, or on a sheet: what each asks, gained, and changed."""

from __future__ import annotations

from collections.abc import Sequence

from camber.bend.trees.acts import Acts, Example
from camber.bend.trees.description import WeighedTree, percent, summary
from camber.report.axes import number
from camber.report.drawing import Sheet, svg
from camber.report.markup import Markup, element, escape, join
from camber.report.tree_panel import tree_panel
from camber.text.difference import differences

STYLE = """
.example td{padding-top:.5rem;padding-bottom:.5rem}
.example td:not(.n){min-width:13rem}
.example ins{background:color-mix(in srgb,var(--accent) 20%,transparent)}
.example del{background:color-mix(in srgb,var(--other) 22%,transparent)}
"""

_LEAD = (
    "A tree asks a few questions about a part of a translation (a phrase, a rule, or a whole hypothesis of a list), "
    "and adds what stands at the leaf where the answers lead to: above its question if the answer is yes, below if it "
    "is no. A path is as wide as the share of the parts that took it when the tree was grown; the gain of a question "
    "is how much better its answer explains what the ranking then still had wrong."
)
_ACTED = (
    "A tree acts on the parts that do not end in its most frequent leaf. It changed a sentence if, were its weight 0, "
    "another translation of the list would have a higher score than the one that was chosen; that is better or worse "
    "by the metric of the sentence. The examples are drawn at random."
)


def sheet_of_trees(trees: Sequence[WeighedTree]) -> Sheet:
    """Put the pictures of trees on a sheet: below each other, or in columns if there are many."""
    columns = 1 if len(trees) <= 3 else 2 if len(trees) <= 12 else 3
    return Sheet.grid([tree_panel(tree) for tree in trees], columns)


def section(trees: Sequence[WeighedTree]) -> Markup:
    """Return the part of a page that shows trees."""
    told = [_LEAD] if not any(tree.tree.acts for tree in trees) else [_LEAD, _ACTED]
    return element(
        "section",
        element("h2", "Trees"),
        *(element("p", text) for text in told),
        _overview(trees),
        *(_figure(tree) for tree in trees),
    )


def facts(trees: Sequence[WeighedTree]) -> list[tuple[str, str]]:
    """Return what there is to count, for the head of a page."""
    active = sum(tree.tree.acts is not None and tree.tree.acts.sentences > 0 for tree in trees)
    counts = [(f"{len(trees):,}", f"tree{'s' * (len(trees) != 1)}")]
    return (
        [*counts, (f"{active:,}", "of them changed translations")] if any(tree.tree.acts for tree in trees) else counts
    )


def lines(trees: Sequence[WeighedTree], wide: int = 0) -> list[str]:
    """Return a line for the terminal about every tree."""
    wide = max([wide, *(len(tree.name) for tree in trees)])
    return [
        f"{tree.name:<{wide}}  asks about {', '.join(tree.asks_about)} · gain {number(tree.tree.gain)}"
        + (f" · {summary(tree.tree.acts)}" if tree.tree.acts else "")
        for tree in trees
    ]


def _overview(trees: Sequence[WeighedTree]) -> Markup:
    words = ("tree", "asks about")
    numbers = ("weight", "gain", "leaves", "acts on parts", "changed sentences", "better", "worse")
    rows = []
    for tree in trees:
        cells = [number(tree.weight), number(tree.tree.gain), f"{tree.tree.leaves:,}", *_counts(tree.tree.acts)]
        rows.append(
            element(
                "tr",
                element("td", element("a", tree.name, href=f"#{tree.name}")),
                element("td", ", ".join(tree.asks_about)),
                *(element("td", text, class_="n") for text in cells),
            )
        )
    head = element(
        "tr", *(element("th", name) for name in words), *(element("th", name, class_="n") for name in numbers)
    )
    return element("div", element("table", element("thead", head), element("tbody", *rows)), class_="scroll")


def _counts(acts: Acts | None) -> list[str]:
    if acts is None:
        return [""] * 4
    changed = f"{acts.sentences:,}" + (f" ({percent(acts.share_of_sentences)})" if acts.sentences else "")
    return [percent(acts.share_of_parts), changed, f"{acts.better:,}", f"{acts.worse:,}"]


def _figure(tree: WeighedTree) -> Markup:
    acts = tree.tree.acts
    if acts is None:
        below = element("figcaption", "What it does was not recorded when this model was made; tune it again to see.")
    elif not acts.examples:
        below = element("figcaption", "It changed no translation.")
    else:
        below = _examples(acts.examples)
    return element("figure", svg(tree_panel(tree, examples=False)), below, id=tree.name)


def _examples(examples: Sequence[Example]) -> Markup:
    known = any(example.source for example in examples)
    rows = [
        element(
            "tr",
            element("td", f"{example.sentence:,}", class_="n"),
            *([element("td", example.source)] if known else []),
            *(element("td", text) for text in _marked(example)),
            element("td", number(example.change), class_="n"),
        )
        for example in examples
    ]
    headings = ["sentence", *(["source"] if known else []), "with the tree", "without it", "better by"]
    cells = [element("th", name, class_="n" if name in ("sentence", "better by") else None) for name in headings]
    table = element("table", element("thead", element("tr", *cells)), element("tbody", *rows), class_="example")
    return element("div", table, class_="scroll")


def _marked(example: Example) -> tuple[Markup, Markup]:
    """Mark the words of either translation that the other one does not have."""
    sides: tuple[list[object], list[object]] = ([], [])
    for piece in differences(example.with_tree, example.without):
        for side, words, kind in zip(sides, piece[:2], ("ins", "del"), strict=True):
            inside = words.strip()
            space = words[: len(words) - len(words.lstrip())]
            side += [escape(words)] if piece.same or not inside else [escape(space), element(kind, inside)]
    return join(sides[0]), join(sides[1])


__all__ = ["STYLE", "facts", "lines", "section", "sheet_of_trees"]
