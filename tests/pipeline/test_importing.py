"""From files of two languages to parallel text: what is taken, what is told, and what broken files do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from formats.test_bilingual_tmx import tmx, tuv

import camber
from camber.cli import cli
from camber.errors import CamberError, SettingsError
from camber.pipeline.importing import ORIGINS, SIDES, WEIGHTS, Corpus, check_weights, import_corpora, import_files

PO = 'msgid "Yes\\n"\nmsgstr "Oui\\t|||"\n\n#, fuzzy\nmsgid "No"\nmsgstr "Nom"\n'


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A good memory, a broken one, and a PO file."""
    good = tmx(tmp_path, tuv("en", "a&#10;b") + tuv("fr", "x&#x2028;y"), tuv("en", "c")).rename(tmp_path / "good.tmx")
    broken = tmx(tmp_path, *[tuv("en", f"e{n}") + tuv("fr", f"f{n}") for n in range(9)]).rename(tmp_path / "broken.tmx")
    broken.write_text(broken.read_text().replace("f7</seg>", "f7</sog>"))
    po = tmp_path / "m.po"
    po.write_text(PO)
    return [good, broken, po]


def test_a_broken_file_gives_nothing_and_the_others_go_on(tmp_path: Path, files: list[Path]) -> None:
    report = import_files(files, "en", "fr", tmp_path / "out")
    assert (tmp_path / "out.en").read_text() == "a b\nYes\n"
    assert (tmp_path / "out.fr").read_text() == "x y\nOui |||\n"
    assert [file.pairs for file in report.files] == [1, 0, 1]
    assert [file.path for file in report.broken] == [str(files[1])]
    assert "broken.tmx:8: " in report.broken[0].problem
    assert report.to_dict()["skipped"] == {"no text in the target language": 1, "fuzzy": 1}


def test_what_came_before_a_break_can_be_taken(tmp_path: Path, files: list[Path]) -> None:
    report = import_files(files, "en", "fr", tmp_path / "out", unconfirmed=True, keep_going=True)
    assert [file.pairs for file in report.files] == [1, 7, 2]
    assert (tmp_path / "out.fr").read_text().split("\n")[1:3] == ["f0", "f1"]
    assert "read up to this: " in str(report)


def test_nothing_is_written_where_nothing_was_found(tmp_path: Path, files: list[Path]) -> None:
    with pytest.raises(CamberError, match="no pair from en to sv was found"):
        import_files(files[:2], "en", "sv", tmp_path / "out")
    assert list(tmp_path.glob("out*")) == []
    assert list(tmp_path.glob(".out*")) == []


def test_where_nothing_was_found_the_languages_that_are_there_are_named(tmp_path: Path) -> None:
    path = tmx(tmp_path, tuv("en-GB", "a") + tuv("fr", "x"))
    with pytest.raises(CamberError, match=r"check the languages \(there are texts in en-GB, fr\)"):
        import_files(path, "de", "en", tmp_path / "out")
    with pytest.raises(CamberError, match=r"check the languages, or give"):
        import_files(tmx(tmp_path), "de", "en", tmp_path / "out")
    path.write_text("<tmx>")
    with pytest.raises(CamberError) as told:
        import_files(path, "en", "fr", tmp_path / "out")
    assert "check the languages" not in str(told.value)


def test_without_a_place_for_them_pairs_are_counted_only(tmp_path: Path, files: list[Path]) -> None:
    written = import_files(files, "en", "fr", tmp_path / "out", keep_going=True)
    before = sorted(tmp_path.iterdir())
    assert import_files(files, "en", "fr", keep_going=True).to_dict() == written.to_dict()
    assert sorted(tmp_path.iterdir()) == before


def test_the_report_says_how_many_came_from_where(tmp_path: Path, files: list[Path]) -> None:
    words = ["import", *map(str, files), "--source-lang", "en", "--target-lang", "fr", "--out", str(tmp_path / "o.gz")]
    done = CliRunner().invoke(cli, [*words, "--report", str(tmp_path / "report.txt"), "--json"])
    assert isinstance(done.exception, CamberError)
    assert "1 of 3 files could not be read whole" in str(done.exception)
    found = json.loads(done.stdout[done.stdout.index("{\n") : done.stdout.rindex("}") + 1])
    assert [(file["format"], file["pairs"]) for file in found["files"]] == [("tmx", 1), ("tmx", 0), ("po", 1)]
    text = (tmp_path / "report.txt").read_text()
    assert "m.po: 1 pairs of 2 units (po)\n  left out: 1 fuzzy\n" in text
    assert text.endswith("all files: 2 pairs\n")
    assert (tmp_path / "o.en.gz").is_file()


@pytest.mark.parametrize(
    ("given", "path", "weight"),
    [
        ("mine.tmx:5", "mine.tmx", 5.0),
        ("mine.tmx:0.25", "mine.tmx", 0.25),
        ("mine.tmx", "mine.tmx", 1.0),
        ("C:memory.tmx", "C:memory.tmx", 1.0),
        ("a:b:2e1", "a:b", 20.0),
    ],
)
def test_weights_stand_behind_a_colon(given: str, path: str, weight: float) -> None:
    assert Corpus.of(given) == Corpus(Path(path), weight)


def test_a_file_that_is_called_so_is_meant_itself(tmp_path: Path) -> None:
    (tmp_path / "a:5").write_text("x")
    assert Corpus.of(str(tmp_path / "a:5")) == Corpus(tmp_path / "a:5")


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf"])
def test_weights_are_numbers_above_nothing(weight: str) -> None:
    with pytest.raises(SettingsError, match="expected a number above 0"):
        Corpus.of(f"a.tmx:{weight}")


def test_corpora_become_text_with_a_weight_for_every_pair(tmp_path: Path, files: list[Path]) -> None:
    corpora = [Corpus(files[2], 5.0), Corpus(files[0])]
    import_corpora(corpora, "en", "fr", tmp_path)
    assert (tmp_path / SIDES[0]).read_text() == "Yes\na b\n"
    assert np.load(tmp_path / WEIGHTS).tolist() == [5.0, 1.0]
    assert json.loads((tmp_path / ORIGINS).read_text()) == [
        {"file": str(files[2]), "weight": 5.0, "pairs": 1}, {"file": str(files[0]), "weight": 1.0, "pairs": 1},
    ]  # fmt: skip


def test_no_training_begins_with_a_broken_corpus(tmp_path: Path, files: list[Path]) -> None:
    settings = camber.TrainSettings.from_dict({"text": {"source_lang": "en", "target_lang": "fr"}})
    with pytest.raises(CamberError, match=r"broken\.tmx:8: (.|\n)*mend these files.*--keep-going"):
        camber.train(model=tmp_path / "model", corpus=files, settings=settings)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("words", [[], ["--source", "a"], ["--source", "a", "--target", "b", "--corpus", "c"]])
def test_text_comes_from_one_place(tmp_path: Path, words: list[str]) -> None:
    done = CliRunner().invoke(cli, ["train", *words, "--model", str(tmp_path / "m")])
    assert done.exit_code == 2
    assert "give --source and --target, or --corpus" in done.output
    with pytest.raises(SettingsError, match="source and target"):
        camber.train("a" if words else None, None, tmp_path / "m", corpus=["x"] if "--corpus" in words else ())


@pytest.mark.slow
def test_a_model_of_a_memory_is_the_model_of_its_text(tmp_path: Path) -> None:
    from camber.corpus.hotel import generate

    corpus = generate(train=600, dev=10, test=40)
    pairs = list(zip(*corpus.train, strict=True))
    memory = tmx(tmp_path, *[tuv("es", source) + tuv("en-GB", target) for source, target in pairs])
    for side, name in ((0, "es"), (1, "en")):
        (tmp_path / f"text.{name}").write_text("".join(pair[side] + "\n" for pair in pairs))
    settings = camber.TrainSettings.from_dict({"text": {"source_lang": "es", "target_lang": "en"}})
    first = camber.train(model=tmp_path / "one", corpus=str(memory), settings=settings, tuned=False)
    second = camber.train(tmp_path / "text.es", tmp_path / "text.en", tmp_path / "two", settings=settings, tuned=False)
    lines = corpus.test.source
    assert first.translate(lines) == second.translate(lines)


def test_weights_that_are_too_far_from_each_other_are_refused(tmp_path: Path, files: list[Path]) -> None:
    for weights, good in (((1.0, 1000.0), True), ((1000.5, 1.0), False), ((1e-308, 1e308), False)):
        corpora = [Corpus(file, weight) for file, weight in zip(files[::2], weights, strict=True)]
        if good:
            check_weights(corpora)
            continue
        with pytest.raises(SettingsError, match="nearer to each other"):
            camber.train(model=tmp_path / "m", corpus=corpora)
    assert not (tmp_path / "m.work").exists()
