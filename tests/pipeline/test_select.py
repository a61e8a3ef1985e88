"""A training set for a text: `camber select` and `camber.select`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import camber
from camber.cli import cli
from camber.errors import CamberError, InputError, SettingsError
from camber.files import read_lines, write_lines
from camber.regress.select.selectors import SELECTORS, SelectSettings

SOURCE = ["Der  Hund bellt.", "Die Katze schläft.", "", "Ein Hund schläft.\u2028", "Die Katze bellt.", "Das Haus"]
TARGET = ["The  dog barks.", "The cat sleeps.", "Nothing.", "A dog sleeps.", "The cat barks.", ""]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_lines(tmp_path / "train.de", SOURCE)
    write_lines(tmp_path / "train.en", TARGET)
    write_lines(tmp_path / "test.de", ["Der Hund bellt!", "", "Das Haus"])
    write_lines(tmp_path / "test.en", ["The dog barks!", "", "The house"])
    return tmp_path


def run(folder: Path, *words: object) -> Result:
    """Run the command on the corpus."""
    given = ["--source", folder / "train.de", "--target", folder / "train.en", "--test", folder / "test.de", *words]
    return CliRunner().invoke(cli, ["--quiet", "select", *map(str, given)])


def new_files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"train.de", "train.en", "test.de", "test.en"}


@pytest.mark.parametrize("score", list(SELECTORS))
def test_lines_come_out_as_they_went_in_with_their_numbers(corpus: Path, score: str) -> None:
    done = run(corpus, "--count", 2, "--score", score, "--out", corpus / "chosen", "--order-by", "best")
    assert done.exit_code == 0, done.output
    assert new_files(corpus) == {"chosen.source", "chosen.target", "chosen.lines"}
    rows = [int(line) - 1 for line in read_lines(corpus / "chosen.lines")]
    assert rows[0] == 0
    assert read_lines(corpus / "chosen.source") == [SOURCE[i] for i in rows]
    assert read_lines(corpus / "chosen.target") == [TARGET[i] for i in rows]
    assert "2 of 6 pairs are selected" in done.output


def test_pairs_are_in_the_order_of_the_corpus_unless_the_best_shall_come_first(corpus: Path) -> None:
    write_lines(corpus / "test.de", ["Die Katze schläft.", "Der Hund bellt."])
    files = corpus / "train.de", corpus / "train.en", corpus / "test.de"
    best = camber.select(*files, 3, order_by="best").pairs
    assert best.tolist() != sorted(best)
    assert camber.select(*files, 3).pairs.tolist() == sorted(best)


def test_languages_name_the_files_and_gz_packs_them(corpus: Path) -> None:
    for name in ("train.de", "test.de"):
        packed = gzip.compress((corpus / name).read_bytes())
        (corpus / name).write_bytes(packed)
    flags = ["--source-lang", "de", "--target-lang", "en"]
    assert run(corpus, "--count", 1, "--out", corpus / "chosen.gz", *flags).exit_code == 0
    assert new_files(corpus) == {"chosen.de.gz", "chosen.en.gz", "chosen.lines.gz"}
    assert gzip.decompress((corpus / "chosen.de.gz").read_bytes()).decode() == SOURCE[0] + "\n"


def test_coverage_is_told_of_both_sides_and_as_json(corpus: Path) -> None:
    done = run(corpus, "--count", 1, "--test-target", corpus / "test.en", "--json")
    told = json.loads(done.stdout)
    assert (told["pairs"], told["corpus_pairs"]) == (1, 6)
    # "!" is nowhere, and "Das Haus" in a pair with an empty side, which is never selected
    assert told["scov"]["2"] == pytest.approx(2 / 4)
    assert told["corpus_scov"]["2"] == pytest.approx(3 / 4)
    assert told["tcov"]["2"] == pytest.approx(2 / 4)
    assert set(told) == {"pairs", "corpus_pairs", "scov", "corpus_scov", "tcov", "corpus_tcov"}
    assert not new_files(corpus)
    plain = run(corpus, "--count", 1)
    assert "scov" in plain.output
    assert "tcov" not in plain.output


def test_what_has_no_bigrams_has_no_coverage_of_them(corpus: Path) -> None:
    write_lines(corpus / "test.de", ["Hund"])
    assert json.loads(run(corpus, "--count", 1, "--json").stdout)["scov"] == {"1": 1.0, "2": None}


def test_per_sentence_bounds_what_a_line_adds(corpus: Path) -> None:
    files = corpus / "train.de", corpus / "train.en", corpus / "test.de"
    assert camber.select(*files, per_sentence=1).pairs.tolist() == [0]
    assert len(camber.select(*files, per_sentence=6).pairs) == 3
    assert len(camber.select(*files, 2, per_sentence=6).pairs) == 2


def test_fewer_pairs_than_asked_for_are_a_warning(corpus: Path, caplog: pytest.LogCaptureFixture) -> None:
    camber.select(corpus / "train.de", corpus / "train.en", corpus / "test.de", 100)
    assert "only 3 pairs have something to add; 100 were asked for" in caplog.text


def test_the_same_selection_on_any_number_of_threads(corpus: Path) -> None:
    files = corpus / "train.de", corpus / "train.en", corpus / "train.de"
    one, many = (camber.select(*files, 3, engine=camber.Threads(n)).pairs for n in (1, 4))
    assert np.array_equal(one, many)


def test_text_that_is_tokenised_goes_through_untouched(corpus: Path) -> None:
    files = corpus / "train.de", corpus / "train.en", corpus / "test.de"
    write_lines(corpus / "test.de", ["bellt."])
    text = camber.TrainSettings.from_dict({"text": {"tokenizer": "none"}}).text
    assert camber.select(*files, 9, text=text).pairs.tolist() == [0, 4]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --count, --per-sentence or both"),
        (["--count", "0"], "--count"),
        (["--count", "-3"], "--count"),
        (["--count", "3", "--per-sentence", "0"], "--per-sentence"),
        (["--count", "3", "--score", "luck"], "'luck' is not one of 'round-robin', 'dice', 'bm25', 'decay'"),
        (["--count", "3", "--decay", "0.3"], "--decay makes no difference with --score round-robin"),
        (["--count", "3", "--score", "decay", "--denominator", "sum"], "--denominator makes no difference"),
        (["--count", "3", "--score", "decay", "--decay", "1.5"], "--decay"),
        (["--count", "3", "--order-by", "best"], "--order-by makes no difference without --out"),
    ],
)
def test_wrong_usage_is_told(corpus: Path, words: list[str], message: str) -> None:
    done = run(corpus, *words)
    assert done.exit_code == 2
    assert message in done.output
    assert not new_files(corpus)


def test_bad_files_are_errors_that_leave_nothing_behind(corpus: Path) -> None:
    def refused(match: str, **changed: object) -> None:
        names = {"source": corpus / "train.de", "target": corpus / "train.en", "test": corpus / "test.de"}
        values = {"count": 2, "out": corpus / "chosen"} | names | changed
        with pytest.raises(CamberError, match=match):
            camber.select(**values)  # type: ignore[arg-type]
        assert new_files(corpus) <= {"short", "blank", "empty", "folder"}

    write_lines(corpus / "short", ["one line"])
    write_lines(corpus / "blank", ["", "  "])
    (corpus / "empty").touch()
    (corpus / "folder").mkdir()
    refused("this file ends too early", target=corpus / "short")
    refused("this file ends too early", test_target=corpus / "short")
    refused("the file is empty", test=corpus / "empty")
    refused("no line has a word", test=corpus / "blank")
    refused("no such file", test=corpus / "absent")
    refused("no such folder", out=corpus / "nowhere" / "chosen")
    refused("count is 0; expected at least 1", count=0)
    refused("per_sentence is -1", per_sentence=-1)
    refused("nothing says how many", count=None)
    refused("order_by is 'worst'", order_by="worst")
    refused("unknown selector 'luck'", score="luck")


def test_no_input_is_overwritten(corpus: Path) -> None:
    (corpus / "train.de").rename(corpus / "train.source")
    before = (corpus / "train.source").read_bytes()
    with pytest.raises(InputError, match="would be overwritten"):
        camber.select(corpus / "train.source", corpus / "train.en", corpus / "test.de", 2, out=corpus / "train")
    assert (corpus / "train.source").read_bytes() == before


def test_settings_are_checked() -> None:
    with pytest.raises(SettingsError, match="denominator"):
        SelectSettings(denominator="difference")
