"""What the chart decoder finds: derivations whose parts are a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from camber.arrays.types import I8
from camber.decode.chart.parts import PASSED, DerivationColumns
from camber.decode.derivation import Derivation
from camber.features.feature import Feature
from camber.rules.hiero.grammar import Grammar


@dataclass(frozen=True)
class ChartDerivation(Derivation):
    """One hypothesis; its parts are a tree, every part behind its tails.

    `rules` are numbers of the sentence's grammar, or of the window's under constraints; -1: a word passed through, -2:
    a piece put behind the beginning of the sentence (S → S X), -3: the first piece (S → X). A word's language model
    score belongs to the part in which its whole context is known.
    """

    tails: I8  # [parts, 2] parts in place of the two non-terminals, -1: none
    grammar: Grammar
    #: of a sentence in windows, each with a grammar of its own: their derivations, and the words before them
    windows: tuple[tuple[ChartDerivation, int, int], ...] = ()

    def after(self, left: Self | None, offset: int) -> Self:
        """Return this derivation of a window behind what precedes it; `offset` source words came before."""
        if left is None:
            return self
        tails = np.concatenate([left.tails, np.where(self.tails < 0, -1, self.tails + len(left.rules))])
        windows: list[tuple[ChartDerivation, int, int]] = [*left.windows] or [(left, 0, 0)]
        windows.append((self, offset, len(left.words)))
        return replace(super().after(left, offset), tails=tails, windows=tuple(windows))

    def word_alignment(self) -> list[tuple[int, int]]:
        """Return the (source, target) links, from the alignments inside the rules."""
        if self.windows:
            return [(s + a, t + b) for piece, a, b in self.windows for s, t in piece.word_alignment()]
        links = []
        spans, targets, tails = self.spans.tolist(), self.target_spans.tolist(), self.tails.tolist()
        for part, rule in enumerate(self.rules.tolist()):
            if rule == PASSED:
                links.append((spans[part][0], targets[part][0]))
            elif rule >= 0:
                g = self.grammar
                source = g.source[g.source_offsets[rule] : g.source_offsets[rule + 1]].tolist()
                target = g.target[g.target_offsets[rule] : g.target_offsets[rule + 1]].tolist()
                left = _places(source, spans[part][0], [spans[tail] for tail in tails[part]])
                right = _places(target, targets[part][0], [targets[tail] for tail in tails[part]])
                links += [(left[s], right[t]) for s, t in g.rule_links(rule)]
        return sorted(links)


def _places(symbols: list[int], first: int, tails: list[list[int]]) -> list[int]:
    """Return where each symbol of one side of a rule begins in the sentence."""
    places = []
    for symbol in symbols:
        places.append(first)
        first += 1 if symbol >= 0 else tails[-1 - symbol][1] - tails[-1 - symbol][0]
    return places


def read_derivations(
    inputs: tuple[Feature, ...], columns: DerivationColumns, count: int, grammar: Grammar, sentence: Sequence[str]
) -> list[ChartDerivation]:
    """Turn the kernel's columns into derivations; `inputs` are the columns of their features."""
    vocabulary, known, others = grammar.target_words.words, len(grammar.target_words), [*grammar.extra, *sentence]
    parts, words = columns.part_first.tolist(), columns.word_first.tolist()
    return [
        ChartDerivation(
            inputs,
            [vocabulary[w] if w < known else others[w - known] for w in columns.words[c:d].tolist()],
            float(columns.score[n]),
            columns.features[a:b],
            columns.rule[a:b],
            columns.span[a:b],
            columns.target_span[a:b],
            columns.tails[a:b],
            grammar,
        )
        for n, (a, b), (c, d) in zip(range(count), pairwise(parts), pairwise(words), strict=False)
    ]


def empty_derivation(inputs: tuple[Feature, ...], grammar: Grammar) -> ChartDerivation:
    """Return the derivation of an empty sentence."""
    none = np.zeros((0, 2), np.int64)
    return ChartDerivation(
        inputs, [], 0.0, np.zeros((0, len(inputs))), np.zeros(0, np.int64), none, none, none, grammar
    )
