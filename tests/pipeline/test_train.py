"""From raw files to a model."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import Any

import pytest

import camber
from camber.corpus import Sentences
from camber.engine import Threads
from camber.errors import CamberError, InputError, ModelError, SettingsError
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.lm.arpa import write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.metrics.bleu import BLEU
from camber.model.directory import ModelDirectory
from camber.pipeline import train as module
from camber.pipeline.rewrite import with_weights
from camber.pipeline.settings import STAGES, TrainSettings, read_config
from camber.pipeline.train import train

SMALL = {"lm": {"order": 3}, "align": {"model": "quick"}}


@pytest.fixture
def settings() -> TrainSettings:
    return TrainSettings.from_dict(SMALL)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_raw_text_becomes_a_translator_of_raw_text(hotel_files: Path, hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    source, target = read_lines(hotel_files / "test.es"), read_lines(hotel_files / "test.en")
    output = model.translate(source)
    metric = BLEU()
    assert metric.score(metric.statistics(output, [target]).sum(0)) > 35
    assert output[0][0].isupper()
    assert not any(" ." in line or "&apos;" in line for line in output)


def test_training_sentences_come_back_as_their_translation(hotel_files: Path, hotel_model: Path) -> None:
    source, target = read_lines(hotel_files / "train.es")[:50], read_lines(hotel_files / "train.en")[:50]
    output = camber.load(hotel_model).translate(source)
    metric = BLEU()
    assert metric.score(metric.statistics(output, [target]).sum(0)) > 75


def test_every_line_gets_a_line_even_a_blank_one(hotel_model: Path) -> None:
    lines = ["", "   ", "La llave.", "\u00a0", "zxqw", "La\u2028llave."]
    output = camber.load(hotel_model).translate(lines)
    assert len(output) == len(lines)
    assert [output[0], output[1], output[3]] == ["", "   ", "\u00a0"]
    assert output[4].lower() == "zxqw"
    assert all("\n" not in line for line in output)


def test_the_same_seed_gives_the_same_bytes_on_one_thread_and_on_two(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings
) -> None:
    for threads in (1, 2):
        train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / f"m{threads}",
            settings=settings,
            tuned=False,
            engine=Threads(threads),
        )
    assert digests(tmp_path / "m1") == digests(tmp_path / "m2")
    lines = read_lines(hotel_files / "test.es")
    one, two = (camber.load(tmp_path / f"m{threads}").translate(lines, Threads(threads)) for threads in (1, 2))
    assert one == two


def test_an_unchanged_stage_is_kept_and_a_changed_one_runs_again(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    files = hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m"
    train(*files, settings=settings, tuned=False)
    before = digests(tmp_path / "m")
    with caplog.at_level(logging.INFO, "camber"):
        train(*files, settings=settings, tuned=False)
    for name in ("corpus", "align", "lm", "rules"):
        assert f"{name}: unchanged, kept" in caplog.text
    assert digests(tmp_path / "m") == before
    caplog.clear()
    with caplog.at_level(logging.INFO, "camber"):
        train(*files, settings=TrainSettings.from_dict({**SMALL, "lm": {"order": 2}}), tuned=False)
    assert "align: unchanged, kept" in caplog.text
    assert "rules: unchanged, kept" in caplog.text
    assert "lm: unchanged, kept" not in caplog.text


def test_an_interrupted_training_resumes_at_the_stage_it_had_reached(
    hotel_files: Path,
    tmp_path: Path,
    settings: TrainSettings,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m"

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("camber.pipeline.methods.phrase.extract_into", killed)
        with pytest.raises(KeyboardInterrupt):
            train(*files, settings=settings, tuned=False)
    assert not (tmp_path / "m").exists()
    with caplog.at_level(logging.INFO, "camber"):
        train(*files, settings=settings, tuned=False)
    assert "lm: unchanged, kept" in caplog.text
    assert "rules: unchanged, kept" not in caplog.text
    assert (tmp_path / "m" / "model.toml").exists()


def test_pairs_are_held_out_without_a_dev_set_and_it_is_said(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "camber"):
        train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / "m",
            held_out=30,
            settings=settings,
            tuned=False,
        )
    assert "30 of 400 pairs are held out" in caplog.text
    assert "BLEU on 30 dev lines" in caplog.text
    # whoever gave them wants to find them again
    pairs = set(zip(*(read_lines(hotel_files / f"train.{side}") for side in ("es", "en")), strict=True))
    model = camber.load(tmp_path / "m")
    assert all({(match.source, match.target) for match in model.matches(pair[0], 1.0, 99)} >= {pair} for pair in pairs)
    held = set(read_lines(next(tmp_path.glob("m.work/*/held-out.source"))))
    assert any(not match.links for line in held for match in model.matches(line, 1.0, 1))
    for line in held:  # what is not aligned does not stand in the way
        model.translate([line + " zzyx"], fuzzy=0.5)


def test_a_dev_set_is_measured(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "camber"):
        train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / "m",
            dev_source=hotel_files / "dev.es",
            dev_target=hotel_files / "dev.en",
            settings=settings,
            tuned=False,
            keep_work=False,
        )
    assert "BLEU on 40 dev lines" in caplog.text
    assert not (tmp_path / "m.work").exists()


def test_weights_are_tuned_on_the_dev_set_and_kept_for_the_next_run(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tune = {"iterations": 3, "nbest": 20, "tuner": "held-bleu"}
    settings = TrainSettings.from_dict({**SMALL, "tune": tune, "decode": {"pop_limit": 50}})

    def run() -> str:
        caplog.clear()
        with caplog.at_level(logging.INFO, "camber"):
            train(
                hotel_files / "train.es",
                hotel_files / "train.en",
                tmp_path / "m",
                dev_source=hotel_files / "dev.es",
                dev_target=hotel_files / "dev.en",
                settings=settings,
            )
        return caplog.text

    assert "tune 2: BLEU" in run()
    weights = camber.load(tmp_path / "m").weights
    assert "tuner:held-bleu" in weights.signature
    assert "tune: unchanged, kept" in run()
    assert camber.load(tmp_path / "m").weights.values == weights.values


def test_a_dev_set_that_cannot_be_tuned_on_leaves_untuned_weights_and_says_so(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    write_lines(tmp_path / "nonsense", ["qqq"] * 40)
    with caplog.at_level(logging.INFO, "camber"):
        model = train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / "m",
            dev_source=hotel_files / "dev.es",
            dev_target=tmp_path / "nonsense",
            settings=settings,
        )
    assert "not tuned: " in caplog.text
    assert model.weights.signature == "untuned"


def test_ones_own_alignment_and_language_models_are_used(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["x y", "x", "y z"])
    write_lines(tmp_path / "t", ["a b", "a", "b c"])
    write_lines(tmp_path / "align", ["0-0 1-1", "0-0", "0-0 1-1"])
    for number in (1, 2):
        text = Sentences.encode([["a", "b"], ["b", "c"]])
        write_arpa(tmp_path / f"{number}.arpa", estimate(text, LmSettings(order=number)))
    model = train(
        tmp_path / "s",
        tmp_path / "t",
        tmp_path / "m",
        alignment=tmp_path / "align",
        lm=[tmp_path / "1.arpa", tmp_path / "2.arpa"],
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
    )
    assert model.decoder.names[-2:] == ("lm", "lm2")
    assert model.translate(["x y z", "z x"])[0] == "a b c"


def test_a_language_model_of_other_text_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_lines(tmp_path / "s", ["x y", "x", "y z"])
    write_lines(tmp_path / "t", ["a b", "a", "b c"])
    own = {"text": {"tokenizer": "none"}}
    for words, told in ((["a", "b", "c"], False), (["A", "b", "c"], True)):
        write_arpa(tmp_path / "lm.arpa", estimate(Sentences.encode([words]), LmSettings(order=1)))
        caplog.clear()
        train(tmp_path / "s", tmp_path / "t", tmp_path / "m", lm=tmp_path / "lm.arpa", held_out=0,
              settings=TrainSettings.from_dict(own))  # fmt: skip
        assert ("40 % of the target text's words are unknown" in caplog.text) == told


@pytest.mark.parametrize(
    ("links", "told"),
    [(["1-1 2-2", "1-1", "1-1 2-2"], "count from 0"), (["0-0"], "more sentence pairs"), (["0:0"] * 3, "not a link")],
)
def test_a_wrong_alignment_file_is_a_clear_error(tmp_path: Path, links: list[str], told: str) -> None:
    write_lines(tmp_path / "s", ["x y", "x", "y z"])
    write_lines(tmp_path / "t", ["a b", "a", "b c"])
    write_lines(tmp_path / "align", links)
    with pytest.raises(InputError, match=told):
        train(
            tmp_path / "s",
            tmp_path / "t",
            tmp_path / "m",
            alignment=tmp_path / "align",
            settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
        )
    assert not (tmp_path / "m").exists()


def test_tokenised_text_goes_through_untouched_even_with_odd_tokens(tmp_path: Path) -> None:
    source = ["A ||| <s> &amp; x", "B = </s> | y", "C <unk> [ z"] * 4
    write_lines(tmp_path / "s", source)
    write_lines(tmp_path / "t", source)
    model = train(
        tmp_path / "s",
        tmp_path / "t",
        tmp_path / "m",
        held_out=0,
        settings=TrainSettings.from_dict({"text": {"tokenizer": "none"}}),
    )
    assert model.translate(source[:3]) == source[:3]


def test_nothing_left_after_cleaning_is_a_clear_error(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["", "a"])
    write_lines(tmp_path / "t", ["b", " "])
    with pytest.raises(InputError, match="no sentence pair is left"):
        train(tmp_path / "s", tmp_path / "t", tmp_path / "m", held_out=0)


def test_a_folder_that_is_no_model_is_never_touched(hotel_files: Path, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "diary.txt").write_text("dear diary")
    with pytest.raises(ModelError, match="not a Camber model"):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m")
    assert (tmp_path / "m" / "diary.txt").read_text() == "dear diary"


def test_half_a_dev_set_is_refused_before_the_work_begins(hotel_files: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one target"):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", dev_source=hotel_files / "dev.es")
    assert not (tmp_path / "m.work").exists()


def test_more_held_out_pairs_than_there_are_is_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["x y", "x"])
    write_lines(tmp_path / "t", ["a b", "a"])
    with pytest.raises(CamberError, match="cannot hold out 9 of 2"):
        train(tmp_path / "s", tmp_path / "t", tmp_path / "m", held_out=9)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[lm]\nordre = 4\n", "unknown setting 'ordre' for LmSettings; known: order"),
        ("[language]\norder = 4\n", "unknown table 'language' of settings; known: text"),
        ("[lm]\norder = 9\n", "expected at most 6"),
        ("[lm\n", "not valid TOML"),
        ("lm = 3\n", "unknown table"),
    ],
)
def test_a_wrong_config_file_is_named_with_what_is_known(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(InputError, match=r"c\.toml") as error:
        read_config(tmp_path / "c.toml")
    assert told in str(error.value)


def test_settings_know_their_stages() -> None:
    with pytest.raises(SettingsError, match=f"known: {', '.join(STAGES)}$"):
        TrainSettings.from_dict({"decoder": {}})


def test_a_model_with_added_pairs_is_not_replaced(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = hotel_files / "dev.es", hotel_files / "dev.en", tmp_path / "m"
    train(*files, settings=settings, tuned=False)
    camber.add(tmp_path / "m", ["el zorbo"], ["the blorp"])
    before = digests(tmp_path)
    with pytest.raises(ModelError, match=r"1 pairs were added .* into another directory .* `camber add`, or remove"):
        train(*files, settings=settings, tuned=False)
    # the pairs may also come while the training runs
    monkeypatch.setattr(module, "check_added", lambda model: None)
    with pytest.raises(ModelError, match="1 pairs were added"):
        train(*files, settings=settings, tuned=False)
    now = digests(tmp_path)
    assert {name: digest for name, digest in now.items() if not name.startswith("m.trained/")} == before
    assert camber.load(tmp_path / "m.trained").translate(["la llave"])  # nor is the work of an hour lost


@pytest.mark.slow
def test_a_model_that_was_tuned_since_its_training_is_kept_as_old(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    files = hotel_files / "dev.es", hotel_files / "dev.en", tmp_path / "m"
    for _ in range(2):
        train(*files, settings=settings, tuned=False)
    assert not (tmp_path / "m.old").exists()
    trained = camber.load(tmp_path / "m")
    tuned = trained.reweighted(Weights({**trained.weights.values, "lm": 0.77}, signature="by hand"))
    with_weights(tmp_path / "m", tmp_path / "m", tuned, None)
    train(*files, settings=settings, tuned=False)
    assert "was tuned since: the old model is kept as" in caplog.text
    assert camber.load(tmp_path / "m.old").weights["lm"] == 0.77
    assert camber.load(tmp_path / "m").weights.values == trained.weights.values
    train(*files, settings=settings, tuned=False)
    assert not (tmp_path / "m.old2").exists()


def test_a_dev_set_that_repeats_the_training_text_is_told(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = hotel_files / "train.es", hotel_files / "train.en"
    settings = TrainSettings.from_dict({"lm": {"order": 2}, "align": {"model": "quick"}})
    lines = [path.read_text("utf-8").splitlines() for path in files]
    for name, side in zip(("dev.es", "dev.en"), lines, strict=True):
        (tmp_path / name).write_text("\n".join([*side[:2], *(f"word {n}" for n in range(18))]) + "\n", "utf-8")
    dev = {"dev_source": tmp_path / "dev.es", "dev_target": tmp_path / "dev.en"}
    with caplog.at_level(logging.INFO, "camber"):
        train(*files, tmp_path / "m", settings=settings, tuned=False, **dev)
    assert "2 of 20 dev lines stand in the training text, too" in caplog.text


def test_nothing_is_held_out_when_nothing_is_tuned(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "camber"):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", settings=settings, tuned=False)
    assert "held out" not in caplog.text
    assert not (tmp_path / "m.work" / "corpus" / "held-out.source").exists()


def test_a_small_corpus_holds_out_enough_to_tune_on(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = TrainSettings.from_dict({**SMALL, "tune": {"iterations": 1, "nbest": 5}})
    with caplog.at_level(logging.INFO, "camber"):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", settings=settings)
    assert "30 of 400 pairs are held out" in caplog.text
    assert "tune 1: BLEU" in caplog.text


def test_a_corpus_of_one_pair_trains(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["x y"])
    write_lines(tmp_path / "t", ["a b"])
    model = train(tmp_path / "s", tmp_path / "t", tmp_path / "m")
    assert model.translate(["x y"]) == ["a b"]


@pytest.mark.parametrize(
    ("tune", "arguments", "told"),
    [
        ({"bend": "mnr"}, {"tuned": False}, "the bend mnr is made by tuning"),
        ({"bend": "mnr"}, {"held_out": 0}, "the bend mnr is made by tuning"),
        (
            {"bend": "bins", "tuner": "mert"},
            {},
            "mert cannot fit the bins .* use pro, expected-bleu, held-bleu, blend or likelihood",
        ),
        ({"bend": "lnr", "tuner": "mira"}, {}, "mira cannot fit the bins"),
    ],
)
def test_a_bend_that_cannot_be_made_is_refused_before_the_work(
    hotel_files: Path, tmp_path: Path, tune: dict[str, str], arguments: dict[str, Any], told: str
) -> None:
    settings = TrainSettings.from_dict({**SMALL, "tune": tune})
    with pytest.raises(SettingsError, match=told):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", settings=settings, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_recorded_of_a_tuning_or_a_bend_that_did_not_come_about(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = TrainSettings.from_dict({**SMALL, "tune": {"bend": "mnr", "beta": 7.0, "tuner": "pro"}})
    write_lines(tmp_path / "nonsense", ["qqq"] * 40)
    few = {"source": hotel_files / "dev.es", "target": hotel_files / "dev.en"}  # too few to hold some out
    made = {"few": few, "hopeless": {**few, "dev_source": few["source"], "dev_target": tmp_path / "nonsense"}}
    for name, arguments in made.items():
        model = train(model=tmp_path / name, settings=settings, **arguments)
        assert model.decoder.bend.kind == "none"
        assert "tune" not in ModelDirectory.open(tmp_path / name).settings
    assert "not bent: mnr" in caplog.text
    plain = TrainSettings.from_dict({**SMALL, "tune": {"iterations": 1, "nbest": 5}})
    train(
        **few, model=tmp_path / "plain", dev_source=hotel_files / "test.es", dev_target=hotel_files / "test.en",
        settings=plain,
    )  # fmt: skip
    kept = ModelDirectory.open(tmp_path / "plain").settings["tune"]
    assert kept["iterations"] == 1
    assert not {"bend", "bits", "beta", "gamma"} & kept.keys()


def test_held_out_pairs_are_refused_beside_a_dev_set_or_an_alignment(hotel_files: Path, tmp_path: Path) -> None:
    files = hotel_files / "dev.es", hotel_files / "dev.en"
    with pytest.raises(SettingsError, match="held out with a dev set"):
        train(*files, tmp_path / "m", held_out=5, dev_source=files[0], dev_target=files[1])
    with pytest.raises(SettingsError, match="held out with an alignment"):
        train(*files, tmp_path / "m", held_out=5, alignment=tmp_path / "any")


def test_a_model_may_be_the_current_folder(
    hotel_files: Path, tmp_path: Path, settings: TrainSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(hotel_files / "dev.es", hotel_files / "dev.en", ".", settings=settings, tuned=False)
    assert camber.load(tmp_path / "here").translate(["a"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "here.work"]


def test_a_failed_first_training_leaves_nothing(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["x", "y"])
    write_lines(tmp_path / "t", ["x"])
    with pytest.raises(InputError):
        train(tmp_path / "s", tmp_path / "t", tmp_path / "m")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "t"]


def test_hierarchical_rules_are_another_method_of_the_same_training(
    hotel_files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = TrainSettings.from_dict(
        {**SMALL, "tune": {"iterations": 2, "nbest": 10, "tuner": "pro"}, "chart": {"pop_limit": 30}}
    )
    with caplog.at_level(logging.INFO, "camber"):
        model = train(
            hotel_files / "train.es",
            hotel_files / "train.en",
            tmp_path / "m",
            method="hiero",
            dev_source=hotel_files / "dev.es",
            dev_target=hotel_files / "dev.en",
            settings=settings,
        )
    assert "tune 2: BLEU" in caplog.text
    source, target = read_lines(hotel_files / "test.es"), read_lines(hotel_files / "test.en")
    output = model.translate(source)
    metric = BLEU()
    assert metric.score(metric.statistics(output, [target]).sum(0)) > 35
    assert camber.load(tmp_path / "m").translate(source, engine=Threads(2)) == output
    translations = next(model.translations(source[:1], nbest=5))
    assert len({item.text for item in translations}) > 1
    assert all(
        abs(item.derivation.linear_sums @ model.decoder.weights - item.derivation.score) < 1e-6 for item in translations
    )


def test_a_method_that_does_not_exist_is_refused_with_those_that_do(hotel_files: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="phrase, hiero"):
        train(hotel_files / "train.es", hotel_files / "train.en", tmp_path / "m", method="neural")
