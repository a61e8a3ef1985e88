"""The parts of derivations in a chart: their words, rules and tails, and their features in context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.chart.features import GLUE as GLUE_COLUMN
from camber.decode.chart.features import LM, PASS_THROUGH, PER_LM, SOURCE_OOV, WORD_PENALTY
from camber.decode.chart.hypergraph import GLUE
from camber.decode.chart.lm import RIGHT, glue_state, piece_state
from camber.kernel import kernel, kernel_inlined
from camber.lm.ngrams import UNKNOWN
from camber.rules.columns import fill_row

FRAME = np.dtype(
    [
        ("derivation", np.int64),
        ("at", np.int64),  # next symbol
        ("start", np.int64),  # its first word in the text
        ("one", np.int64),  # part of the first tail
        ("two", np.int64),
        ("waits", np.int64),  # 1, 2: for the part of that tail
    ]
)
#: rules of parts that are not in the grammar
PASSED, GLUED, STARTED = -1, -2, -3
#: codes for arrays that are too small
PARTS_FULL, WORDS_FULL = -6, -7


class DerivationColumns(NamedTuple):
    """The derivations of one sentence, in columns; parts are numbered through."""

    score: Array  # float64[derivations]
    part_first: Array  # int64[derivations + 1]
    word_first: Array  # int64[derivations + 1]
    words: Array  # int64: target words; the number of target words + place in the sentence: others
    features: Array  # float64[parts, features], raw; NaN: absent
    rule: Array  # int64[parts]: of the grammar; -1: passed through, -2: glue, -3: the start
    span: Array  # int64[parts, 2]
    target_span: Array  # int64[parts, 2]
    tails: Array  # int64[parts, 2]: parts, from 0 in every derivation; -1: none

    @classmethod
    def make(cls, nbest: int, parts: int, words: int, features: int) -> DerivationColumns:
        """Make room."""
        return cls(
            np.empty(nbest),
            np.zeros(nbest + 1, np.int64),
            np.zeros(nbest + 1, np.int64),
            np.empty(words, np.int64),
            np.empty((parts, features)),
            np.empty(parts, np.int64),
            np.empty((parts, 2), np.int64),
            np.empty((parts, 2), np.int64),
            np.empty((parts, 2), np.int64),
        )


@kernel
def read_parts(top, count, rules, models, begin_states, end_words, unit, forest, room, columns):
    """Write words and parts of the first `count` derivations of vertex `top`; return 0, or a negative code."""
    frames = room.frames
    d = np.int64(room.status[top]["first"])
    part, word = np.int64(0), np.int64(0)
    columns.part_first[0] = 0
    columns.word_first[0] = 0
    for n in range(count):
        base, first_word = part, word
        _enter(frames[0], d, 0)
        height = 1
        finished = np.int64(-1)
        while height > 0:
            frame = frames[height - 1]
            if frame["waits"] == 1:
                frame["one"] = finished
            elif frame["waits"] == 2:
                frame["two"] = finished
            frame["waits"] = 0
            derivation = room.derivations[frame["derivation"]]
            word, tail = _read_words(frame, np.int64(forest.edges[derivation["edge"]]["rule"]), rules, word, columns)
            if word < 0:
                return WORDS_FULL
            if tail != 0:
                _enter(frames[height], derivation["one"] if tail == 1 else derivation["two"], word - first_word)
                height += 1
                continue
            if part >= len(columns.rule):
                return PARTS_FULL
            edge = forest.edges[derivation["edge"]]
            vertex = forest.vertices[edge["vertex"]]
            columns.span[part, 0] = vertex["begin"]
            columns.span[part, 1] = vertex["end"]
            columns.target_span[part, 0] = frame["start"]
            columns.target_span[part, 1] = word - first_word
            columns.tails[part, 0] = frame["one"]
            columns.tails[part, 1] = frame["two"]
            columns.rule[part] = _part_rule(np.int64(edge["rule"]), rules)
            _edge_features(
                np.int64(derivation["edge"]), edge["vertex"] == top, rules, models, begin_states, end_words, unit,
                forest, room, columns.features, part,
            )  # fmt: skip
            finished = part - base
            part += 1
            height -= 1
        columns.part_first[n + 1] = part
        columns.word_first[n + 1] = word
        d = np.int64(room.derivations[d]["next"])
    return 0


@kernel
def _enter(frame, derivation, start):
    """Begin to read a derivation, whose text begins at word `start`."""
    frame["derivation"] = derivation
    frame["at"] = 0
    frame["start"] = start
    frame["one"] = -1
    frame["two"] = -1
    frame["waits"] = 0


@kernel_inlined
def _read_words(frame, r, rules, word, columns):
    """Write the words of a rule up to its next tail: return the place of the next word and that tail, 1 or 2.

    0: the rule ends here. The place is -1 when there is no room for words.
    """
    symbols = rules.target_offsets[r + 1] - rules.target_offsets[r] if r >= 0 else (2 if r == GLUE else 1)
    while frame["at"] < symbols:
        symbol = np.int64(-2)  # S → X has a second tail only
        if r >= 0:
            symbol = rules.target[rules.target_offsets[r] + frame["at"]]
        elif r == GLUE:
            symbol = np.int64(-1 - frame["at"])
        frame["at"] += 1
        if symbol < 0:
            frame["waits"] = -symbol
            return word, -symbol
        if word >= len(columns.words):
            return np.int64(-1), np.int64(0)
        columns.words[word] = symbol
        word += 1
    return word, np.int64(0)


@kernel
def _part_rule(r, rules):
    """Return the rule of an edge as parts know it."""
    if r >= 0:
        return r if r < len(rules.columns.table) else np.int64(PASSED)
    return np.int64(GLUED) if r == GLUE else np.int64(STARTED)


@kernel
def read_edges(top, rules, models, begin_states, end_words, unit, forest, room, part_rules, features):
    """Write the rule and the features of every edge: int64[edges], float64[edges, features]."""
    for e in range(forest.size[1]):
        part_rules[e] = _part_rule(np.int64(forest.edges[e]["rule"]), rules)
        complete = forest.edges[e]["vertex"] == top
        _edge_features(
            np.int64(e), complete, rules, models, begin_states, end_words, unit, forest, room, features, e
        )  # fmt: skip


@kernel
def _edge_features(e, complete, rules, models, begin_states, end_words, unit, forest, room, features, row):
    """Write the raw features of an edge in context: words count where their whole context is known first."""
    edge = forest.edges[e]
    r, one, two = np.int64(edge["rule"]), np.int64(edge["one"]), np.int64(edge["two"])
    own, number = rules.columns.width, len(rules.columns.table)
    fill_row(rules.columns, r if r < number else np.int64(-1), features, row)
    for f in range(own, features.shape[1]):
        features[row, f] = 0.0
    if r < 0:
        if r == GLUE:
            features[row, own + GLUE_COLUMN] = 1.0
        for k in range(len(models.weights)):
            before = begin_states[k] if one < 0 else forest.pieces.states[one, k, RIGHT]
            _, final = glue_state(
                models, k, before, two, end_words[k] if complete else np.int64(-1), forest.pieces, room.piece, 0
            )
            features[row, own + LM + PER_LM * k] = final * unit
        return
    if r >= number:
        features[row, own + PASS_THROUGH] = 1.0
        features[row, own + SOURCE_OOV] = rules.unknown[r - number]
    first, last = rules.target_offsets[r], rules.target_offsets[r + 1]
    words = np.int64(0)
    for t in range(first, last):
        if rules.target[t] >= 0:
            words += 1
            for k in range(len(models.weights)):
                if rules.words[k, t] == UNKNOWN:
                    features[row, own + LM + PER_LM * k + 1] += 1.0
    features[row, own + WORD_PENALTY] = -unit * words  # not a sum: to the last bit what the rule is binned by
    for k in range(len(models.weights)):
        _, final = piece_state(
            models, k, rules.target, rules.words, first, last, one, two, forest.pieces, room.piece, 0
        )
        features[row, own + LM + PER_LM * k] = final * unit
