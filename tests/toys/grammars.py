"""Small grammars that Hypothesis draws."""

import numpy as np
from hypothesis import strategies as st

from camber.arrays.ragged import offsets_from
from camber.corpus import Vocabulary
from camber.formats.moses.rule_table import score_names
from camber.rules.hiero.grammar import Grammar

WORDS = ("a", "b", "x[1]|y")


@st.composite
def grammars(draw: st.DrawFn, scores: int = 4) -> Grammar:
    """A few rules over few words; with brackets and bars in one."""
    sides: dict[tuple, tuple] = {}
    for _ in range(draw(st.integers(1, 12))):
        gaps = draw(st.integers(0, 2))
        word = st.integers(0, len(WORDS) - 1)
        source = draw(st.lists(word, min_size=0 if gaps == 2 else 1, max_size=3))
        target = draw(st.lists(word, min_size=0 if gaps else 1, max_size=3))
        for symbol in draw(st.permutations([-1, -2][:gaps])):
            target.insert(draw(st.integers(0, len(target))), symbol)
        places = sorted(draw(st.lists(st.integers(0, len(source)), min_size=gaps, max_size=gaps)))
        for n, place in reversed(list(enumerate(places))):
            source.insert(place, -1 - n)
        cells = [(i, j) for i, s in enumerate(source) for j, t in enumerate(target) if s >= 0 and t >= 0]
        links = sorted(draw(st.sets(st.sampled_from(cells), max_size=3))) if cells else []
        sides[tuple(source), tuple(target)] = tuple(links)
    source, target, links = [s for s, _ in sides], [t for _, t in sides], list(sides.values())
    value = st.floats(0, 1, width=32)
    features = [draw(st.lists(value, min_size=scores, max_size=scores)) for _ in sides]

    def flat(rows: list) -> tuple[np.ndarray, np.ndarray]:
        joined = np.array([item for row in rows for item in row], np.int64)
        return joined, offsets_from(np.array([len(row) for row in rows]))

    flat_links, link_offsets = flat(links)
    words = Vocabulary(WORDS)
    return Grammar(
        score_names(scores), *flat(source), *flat(target), np.array(features, np.float64),
        flat_links.reshape(-1, 2).astype(np.uint8), link_offsets, words, words,
    )  # fmt: skip
