"""Opened models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import camber
from camber.decode.lists import to_nbest
from camber.engine import Threads
from camber.errors import CamberError, InputError, ModelError, SettingsError
from camber.features.feature import names_of
from camber.files import read_lines
from camber.model.directory import Draft, write_model
from camber.model.phrase import PhraseRules, save_phrase_model
from camber.model.translator import Translator
from camber.nbest.nbest import NBest
from camber.pipeline.rewrite import with_weights
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.pipeline.tune import tune_translator
from camber.tune.loop import TuneSettings


def test_translations_do_not_depend_on_threads_or_chunks(hotel_files: Path, hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    lines = read_lines(hotel_files / "test.es")
    expected = model.translate(lines, engine=Threads(1))
    assert model.translate(lines, engine=Threads(2)) == expected
    assert [best[0].text for best in model.translations(lines, chunk=7)] == expected
    with pytest.raises(CamberError, match="0 lines at a time; expected at least 1"):
        model.translations(lines, chunk=0)
    assert [model.translate([line])[0] for line in lines[:5]] == expected[:5]


def test_the_n_best_list_keeps_parts_that_sum_to_the_score(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    model = camber.load(hotel_model)
    translations = list(model.translations(read_lines(hotel_files / "test.es")[:10], nbest=20))
    nbest = to_nbest(model.decoder, [[item.derivation for item in best] for best in translations])
    assert nbest.scores is not None
    np.testing.assert_allclose(nbest.hypothesis_features() @ model.decoder.weights, nbest.scores, rtol=0, atol=1e-9)
    for name in ("list.moses", "list.jsonl"):
        nbest.write(tmp_path / name, name.split(".")[1])
        again = NBest.read(tmp_path / name)
        assert again.texts == nbest.texts
        np.testing.assert_allclose(again.hypothesis_features(), nbest.hypothesis_features(), rtol=0, atol=1e-12)


def test_a_narrower_search_is_a_setting(hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    assert model.searching({"pop_limit": 5}).settings.pop_limit == 5
    with pytest.raises(SettingsError, match="known: distortion_limit"):
        model.searching({"pops": 5})


def save_again(model: Translator, draft: Draft) -> None:
    """Write the rules of an open phrase model."""
    decoder = model.decoder
    rules = PhraseRules(decoder.rules.store, names_of(decoder.rules.features), decoder.settings)
    save_phrase_model(model.text, rules, decoder.languages.models, model.weights, draft)


def test_a_model_saved_again_translates_the_same(hotel_files: Path, hotel_model: Path, tmp_path: Path) -> None:
    model = camber.load(hotel_model)
    with write_model(tmp_path / "copy", "phrase") as draft:
        save_again(model, draft)
    lines = read_lines(hotel_files / "test.es")[:5]
    assert camber.load(tmp_path / "copy").translate(lines) == model.translate(lines)


def test_weights_edited_by_hand_are_checked(hotel_model: Path, tmp_path: Path) -> None:
    model = camber.load(hotel_model)
    with write_model(tmp_path / "copy", "phrase") as draft:
        save_again(model, draft)
        weights = (draft.folder / "weights.tsv").read_text().replace("word_penalty", "wordpenalty")
        (draft.folder / "weights.tsv").write_text(weights)
    with pytest.raises(InputError, match="unknown weight wordpenalty"):
        camber.load(tmp_path / "copy")


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    with write_model(tmp_path / "m", "poetry"):
        pass
    with pytest.raises(ModelError, match="a poetry model"):
        camber.load(tmp_path / "m")


def test_a_word_known_only_in_another_case_is_translated_all_the_same(hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    words = set(model.decoder.source_vocabulary.words)
    only = next(word for word in sorted(words) if word.istitle() and word.lower() not in words and len(word) > 4)
    assert model.source_tokens(f"x {only.lower()} y")[1] == only
    assert model.source_tokens("x zzzqqq y")[1] == "zzzqqq"


@pytest.mark.slow
def test_counts_say_what_probabilities_say_and_can_be_bent(
    hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    """log p(t|s) is log c(s, t) - log c(s): the untuned models are the same."""
    names = "count_s,count_t,count_st,lex_s_given_t,lex_t_given_s"
    settings = TrainSettings.from_dict(
        {"lm": {"order": 3}, "align": {"model": "quick"}, "rules": {"rule_features": names}}
    )
    place = tmp_path / "counts"
    train(hotel_files / "train.es", hotel_files / "train.en", place, held_out=0, settings=settings)
    counts, plain = camber.load(place), camber.load(hotel_model)
    assert counts.decoder.names[:5] == tuple(names.split(","))
    lines = read_lines(hotel_files / "test.es")
    for one, other in zip(plain.translations(lines, 5), counts.translations(lines, 5), strict=True):
        assert one[0].text == other[0].text
        scores = [[item.derivation.score for item in items] for items in (one, other)]
        np.testing.assert_allclose(scores[0], scores[1], rtol=0, atol=1e-4)  # probabilities have single precision

    dev = read_lines(hotel_files / "dev.es"), [read_lines(hotel_files / "dev.en")]
    outcome = tune_translator(
        counts, *dev, TuneSettings(tuner="pro", bend="mnr", bits=3, iterations=2, cautious=False), engine=Threads(1)
    )
    assert {"count_s@0", "count_st@0", "count_t@0"} <= {*outcome.weights.values}
    tuned = counts.shaped(outcome.decoder, outcome.weights)
    with_weights(place, tmp_path / "bent", tuned, None)
    again = camber.load(tmp_path / "bent")
    assert again.translate(lines) == tuned.translate(lines)
    # pairs that are added are counted, too
    camber.add(place, ["el zorro duerme"], ["the fox is asleep"])
    assert camber.load(place).translate(["el zorro duerme"]) == ["the fox is asleep"]
    with write_model(tmp_path / "copy", "phrase") as draft:
        save_again(counts, draft)
    assert camber.load(tmp_path / "copy").translate(lines) == counts.translate(lines)


def test_a_single_string_is_no_list_of_lines(hotel_model: Path) -> None:
    model = camber.load(hotel_model)
    for call in (model.translate, model.translations):
        for error in (CamberError, TypeError):
            with pytest.raises(error, match="expected lines, not the single str 'La llave'; put it into a list"):
                call("La llave")


def test_the_vocabulary_is_looked_up_once_and_lines_are_prepared_once(
    hotel_hiero: Path, hotel_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = camber.load(hotel_hiero)
    looked, prepared = [], []
    vocabulary, prepare = type(model.decoder).source_vocabulary.fget, model.text.paragraph
    monkeypatch.setattr(
        type(model.decoder), "source_vocabulary", property(lambda self: looked.append(self) or vocabulary(self))
    )
    monkeypatch.setattr(model.text, "paragraph", lambda line, *how: prepared.append(line) or prepare(line, *how))
    lines = read_lines(hotel_files / "test.es")[:5]
    for line in lines:
        model.source_tokens(line)
    assert len(looked) == 1
    prepared.clear()
    list(model.translations(lines, nbest=10))
    assert prepared == lines
