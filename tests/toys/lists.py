"""N-best lists by hand, and what makes two of them the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from camber.features.feature import Feature
from camber.features.parts import Parts
from camber.nbest import NBest

WORDS = [f"w{number}" for number in range(40)]
#: the features of :func:`planted`
PLANTED = (Feature("x", scope="rule"), Feature("y", scope="context"))


def list_of_parts(
    features: Any,
    sentence_offsets: npt.ArrayLike,
    part_offsets: npt.ArrayLike,
    values: npt.ArrayLike,
    texts: list[str],
    *columns: Any,
    rules: npt.ArrayLike | None = None,
    **more: Any,
) -> NBest:
    """Make a list from a plain matrix: values float64[parts, features]."""
    named = [Feature(feature) if isinstance(feature, str) else feature for feature in features]
    dense = np.asarray(values, np.float64)
    numbers = np.full(len(dense), -1) if rules is None else rules
    return NBest(sentence_offsets, part_offsets, Parts.of_dense(named, dense, numbers), texts, *columns, **more)


def with_values(nbest: NBest, values: npt.ArrayLike) -> NBest:
    """Return the same list with other values of its parts."""
    return replace(nbest, parts=Parts.of_dense(nbest.features, values, nbest.parts.rules))


def same_hypotheses(one: NBest, two: NBest) -> None:
    """Assert that two lists have the same hypotheses with the same features by name, whatever their parts."""
    for name in ("texts", "segmentations", "alignments", "tokens", "sources", "targets"):
        assert getattr(one, name) == getattr(two, name), name
    for name in ("sentence_offsets", "scores"):
        a, b = getattr(one, name), getattr(two, name)
        assert (a is None) == (b is None), name
        assert a is None or np.array_equal(a, b), name
    assert one.extra.keys() == two.extra.keys()
    assert all(np.array_equal(one.extra[name], two.extra[name]) for name in one.extra)
    tables = [dict(zip(nbest.names, nbest.hypothesis_features().T, strict=True)) for nbest in (one, two)]
    absent = np.full(one.hypotheses, np.nan)
    for name in {*one.names, *two.names}:  # a feature that no hypothesis has may not even be named
        assert np.array_equal(*(table.get(name, absent) for table in tables), equal_nan=True), name


def same(one: NBest, two: NBest) -> None:
    """Assert that two lists are the same in everything."""
    same_hypotheses(one, two)
    assert one.features == two.features
    for name in ("part_offsets", "source_spans", "target_spans"):
        a, b = getattr(one, name), getattr(two, name)
        assert (a is None) == (b is None), name
        assert a is None or np.array_equal(a, b), name
    assert np.array_equal(one.parts.dense(), two.parts.dense(), equal_nan=True)
    assert np.array_equal(one.parts.rules, two.parts.rules)


def flipped(sentences: int = 80, size: int = 6, seed: int = 1) -> tuple[NBest, list[str]]:
    """Make a list where much of x is good if the sentence has the feature `kind`, and bad if it has not.

    All hypotheses of a sentence have the same kind, so that it ranks nothing by itself: neither a line nor a curve for
    each feature tells the good ones. The own scores tell nothing.
    """
    rng = np.random.default_rng(seed)
    references, texts, rows = [], [], []
    for _ in range(sentences):
        reference = rng.choice(WORDS, 10)
        references.append(" ".join(reference))
        kind = float(rng.random() < 0.6)
        for x in rng.uniform(-3.0, 3.0, size).tolist():
            words = reference.copy()
            words[: 1 if (x > 0.0) == (kind > 0.0) else 7] = "x"
            texts.append(" ".join(words))
            rows.append([x, kind])
    scores = rng.normal(0.0, 1.0, len(texts))
    return NBest.of_hypotheses(("x", "kind"), np.arange(sentences + 1) * size, texts, rows, scores), references


def planted(sentences: int = 80, size: int = 8, seed: int = 1) -> tuple[NBest, list[str]]:
    """Make a list whose hypotheses are the worse, the more parts have a small x *and* a large y.

    A last part, which is no rule, makes the sums of x and y 0 (exactly: they are sixteenths), so that the features of
    hypotheses tell nothing. The own scores tell nothing, either.
    """
    rng = np.random.default_rng(seed)
    references, texts, rows, rules, offsets = [], [], [], [], [0]
    for _ in range(sentences):
        reference = rng.choice(WORDS, 10)
        references.append(" ".join(reference))
        for _ in range(size):
            table = rng.integers(0, 16, (rng.integers(3, 7), 2)) / 16.0
            wrong = min(8, 3 * int(((table[:, 0] < 0.5) & (table[:, 1] >= 0.5)).sum()))
            words = reference.copy()
            words[:wrong] = "x"
            texts.append(" ".join(words))
            rows += [*table.tolist(), (-table.sum(0)).tolist()]
            rules += [1] * len(table) + [-1]
            offsets.append(len(rows))
    scores = rng.normal(0.0, 1.0, len(texts))
    parts = Parts.of_dense(PLANTED, rows, rules)
    return NBest(np.arange(sentences + 1) * size, np.array(offsets), parts, texts, scores), references
