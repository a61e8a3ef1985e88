"""Edges at which the source could be changed without any other quick test of its room noticing (see `mutate.py`)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import sacrebleu.metrics

from camber.align.error_rate import read_gold
from camber.bend.trees.binning import edges_of
from camber.cli.score import _named
from camber.corpus import Bitext, Sentences
from camber.decode.windows import cut_points
from camber.errors import InputError, SettingsError, TuneError
from camber.features.feature import CONTEXT, COUNT, NUMBER, PROBABILITY, RULE, Feature, linear_table
from camber.features.parts import HypothesisParts, Parts
from camber.formats.cdec.grammars import CdecIni, cdec_values, read_cdec_grammar
from camber.kernel.heap import pop, push
from camber.lm.arpa import read_arpa
from camber.metrics import BLEU, TER
from camber.metrics.chrf import ChrF
from camber.metrics.significance import wilcoxon_of_batches
from camber.nbest import NBest
from camber.numbers import is_whole
from camber.settings import Settings, setting
from camber.text.case import Truecaser
from camber.text.tokenise import Tokenizer
from camber.tune.data import TuningData
from camber.tune.guards import check_list


@dataclass(frozen=True)
class _Some(Settings):
    share: float = setting(0.5, "a share")
    bits: int = setting(3, "bits", low=1, high=8)


def test_settings_end_where_they_say_and_are_never_nan() -> None:
    assert (_Some(bits=1).bits, _Some(bits=8).bits) == (1, 8)
    for wrong in ({"bits": 0}, {"bits": 9}, {"share": float("nan")}):
        with pytest.raises(SettingsError):
            _Some(**wrong)  # type: ignore[arg-type]


def test_digits_of_other_scripts_are_no_number() -> None:
    assert [is_whole(text) for text in ("7", "٣", "²", "9223372036854775807", "9223372036854775808", "")] == [
        True, False, False, True, False, False,
    ]  # fmt: skip


def test_a_queue_stays_in_order_when_pushes_and_pops_take_turns() -> None:
    draw = np.random.default_rng(7)
    scores, items, size, plain = np.empty(300), np.empty(300, np.int64), 0, []  # type: ignore[var-annotated]
    for turn in range(2000):
        if plain and (len(plain) > 250 or draw.random() < 0.45):
            score, item, size = pop(scores, items, size)
            assert (-score, item) == heapq.heappop(plain)
        else:
            score = float(draw.integers(50))
            size = push(scores, items, size, score, turn)
            heapq.heappush(plain, (-score, turn))
    assert size == len(plain)


def test_what_is_small_but_above_zero_is_at_least_what_a_feature_says() -> None:
    features = (Feature("p", PROBABILITY, RULE, least=-3.0), Feature("q", PROBABILITY, CONTEXT))
    assert linear_table(features, np.array([[0.01, 0.01], [0.5, 0.5]]))[:, 0] == pytest.approx([-3.0, np.log(0.5)])


def test_rule_0_is_a_rule() -> None:
    parts = Parts.of_dense((Feature("n", NUMBER, RULE),), [[1.0], [2.0], [3.0]], [0, -1, 4])
    some, offsets = HypothesisParts.of(parts, np.array([0, 2, 3])).of_rules()
    assert (some.rules.tolist(), offsets.tolist()) == ([0, 4], [0, 1, 2])


@pytest.mark.parametrize(
    ("language", "line", "tokens"),
    [
        ("en", "a,5 5,a 5,300", "a , 5 5 , a 5,300"),
        ("en", "No. It No. 5", "No . It No. 5"),
        ("en", "www.b@c.de/a", "www.b@c.de/a"),
        ("fi", "EU:ssa EU:Ab", "EU:ssa EU : Ab"),
    ],
)
def test_tokens_at_the_edges_of_rules(language: str, line: str, tokens: str) -> None:
    assert " ".join(Tokenizer("moses", language).tokenise(line)) == tokens


def test_the_most_frequent_form_wins_and_small_letters_only_among_equals() -> None:
    caser = Truecaser({"paris": {"Paris": 3, "paris": 1}, "may": {"May": 2, "may": 2}})
    assert (caser.best("PARIS"), caser.best("May")) == ("Paris", "may")


def test_angles_are_a_tag_only_when_they_close_soon() -> None:
    join = Tokenizer("moses", "en").detokenise
    assert "<" + "x" in join(["<", *["x"] * 11, ">"])
    assert "< x" in join(["<", *["x"] * 12, ">"])


@pytest.mark.parametrize(("source", "target"), [(2, 1), (1, 2)])
def test_sides_of_a_text_have_as_many_sentences(source: int, target: int) -> None:
    with pytest.raises(ValueError, match=r"."):
        Bitext(Sentences.encode([["a"]] * source), Sentences.encode([["a"]] * target))


def test_backoffs_of_the_longest_ngrams_and_half_an_exponent_are_not_believed(tmp_path: Path) -> None:
    text = "\\data\\\nngram 1=3\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1\t</s>\n\n"
    text += "\\2-grams:\n-0.5\t<s> </s>\t-0.7\n\n\\end\\\n"
    (tmp_path / "lm").write_text(text)
    trie = read_arpa(tmp_path / "lm")
    assert trie.backoff[trie.starts[2] :].tolist() == [0.0]
    (tmp_path / "lm").write_text(text.replace("-0.5\t<s> </s>", "-1e\t<s> </s>"))
    with pytest.raises(InputError, match="log probability"):
        read_arpa(tmp_path / "lm")


def test_scores_of_short_and_smoothed_texts_are_those_of_sacrebleu() -> None:
    hypotheses, references = ["the cat sat on the mat today", "a b"], ["the cat is on the mat today", "a c d"]
    theirs = sacrebleu.metrics.BLEU(smooth_method="add-k", smooth_value=1).corpus_score(hypotheses, [references])
    ours = BLEU(smooth="add-k", smooth_value=1)
    assert ours.score(ours.statistics(hypotheses, [references]).sum(0)) == pytest.approx(theirs.score)
    metric = ChrF()
    for short, long in (("abcdefgh", "abx"), ("abx", "abcdefgh")):
        theirs = sacrebleu.metrics.CHRF().corpus_score([short], [[long]])
        assert metric.score(metric.statistics([short], [[long]]).sum(0)) == pytest.approx(theirs.score)


def test_wilcoxon_says_nothing_only_where_nothing_changed() -> None:
    rows = np.stack([np.arange(10.0, 50.0), np.full(40, 100.0)], axis=1)
    better = rows - [[5.0, 0.0]] * 40
    assert wilcoxon_of_batches(TER(), rows, better, size=2) < 0.01
    assert wilcoxon_of_batches(TER(), rows, rows, size=2) == 1.0


def test_links_to_nothing_on_either_side_are_none(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("1 1 0 S\n1 0 1 S\n1 2 2 S\n")
    assert read_gold(tmp_path / "gold").sure.links.tolist() == [[1, 1]]


def test_files_of_cdec(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| p=0.1 c=9 ||| 0-0\n")
    grammar = read_cdec_grammar(tmp_path / "grammar")
    values = cdec_values((Feature("p", PROBABILITY, RULE), Feature("c", COUNT, RULE, plus=1.0)), grammar)
    assert values.features.tolist() == [[pytest.approx(1.0), pytest.approx(1.0)]]
    for link in ("1-0", "0-1"):
        (tmp_path / "grammar").write_text(f"[X] ||| a ||| b ||| p=0.1 ||| {link}\n")
        with pytest.raises(InputError, match="inside the rule"):
            read_cdec_grammar(tmp_path / "grammar")
    (tmp_path / "ini").write_text("weights=one\nweights=two\n")
    assert CdecIni.read(tmp_path / "ini").one("weights") == "two"


def test_lists_end_with_their_text_and_features_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("0 ||| a ||| x= 1\n2 ||| b ||| x= 1\n")
    assert len(NBest.read(path, sentences=3)) == 3
    with pytest.raises(InputError, match="only 2 sentences"):
        NBest.read(path, sentences=2)
    for first, second in (("1", "1 2"), ("1 2", "1")):
        path.write_text(f"0 ||| a ||| x= {first}\n0 ||| b ||| x= {second}\n")
        with pytest.raises(InputError, match="values for x"):
            NBest.read(path)
    path.write_text("sentence\ttext\tx\ty\n0\ta\t1\t1\n0\tb\t2\t\n")
    assert NBest.read(path, at_least=2).names == ("x",)
    line = '{{"sentence": 0, "text": "{}", "features": {{"x": 1, "y": {}}}}}\n'
    lines = [line.format("a", "null"), line.format("b", 1)]
    path.write_text("".join(lines))
    assert NBest.read(path, at_least=2).names == ("x",)


def test_windows_end_behind_the_last_mark_that_fits() -> None:
    assert cut_points(["a", "b", "c", "d", ".", "e", ".", "f", "g"], 8) == [0, 7, 9]


def test_edges_lie_in_the_middle_between_values() -> None:
    assert edges_of(np.array([1.0, 2.0, 4.0])).tolist() == [1.5, 3.0]


def test_lists_that_teach_nothing_are_refused() -> None:
    def data(offsets: list[int], statistics: list[list[int]]) -> TuningData:
        rows = np.array([[1.0], [2.0]])
        return TuningData(("lm",), rows, np.array(offsets), np.array(statistics, float), BLEU("none"))

    one, two = [4, 4, 4, 3, 2, 1, 4, 3, 2, 1], [4, 4, 3, 2, 1, 0, 4, 3, 2, 1]
    check_list(data([0, 2], [one, two]))
    with pytest.raises(TuneError, match="more than one hypothesis"):
        check_list(data([0, 1, 2], [one, two]))
    with pytest.raises(TuneError, match="statistics"):
        check_list(data([0, 2], [one, one]))


def test_a_system_needs_a_name_and_files() -> None:
    import click

    assert _named("a=b,c", "--system") == ("a", [Path("b"), Path("c")])
    for wrong in ("a=", "=b", "a", "a=,"):
        with pytest.raises(click.UsageError):
            _named(wrong, "--system")
