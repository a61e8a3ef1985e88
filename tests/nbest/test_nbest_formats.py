"""Joshua's, fairseq's and tabular lists; sparse features; outside scores; parts of lists."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.lists import list_of_parts, same, same_hypotheses

from camber.errors import CamberError, InputError, SettingsError
from camber.features.feature import CONTEXT, NUMBER, Feature
from camber.metrics import BLEU
from camber.metrics.outside import Outside
from camber.nbest import NBest, formats, reading
from camber.nbest.fairseq import FEATURE

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5).filter(lambda w: "|||" not in w)
texts = st.lists(words, max_size=3).map(" ".join)


@st.composite
def lists(draw, scored=None, names=None):
    groups = [*draw(st.lists(st.integers(0, 3), max_size=3)), draw(st.integers(1, 3))]
    hypotheses = sum(groups)
    if names is None:
        names = draw(st.lists(words, max_size=4, unique=True))
    values = {name: st.just(0.0) | numbers | (st.just(math.nan) if draw(st.booleans()) else numbers) for name in names}
    table = np.array([[draw(values[name]) for name in names] for _ in range(hypotheses)])
    return NBest.of_hypotheses(
        names,
        np.cumsum([0, *groups]),
        [draw(texts) for _ in range(hypotheses)],
        table.reshape(hypotheses, len(names)),
        [draw(numbers) for _ in range(hypotheses)] if (draw(st.booleans()) if scored is None else scored) else None,
    )


@given(lists(), st.sampled_from(["moses", "joshua", "jsonl", "tsv"]))
@settings(deadline=None)
def test_lists_with_sparse_features_come_back_in_every_format(tmp_path_factory, nbest, format):
    path = tmp_path_factory.mktemp("n") / "list"
    if format == "moses" and any("." in name for name in nbest.names):
        return  # a.0 a.1 are Moses' own way of naming the values of one label
    nbest.write(path, format)
    again = NBest.read(path, "auto" if format != "joshua" else "joshua")
    if format in ("jsonl", "tsv"):  # where names stand even if no hypothesis has the feature
        same(again, nbest)
    same_hypotheses(again, nbest)


@pytest.mark.slow
@given(lists(scored=True, names=[]), st.data())
@settings(deadline=None)
def test_fairseq_lists_come_back_with_tokens_sides_and_token_scores(tmp_path_factory, nbest, data):
    path = tmp_path_factory.mktemp("n") / "list"
    line = st.text(st.characters(exclude_categories=["C"], exclude_characters="\u2028\u2029"), max_size=5)
    counts = [data.draw(st.integers(0, 3)) for _ in nbest.texts]
    with_p = data.draw(st.booleans())
    nbest = list_of_parts(
        (FEATURE,) if with_p else (),
        nbest.sentence_offsets,
        np.cumsum([0, *counts]) if with_p else nbest.part_offsets,
        np.array([[data.draw(st.floats(-1e6, 0))] for _ in range(sum(counts))]).reshape(-1, 1)
        if with_p
        else nbest.parts.dense(),
        nbest.texts,
        nbest.scores,
        alignments=["0-0"] * nbest.hypotheses if data.draw(st.booleans()) else None,
        tokens=[data.draw(line) for _ in nbest.texts] if data.draw(st.booleans()) else None,
        sources=[data.draw(line) for _ in range(len(nbest))] if data.draw(st.booleans()) else None,
        targets=[data.draw(line) for _ in range(len(nbest))] if data.draw(st.booleans()) else None,
    )
    nbest.write(path, "fairseq")
    same(NBest.read(path), nbest)
    if len(nbest.texts) and not (np.diff(nbest.sentence_offsets) == 0).any():
        nbest.write(path, "jsonl")  # whose sides stand with a hypothesis
        same(NBest.read(path), nbest)


FAIRSEQ = """2024-01-01 | INFO | fairseq_cli.generate | loading model
S-1\tzwei Wör@@ ter
T-1\ttwo words
H-1\t-0.5\ttwo wor@@ ds
D-1\t-0.5\ttwo words
P-1\t-0.25 -0.5 -0.25 -1.0
H-1\t-0.75\ttwo term@@ s
D-1\t-0.75\ttwo terms
P-1\t-0.25 -2 -0.25 -1.0
S-0\tja
T-0\tyes
H-0\t-0.125\tyes
D-0\t-0.125\tyes
P-0\t-0.125 -0.125
2024-01-01 | INFO | fairseq_cli.generate | Generate test with beam=5: BLEU4 = 34.21
"""


def test_fairseq_output_is_taken_apart_whatever_its_order(tmp_path):
    path = tmp_path / "generate-test.txt"
    path.write_text(FAIRSEQ)
    nbest = NBest.read(path)
    assert nbest.sentence_offsets.tolist() == [0, 1, 3]
    assert nbest.texts == ["yes", "two words", "two terms"]
    assert nbest.tokens == ["yes", "two wor@@ ds", "two term@@ s"]
    assert (nbest.sources, nbest.targets) == (["ja", "zwei Wör@@ ter"], ["yes", "two words"])
    assert nbest.scores.tolist() == [-0.125, -0.5, -0.75]
    assert nbest.hypothesis_features().tolist() == [[-0.25], [-2.0], [-3.5]]
    assert np.diff(nbest.part_offsets).tolist() == [2, 4, 4]
    with pytest.raises(CamberError, match="with the features P, lm cannot be written as fairseq's output; use jsonl"):
        nbest.with_feature("lm", [1, 2, 3]).write(tmp_path / "out", "fairseq")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("H-0\t-1\ta\nP-1\t-1\n", r":2: P-1 before any H-1"),
        ("H-0\t-1\ta\nP-0\t-1\nP-0\t-1\n", r":3: a second P-0"),
        ("H-0\t-inf\ta\n", r":1: score is -inf"),
        ("H-0\thigh\ta\n", r":1: score 'high' is not a number"),
        ("H-0\t-1\n", r":1: no text after the score '-1'"),
        ("H-0\t-1\ta\nP-0\t-1 nan\n", r":2: token score is nan"),
        ("H-0\t-1\ta\nP-0\t-1\nH-0\t-2\tb\n", r"P lines for 1 of 2 hypotheses; give all or none"),
        ("S-0\ta\nS-0\tb\n", r":2: another S-0 line, and it differs"),
        ("S-0\ta\n", r"no H line"),
        ("H-9\t-1\ta\n", r"sentences up to 9 .* only 5"),
        ("sentence\ttext\tlm\n0\ta\n", r":2: 2 columns, expected 3; a text must not hold a tab"),
        ("sentence\ttext\tlm\n0\ta\tnan\n", r":2: lm is nan"),
        ("sentence\ttext\tlm\n0\ta\thigh\n", r":2: lm 'high' is not a number"),
        ("sentence\ttext\tscore\n0\ta\t\n", r":2: score '' is not a number"),
        ("sentence\ttext\textra:comet\n0\ta\t\n", r":2: extra:comet '' is not a number"),
        ("sentence\ttext\n1\ta\n0\ta\n", r":3: a hypothesis of sentence 0 after those of sentence 1"),
        ("sentence\ttext\nx\ta\n", r":2: sentence number 'x' is not a whole number"),
        ("sentence\ttext\tlm\tlm\n0\ta\t1\t1\n", r":1: column 'lm' occurs twice"),
        ("sentence\ttext\n", r":1: no hypothesis below"),
    ],
)
def test_a_bad_list_is_told_with_its_line(tmp_path, text, message):
    path = tmp_path / "list"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        NBest.read(path, sentences=5)


def test_a_table_needs_its_two_columns(tmp_path):
    (tmp_path / "list.tsv").write_text("sentence\tlm\n0\t1\n")
    with pytest.raises(InputError, match=r":1: no column 'text'; the first line names the columns"):
        NBest.read(tmp_path / "list.tsv", "tsv")


def test_a_table_holds_outside_scores_and_features_of_any_name(tmp_path):
    path = tmp_path / "list.tsv"
    nbest = NBest.of_hypotheses(
        ("score", "lm", "extra:x"), [0, 2], ['"a"', ""], [[1, 2, 3], [4, np.nan, 6]]
    ).with_extra("comet", [0.25, 0.5])
    nbest.write(path)
    assert path.read_text().splitlines() == [
        "sentence\ttext\textra:comet\tfeature:score\tlm\tfeature:extra:x",
        '0\t"a"\t0.25\t1\t2\t3',
        "0\t\t0.5\t4\t\t6",
    ]
    same(NBest.read(path), nbest)
    with pytest.raises(CamberError, match="a tab or a line end"):
        NBest.of_hypotheses((), [0, 1], ["a\tb"], [[]]).write(path)


def test_joshua_lists_are_written_with_name_and_value_together(tmp_path):
    nbest = NBest.of_hypotheses(("lm", "a=b"), [0, 1], ["x"], [[-1.5, 2]], [-3.0])
    nbest.write(tmp_path / "list", "cdec")
    assert (tmp_path / "list").read_text() == "0 ||| x ||| lm=-1.5 a=b=2 ||| -3\n"
    same(NBest.read(tmp_path / "list"), nbest)


def sparse_list(lines, features):
    return "".join(
        f"{row // 10} ||| t{row} ||| lm= {-row} "
        + " ".join(f"pair_{(row * 7 + k * 13) % features}= 1" for k in range(3))
        + f" ||| {-row}\n"
        for row in range(lines)
    )


@pytest.mark.slow
def test_thousands_of_sparse_features_are_read_and_rare_ones_may_be_left_out(tmp_path):
    path = tmp_path / "list"
    path.write_text(sparse_list(2000, 1500))
    nbest = NBest.read(path)
    assert len(nbest.names) == 1501
    assert nbest.names[0] == "lm"
    table = nbest.hypothesis_features()
    for row in (0, 1, 777, 1999):  # by layout as by triplets
        there = {f"pair_{(row * 7 + k * 13) % 1500}" for k in range(3)} | {"lm"}
        assert {name for name, value in zip(nbest.names, table[row], strict=True) if not np.isnan(value)} == there
    counts = (~np.isnan(table)).sum(0)
    common = NBest.read(path, at_least=5)
    assert common.names == ("lm", *(n for n, c in zip(nbest.names[1:], counts[1:], strict=True) if c >= 5))
    for format in ("moses", "joshua", "jsonl", "tsv"):
        nbest.write(tmp_path / format, format)
        same(NBest.read(tmp_path / format, "auto"), nbest)
    assert (tmp_path / "moses").stat().st_size < 2 * path.stat().st_size


def test_a_table_that_does_not_fit_is_refused_with_a_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_CELLS", 10_000)
    (tmp_path / "list").write_text(sparse_list(200, 150))
    with pytest.raises(InputError, match=r"151 features × 200 hypotheses would take .* leave out rare features"):
        NBest.read(tmp_path / "list")
    assert NBest.read(tmp_path / "list", at_least=150).names == ("lm",)


def test_ragged_groups_and_repeated_hypotheses_are_kept(tmp_path):
    (tmp_path / "list").write_text("0 ||| a ||| x= 1\n0 ||| a ||| x= 1\n3 ||| b ||| x= 2\n")
    nbest = NBest.read(tmp_path / "list", sentences=5)
    assert nbest.texts == ["a", "a", "b"]
    assert np.diff(nbest.sentence_offsets).tolist() == [2, 0, 0, 1, 0]


def test_outside_scores_are_a_metric_of_the_list():
    nbest = NBest.of_hypotheses(("lm",), [0, 2, 2, 3], ["a", "b", "c"], [[1], [2], [3]])
    nbest = nbest.with_extra("comet", [0.5, 0.75, 1.0])
    metric = Outside("comet")
    rows = nbest.statistics(metric, [])
    assert metric.score(rows) == pytest.approx([0.5, 0.75, 1.0])
    assert metric.score(rows.sum(0)) == pytest.approx(0.75)
    assert metric.statistics([""], []).tolist() == [[0, 0]]  # a sentence without hypotheses does not count
    assert metric.signature(0) == "outside:comet|mean|better:higher"
    with pytest.raises(CamberError, match="no outside scores named 'bleurt'; it has: comet"):
        nbest.statistics(Outside("bleurt"), [])
    with pytest.raises(CamberError, match="2 outside scores comet for 3 hypotheses"):
        nbest.with_extra("comet", [1, 2])
    with pytest.raises(CamberError, match="not a finite number"):
        nbest.with_extra("comet", [1, 2, np.nan])
    with pytest.raises(CamberError, match="1 outside scores x for 2"):
        Outside("x", [1.0]).statistics(["a", "b"], [])


def test_outside_scores_that_a_format_cannot_hold_are_pointed_out(tmp_path, caplog):
    NBest.of_hypotheses((), [0, 1], ["a"], [[]]).with_extra("comet", [1.0]).write(tmp_path / "list")
    assert "outside scores (comet) have no place in this format; use jsonl" in caplog.text


def test_a_part_of_a_list_takes_everything_along():
    nbest = list_of_parts(
        ("lm",),
        [0, 2, 2, 3],
        [0, 2, 3, 3],
        [[1.0], [2], [3]],
        ["a", "b", "c"],
        [0.5, 0.25, 0.125],
        extra={"comet": [1, 2, 3]},
        tokens=["A", "B", "C"],
        sources=["s0", "s1", "s2"],
    )
    part = nbest.of_sentences([2, 0])
    assert part.texts == ["c", "a", "b"]
    assert part.sentence_offsets.tolist() == [0, 1, 3]
    assert part.part_offsets.tolist() == [0, 0, 2, 3]
    assert part.parts.dense().tolist() == [[1], [2], [3]]
    assert part.scores.tolist() == [0.125, 0.5, 0.25]
    assert part.extra["comet"].tolist() == [3, 1, 2]
    assert (part.tokens, part.sources) == (["C", "A", "B"], ["s2", "s0"])
    turned = nbest.of_rows([np.array([1, 0]), np.array([], int), np.array([2])])
    assert turned.texts == ["b", "a", "c"]
    assert turned.hypothesis_features().tolist() == [[3], [3], [0]]
    assert len(nbest.of_sentences([])) == 0


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="shared data absent")
def test_a_joshua_list_with_four_references_is_scored():
    folder = SHARED / "data" / "nbest" / "joshua-bn-en-hiero"
    nbest = NBest.read(folder / "nbest.joshua", "joshua")
    references = [(folder / f"ref.en.{n}").read_text("utf-8").splitlines() for n in range(4)]
    bleu = BLEU("none")
    rows = nbest.statistics(bleu, references)
    assert 5 < bleu.score(rows[nbest.best()].sum(0)) < 50
    shortest = BLEU("none", reference_length="shortest")
    assert (nbest.statistics(shortest, references)[:, 1] <= rows[:, 1]).all()


@given(lists(), st.data())
@settings(deadline=None)
def test_json_lists_tell_which_features_parts_lack(tmp_path_factory, nbest, data):
    """A part lacks a feature as a whole hypothesis does, and neither is the same as 0."""
    path = tmp_path_factory.mktemp("n") / "list.jsonl"
    counts = [data.draw(st.integers(1, 3)) for _ in nbest.texts]
    small = st.sampled_from([0.0, math.nan]) | st.floats(-1e6, 1e6)
    table = np.array([[data.draw(small) for _ in nbest.names] for _ in range(sum(counts))])
    nbest = list_of_parts(
        nbest.names,
        nbest.sentence_offsets,
        np.cumsum([0, *counts]),
        table.reshape(sum(counts), len(nbest.names)),
        nbest.texts,
        nbest.scores,
    )
    nbest.write(path)
    same(NBest.read(path), nbest)


def test_null_is_a_feature_that_a_part_lacks(tmp_path):
    features = ("q", Feature("lm", NUMBER, CONTEXT))
    nbest = list_of_parts(features, [0, 1], [0, 2], [[0.5, 0.0], [math.nan, -1.0]], ["a b"], rules=[7, -1])
    path = tmp_path / "list.jsonl"
    nbest.write(path)
    assert (
        '"features": {"q": 0.5, "lm": -1}, "kinds": {"lm": {"scope": "context"}}, '
        '"parts": [{"rule": 7, "features": [0.5, 0]}, {"features": [null, -1]}]' in path.read_text()
    )
    same(NBest.read(path), nbest)


def test_a_list_of_an_outside_format_is_recognised_read_and_written(tmp_path, monkeypatch):
    def read(path, sentences, at_least):
        lines = Path(path).read_text().splitlines()[1:]
        return NBest.of_hypotheses((), np.arange(len(lines) + 1), lines, np.empty((len(lines), 0)))

    def write(nbest, path):
        Path(path).write_text("\n".join(["#plain", *nbest.texts]) + "\n")

    plain = formats.Format("plain", (".plain",), lambda line, number: line == "#plain", read, write)
    point = SimpleNamespace(name="plain", value="outside:PLAIN", load=lambda: plain)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] * (group == "camber.nbest_formats"))
    formats.formats.cache_clear()
    monkeypatch.setattr(formats, "formats", formats.formats.__wrapped__)
    nbest = NBest.of_hypotheses((), [0, 1, 2], ["a b", "c"], np.empty((2, 0)))
    nbest.write(tmp_path / "list.plain")
    assert (tmp_path / "list.plain").read_text() == "#plain\na b\nc\n"
    same(NBest.read(tmp_path / "list.plain"), nbest)
    same(NBest.read(tmp_path / "list.plain", "plain"), nbest)
    with pytest.raises(
        SettingsError, match="known: auto, moses, marian, joshua, cdec, fairseq, jsonl, tsv, flat, plain"
    ):
        NBest.read(tmp_path / "list.plain", "xml")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("moses", "{} ||| a ||| lm= 1\n{} ||| a ||| lm= 1\n"),
        ("jsonl", '{{"sentence": {}, "text": "a"}}\n{{"sentence": {}, "text": "a"}}\n'),
        ("tsv", "sentence\ttext\n{}\ta\n{}\ta\n"),
    ],
)
def test_sentences_must_rise_in_every_format(tmp_path, name, lines):
    path = tmp_path / "list"
    for one, two in ((1, 0), (7, 6), (9, 2)):
        path.write_text(lines.format(one, two))
        with pytest.raises(InputError, match=f"sentence {two} after those of sentence {one}") as error:
            NBest.read(path, name)
        assert error.value.line == 2 + (name == "tsv")
    path.write_text(lines.format(2, 2))
    assert NBest.read(path, name).sentence_offsets.tolist() == [0, 0, 0, 2]
    path.write_text(lines.format(0, 2))
    assert NBest.read(path, name).sentence_offsets.tolist() == [0, 1, 1, 2]
