"""The parts of derivations in a chart: their words, rules and tails, and their features in context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import Array
from camber.decode.chart.features import GLUE as GLUE_COLUMN
from camber.decode.chart.features import LM, PASS_THROUGH, PER_LM, SOURCE_OOV, WORD_PENALTY
from camber.decode.chart.hypergraph import GLUE
from camber.decode.chart.lm import RIGHT, glue_state, piece_state
from camber.kernel import kernel
from camber.lm.ngrams import UNKNOWN

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


class Found(NamedTuple):
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
    def make(cls, nbest: int, parts: int, words: int, features: int) -> Found:
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
def read_parts(top, count, rules, models, begin_states, end_words, width, unit, forest, room, found):
    """Write words and parts of the first `count` derivations of vertex `top`; return 0, or a negative code.

    width: number of target words; a word passed through is a rule behind those of the grammar.
    """
    d = np.int64(room.status[top]["first"])
    part, word = np.int64(0), np.int64(0)
    found.part_first[0] = 0
    found.word_first[0] = 0
    for n in range(count):
        base, first_word = part, word
        frames = room.frames
        frames[0]["derivation"] = d
        frames[0]["at"] = 0
        frames[0]["start"] = 0
        frames[0]["one"] = -1
        frames[0]["two"] = -1
        frames[0]["waits"] = 0
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
            edge = forest.edges[derivation["edge"]]
            r = np.int64(edge["rule"])
            symbols = rules.target_offsets[r + 1] - rules.target_offsets[r] if r >= 0 else (2 if r == GLUE else 1)
            deeper = False
            while frame["at"] < symbols:
                symbol = np.int64(-2)  # S → X has a second tail only
                if r >= 0:
                    symbol = rules.target[rules.target_offsets[r] + frame["at"]]
                elif r == GLUE:
                    symbol = np.int64(-1 - frame["at"])
                frame["at"] += 1
                if symbol >= 0:
                    if word >= len(found.words):
                        return WORDS_FULL
                    found.words[word] = symbol
                    word += 1
                    continue
                below = frames[height]
                below["derivation"] = derivation["one"] if symbol == -1 else derivation["two"]
                below["at"] = 0
                below["start"] = word - first_word
                below["one"] = -1
                below["two"] = -1
                below["waits"] = 0
                frame["waits"] = 1 if symbol == -1 else 2
                height += 1
                deeper = True
                break
            if deeper:
                continue
            if part >= len(found.rule):
                return PARTS_FULL
            vertex = forest.vertices[edge["vertex"]]
            found.span[part, 0] = vertex["begin"]
            found.span[part, 1] = vertex["end"]
            found.target_span[part, 0] = frame["start"]
            found.target_span[part, 1] = word - first_word
            found.tails[part, 0] = frame["one"]
            found.tails[part, 1] = frame["two"]
            found.rule[part] = _part_rule(r, rules)
            complete = edge["vertex"] == top
            _edge_features(
                np.int64(derivation["edge"]), complete, rules, models, begin_states, end_words, unit, forest, room,
                found.features, part,
            )  # fmt: skip
            finished = part - base
            part += 1
            height -= 1
        found.part_first[n + 1] = part
        found.word_first[n + 1] = word
        d = np.int64(room.derivations[d]["next"])
    return 0


@kernel
def _part_rule(r, rules):
    """Return the rule of an edge as parts know it."""
    if r >= 0:
        return r if r < len(rules.features) else np.int64(PASSED)
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
    columns = rules.features.shape[1]
    for f in range(columns):
        features[row, f] = rules.features[r, f] if 0 <= r < len(rules.features) else np.nan
    for f in range(columns, features.shape[1]):
        features[row, f] = 0.0
    if r < 0:
        if r == GLUE:
            features[row, columns + GLUE_COLUMN] = 1.0
        for k in range(len(models.weights)):
            before = begin_states[k] if one < 0 else forest.states[one, k, RIGHT]
            _, final = glue_state(
                models, k, before, two, end_words[k] if complete else np.int64(-1), forest.states, forest.estimates,
                room.states, room.estimates, 0,
            )  # fmt: skip
            features[row, columns + LM + PER_LM * k] = final * unit
        return
    if r >= len(rules.features):
        features[row, columns + PASS_THROUGH] = 1.0
        features[row, columns + SOURCE_OOV] = rules.unknown[r - len(rules.features)]
    first, last = rules.target_offsets[r], rules.target_offsets[r + 1]
    words = np.int64(0)
    for t in range(first, last):
        if rules.target[t] >= 0:
            words += 1
            for k in range(len(models.weights)):
                if rules.words[k, t] == UNKNOWN:
                    features[row, columns + LM + PER_LM * k + 1] += 1.0
    features[row, columns + WORD_PENALTY] = -unit * words  # not a sum: to the last bit what the rule is binned by
    for k in range(len(models.weights)):
        _, final = piece_state(
            models, k, rules.target, rules.words, first, last, one, two, forest.states, forest.estimates, room.states,
            room.estimates, 0,
        )  # fmt: skip
        features[row, columns + LM + PER_LM * k] = final * unit
