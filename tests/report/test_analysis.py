"""camber analyse: every segment and word is in one band, and files together are the sum of each."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from camber.cli import cli
from camber.confidence.calibration import judge_by_list
from camber.engine import Threads
from camber.errors import CamberError
from camber.files import read_lines, write_lines
from camber.model.translator import load
from camber.pipeline.analyse import BANDS, KEPT, NONE, REPEATED, Part, analyse, band_of, told_of_unknown
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.report.analysis import page

ONE = Threads(1)


class AsFound:
    """A calibration that changes nothing."""

    def judge(self, found: Any, tokens: Any, nbest: int) -> Any:
        return judge_by_list(found, nbest)


def test_a_model_that_was_not_calibrated_says_nothing_of_quality(hotel_model: Path, files: list[Path]) -> None:
    model = load(hotel_model)
    model.calibration = None
    found = analyse(model, files, engine=ONE)
    assert not found.quality
    assert "camber calibrate" in str(found)
    assert "camber calibrate" in page(found)


@pytest.fixture
def files(hotel_files: Path, tmp_path: Path) -> list[Path]:
    known = read_lines(hotel_files / "train.es")[0]
    write_lines(tmp_path / "one.txt", [known, known, "zzyx <qwv> & blorpfen", ""])
    write_lines(tmp_path / "two.po", ['msgid "zzyx"', 'msgstr ""', "", f'msgid "{known}"', 'msgstr ""'])
    return [tmp_path / "one.txt", tmp_path / "two.po"]


def test_segments_are_counted_by_what_is_remembered_of_them(hotel_model: Path, files: list[Path]) -> None:
    model = load(hotel_model)
    model.calibration = AsFound()
    found = analyse(model, files, engine=ONE)
    one, two = found.files
    assert [one.bands[band].segments for band in (REPEATED, "100 %", NONE)] == [1, 1, 1]
    assert [two.bands[band].segments for band in (REPEATED, "100 %", NONE)] == [1, 0, 1]
    assert one.bands[NONE].words == 3
    assert set(one.unknown) == {"zzyx", "qwv", "blorpfen"}
    for band in BANDS:
        for name in ("segments", "words", "judged", "sure"):
            parts = sum(getattr(part.bands[band], name) for part in found.files)
            assert getattr(found.total.bands[band], name) == pytest.approx(parts)
    assert all(0 <= (band.quality or 0) <= 1 for band in found.total.bands.values())
    (best,) = next(load(hotel_model).translations(["zzyx"], confidence=True, engine=ONE))
    assert two.bands[NONE].quality == pytest.approx(best.confidence)


def test_a_repetition_is_as_sure_as_the_segment_that_it_repeats(hotel_model: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "text", ["zzyx mañana", "zzyx mañana", "hola"])
    model = load(hotel_model)
    model.calibration = AsFound()
    found = analyse(model, tmp_path / "text", engine=ONE).total
    sure = [best[0].confidence for best in model.translations(["zzyx mañana", "hola"], confidence=True, engine=ONE)]
    assert found.bands[REPEATED].quality == pytest.approx(sure[0])
    assert found.all.quality == pytest.approx((4 * sure[0] + sure[1]) / 5)


def test_what_has_a_translation_is_counted_apart(hotel_model: Path, tmp_path: Path) -> None:
    file = tmp_path / "strings.po"
    write_lines(file, ['msgid "zzyx uno"', 'msgstr "one"', "", 'msgctxt "a"', 'msgid "zzyx uno"', 'msgstr ""'])
    model = load(hotel_model)
    model.calibration = AsFound()
    found = analyse(model, file, engine=ONE)
    assert [(found.total.bands[band].segments, found.total.bands[band].words) for band in (KEPT, NONE)] == [(1, 2)] * 2
    assert found.total.bands[KEPT].quality is None
    assert found.total.unknown == {"zzyx": 1}
    assert f"{KEPT} " in str(found)
    everything = analyse(model, file, quality=False, everything=True).total
    assert [everything.bands[band].segments for band in (KEPT, REPEATED, NONE)] == [0, 1, 1]
    assert KEPT not in str(analyse(model, file, quality=False, everything=True))


def test_pages_are_analysed_by_what_is_translated_of_them(hotel_model: Path, tmp_path: Path) -> None:
    lines = ["<!doctype html><html><head><title>Uno dos</title><script>x y z</script></head>", "<p title='a b c'>"]
    write_lines(tmp_path / "page.html", [*lines, "Tres <b>cuatro</b>&nbsp;cinco<br>seis", "</html>"])
    total = analyse(hotel_model, tmp_path / "page.html", quality=False).total.all
    assert (total.segments, total.words) == (3, 6)


def test_the_band_is_that_of_the_best_match(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    lines = [f"{line} extra" for line in read_lines(hotel_files / "train.es")[:20]]
    write_lines(tmp_path / "text", lines)
    found = analyse(hotel_model, tmp_path / "text", quality=False)
    model = load(hotel_model)
    expected = [band_of(next((m.percent for m in model.matches(line, 0.5, 1)), 0)) for line in dict.fromkeys(lines)]
    for band in BANDS[1:]:
        assert found.total.bands[band].segments == expected.count(band)
    assert found.total.bands[REPEATED].segments == len(lines) - len(expected)


def test_the_command_has_a_table_json_and_a_page(hotel_model: Path, files: list[Path], tmp_path: Path) -> None:
    run = CliRunner().invoke(cli, ["analyse", str(hotel_model), *map(str, files), "--out", str(tmp_path / "a.html")])
    assert run.exit_code == 0, run.output
    assert "all files" in run.stdout
    assert "unknown words" in run.stdout
    html = (tmp_path / "a.html").read_text("utf-8")
    assert "zzyx" in html
    assert "<qwv>" not in html
    told = json.loads(CliRunner().invoke(cli, ["analyse", str(hotel_model), str(files[0]), "--json"]).stdout)
    assert told["total"]["bands"]["all"]["segments"] == 3
    assert page(analyse(hotel_model, files, quality=False)).count("<table") == 3


def test_what_cannot_be_analysed_is_told(hotel_model: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "empty", [""])
    with pytest.raises(CamberError, match="no text"):
        analyse(hotel_model, tmp_path / "empty")
    with pytest.raises(CamberError, match="no such file"):
        analyse(hotel_model, tmp_path / "missing")


PO = 'msgid ""\nmsgstr "Language: {}\\n"\n\nmsgid "una llave"\nmsgstr "a key"\n\nmsgid "la puerta"\nmsgstr ""\n'


def test_what_is_of_other_languages_is_not_counted_and_told(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = TrainSettings.from_dict({"text": {"source_lang": "es", "target_lang": "en"}, "lm": {"order": 2}})
    sides = (hotel_files / f"dev.{side}" for side in ("es", "en"))
    model = train(*sides, tmp_path / "m", settings=settings, held_out=0, tuned=False, engine=ONE)
    own, other, turned = (tmp_path / f"{language}.po" for language in ("en", "de", "es"))
    for path in (own, other, turned):
        path.write_text(PO.format(path.stem))
    found = analyse(model, [own, other, turned], quality=False)
    assert [(part.all.segments, part.bands[KEPT].segments) for part in found.files] == [(2, 1), (0, 0), (0, 0)]
    assert "de.po: what is from any to de is not counted: the model translates from es to en" in caplog.text
    assert "es.po: what is from en to es is not counted" in caplog.text


def test_unknown_words_are_told_as_many_as_they_are() -> None:
    assert told_of_unknown(Part("a")) == "no unknown words"
    assert told_of_unknown(Part("a", unknown=Counter(x=1))) == "1 unknown word: x"
    assert told_of_unknown(Part("a", unknown=Counter(x=2, y=1))) == "3 unknown words, 2 different ones: x (2), y"
    many = Counter({f"w{n}": 1 for n in range(21)})
    assert told_of_unknown(Part("a", unknown=many)).endswith("w19, …")
