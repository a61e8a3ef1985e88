"""Lists over a training corpus: nothing of a fold in its own model, and one merged list of all folds and rounds."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from camber.corpus.hotel import generate
from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.errors import CamberError, InputError, SettingsError
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.nbest import NBest
from camber.pipeline import fold_lists as lists_module
from camber.pipeline.fold_lists import FoldLists
from camber.pipeline.folds import FoldSettings, fold_lists, nbest_folds
from camber.pipeline.methods import METHODS
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stages
from camber.pipeline.training import Training
from camber.tune.loop import FIXED, refitted
from camber.tune.tuners import make_tuner

pytestmark = pytest.mark.slow

SMALL = {"lm": {"order": 3}, "align": {"model": "quick"}}
FEW = FoldSettings(folds=3, rounds=3, nbest=8)
ONE = Threads(1)


def unique_words(line: int) -> tuple[str, str]:
    """Return a source and a target word that no other line has."""
    return f"quux{line}ñ", f"Blorb{line}x"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.es and train.en: repeated lines, words of a single line, and pairs that cleaning drops."""
    folder = tmp_path_factory.mktemp("folds")
    source, target = generate(train=150, dev=1, test=1, seed=5).train
    sides: list[list[str]] = [list(source), list(target)]
    for number, line in enumerate(range(0, 150, 10)):
        for side, word in zip(sides, unique_words(number), strict=True):
            side[line] = f"{side[line]} {word} ."
    sides[0] += [sides[0][3], sides[0][3].upper(), "", "uno " * 90]
    sides[1] += ["Another answer .", "One more .", "nothing", "one " * 90]
    for side, name in zip(sides, ("train.es", "train.en"), strict=True):
        write_lines(folder / name, side)
    return folder


def run(corpus: Path, work: Path, how: FoldSettings = FEW, **more: Any) -> FoldLists:
    settings = more.pop("settings", TrainSettings.from_dict(SMALL))
    more = {"engine": ONE, **more}
    return fold_lists(corpus / "train.es", corpus / "train.en", work, settings=settings, folds=how, **more)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work") / "lists.work"


@pytest.fixture(scope="module")
def lists(corpus: Path, work: Path) -> FoldLists:
    return run(corpus, work)


def model_of(corpus: Path, work: Path, lists: FoldLists, fold: int, method: str = "phrase") -> Translator:
    """Open what was trained without a fold."""
    with Stages(work / f"fold-{fold + 1:02}") as stages:
        training = Training(METHODS.load(method), TrainSettings.from_dict(SMALL), stages, 1, ONE)
        others = np.flatnonzero(lists.fold_numbers != fold)
        made = training.make(corpus / "train.es", corpus / "train.en", rows=others)
        assert all(stage.kept for stage in (made.corpus, made.aligned, made.language, made.rules))
        return training.untuned(made)


def has(folder: Path, word: str) -> bool:
    """Say whether any file below a folder has a word, in any case."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return any(word.lower() in path.read_bytes().decode("utf-8", "ignore").lower() for path in files)


# --- nothing of a fold in its model --------------------------------------------------------------------------------


def test_a_word_of_one_fold_is_nowhere_in_what_was_trained_without_it(work: Path, lists: FoldLists) -> None:
    for number in range(15):
        own = work / f"fold-{lists.fold_numbers[number * 10] + 1:02}"
        for word in unique_words(number):
            having = {folder for folder in work.glob("fold-*") if has(folder, word)}
            assert having == set(work.glob("fold-*")) - {own}
            assert len(having) == 2


def test_a_word_of_one_fold_is_passed_through_as_unknown(lists: FoldLists) -> None:
    data, nbest = lists.data(), lists.nbest()
    unknown = data.features[:, data.names.index("unknown")]
    listed = np.flatnonzero(lists.counts).tolist()
    for number in range(15):
        rows = slice(*data.sentence_offsets[listed.index(number * 10) :][:2])
        assert (unknown[rows] >= 1).all()
        own = slice(*nbest.sentence_offsets[number * 10 : number * 10 + 2])
        assert all(unique_words(number)[0] in text.lower() for text in nbest.texts[own])


def test_what_is_trained_without_a_fold_does_not_change_with_it(
    corpus: Path, work: Path, lists: FoldLists, tmp_path: Path
) -> None:
    fold = int(lists.fold_numbers[20])
    for name in ("train.es", "train.en"):
        lines = read_lines(corpus / name)
        lines[20] = "something else entirely"
        write_lines(tmp_path / name, lines)
    other = run(tmp_path, tmp_path / "work", replace(FEW, rounds=1))
    assert other.fold_numbers.tolist() == lists.fold_numbers.tolist()

    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "stage.json")
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    changed = [
        number
        for number in range(3)
        if contents(work / f"fold-{number + 1:02}") != contents(tmp_path / "work" / f"fold-{number + 1:02}")
    ]
    assert changed == [number for number in range(3) if number != fold]


def test_equal_lines_are_in_one_fold(lists: FoldLists) -> None:
    for side in (lists.sources, lists.targets):
        fold: dict[str, int] = {}
        for line, number in zip(side, lists.fold_numbers.tolist(), strict=True):
            if line.strip():
                assert fold.setdefault(line.casefold(), number) == number
    assert lists.fold_numbers[3] == lists.fold_numbers[150] == lists.fold_numbers[151]


# --- the merged list -----------------------------------------------------------------------------------------------


def test_the_merged_list_is_the_union_of_what_each_fold_and_round_gives(
    corpus: Path, work: Path, lists: FoldLists
) -> None:
    nbest = lists.nbest()
    features = nbest.hypothesis_features().tolist()
    assert 1 < len(lists.rounds) <= 3
    for fold, found in enumerate(lists.folds):
        translator = model_of(corpus, work, lists, fold)
        assert translator.weights.names == lists.names
        source = [translator.prepare(lists.sources[line]) for line in found.lines]
        union: list[dict[Any, None]] = [{} for _ in source]
        for shown in lists.rounds:
            decoder = translator.decoder.reweighted(shown.weights.values)
            inputs = as_inputs(prepared.tokens for prepared in source)
            columns = decoder.decode_columns(inputs, found.vocabulary, FEW.nbest, ONE)
            for row, sentence in enumerate(np.repeat(np.arange(len(source)), columns.counts).tolist()):
                words = found.vocabulary.decode(columns.words[row])
                union[sentence][(*words, "|", *columns.features[row].tolist())] = None
        for line, prepared, keys in zip(found.lines.tolist(), source, union, strict=True):
            rows = range(*nbest.sentence_offsets[line : line + 2])
            listed = sorted((nbest.texts[row], features[row]) for row in rows)
            cut = [(list(key[: key.index("|")]), list(key[key.index("|") + 1 :])) for key in keys]
            assert listed == sorted((translator.text.finish(words, prepared), values) for words, values in cut)


def test_rounds_say_how_many_hypotheses_there_are_and_are_new(lists: FoldLists) -> None:
    assert [shown.hypotheses for shown in lists.rounds] == np.cumsum([shown.new for shown in lists.rounds]).tolist()
    assert lists.rounds[-1].hypotheses == lists.hypotheses == lists.nbest().hypotheses == lists.data().hypotheses
    assert lists.rounds[1].new > 0
    assert lists.rounds[0].score > 20
    assert lists.rounds[0].weights.values != lists.rounds[1].weights.values


def test_columns_and_list_say_the_same_best_first(lists: FoldLists) -> None:
    data, nbest = lists.data(), lists.nbest()
    listed = np.flatnonzero(lists.counts)
    weights = lists.weights.vector(lists.names)
    scores = data.scores(weights)
    order = np.lexsort((-scores, data.owners))
    assert nbest.scores is not None
    assert np.allclose(nbest.scores, scores[order])
    assert np.array_equal(nbest.hypothesis_features(), data.features[order])
    assert nbest.names == data.names == lists.names
    assert np.array_equal(nbest.sentence_offsets, np.cumsum([0, *lists.counts]))
    assert np.array_equal(listed, np.flatnonzero(np.diff(nbest.sentence_offsets)))
    assert [name for name, fixed in zip(data.names, data.fixed, strict=True) if fixed] == list(FIXED)
    for start, end in zip(nbest.sentence_offsets[:-1], nbest.sentence_offsets[1:], strict=True):
        assert (np.diff(nbest.scores[start:end]) <= 1e-9).all()


def test_statistics_are_those_of_the_texts(corpus: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict({**SMALL, "text": {"tokenizer": "none"}})
    lists = run(corpus, tmp_path / "work", replace(FEW, rounds=2), settings=settings)
    data, nbest = lists.data(), lists.nbest()
    expected = nbest.statistics(BLEU("none"), [lists.targets])
    order = np.lexsort((-data.scores(lists.weights.vector(lists.names)), data.owners))
    assert np.array_equal(data.statistics[order], expected)
    best = np.array([row for row, rank in zip(order, np.diff(data.owners[order], prepend=-1), strict=True) if rank])
    assert data.one_best(lists.weights.vector(lists.names)).tolist() == best.tolist()


def test_the_weights_are_fitted_to_the_lists_of_all_folds(lists: FoldLists) -> None:
    before = lists.rounds[-1].weights.vector(lists.names)
    fitted = refitted(make_tuner("expected-bleu"), lists.data(), before, seed=1 + len(lists.rounds), engine=ONE)
    assert np.array_equal(fitted, lists.weights.vector(lists.names))
    assert lists.weights.signature.startswith("tuner:expected-bleu|folds:3|rounds:")
    assert lists.weights["unknown"] == lists.rounds[0].weights["unknown"]


def test_lines_that_cleaning_drops_have_no_list_and_are_told(
    corpus: Path, lists: FoldLists, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert lists.dropped.tolist() == [152, 153] == np.flatnonzero(lists.counts == 0).tolist()
    with caplog.at_level(logging.INFO, logger="camber"):
        run(corpus, tmp_path / "work", replace(FEW, rounds=1))
    assert "2 lines are left without a list: cleaning drops them" in caplog.messages
    assert any("154 pairs in 3 folds of 51 to 52; " in message for message in caplog.messages)


def test_pieces_are_the_whole_with_numbers_of_their_own(
    lists: FoldLists, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists.nbest().write(tmp_path / "whole.jsonl")
    whole = NBest.read(tmp_path / "whole.jsonl", sentences=len(lists))
    pieces = list(lists.pieces(most=40))
    assert len(pieces) > 10
    assert all(0 < piece.hypotheses <= 40 or len(np.flatnonzero(np.diff(piece.sentence_offsets))) <= 1
               for piece in pieces)  # fmt: skip
    monkeypatch.setattr(lists_module, "PIECE", 40)
    lists.write(tmp_path / "pieces.jsonl")
    assert (tmp_path / "pieces.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert whole.texts == lists.nbest().texts
    assert whole.targets == [text if count else "" for text, count in zip(lists.targets, lists.counts, strict=True)]


def test_drawn_sentences_have_no_more_hypotheses_than_asked_for(lists: FoldLists) -> None:
    everything = np.flatnonzero(lists.counts).tolist()
    assert lists.drawn(0).tolist() == lists.drawn(lists.hypotheses).tolist() == everything
    some, more = lists.drawn(200), lists.drawn(400)
    assert 0 < lists.counts[some].sum() <= 200 < lists.counts[more].sum() <= 400
    assert set(some.tolist()) < set(more.tolist())
    assert lists.drawn(200, seed=2).tolist() != some.tolist()
    data = lists.data(some)
    assert np.array_equal(np.diff(data.sentence_offsets), lists.counts[some])
    whole = lists.data()
    rows = np.concatenate([np.arange(*whole.sentence_offsets[everything.index(line) :][:2]) for line in some.tolist()])
    assert np.array_equal(data.features, whole.features[rows])
    assert np.array_equal(data.statistics, whole.statistics[rows])


def test_weights_can_be_fitted_to_a_part_of_a_long_list(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="camber"):
        lists = run(corpus, tmp_path / "work", replace(FEW, rounds=1, fit_on=300))
    told = [message for message in caplog.messages if message.startswith("fit: to the lists of")]
    assert told == [f"fit: to the lists of {len(lists.drawn(300))} sentences, drawn at random"]


@pytest.mark.parametrize("tuner", ["mert", "pro", "mira", "likelihood"])
def test_any_tuner_will_do(corpus: Path, work: Path, lists: FoldLists, tuner: str, tmp_path: Path) -> None:
    other = run(corpus, tmp_path / "work", replace(FEW, rounds=2, tuner=tuner))
    assert other.weights.values != lists.weights.values
    assert other.weights["unknown"] == lists.weights["unknown"]
    assert other.weights.signature.startswith(f"tuner:{tuner}|")


def test_hierarchical_models_have_lists_too(corpus: Path, tmp_path: Path) -> None:
    lists = run(corpus, tmp_path / "work", replace(FEW, rounds=2), method="hiero")
    assert "lm" in lists.names
    assert "glue" in " ".join(lists.names)
    assert lists.rounds[0].score > 20
    translator = model_of(corpus, tmp_path / "work", lists, 0, "hiero")
    line = int(lists.folds[0].lines[0])
    best = next(translator.reweighted(lists.rounds[0].weights).translations([lists.sources[line]], nbest=8))
    rows = slice(*lists.nbest().sentence_offsets[line : line + 2])
    assert {item.text for item in best} <= set(lists.nbest().texts[rows])


def test_features_that_only_some_folds_have_are_0_in_the_others(corpus: Path, tmp_path: Path) -> None:
    settings = TrainSettings.from_dict(
        {**SMALL, "rules": {"rule_features": "large", "clusters": 3, "subword_merges": 10}}
    )
    lists = run(corpus, tmp_path / "work", replace(FEW, rounds=2, tuner="pro"), settings=settings)
    own = [set(fold.rounds[0].names) for fold in lists.folds]
    assert set(lists.names) == own[0] | own[1] | own[2]
    assert own[0] != own[1]
    data, listed = lists.data(), np.flatnonzero(lists.counts)
    for number, names in enumerate(own):
        rows = np.isin(data.owners, np.flatnonzero(lists.fold_numbers[listed] == number))
        absent = [place for place, name in enumerate(lists.names) if name not in names]
        assert absent
        assert not data.features[np.ix_(rows, absent)].any()
    expected = lists.nbest().scores
    assert expected is not None
    assert np.allclose(
        data.features @ lists.weights.vector(lists.names), data.scores(lists.weights.vector(lists.names))
    )


# --- once, and again -----------------------------------------------------------------------------------------------


def write(corpus: Path, out: Path, how: FoldSettings = FEW, **more: Any) -> FoldLists:
    settings = more.pop("settings", TrainSettings.from_dict(SMALL))
    more = {"engine": ONE, **more}
    return nbest_folds(corpus / "train.es", corpus / "train.en", out, settings=settings, folds=how, **more)


def outputs(out: Path) -> dict[str, bytes]:
    return {ending: Path(f"{out}{ending}").read_bytes() for ending in ("", ".ref", ".weights.tsv")}


def test_one_thread_or_two_give_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    for threads in (1, 2):
        write(corpus, tmp_path / f"{threads}.jsonl", engine=Threads(threads))
    assert outputs(tmp_path / "1.jsonl") == outputs(tmp_path / "2.jsonl")


def test_what_is_written_can_be_read_and_has_references_and_weights(corpus: Path, tmp_path: Path) -> None:
    lists = write(corpus, tmp_path / "list.tsv", replace(FEW, rounds=2), keep_work=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list.tsv", "list.tsv.ref", "list.tsv.weights.tsv"]
    nbest = NBest.read(tmp_path / "list.tsv", sentences=154)
    assert nbest.names == lists.names
    assert nbest.hypotheses == lists.rounds[-1].hypotheses
    assert read_lines(tmp_path / "list.tsv.ref") == read_lines(corpus / "train.en")
    weights = Weights.read(tmp_path / "list.tsv.weights.tsv")
    assert weights == lists.weights
    assert np.allclose(nbest.hypothesis_features() @ weights.vector(nbest.names), nbest.scores)


def stages_run(caplog: pytest.LogCaptureFixture, action: Callable[[], object]) -> list[str]:
    """Return the stages that an action ran, and did not keep."""
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="camber"):
        action()
    return [message.split(":")[0] for message in caplog.messages if ": done in " in message]


def test_a_second_call_runs_nothing_and_a_changed_one_only_what_depends_on_it(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work = tmp_path / "work"
    how = replace(FEW, rounds=1)
    first = stages_run(caplog, lambda: run(corpus, work, how))
    assert first == ["corpus", "align", "lm", "rules"] * 3 + [f"lists-01-0{n}" for n in (1, 2, 3)] + ["fit-01"]
    assert stages_run(caplog, lambda: run(corpus, work, how, engine=Threads(2))) == []
    more = stages_run(caplog, lambda: run(corpus, work, replace(how, rounds=2)))
    assert more == [f"lists-02-0{n}" for n in (1, 2, 3)] + ["fit-02"]
    lm = TrainSettings.from_dict({**SMALL, "lm": {"order": 2}})
    again = ["lm"] * 3 + [f"lists-01-0{n}" for n in (1, 2, 3)] + ["fit-01"]
    assert stages_run(caplog, lambda: run(corpus, work, how, settings=lm)) == again
    tuner = replace(how, tuner="mert")
    assert stages_run(caplog, lambda: run(corpus, work, tuner, settings=lm)) == ["fit-01"]
    for name in ("train.es", "train.en"):
        write_lines(tmp_path / name, [*read_lines(corpus / name), "hola" if name == "train.es" else "hello"])
    assert stages_run(caplog, lambda: run(tmp_path, work, tuner, settings=lm)) == first


SCRIPT = """
import sys
from camber.cli import main
sys.argv[0] = "camber"
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_a_run_that_is_killed_goes_on_and_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    write(corpus, tmp_path / "whole.jsonl")
    out = tmp_path / "killed.jsonl"
    command = [
        sys.executable, "-c", SCRIPT, "--json", "nbest-folds", "--source", corpus / "train.es",
        "--target", corpus / "train.en", "--out", out, "--folds", 3, "--rounds", 3, "--nbest", 8, "--lm-order", 3,
        "--align-model", "quick", "--threads", 1,
    ]  # fmt: skip
    for place in ("fold 2 of 3/align", "lists-02-02", "fit-02", ""):
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        waiting, told = place.split("/"), []
        for line in process.stderr:
            event = json.loads(line)
            told.append(event.get("message") or f"{event['event']} {event['path'][-1]}")
            if waiting and told[-1] in (waiting[0], f"begin {waiting[0]}"):
                waiting.pop(0)
                if not waiting:
                    os.kill(process.pid, signal.SIGKILL)
        code = process.wait(timeout=300)
        process.stderr.close()
        if place:
            assert code == -signal.SIGKILL, told
            assert not out.exists()
        else:
            assert code == 0, told
            assert "lists-02-01: unchanged, kept" in told
            assert "lists-02-02: unchanged, kept" in told
    assert outputs(out) == outputs(tmp_path / "whole.jsonl")


# --- what is refused -----------------------------------------------------------------------------------------------


def refused(folder: Path, match: str, error: type[CamberError] = CamberError, **more: Any) -> None:
    """Expect an error, and that nothing is left behind."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(error, match=match):
        write(folder, more.pop("out", folder / "list.jsonl"), more.pop("how", FEW), **more)
    assert sorted(folder.rglob("*")) == before


def files(folder: Path, source: list[str], target: list[str]) -> Path:
    write_lines(folder / "train.es", source)
    write_lines(folder / "train.en", target)
    return folder


def test_fewer_lines_than_folds_are_refused(tmp_path: Path) -> None:
    refused(files(tmp_path, ["a", "b"], ["x", "y"]), "2 pairs cannot be cut into 3 folds: they are 2 without repeated")


def test_repeats_do_not_make_folds(tmp_path: Path) -> None:
    repeated = files(tmp_path, ["a", "b", "a", "A", "b"], ["x", "y", "x", "x", "y"])
    refused(repeated, "5 pairs cannot be cut into 3 folds: they are 2 without repeated lines; ask for fewer folds")


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    refused(files(tmp_path, ["a", "b", "c", "d"], ["x", "y", "z"]), "ends too early", InputError)


def test_empty_and_absent_files_are_refused(tmp_path: Path) -> None:
    refused(files(tmp_path, [], []), "the file is empty", InputError)
    (tmp_path / "train.en").unlink()
    refused(files(tmp_path, ["a"], []), "the file is empty", InputError)


def test_text_that_cleaning_drops_altogether_is_refused(tmp_path: Path) -> None:
    files(tmp_path, ["", "b", ""], ["x", "", "y"])
    with pytest.raises(InputError, match="no sentence pair is left after cleaning"):
        write(tmp_path, tmp_path / "list.jsonl")
    assert not list(tmp_path.glob("list.jsonl"))


def test_a_list_that_would_overwrite_the_text_or_cannot_be_written_is_refused(tmp_path: Path) -> None:
    files(tmp_path, ["a", "b", "c"], ["x", "y", "z"])
    refused(tmp_path, "would be overwritten", InputError, out=tmp_path / "train.es")
    refused(tmp_path, "no such folder", InputError, out=tmp_path / "absent" / "list.jsonl")
    refused(tmp_path, "fairseq cannot be written piece by piece", nbest_format="fairseq")


def test_a_bend_is_refused_because_the_lists_are_linear(tmp_path: Path) -> None:
    files(tmp_path, ["a", "b", "c"], ["x", "y", "z"])
    bent = TrainSettings.from_dict({"tune": {"bend": "mnr"}})
    refused(tmp_path, "the bend mnr makes no difference", SettingsError, settings=bent)


def test_much_text_that_hangs_together_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = [f"uno {'dos ' * (n % 5)}tres" for n in range(40)]
    target = [f"one {'two ' * (n % 4)}three {n if n > 33 else ''}" for n in range(40)]
    with caplog.at_level(logging.WARNING, logger="camber"), pytest.raises(CamberError):
        write(files(tmp_path, source, target), tmp_path / "list.jsonl", replace(FEW, folds=12))
    files(tmp_path, ["si"] * 30 + list("abcdefgh"), [*map(str, range(30)), *"ijklmnop"])
    with caplog.at_level(logging.WARNING, logger="camber"), pytest.raises(CamberError):
        write(tmp_path, tmp_path / "list.jsonl", replace(FEW, folds=3))
    assert any(message.startswith("30 of 38 pairs hang together by equal lines") for message in caplog.messages)
