"""Pairs that are added to a model: used at once, repeated word for word, whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import camber
from camber.align.aligner import Aligner
from camber.align.pharaoh import Alignment
from camber.align.words import align_new
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.engine import Threads
from camber.errors import CamberError, InputError, ModelError
from camber.files import read_lines, write_lines
from camber.model.directory import ModelDirectory, write_model
from camber.model.memory import Memory
from camber.model.translator import Translator, load
from camber.pipeline.add import add
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.tune import tune_model
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.source import StoredRules
from camber.tune.loop import TuneSettings

pytestmark = pytest.mark.slow

# a new word among known ones, so that it is clear what becomes what
NEW = (
    ["el zorbo está en la habitación .", "el zorbo está en recepción ."],
    [
        "the blorp is in the room .",
        "the blorp is at reception .",
    ],
)


@pytest.fixture(scope="module")
def hiero_model(hotel_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "hiero"
    settings = TrainSettings.from_dict({"lm": {"order": 3}, "align": {"model": "quick"}})
    train(hotel_files / "train.es", hotel_files / "train.en", path, method="hiero", settings=settings, tuned=False)
    return path


@pytest.fixture(params=["phrase", "hiero"])
def model(request: pytest.FixtureRequest, hotel_model: Path, hiero_model: Path, tmp_path: Path) -> Path:
    """A copy of a model of either kind."""
    return Path(shutil.copytree(hotel_model if request.param == "phrase" else hiero_model, tmp_path / request.param))


@pytest.fixture
def phrase(hotel_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(hotel_model, tmp_path / "phrase"))


def content(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def without_aligner(path: Path) -> Path:
    """Make a model as an older version, or a conversion, would have left it."""
    directory = ModelDirectory.open(path)
    other = path.with_name(path.name + "-plain")
    with write_model(other, directory.kind, directory.settings) as draft:
        for name in directory.files:
            if not name.startswith("align/"):
                draft.take(directory.path / name, name)
        draft.sizes |= directory.sizes
    return other


# --- used at once ------------------------------------------------------------------------------------------------


def test_the_very_next_translation_uses_new_pairs(model: Path) -> None:
    line = "¿Dónde está el zorbo?"
    assert "blorp" not in load(model).translate([line])[0]
    added = add(model, *NEW)
    assert "blorp" in added.translate([line])[0]
    assert load(model).translate([line]) == added.translate([line])


def test_files_and_lists_of_lines_are_added_alike(model: Path, tmp_path: Path) -> None:
    for name, lines in zip(("new.es", "new.en"), NEW, strict=True):
        write_lines(tmp_path / name, lines)
    other = Path(shutil.copytree(model, tmp_path / "other"))
    camber.add(model, *NEW)
    camber.add(other, tmp_path / "new.es", tmp_path / "new.en")
    ours, theirs = content(model), content(other)
    assert ours.keys() == theirs.keys()
    assert all(ours[name] == theirs[name] for name in ours)


def test_old_sentences_are_translated_as_well_as_before(model: Path, hotel_files: Path) -> None:
    lines = read_lines(hotel_files / "test.es")
    before = load(model).translate(lines)
    after = add(model, *NEW).translate(lines)
    assert sum(a == b for a, b in zip(before, after, strict=True)) >= 0.9 * len(lines)


def test_pairs_can_be_added_again_and_again(model: Path) -> None:
    for number in range(3):
        add(model, [f"el grupo{number} está aquí ."], [f"the group{number} is here ."])
    reopened = load(model)
    assert reopened.directory is not None
    assert reopened.directory.sizes["added_pairs"] == 3
    for number in range(3):
        assert f"group{number}" in reopened.translate([f"grupo{number}"])[0]


def test_any_number_of_threads_gives_the_same_translations(model: Path, hotel_files: Path) -> None:
    translator = add(model, *NEW)
    lines = [*read_lines(hotel_files / "test.es"), "el zorbo"] * 4
    assert translator.translate(lines, engine=Threads(1)) == translator.translate(lines, engine=Threads(3))


def test_parts_and_links_of_added_rules_fit_the_words(model: Path) -> None:
    translator = add(model, *NEW)
    translation = next(iter(translator.translations(["¿Dónde está el zorbo?"])))[0]
    derivation = translation.derivation
    total = float(derivation.linear_sums @ translator.decoder.weights)
    assert derivation.score == pytest.approx(total)
    links = translator.decoder.word_alignment(derivation)
    assert (translation.tokens.index("zorbo"), derivation.words.index("blorp")) in links


def test_a_model_without_added_pairs_knows_nothing_of_them(phrase: Path) -> None:
    translator = load(phrase)
    assert translator.memory is not None  # of its training pairs
    assert len(translator.memory) == 0
    assert isinstance(translator.decoder.rules, StoredRules)


def test_a_model_is_tuned_after_pairs_were_added(model: Path, hotel_files: Path) -> None:
    add(model, *NEW)
    write_lines(hotel_files / "zorbo.es", [*read_lines(hotel_files / "dev.es"), "¿Dónde está el zorbo?"])
    write_lines(hotel_files / "zorbo.en", [*read_lines(hotel_files / "dev.en"), "Where is the blorp?"])
    outcome = tune_model(
        model, hotel_files / "zorbo.es", hotel_files / "zorbo.en", settings=TuneSettings(iterations=2, nbest=20)
    )
    assert outcome.scores[0] > 20
    tuned = load(model)
    assert tuned.memory is not None
    assert len(tuned.memory) == 2
    assert "blorp" in tuned.translate(["¿Dónde está el zorbo?"])[0]


# --- exact repeats -----------------------------------------------------------------------------------------------


def test_an_exact_repeat_comes_back_as_its_translation_word_for_word(model: Path) -> None:
    odd = "So -- WHERE'S  the   station , then ?"
    assert add(model, ["¿Dónde está la estación?"], [odd]).translate(["¿Dónde está la estación?"]) == [odd]
    # spaces and the case of the first word are nothing that the model sees
    assert load(model).translate(["¿dónde está  la estación ?"]) == [odd]


def test_of_several_translations_the_latest_comes_back(model: Path) -> None:
    add(model, ["la llave", "la llave"], ["one", "two"])
    assert load(model).translate(["la llave"]) == ["two"]
    add(model, ["la llave"], ["three"])
    assert load(model).translate(["la llave"]) == ["three"]


def test_the_very_same_line_goes_before_the_same_words() -> None:
    memory = Memory(["Die Tür", "die Tür"], ["The Door", "the door"], ["die Tür", "die Tür"])
    assert memory.recall("Die Tür", ["die", "Tür"]) == "The Door"
    assert memory.recall("die  Tür", ["die", "Tür"]) == "the door"
    assert memory.recall("Tür", ["Tür"]) is None


def test_a_repeat_leads_the_n_best_list_and_the_decoders_list_follows(model: Path) -> None:
    line = "la llave está en recepción ."
    plain = [item.text for item in next(iter(load(model).translations([line], nbest=5)))]
    texts = [item.text for item in next(iter(add(model, [line], ["Ask at the desk."]).translations([line], nbest=5)))]
    assert texts[0] == "Ask at the desk."
    assert len(texts) == len(set(texts)) == 5
    assert plain[0] in texts
    known = plain[1]  # a text that the decoder finds by itself comes once
    texts = [item.text for item in next(iter(add(model, [line], [known]).translations([line], nbest=5)))]
    assert texts[0] == known
    assert texts.count(known) == 1


def test_a_recalled_text_says_so(phrase: Path) -> None:
    translator = add(phrase, ["la llave"], ["My key!"])
    recalled, decoded = next(iter(translator.translations(["la llave"], nbest=2)))
    assert (recalled.recalled, decoded.recalled) == (True, False)
    assert recalled.derivation is decoded.derivation


def test_other_weights_and_settings_keep_the_memory(phrase: Path) -> None:
    translator = add(phrase, ["la llave"], ["My key!"])
    assert translator.searching({"pop_limit": 10}).translate(["la llave"]) == ["My key!"]
    assert translator.reweighted(translator.weights).translate(["la llave"]) == ["My key!"]


# --- whole or not at all -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", ["journal._fill", "places.sync_folder", "places.allow_readers", "journal._write_call"]
)
def test_an_error_in_the_middle_leaves_the_old_model(model: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    add(model, ["la llave"], ["the first"])
    before = content(model)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(f"camber.model.{place}", fail)
        with pytest.raises(RuntimeError, match="middle"):
            add(model, *NEW)
    assert content(model) == before
    assert [path.name for path in model.parent.iterdir() if "camber-new" in path.name] == []
    assert add(model, ["el zorbo"], ["the blorp"]).translate(["el zorbo", "la llave"]) == ["the blorp", "the first"]


KILLED = """
import os, signal, sys
import camber.model.journal, camber.model.places
from camber.pipeline.add import add
def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(getattr(camber.model, sys.argv[2]), sys.argv[3], kill)
add(sys.argv[1], ["el zorbo"], ["the blorp"])
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("place", ["journal._fill", "places.sync", "places.sync_folder", "places.allow_readers"])
def test_a_killed_process_leaves_the_old_model(model: Path, place: str) -> None:
    before = content(model)
    done = subprocess.run([sys.executable, "-c", KILLED, str(model), *place.split(".")], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert content(model) == before
    assert add(model, ["el zorbo"], ["the blorp"]).translate(["el zorbo"]) == ["the blorp"]
    ModelDirectory.open(model, verify=True)
    assert [path.name for path in model.parent.iterdir() if "camber-new" in path.name] == []


def test_the_files_of_the_old_model_are_not_written_to(model: Path) -> None:
    before = content(model)
    kept = Path(shutil.copytree(model, model.with_name("kept"), copy_function=os.link))
    add(model, *NEW)
    add(model, *NEW)
    assert content(kept) == before


# --- models of version 0.1, whose added pairs are files of the model -----------------------------------------------


def in_the_old_form(path: Path, source: list[str], target: list[str]) -> Path:
    """Make the model that version 0.1 made when pairs were added: indexed, aligner and all."""
    directory, translator = ModelDirectory.open(path), load(path)
    tokens = (
        [translator.text.source_tokens(line) for line in source],
        [translator.text.target_tokens(line) for line in target],
    )
    bitext = Bitext.encode(*tokens)
    links, aligner = align_new(Aligner.load(path / "align"), bitext)
    if directory.kind == "hiero":
        index, place = CorpusIndex.load(path / "index"), "index"
    else:
        words = (Vocabulary.load(path / "rules" / f"{side}.vocabulary.txt") for side in ("source", "target"))
        sides = (Sentences(np.zeros(0, np.int32), np.zeros(1, np.int64), vocabulary) for vocabulary in words)
        nothing = Alignment(np.zeros((0, 2), np.int32), np.zeros(1, np.int64))
        index, place = CorpusIndex.build(Bitext(*sides), nothing), "added/index"
    other = path.with_name(f"{path.name}-old")
    with write_model(other, directory.kind, directory.settings) as draft:
        draft.take_model(directory)
        aligner.save(draft.folder / "align")
        index.extended(bitext, links).save(draft.folder / place)
        for name, lines in (("source", source), ("target", target), ("tokens", [" ".join(side) for side in tokens[0]])):
            write_lines(draft.path(f"added/{name}.txt"), lines)
        draft.sizes["added_pairs"] = len(source)
    return other


def test_a_model_of_the_old_form_knows_its_pairs_and_takes_more(model: Path, hotel_files: Path) -> None:
    old = in_the_old_form(model, *NEW)
    lines = [*NEW[0], "¿Dónde está el zorbo?", *read_lines(hotel_files / "test.es")]
    assert load(old).translate(lines) == add(model, *NEW).translate(lines)
    more = ["el grupo está aquí .", "la llave"], ["the group is here .", "My key!"]
    lines += [*more[0], "¿Dónde está el grupo?"]
    both = add(old, *more), add(model, *more)
    assert both[0].translate(lines) == both[1].translate(lines)
    assert [item.directory.sizes["added_pairs"] for item in both if item.directory] == [4, 4]
    with pytest.raises(ModelError, match="4 pairs were added to this model"):
        train(hotel_files / "train.es", hotel_files / "train.en", old, tuned=False)


# --- what is refused ---------------------------------------------------------------------------------------------


def test_rules_come_from_pairs_that_training_would_keep_and_repeats_from_all_with_words(
    model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="camber"):
        translator = add(model, ["", "la llave", "uno"], ["nothing", "the key", "one " * 30])
    assert "kept 1 of 3 pairs" in caplog.text
    assert translator.directory is not None
    assert translator.directory.sizes["added_pairs"] == 2
    assert translator.translate(["uno"]) == ["one " * 30]
    with pytest.raises(CamberError, match="no sentence pair is left"):
        add(model, ["", " "], ["a", "b"])


def test_sides_of_different_lengths_are_refused(phrase: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["uno", "dos"])
    write_lines(tmp_path / "b", ["one"])
    with pytest.raises(InputError, match=r"2 lines in .* but 1 in"):
        add(phrase, tmp_path / "a", tmp_path / "b")
    with pytest.raises(CamberError, match="2 source but 1 target"):
        add(phrase, ["uno", "dos"], ["one"])
    with pytest.raises(CamberError, match="pair 2 has a line end inside"):
        add(phrase, ["uno", "dos"], ["one", "t\nwo"])


def test_without_an_aligner_the_remedy_is_named_and_works(model: Path, tmp_path: Path) -> None:
    plain = without_aligner(model)
    with pytest.raises(ModelError, match="--alignment"):
        add(plain, *NEW)
    (tmp_path / "links").write_text("0-0 1-1\n", "utf-8")
    line, target = "zorbo zarba", "blorp blarp"
    assert "blarp" in add(plain, [line], [target], alignment=tmp_path / "links").translate(["zarba"])[0]
    # one more line than pairs, and a link outside
    (tmp_path / "links").write_text("0-0\n1-1\n", "utf-8")
    with pytest.raises(InputError, match="2 lines for 1"):
        add(plain, [line], [target], alignment=tmp_path / "links")
    (tmp_path / "links").write_text("0-2\n", "utf-8")
    with pytest.raises(InputError, match="outside"):
        add(plain, [line], [target], alignment=tmp_path / "links")


def test_the_users_alignment_goes_before_ours(model: Path, tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-1 1-0\n", "utf-8")
    translator = add(model, ["zorbo zarba"], ["zarbA zorbO"], alignment=tmp_path / "links")
    assert translator.translate(["zorbo"]) == ["zorbO"]
    assert add(model, *NEW).directory is not None  # the aligner is still there


def test_a_model_without_a_corpus_is_refused(phrase: Path) -> None:
    other = phrase.with_name("grammars")
    with write_model(other, "hiero-grammars") as draft:
        draft.save("grammars/some.npy", np.zeros(1))
    with pytest.raises(ModelError, match="hiero-grammars model, which has no corpus"):
        add(other, *NEW)
    with pytest.raises(ModelError, match="no such model"):
        add(phrase.with_name("absent"), *NEW)


def test_a_hierarchical_model_has_the_index_of_all_pairs(hiero_model: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(hiero_model, tmp_path / "m"))
    before = CorpusIndex.load(model / "index")
    translator = add(model, *NEW)
    after = translator.decoder.grammars.index
    assert len(after) == len(before) + 2
    assert np.array_equal(CorpusIndex.build(after.bitext, after.alignment).suffixes, after.suffixes)
    assert translator.directory is not None
    assert translator.directory.sizes["pairs"] == len(after)
    assert isinstance(translator, Translator)
