"""Parts that are collected in blocks: the same as those of one matrix, in little more room than they take."""

import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import list_of_parts

from camber.errors import InputError
from camber.features.feature import CONTEXT, NUMBER, PROBABILITY, RULE, Feature
from camber.features.parts import Parts
from camber.nbest import NBest, collecting, reading

KNOWN = (Feature("p", PROBABILITY, RULE), Feature("r", NUMBER, RULE), Feature("q", PROBABILITY, CONTEXT))
FEATURES = {feature.name: feature for feature in (*KNOWN, Feature("x"), Feature("y"))}
KINDS = {
    "p": {"kind": "probability", "scope": "rule"},
    "r": {"scope": "rule"},
    "q": {"kind": "probability", "scope": "context"},
}
VALUES = st.sampled_from([None, 0.25, 0.5, 1.0])


@st.composite
def objects(draw):
    """Hypotheses that name whatever features in whatever order, as lists of parts or whole."""
    items = []
    for number in range(draw(st.integers(1, 8))):
        names = draw(st.lists(st.sampled_from(list(FEATURES)), unique=True, max_size=4))
        row = st.tuples(*[VALUES] * len(names)).map(list)
        whole = draw(st.booleans())
        rows = [draw(row)] if whole else draw(st.lists(row, max_size=3))
        item = {"sentence": 0, "text": str(number)}
        if whole:
            item["features"] = dict(zip(names, rows[0], strict=True))
        else:
            item["features"] = {name: stated(FEATURES[name], [r[k] for r in rows]) for k, name in enumerate(names)}
            item["parts"] = [{"features": values, "rule": draw(st.integers(0, 3))} for values in rows]
        items.append((item, names, rows))
    if draw(st.booleans()):
        items[0][0]["kinds"] = KINDS
    else:  # everything is a plain number: other sums
        for item, names, rows in items:
            if "parts" in item:
                item["features"] = {name: stated(Feature(name), [r[k] for r in rows]) for k, name in enumerate(names)}
    return items


def stated(feature, values):
    """The textbook version of a feature of a hypothesis: null if all its parts lack it."""
    there = [value for value in values if value is not None]
    return sum(math.log(v) if feature.kind == PROBABILITY else v for v in there) if there or not values else None


@given(objects(), st.integers(1, 30), st.integers(1, 3))
@settings(deadline=None)
@pytest.mark.slow
def test_blocks_of_any_size_give_the_parts_of_one_matrix(tmp_path_factory, items, block, at_least):
    path = tmp_path_factory.mktemp("n") / "list.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item, _, _ in items))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "_BLOCK", block)
        nbest = NBest.read(path, at_least=at_least)
    there = [name for item, _, _ in items for name, value in item["features"].items() if value is not None]
    order = dict.fromkeys(name for _, names, _ in items for name in names)
    kept = [name for name in order if at_least == 1 or there.count(name) >= at_least]
    known = "kinds" in items[0][0]
    dense = [
        [math.nan if (value := dict(zip(names, row, strict=True)).get(name)) is None else value for name in kept]
        for _, names, rows in items
        for row in rows
    ]
    rules = [part.get("rule", -1) for item, _, _ in items for part in item.get("parts", [{}])]
    features = [FEATURES[name] if known else Feature(name) for name in kept]
    expected = Parts.of_dense(features, np.reshape(dense, (len(rules), len(kept))), rules)
    assert nbest.features == expected.features
    assert nbest.part_offsets.tolist() == np.cumsum([0, *(len(rows) for _, _, rows in items)]).tolist()
    for name in ("table", "rows", "context", "rules"):
        np.testing.assert_array_equal(getattr(nbest.parts, name), getattr(expected, name), name)


def test_a_wrong_sum_is_told_with_the_first_line_that_has_one_unless_its_feature_is_left_out(tmp_path, monkeypatch):
    path = tmp_path / "list.jsonl"
    lines = [{"sentence": 0, "text": "a", "features": {"x": 1}, "parts": [{"features": [1]}]} for _ in range(6)]
    lines[4]["features"] = {"x": 2}
    lines[2] |= {"features": {"x": 1, "y": 3}, "parts": [{"features": [1, 4]}]}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for block in (1, 1000):
        monkeypatch.setattr(collecting, "_BLOCK", block)
        with pytest.raises(InputError, match=r":3: feature y is 3.0, but its parts sum to 4.0"):
            NBest.read(path)
        with pytest.raises(InputError, match=r":5: feature x is 2.0, but its parts sum to 1.0"):
            NBest.read(path, at_least=2)
        assert NBest.read(path, at_least=7).names == ()


def test_only_absent_features_count_for_the_most_that_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_CELLS", 100)
    path = tmp_path / "list.jsonl"
    full = NBest.of_hypotheses([f"f{k}" for k in range(20)], [0, 20], ["t"] * 20, np.ones((20, 20)))
    full.write(path)
    assert np.array_equal(NBest.read(path).parts.dense(), full.parts.dense())
    sparse = NBest.of_hypotheses(full.names, [0, 20], ["t"] * 20, np.where(np.eye(20), 1.0, np.nan))
    sparse.write(path)
    with pytest.raises(InputError, match=r"20 features × 20 hypotheses would take .* leave out rare features"):
        NBest.read(path)


def test_many_parts_of_few_rules_are_read_in_little_room(tmp_path, monkeypatch):
    monkeypatch.setattr(collecting, "_BLOCK", 1 << 11)
    parts, width = 600, 100
    features = [Feature(f"f{k}", PROBABILITY, RULE) for k in range(width)]
    table = np.random.default_rng(1).random((10, width)).round(2)
    nbest = list_of_parts(
        features, [0, parts // 2], np.arange(0, parts + 1, 2), table[np.arange(parts) % 10], ["t"] * (parts // 2)
    )
    nbest.write(path := tmp_path / "list.jsonl")
    tracemalloc.start()
    NBest.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * parts * width * 8
