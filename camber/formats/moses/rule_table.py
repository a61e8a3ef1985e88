"""Reading and writing Moses' tables of hierarchical rules.

    der [X][X] mann [X] ||| the [X][X] man [X] ||| 0.5 0.4 0.3 0.2 ||| 0-0 1-1 2-2 ||| 4 5 2 ||| |||

Each side ends with its left-hand side, [X]. A non-terminal inside is [X][X], its label on either side; which of them
belong together the alignment says, where they stand between the links of words. The scores are, as in a phrase table,
p(s|t) lex(s|t) p(t|s) lex(t|s), perhaps with further ones. The glue grammar is a table of its own.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.ragged import offsets_from, owners_of
from camber.arrays.types import I8, U1, AnyArray
from camber.corpus.vocabulary import Vocabulary
from camber.errors import CamberError, InputError
from camber.files import decode_lines, read_bytes, write_lines, write_whole
from camber.formats.moses.phrase_table import MosesSide, MosesTable, read_columns
from camber.rules.hiero.grammar import Grammar
from camber.rules.hiero.rule_table import RuleTable, logarithms
from camber.rules.phrase.features import SCORE_NAMES

GAP, HEAD = "[X][X]", "[X]"
#: What Moses' own extraction writes: the sentence begins, ends, and a piece is put behind its beginning.
GLUE = (
    "<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||",
    "[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1 ||| 0 ||| |||",
    "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1 ||| 0 ||| |||",
)
#: Above any score: an old table has the constant 2.718 among them.
_MOST = 1e6


def score_names(count: int) -> tuple[str, ...]:
    """Name the scores of a table that has `count` of them.

    >>> score_names(2), score_names(5)[3:]
    (('score_1', 'score_2'), ('lex_t_given_s', 'score_5'))
    """
    known = SCORE_NAMES if count >= len(SCORE_NAMES) else ()
    return (*known, *(f"score_{number}" for number in range(len(known) + 1, count + 1)))


def read_moses_rules(
    path: str | Path, scores: int | None = None, weights: Sequence[float] | None = None, word_weight: float = 0.0
) -> RuleTable:
    """Read a rule table (plain or .gz) with so many scores (default: as many as the first line has).

    Rules with the same source side are sorted by `weights` times the logarithms of their scores, `word_weight` for each
    target word added; without weights, by p(t|s), or the first score where there are fewer than four.
    """
    if scores is None:
        scores = _count_scores(path)
    table = read_columns(path, score_names(scores), full=True, most=_MOST)
    if not len(table.values):
        raise InputError("the rule table is empty", path, remedy="give the table that Moses trained")
    source, source_gaps, source_words = _side(table.source, "source", path)
    target, target_gaps, target_words = _side(table.target, "target", path)
    _check_gaps(source, source_gaps, target_gaps, path)
    links, link_offsets = _pair(table, source, target, source_gaps, target_gaps)
    if weights is None:
        weights = np.eye(scores)[2 if scores >= len(SCORE_NAMES) else 0].tolist()
    if len(weights) != scores:
        raise CamberError(f"{len(weights)} weights for the {scores} scores of {path}")
    rank = logarithms(table.values.astype(np.float64)) @ np.array(weights, np.float64)
    rank += word_weight * (np.diff(target[1]) - np.diff(target_gaps[1]))
    return RuleTable.make(
        score_names(scores), source, target, table.values, (links, link_offsets), (source_words, target_words), rank
    )


def _count_scores(path: str | Path) -> int:
    for line in decode_lines(read_bytes(path), path)[:1]:
        fields = f" {line} ".split(" ||| ")
        if len(fields) > 2 and fields[2].split():
            return len(fields[2].split())
        raise InputError(
            f"{line!r} is not a rule", path, 1, remedy=f"expected: source {HEAD} ||| target {HEAD} ||| scores"
        )
    raise InputError("the rule table is empty", path, remedy="give the table that Moses trained")


def _side(side: MosesSide, name: str, path: str | Path) -> tuple[tuple[I8, I8], tuple[I8, I8], Vocabulary]:
    """Take the left-hand sides off: symbols with all gaps -1 and their offsets; places of the gaps, offsets; words."""
    words = side.vocabulary.words
    last = side.ids[side.offsets[1:] - 1]
    head, gap = side.vocabulary.id(HEAD), side.vocabulary.id(GAP)
    wrong = np.flatnonzero(last != head)
    if len(wrong):
        raise InputError(
            f"the {name} side ends with {words[last[wrong[0]]]!r}, expected its left-hand side {HEAD}",
            path,
            int(wrong[0]) + 1,
            remedy="only hierarchical tables with the one label X are read",
        )
    labels = np.array([word != GAP and word.startswith("[") and word.endswith("]") and len(word) > 2 for word in words])
    inside = np.ones(len(side.ids), bool)
    inside[side.offsets[1:] - 1] = False
    wrong = np.flatnonzero(labels[side.ids] & inside)
    if len(wrong):
        line = int(np.searchsorted(side.offsets, wrong[0], "right"))
        raise InputError(
            f"the symbol {words[side.ids[wrong[0]]]!r} on the {name} side; expected words and {GAP}",
            path,
            line,
            remedy="only hierarchical tables with the one label X are read; a bracket in a word is &#91; or &#93;",
        )
    kept = [number for number in range(len(words)) if number not in (head, gap)]
    new = np.full(len(words), -1, np.int64)
    new[kept] = np.arange(len(kept))
    sizes = np.diff(side.offsets) - 1
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InputError(f"the {name} side has no symbols", path, int(empty[0]) + 1)
    offsets = offsets_from(sizes)
    symbols = new[side.ids[inside]]
    gaps = np.flatnonzero(symbols < 0)
    gap_rows = np.searchsorted(offsets, gaps, "right") - 1
    gap_offsets = offsets_from(np.bincount(gap_rows, minlength=len(sizes)))
    return (symbols, offsets), (gaps - offsets[gap_rows], gap_offsets), Vocabulary([words[number] for number in kept])


def _check_gaps(
    source: tuple[I8, I8], source_gaps: tuple[I8, I8], target_gaps: tuple[I8, I8], path: str | Path
) -> None:
    left, right = np.diff(source_gaps[1]), np.diff(target_gaps[1])
    for wrong, told in (
        (left > 2, "more than two non-terminals"),
        (left != right, "not as many non-terminals on the target side as on the source side"),
        ((left == 1) & (np.diff(source[1]) == 1), "a source side that is a single non-terminal"),
    ):
        if wrong.any():
            raise InputError(told, path, int(np.flatnonzero(wrong)[0]) + 1, remedy="such rules cannot be used")


def _pair(
    table: MosesTable,
    source: tuple[I8, I8],
    target: tuple[I8, I8],
    source_gaps: tuple[I8, I8],
    target_gaps: tuple[I8, I8],
) -> tuple[U1, I8]:
    """Number the non-terminals of both sides as the alignment says; return the links of words that are left."""
    symbols, offsets = source
    # on the source side, the second gap of a rule is the one that is not its first
    second = source_gaps[1][:-1][np.diff(source_gaps[1]) == 2] + 1
    rows_of_second = np.flatnonzero(np.diff(source_gaps[1]) == 2)
    symbols[offsets[rows_of_second] + source_gaps[0][second]] = -2
    rows = owners_of(table.link_offsets)
    left, right = table.links[:, 0].astype(np.int64), table.links[:, 1].astype(np.int64)
    inside = (left < np.diff(offsets)[rows]) & (right < np.diff(target[1])[rows])
    if not inside.all():
        raise InputError("a link to the left-hand side", table.path, int(rows[~inside][0]) + 1)
    own = symbols[offsets[rows] + left]
    other = target[0][target[1][rows] + right]
    mixed = (own < 0) != (other < 0)
    if mixed.any():
        raise InputError(
            "a non-terminal is linked with a word",
            table.path,
            int(rows[mixed][0]) + 1,
            remedy="links pair words with words and non-terminals with each other",
        )
    pairs = own < 0
    target[0][target[1][rows[pairs]] + right[pairs]] = own[pairs] - 2  # so that what stays -1 was not linked
    linked = np.bincount(rows[pairs], minlength=len(offsets) - 1)
    gaps = np.diff(source_gaps[1])
    # every gap must be linked once: as many links as gaps, and on the target side each of them once
    places = owners_of(target_gaps[1])
    ours = target[0][target[1][places] + target_gaps[0]]
    sums = np.bincount(places, weights=ours, minlength=len(gaps))
    wrong = (linked != gaps) | (sums != np.choose(gaps, [0, -3, -7]))
    if wrong.any():
        raise InputError(
            "the alignment does not say which non-terminals belong together",
            table.path,
            int(np.flatnonzero(wrong)[0]) + 1,
            remedy="link each of the source side with one of the target side, such as 1-1",
        )
    target[0][target[0] < 0] += 2
    return table.links[~pairs], offsets_from(np.bincount(rows[~pairs], minlength=len(gaps)))


def read_glue(path: str | Path) -> float:
    """Read a glue grammar with the one label X; return the score of a piece put behind the beginning of the sentence.

    Other rules than those of :data:`GLUE` are refused.
    """
    known = {tuple(field.strip() for field in rule.split("|||")[:2]): n for n, rule in enumerate(GLUE)}
    scores: dict[int, float] = {}
    for number, line in enumerate(decode_lines(read_bytes(path), path), 1):
        fields = [" ".join(field.split()) for field in f" {line} ".split(" ||| ")]
        if not line.strip():
            continue
        try:
            kind, score = known[fields[0], fields[1]], float(fields[2])
        except (KeyError, IndexError, ValueError):
            raise InputError(
                f"{line!r} is not a rule of a glue grammar", path, number, remedy=f"expected: {GLUE[2]}"
            ) from None
        if not 0 < score < math.inf or (kind < 2 and score != 1):
            raise InputError(f"the score {fields[2]} of this rule cannot be used", path, number, remedy="expected 1")
        scores[kind] = score
    if 2 not in scores:
        raise InputError("the rule that puts pieces behind each other is missing", path, remedy=f"expected: {GLUE[2]}")
    return scores[2]


def write_moses_rules(
    path: str | Path,
    grammars: Grammar | Iterable[Grammar],
    names: Sequence[str] | None = None,
    counts: Sequence[str] | None = None,
) -> int:
    """Write rules as a rule table (gzip if its name ends in .gz), each once; return how many.

    The scores are the features `names` (default: all, but for the rule penalty) as they are: give grammars with raw
    probabilities. `counts` names the features for c(t), c(s) and c(s,t); "" is written as 0. Brackets and bars in words
    become ``&#91;``, ``&#93;`` and ``&#124;``, as in Moses' tokeniser.
    """
    seen: set[bytes] = set()
    with write_whole(path) as stream:
        for grammar in [grammars] if isinstance(grammars, Grammar) else grammars:
            chosen = [name for name in grammar.names if name != "phrase_penalty"] if names is None else names
            columns = grammar.features[:, [grammar.names.index(name) for name in chosen]]
            if np.isnan(columns).any():
                lacking = chosen[int(np.argwhere(np.isnan(columns))[0][1])]
                raise CamberError(f"some rules have no {lacking}, but every rule of a Moses table has all scores")
            told = _counts(grammar, counts)
            rows = zip(
                _pieces(grammar.source, grammar.source_offsets),
                _pieces(grammar.target, grammar.target_offsets),
                _pieces(grammar.links, grammar.link_offsets),
                columns.tolist(),
                told,
                strict=True,
            )
            left, right = _escaped(grammar.source_words), _escaped(grammar.target_words)
            for source, target, links, values, counted in rows:
                key = array("i", [len(source), *source, *target]).tobytes()
                if key in seen:
                    continue
                seen.add(key)
                sides = [
                    " ".join([texts[symbol] if symbol >= 0 else GAP for symbol in symbols])
                    for texts, symbols in ((left, source), (right, target))
                ]
                gaps = [[place, target.index(symbol)] for place, symbol in enumerate(source) if symbol < 0]
                stream.write(
                    f"{sides[0]} {HEAD} ||| {sides[1]} {HEAD} ||| "
                    f"{' '.join([f'{value:.9g}' for value in values])} ||| "
                    f"{' '.join([f'{s}-{t}' for s, t in sorted(links + gaps)])} ||| {counted} ||| |||\n"
                )
    return len(seen)


def write_glue(path: str | Path) -> None:
    """Write the glue grammar that belongs to a rule table."""
    write_lines(path, GLUE)


def _pieces(flat: AnyArray, offsets: I8) -> Iterator[list[Any]]:
    items = flat.tolist()
    for a, b in pairwise(offsets.tolist()):
        yield items[a:b]


def _counts(grammar: Grammar, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [""] * len(grammar)
    columns = [grammar.features[:, grammar.names.index(name)] if name else np.zeros(len(grammar)) for name in names]
    return [" ".join([f"{value:.0f}" for value in row]) for row in np.stack(columns, axis=1).tolist()]


@lru_cache(4)
def _escaped(vocabulary: Vocabulary) -> list[str]:
    return [w.replace("|", "&#124;").replace("[", "&#91;").replace("]", "&#93;") for w in vocabulary.words]
