"""`camber demo` from end to end, on little text."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from camber.cli import VERBS, cli
from camber.engine import Threads
from camber.errors import CamberError
from camber.report import demo
from camber.report.demo import Demo, Sizes, run_demo

SMALL = Sizes(train=400, dev=20, test=40, everyday=60)
README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return run_demo(tmp_path_factory.mktemp("demo") / "new" / "folder", sizes=SMALL, engine=Threads(1))


def test_the_demo_leaves_text_model_translations_and_report(done: Demo) -> None:
    for name, lines in (("train.es", 460), ("train.en", 460), ("dev.es", 20), ("test.en", 40), ("test.output.en", 40)):
        assert len((done.folder / name).read_text("utf-8").splitlines()) == lines
    assert (done.folder / "model" / "model.toml").is_file()
    assert done.report == done.folder / "report.html"


def test_the_demo_says_how_good_and_how_long(done: Demo) -> None:
    assert [score.metric for score in done.scores] == ["BLEU", "chrF2"]
    for score in done.scores:
        assert 0 < score.low <= score.score <= score.high <= 100
    names = [name for name, _ in done.stages]
    for name in ("word alignment", "language model", "phrase pairs"):
        assert name in names
    assert all(seconds is not None and seconds >= 0 for _, seconds in done.stages)


def test_phrases_of_the_examples_cover_both_sides_exactly_once(done: Demo) -> None:
    assert done.examples
    for item in done.examples + done.errors:
        segmentation = item.segmentation
        for words, spans in (
            (segmentation.source, [part.source for part in segmentation.parts]),
            (segmentation.target, [part.target for part in segmentation.parts]),
        ):
            covered = sorted(k for span in spans for k in range(*span))
            assert covered == list(range(len(words)))


def test_the_report_needs_no_other_file_and_shows_the_scores(done: Demo) -> None:
    page = done.report.read_text("utf-8")
    HTMLParser().feed(page)
    assert not re.search(r"https?:|url\(|@import|<script|<link|<img|\bsrc=|\bhref=", page)
    assert f"{done.scores[0].score:.2f}" in page
    assert page.count("<svg") >= 6
    assert html.escape(done.examples[0].output) in page


def test_a_second_demo_keeps_the_stages_and_gives_the_same_translations(done: Demo) -> None:
    before = (done.folder / "test.output.en").read_bytes()
    again = run_demo(done.folder, sizes=SMALL, engine=Threads(2))
    assert (done.folder / "test.output.en").read_bytes() == before
    assert dict(again.stages)["word alignment"] is None
    assert "kept from an earlier run" in again.report.read_text("utf-8")


def test_the_command_prints_scores_examples_and_where_the_report_is(
    done: Demo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: dict[str, object] = {}

    def pretend(folder: Path, **values: object) -> Demo:
        asked.update(values, folder=folder)
        return done

    monkeypatch.setattr(demo, "run_demo", pretend)
    result = CliRunner().invoke(cli, ["--quiet", "demo", "--dir", str(tmp_path), "--seed", "7", "--threads", "2"])
    assert result.exit_code == 0, result.output
    assert asked == {"folder": tmp_path, "seed": 7, "engine": Threads(2)}
    assert f"BLEU {done.scores[0].score:.2f}" in result.output
    assert done.scores[0].signature in result.output
    assert str(done.report) in result.output
    assert "[" in result.output
    assert "\x1b" not in result.output  # no colours where nobody sees them


def test_a_file_in_the_way_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(CamberError, match="choose another --dir"):
        run_demo(tmp_path / "taken", sizes=SMALL)


def test_every_command_in_the_readme_exists() -> None:
    text = README.read_text("utf-8")
    code = re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)
    named = {verb for piece in code for verb in re.findall(r"(?:^|[\s`|/])camber ([a-z]+(?:-[a-z]+)*)\b", piece)}
    assert named, "the README shows no command"
    assert named <= set(VERBS)
    assert set(VERBS) <= named, "a command is not in the README"


def test_the_map_in_the_docs_names_only_what_exists() -> None:
    text = (README.parent / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"^- \*\*`([a-z]+)/`\*\*", text, re.MULTILINE)
    assert "decode" in named
    assert [name for name in named if not (README.parent / "camber" / name / "__init__.py").is_file()] == []
    for path in re.findall(r"`((?:[a-z]+/)[a-z_/]+\.py)`", text):
        assert (README.parent / "camber" / path).is_file() or (README.parent / path).is_file(), path
