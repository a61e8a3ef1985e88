"""camber score: sacreBLEU's figures, clear errors."""

import json

import pytest
import sacrebleu.metrics
from click.testing import CliRunner

from camber.cli.score import command
from camber.errors import CamberError, InputError
from camber.metrics.compare import compare

REFERENCE = ["The cat sat on the mat.", "A dog, he said, ran home."]
GOOD = ["The cat sat on the mat.", "A dog ran home, he said."]
BAD = ["cat the sat on mat.", "Dogs run."]


@pytest.fixture
def files(tmp_path):
    paths = {}
    for name, lines in {"ref": REFERENCE, "good": GOOD, "bad": BAD, "short": GOOD[:1], "empty": []}.items():
        paths[name] = str(tmp_path / name)
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    return paths


def run(*arguments, **more):
    return CliRunner().invoke(command, arguments, **more)


def test_scores_and_signatures_are_sacrebleus(files):
    result = run("--ref", files["ref"], files["good"], "--metric", "bleu,sbp,chrf,ter", "--json", "--samples", "50")
    assert result.exit_code == 0, result.output
    scores = {item["metric"]: item for item in json.loads(result.stdout)}
    for metric in (sacrebleu.metrics.BLEU(), sacrebleu.metrics.CHRF(), sacrebleu.metrics.TER()):
        expected = metric.corpus_score(GOOD, [REFERENCE])
        assert scores[expected.name]["score"] == pytest.approx(expected.score)
        assert scores[expected.name]["signature"] == str(metric.get_signature())
    assert "difference" not in scores["BLEU"]


def test_the_page_has_the_scores_that_are_printed(files, tmp_path):
    page = tmp_path / "report.html"
    more = ("--metric", "ter,bleu", "--trials", "99", "--json", "--report", str(page), "--source", files["ref"])
    result = run("--ref", files["ref"], files["bad"], files["good"], *more)
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    for item in json.loads(result.stdout):
        assert f"{item['score']:.2f}" in text
        assert f"{item['low']:.2f} to {item['high']:.2f}" in text
    assert "<h3>Won</h3>" in text
    assert run("--ref", files["ref"], files["bad"], "--source", files["ref"]).exit_code == 2


def test_a_page_about_outside_scores_and_several_runs(files, tmp_path):
    for name, lines in (("a", "1\n2\n"), ("b", "3\n1\n"), ("c", "3\n4\n")):
        (tmp_path / name).write_text(lines)
    page = tmp_path / "report.html"
    systems = ("--system", f"x={files['bad']}", "--system", f"y={files['good']},{files['ref']}")
    extra = ("--extra", f"q={tmp_path / 'a'},{tmp_path / 'b'},{tmp_path / 'c'}", "--metric", "extra:q")
    result = run("--ref", files["ref"], *systems, *extra, "--trials", "99", "--report", str(page))
    assert result.exit_code == 0, result.output
    text = page.read_text("utf-8")
    assert "first run of every system" in text
    assert "1 sentences are better, 1 worse" in text  # 3 for 1, and 1 for 2


def test_several_systems_are_compared_with_the_first(files):
    result = run("--ref", files["ref"], "--ref", files["good"], files["bad"], files["good"], "--trials", "99")
    assert result.exit_code == 0, result.output
    header, bad, good, signature = result.stdout.splitlines()
    assert "difference" in header
    assert bad.startswith(files["bad"])
    assert "100.00" in good
    assert "+" in good
    assert signature.startswith("BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert signature.endswith("|bs:1000|ar:99|seed:1")


def test_the_same_seed_gives_the_same_output(files):
    arguments = ("--ref", files["ref"], files["bad"], files["good"], "--seed", "7", "--json")
    assert run(*arguments).stdout == run(*arguments).stdout


def test_translations_may_come_from_standard_input(files):
    result = run("--ref", files["ref"], "-", input="".join(line + "\n" for line in REFERENCE))
    assert "100.00" in result.stdout


def test_lowercase_and_tokenize_are_heeded(files):
    result = run("--ref", files["ref"], files["good"], "--tokenize", "none", "--lowercase")
    assert "case:lc|eff:no|tok:none" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ref", "ref", "short"], r"short:2: 1 lines, but 2 in .*ref; line n of every file"),
        (["--ref", "ref", "empty"], r"empty: the file is empty"),
        (["--ref", "ref", "absent"], r"absent: no such file"),
        (["--ref", "ref", "good", "--metric", "meteor"], r"unknown metric 'meteor'; known: bleu"),
        (["--ref", "ref", "good", "--tokenize", "moses"], r"unknown tokenizer 'moses'; known: none"),
    ],
)
def test_bad_input_is_told(files, arguments, message):
    result = run(*(files.get(argument, argument) for argument in arguments))
    assert isinstance(result.exception, CamberError)
    with pytest.raises(CamberError, match=message):
        raise result.exception


def test_wrong_usage_is_told(files):
    assert run(files["good"]).exit_code == 2
    assert "given twice" in run("--ref", files["ref"], files["good"], files["good"]).output
    assert isinstance(run("--ref", files["ref"], "-", input="").exception, InputError)


@pytest.mark.parametrize(
    ("line", "suited"),
    [
        ("汤姆在桌子下面。", "zh or"),
        ("トムは机の下にいる。", "ja-mecab or"),
        ("ทอมอยู่ใต้โต๊ะ", "char"),
        ("Tom likes 茶 .", ""),
    ],
)
def test_a_tokenizer_that_cannot_split_a_script_is_pointed_out(tmp_path, caplog, line, suited):
    (tmp_path / "text").write_text(line + "\n", "utf-8")
    path = str(tmp_path / "text")
    for arguments, told in (((), suited), (("--tokenize", "char"), ""), (("--metric", "chrf"), "")):
        caplog.clear()
        assert run("--ref", path, path, *arguments).exit_code == 0
        assert ("without spaces" in caplog.text) == bool(told)
        assert f"--tokenize {told}" in caplog.text + "--tokenize "


def test_text_that_looks_tokenised_is_pointed_out(tmp_path, caplog):
    (tmp_path / "t").write_text("a b .\n" * 100)
    run("--ref", str(tmp_path / "t"), str(tmp_path / "t"), "--samples", "9")
    assert "say --tokenize none" in caplog.text


def test_systems_of_another_length_cannot_be_compared():
    with pytest.raises(CamberError, match="mine has 1 lines, the reference 2"):
        compare({"mine": ["a"]}, [REFERENCE])


def test_tables_are_for_people_or_for_latex(files):
    arguments = ("--ref", files["ref"], files["good"], "--samples", "20")
    plain, latex = run(*arguments), run(*arguments, "--latex")
    assert (plain.exit_code, latex.exit_code) == (0, 0)
    assert "\\begin{tabular}" in latex.stdout
    assert "tabular" not in plain.stdout
