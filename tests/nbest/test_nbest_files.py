"""N-best files: lossless round trips, the lists of real engines, errors with their line."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import list_of_parts, same, same_hypotheses

from camber.errors import CamberError, InputError, SettingsError
from camber.features.feature import COUNT, INDICATOR, KINDS, PROBABILITY, SCOPES, Feature
from camber.nbest import NBest
from camber.nbest.moses import natural_groups, write_moses

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")

numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5).filter(lambda w: "|||" not in w)
labels = words.filter(lambda w: "." not in w)


@st.composite
def features_of(draw, names, kinds):
    """Plain numbers of hypotheses, or features of any kind and scope."""
    if not kinds:
        return [Feature(name) for name in names]
    logarithm = {"least": st.sampled_from([-100.0, -3.5]), "plus": st.sampled_from([0.0, 1.0])}
    return [
        Feature(
            name, draw(st.sampled_from(KINDS)), draw(st.sampled_from(SCOPES)),
            **{key: draw(value) for key, value in logarithm.items()},
        )
        for name in names
    ]  # fmt: skip


def raw(feature, draw):
    """A value that a feature of this kind may have, or NaN."""
    values = {
        PROBABILITY: st.floats(0, 1),
        COUNT: st.integers(0, 99).map(float),
        INDICATOR: st.sampled_from([0.0, 1.0]),
    }
    return draw(values.get(feature.kind, st.floats(-1e6, 1e6)) | st.just(math.nan))


@st.composite
def lists(draw, parts=False):
    """Draw a list whose last sentence has a hypothesis (files cannot tell of sentences after it)."""
    groups = [*draw(st.lists(st.integers(0, 3), max_size=3)), draw(st.integers(1, 3))]
    hypotheses = sum(groups)
    names = []
    for label in draw(st.lists(labels, max_size=3, unique=True)):
        size = draw(st.integers(1, 3))
        names += [label] if size == 1 else [f"{label}.{index}" for index in range(size)]
    features = draw(features_of(names, parts))
    counts = draw(st.lists(st.integers(0, 3), min_size=hypotheses, max_size=hypotheses)) if parts else [1] * hypotheses
    total = sum(counts)
    table = [[raw(own, draw) if parts else draw(numbers) for own in features] for _ in range(total)]
    spans = draw(st.booleans()) and parts and total
    scored = draw(st.booleans())
    told = draw(st.booleans()) and scored
    # sources and targets stand with the first hypothesis of their sentence
    sides = [[f"{side} {s}" if groups[s] else "" for s in range(len(groups))] for side in ("source", "target")]
    return list_of_parts(
        features,
        np.cumsum([0, *groups]),
        np.cumsum([0, *counts]),
        np.array(table, float).reshape(total, len(names)),
        [" ".join(draw(st.lists(words, max_size=3))) for _ in range(hypotheses)],
        np.array([draw(numbers) for _ in range(hypotheses)]) if scored else None,
        np.arange(2 * total).reshape(total, 2) if spans else None,
        np.arange(2 * total).reshape(total, 2) if spans else None,
        ["0-1=0 2=1"] * hypotheses if told else None,
        ["0-0 1-2"] * hypotheses if told else None,
        {"comet": np.array([draw(numbers) for _ in range(hypotheses)])} if parts and draw(st.booleans()) else {},
        [f"t {row}" for row in range(hypotheses)] if parts and draw(st.booleans()) else None,
        *(side if parts and draw(st.booleans()) else None for side in sides),
        rules=[draw(st.integers(-3, 2**31 - 1)) for _ in range(total)] if parts and draw(st.booleans()) else None,
    )


@given(lists(), st.sampled_from(["list", "list.gz"]))
@settings(deadline=None)
def test_moses_lists_come_back_as_they_were(tmp_path_factory, nbest, name):
    path = tmp_path_factory.mktemp("n") / name
    nbest.write(path)
    same(NBest.read(path, "moses"), nbest)


@given(lists(parts=True))
@settings(deadline=None)
def test_json_lists_come_back_with_their_parts(tmp_path_factory, nbest):
    path = tmp_path_factory.mktemp("n") / "list.jsonl"
    nbest.write(path)
    same(NBest.read(path), nbest)


@given(lists(parts=True), st.sampled_from(["moses", "joshua", "tsv"]))
@settings(deadline=None)
def test_lists_for_other_tools_hold_what_weights_multiply(tmp_path_factory, nbest, format):
    path = tmp_path_factory.mktemp("n") / "list"
    nbest = list_of_parts(
        nbest.features, nbest.sentence_offsets, nbest.part_offsets, nbest.parts.dense(), nbest.texts, nbest.scores
    )
    nbest.write(path, format)
    same_hypotheses(NBest.read(path, format), nbest)


def test_a_moses_line_is_taken_apart(tmp_path):
    path = tmp_path / "list"
    path.write_text(
        "0 ||| a group  ||| LM0= -4.5 Distortion0= 0 TM0= -1 -2.5e-3 ||| -10.5 ||| 0=0-1 ||| 0-0 0-1 \n"
        "2 |||  ||| LM0= 1 Distortion0= 2 TM0= 3 4 ||| -11 |||  ||| \n"
        "2 ||| ||| LM0= 1 Distortion0= 2 TM0= 3 4 ||| -12 ||| |||\n"
    )
    nbest = NBest.read(path, sentences=4)
    assert nbest.names == ("LM0", "Distortion0", "TM0.0", "TM0.1")
    assert nbest.sentence_offsets.tolist() == [0, 1, 1, 3, 3]
    assert nbest.texts == ["a group", "", ""]
    assert nbest.parts.dense().tolist() == [[-4.5, 0, -1, -0.0025], [1, 2, 3, 4], [1, 2, 3, 4]]
    assert nbest.scores.tolist() == [-10.5, -11, -12]
    assert nbest.segmentations == ["0=0-1", "", ""]
    assert nbest.alignments == ["0-0 0-1", "", ""]


def test_features_may_come_in_any_order_and_be_absent(tmp_path):
    path = tmp_path / "list"
    path.write_text("0 ||| a ||| x= 1 y= 2\n0 ||| b ||| y= 3 x= 4\n0 ||| c ||| y= 5 z=6\n0 ||| d |||\n")
    nbest = NBest.read(path)
    assert nbest.names == ("x", "y", "z")
    absent = np.nan
    expected = [[1, 2, absent], [4, 3, absent], [absent, 5, 6], [absent, absent, absent]]
    np.testing.assert_array_equal(nbest.hypothesis_features(), expected)
    assert nbest.scores is None


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("moses", "0 ||| a ||| x= 0\n0 ||| b ||| x= 1 y= 2\n"),
        ("joshua", "0 ||| a ||| x=0\n0 ||| b ||| x=1 y=2\n"),
        ("tsv", "sentence\ttext\tx\ty\n0\ta\t0\t\n0\tb\t1\t2\n"),
        (
            "jsonl",
            '{"sentence": 0, "rank": 0, "text": "a", "features": {"x": 0, "y": null}}\n'
            '{"sentence": 0, "rank": 1, "text": "b", "features": {"x": 1, "y": 2}}\n',
        ),
    ],
)
def test_a_zero_is_written_and_what_is_absent_is_not(tmp_path, format, text):
    nbest = NBest.of_hypotheses(("x", "y"), [0, 2], ["a", "b"], [[0.0, np.nan], [1.0, 2.0]])
    nbest.write(tmp_path / "list", format)
    assert (tmp_path / "list").read_text() == text
    same(NBest.read(tmp_path / "list"), nbest)


def test_labels_of_which_a_hypothesis_has_some_values_only_are_written_apart(tmp_path):
    nbest = NBest.of_hypotheses(("t.0", "t.1"), [0, 2], ["a", "b"], [[1.0, 2.0], [np.nan, 3.0]])
    nbest.write(tmp_path / "list")
    assert (tmp_path / "list").read_text() == "0 ||| a ||| t.0= 1 t.1= 2\n0 ||| b ||| t.1= 3\n"
    same(NBest.read(tmp_path / "list"), nbest)
    with pytest.raises(CamberError, match="lack a part of the values of T; give these labels apart"):
        write_moses(nbest, tmp_path / "list", {"T": ["t.0", "t.1"]})


def test_marians_alignments_are_found_before_the_features(tmp_path):
    path = tmp_path / "list"
    path.write_text("0 ||| ein Haus ||| 0-0 1-1 ||| F0= -1.5 ||| -1.5\n0 ||| Haus ||| 1-0 ||| F0= -2 ||| -2\n")
    nbest = NBest.read(path)
    assert nbest.alignments == ["0-0 1-1", "1-0"]
    assert nbest.scores.tolist() == [-1.5, -2]
    assert nbest.segmentations is None


def test_groups_and_parts_are_written_as_in_moses(tmp_path):
    nbest = list_of_parts(
        ("p", "q", "lm"),
        np.array([0, 1]),
        np.array([0, 2]),
        np.array([[0.25, 1, -1], [0.5, 2, -2]]),
        ["a b c"],
        np.array([-7.0]),
        np.array([[0, 2], [2, 3]]),
        np.array([[0, 1], [1, 3]]),
    )
    path = tmp_path / "list"
    write_moses(nbest, path, {"LM0": ["lm"], "TM0": ["p", "q"]})
    assert path.read_text() == "0 ||| a b c ||| LM0= -3 TM0= 0.75 3 ||| -7 ||| 0-1=0 2=1-2 ||| \n"
    for groups in ({"LM0": ["lm"]}, {"A": ["p", "q", "lm", "lm"]}, {"A": ["p", "q", "lm", "x"]}):
        with pytest.raises(CamberError, match="must name every feature once"):
            write_moses(nbest, path, groups)
    with pytest.raises(CamberError, match="cannot be a label"):
        write_moses(nbest, path, {"two words": ["p", "q", "lm"]})
    assert path.read_text().startswith("0 ||| a b c")  # a failed writing leaves the old file


def test_what_moses_cannot_hold_is_told(tmp_path):
    for text in ("a ||| b", "a\nb"):
        nbest = NBest.of_hypotheses(("x",), [0, 1], [text], [[1.0]])
        with pytest.raises(CamberError, match="use jsonl"):
            nbest.write(tmp_path / "list")
        nbest.write(tmp_path / "list.jsonl")
        assert NBest.read(tmp_path / "list.jsonl").texts == [text]
    with pytest.raises(CamberError, match="without scores"):
        NBest.of_hypotheses(("x",), [0, 1], ["a"], [[1.0]], alignments=["0-0"]).write(tmp_path / "list")


def test_natural_groups_undo_the_readers_names():
    assert natural_groups(["a.0", "a.1", "b", "d.0", "e.5"]) == {
        "a": ["a.0", "a.1"],
        "b": ["b"],
        "d.0": ["d.0"],
        "e.5": ["e.5"],
    }
    for names in (["a.0", "b", "a.1"], ["a.1", "a.0"], ["a", "a.0", "a.1"], ["a.0", "a.2"]):
        assert natural_groups(names) == {name: [name] for name in names}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"list: the file is empty"),
        ("\n\n", r"list: the file is empty"),
        ("0 ||| a\n", r":1: 2 fields, expected 3 to 6; .* contain '\|\|\|'"),
        ("0 ||| a ||| b ||| c ||| d ||| x= 1 ||| 2\n", r":1: 7 fields"),
        ("0 ||| a ||| b ||| x= 1 ||| 2\n", r":1: value 'b' without a name; .* contain '\|\|\|'"),
        ("0 ||| a ||| x= 1 ||| 2\n1 ||| a ||| b ||| x= 1\n", r":2: value 'b' without a name"),
        (
            "0 ||| a ||| x= 1\n1 ||| a ||| x= 1\n0 ||| b ||| x= 1\n",
            r":3: a hypothesis of sentence 0 after .* sentence 1",
        ),
        ("0 ||| a ||| lm= 1 2\n\n0 ||| b ||| lm= 1\n", r":3: 1 values for lm, but 2 in line 1"),
        ("0 ||| a ||| lm= 1 2\n0 ||| b ||| lm= 1 x\n", r":2: feature value 'x' is not a number"),
        ("0 ||| a ||| lm= 1 w= nan\n", r":1: feature w is nan"),
        ("0 ||| a ||| lm= 1 w= -inf\n", r":1: feature w is -inf"),
        ("0 ||| a ||| lm=\n", r":1: feature lm has no value"),
        ("0 ||| a ||| 1 lm= 2\n", r":1: value '1' without a name"),
        ("0 ||| a ||| lm= 2 lm= 3\n", r":1: feature 'lm' occurs twice"),
        ("0 ||| a ||| = 2\n", r":1: feature '' occurs twice or has no name"),
        ("0 ||| a ||| x= 1 ||| nan\n", r":1: score is nan"),
        ("0 ||| a ||| x= 1 ||| high\n", r":1: score 'high' is not a number"),
        ("0 ||| a ||| x= 1 ||| 2\n0 ||| b ||| x= 1\n", r":2: line 1 has a score, line 2 has none"),
        ("0 ||| a ||| x.1= 1 x= 2 3\n", r":1: two features of the same name"),
        ("x ||| a ||| x= 1\n", r":1: sentence number 'x' is not a whole number"),
        ("-1 ||| a ||| x= 1\n", r":1: sentence number '-1' is not a whole number"),
        ("99999999999 ||| a ||| x= 1\n", r":1: sentence number '99999999999' is too large"),
        ("7 ||| a ||| x= 1\n", r"hypotheses up to sentence 7 .*only 5 sentences"),
        ('{"sentence": 0\n', r":1: not JSON"),
        ('{"sentence": 0}\n', r":1: text is None"),
        ('{"sentence": 0, "text": "\\ud800", "features": {}}\n', r":1: text is"),
        ('{"sentence": true, "text": "a", "features": {}}\n', r":1: sentence is True"),
        ('{"sentence": 0, "text": "a", "features": null}\n', r":1: features is None"),
        ('{"sentence": 0, "text": "a", "features": {}, "bleu": 3}\n', r":1: unknown key 'bleu'; known: alignment"),
        ('{"sentence": 0, "text": "a", "features": {"x": NaN}}\n', r":1: NaN is not a finite number"),
        ('{"sentence": 0, "text": "a", "features": {"x": 1e999}}\n', r":1: feature value inf is not"),
        ('{"sentence": 0, "text": "a", "features": {"x": "1"}}\n', r":1: feature value '1' is not"),
        ('{"sentence": 0, "text": "a", "features": {"x": 1' + "0" * 400 + "}}\n", r":1: a feature value is too large"),
        ('{"sentence": 0, "text": "a", "features": {"x": 1}, "rank": 1}\n', r":1: rank 1, expected 0"),
        (
            '{"sentence": 0, "text": "a", "features": {"x": 1}, "parts": [{"features": [2]}]}\n',
            r":1: feature x is 1.0, but",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {"x": 1}, "parts": [{"features": []}]}\n',
            r":1: .* a list of 1 numb",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {"x": null}, "parts": [{"features": [2]}]}\n',
            r":1: feature x is absent, but its parts sum to 2.0",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {"x": 1}, "parts": [{"features": [null]}]}\n',
            r":1: feature x is 1.0, but its parts lack it",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {"x": 0.5}, "kinds": {"x": {"kind": "probability"}},'
            ' "parts": [{"features": [0.5]}]}\n',
            r":1: feature x is 0.5, but its parts sum to -0.69",
        ),
        ('{"sentence": 0, "text": "a", "features": {}, "kinds": []}\n', r":1: kinds is \[\], expected an object"),
        ('{"sentence": 0, "text": "a", "features": {}, "kinds": {"x": 3}}\n', r":1: the kind of x is 3, expected"),
        ('{"sentence": 0, "text": "a", "features": {}, "kinds": {"x": {"kind": 3}}}\n', r":1: the kind of x is"),
        (
            '{"sentence": 0, "text": "a", "features": {}, "kinds": {"x": {"kind": "b"}}}\n',
            r":1: x: a feature of .* 'b'",
        ),
        ('{"sentence": 0, "text": "a", "features": {}, "kinds": {"x": {"least": null}}}\n', r":1: feature value None"),
        (
            '{"sentence": 0, "text": "a", "features": {}}\n{"sentence": 0, "text": "a", "features": {}, "kinds": {}}\n',
            r":2: kinds of features after the first object",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {}, "parts": [{"features": [], "rule": 2147483648}]}\n',
            r":1: rule 2147483648, expected its number",
        ),
        ('{"sentence": 0, "text": "a", "features": {"x": 1}, "parts": 3}\n', r":1: parts is not a list"),
        (
            '{"sentence": 0, "text": "a", "features": {}, "parts": [{"features": [], "source": [2, 1]}]}\n',
            r":1: source span \[2, 1\], expected",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {}, "parts": [{"features": [], "source": [0, 1]}]}\n'
            '{"sentence": 0, "text": "b", "features": {}}\n',
            r":2: source spans are given for some parts only",
        ),
        (
            '{"sentence": 0, "text": "a", "features": {}, "score": 1}\n{"sentence": 0, "text": "a", "features": {}}\n',
            r":2: score is given for some",
        ),
        ('{"sentence": 0, "text": "a", "features": {}, "score": "1"}\n', r":1: score is '1', expected a float"),
        ('{"sentence": 0, "text": "a", "features": {}, "extra": {"comet": null}}\n', r":1: feature value None"),
        (
            '{"sentence": 0, "text": "a", "features": {}, "extra": {"c": 1}}\n'
            '{"sentence": 0, "text": "a", "features": {}}\n',
            r":2: extra must have the same names",
        ),
    ],
)
def test_a_bad_list_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "list"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        NBest.read(path, sentences=5)


def test_bad_files_are_told(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        NBest.read(tmp_path / "absent")
    (tmp_path / "latin").write_bytes(b"0 ||| a ||| x= 1\n0 ||| \xe9 ||| x= 1\n")
    with pytest.raises(InputError, match=r"latin:2: invalid UTF-8 \(byte 0xe9\)"):
        NBest.read(tmp_path / "latin")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"0 ||| a ||| x= 1\n" * 9)[:-9])
    with pytest.raises(InputError, match="damaged gzip"):
        NBest.read(tmp_path / "cut.gz")
    with pytest.raises(InputError, match="cannot be read"):
        NBest.read(tmp_path)
    with pytest.raises(SettingsError, match="known: auto, moses, marian, joshua, cdec, fairseq, jsonl, tsv"):
        NBest.read(tmp_path / "latin", "xml")
    (tmp_path / "prose").write_text("just text\n")
    with pytest.raises(InputError, match="prose:1: the format of this list is not known; name it: moses"):
        NBest.read(tmp_path / "prose")


def test_byte_order_marks_crlf_and_line_separators_do_no_harm(tmp_path):
    path = tmp_path / "list"
    path.write_bytes("\ufeff0 ||| a\u2028b\u00a0c\u0085 ||| x= 1 ||| 2\r\n".encode())
    assert NBest.read(path).texts == ["a\u2028b\u00a0c\u0085"]


@needs_shared
@pytest.mark.parametrize(
    ("name", "sentences", "hypotheses", "features"),
    [
        ("data/nbest/moses-europarl-100x100/nbest.moses", 100, 10_000, 15),
        ("data/nbest/moses-mert-iterations/nbest.run5.moses", 10, 1000, 14),
        ("data/nbest/joshua-bn-en-hiero/nbest.joshua", 100, 805, 21),
        ("data/nbest/marian-wmt16/nbest.marian", 100, 500, 1),
        ("data/nbest/t5-tatoeba-en-fr-pool/nbest", 2500, 57_229, 6),
        ("anchors/cdec/test.first100.nbest100.gz", 100, 9858, 12),
        ("anchors/moses/test.mert.nbest100.gz", 1000, 91_953, 14),
    ],
)
def test_lists_of_real_engines_are_read_and_written_back(tmp_path, name, sentences, hypotheses, features):
    nbest = NBest.read(SHARED / name)
    assert (len(nbest), nbest.hypotheses, len(nbest.names)) == (sentences, hypotheses, features)
    for ending in ("", ".joshua", ".jsonl", ".tsv")[: 4 if hypotheses < 20_000 else 1]:
        nbest.write(tmp_path / f"list{ending}")
        same(NBest.read(tmp_path / f"list{ending}"), nbest)


@needs_shared
def test_moses_scores_are_weights_times_features(tmp_path):
    nbest = NBest.read(SHARED / "anchors" / "moses" / "test.mert.nbest100.gz")
    lines = (SHARED / "anchors" / "moses" / "moses.ini").read_text().partition("[weight]")[2].splitlines()
    weights = {}
    for label, _, values in (line.partition("=") for line in lines if "=" in line):
        found = values.split()
        for index, value in enumerate(found):
            weights[label if len(found) == 1 else f"{label}.{index}"] = float(value)
    vector = np.array([weights[name] for name in nbest.names])
    unknown = nbest.scores - nbest.hypothesis_features() @ vector
    # an unknown word costs 100 in Moses and is not listed among the features
    np.testing.assert_allclose(unknown, np.round(unknown / 100) * 100, atol=2e-3)
