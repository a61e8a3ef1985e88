"""Corpora that count more than others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import camber
from camber.cli import cli
from camber.corpus.splitting import hold_out
from camber.engine import Threads
from camber.files import read_lines, write_lines
from camber.model.phrase import FOLDER
from camber.pipeline.domain import copies, own_pairs
from camber.pipeline.settings import TrainSettings
from camber.rules.phrase.store import RuleStore

QUICK = {
    "text": {"source_lang": "es", "target_lang": "en"},
    "lm": {"order": 2},
    "align": {"model": "quick"},
    "rules": {"rule_features": "p_t_given_s,count_st"},
}


def table(path: Path, pairs: list[tuple[str, str]]) -> Path:
    write_lines(path, ["es\ten", *("\t".join(pair) for pair in pairs)])
    return path


def train(folder: Path, corpora: list[str], **more) -> camber.Translator:
    settings = TrainSettings.from_dict(QUICK | {"domain": more.pop("domain", {})})
    more = {"tuned": False, "held_out": 0, **more}
    return camber.train(model=folder, corpus=corpora, settings=settings, engine=Threads(1), **more)


@pytest.mark.parametrize("weight", [1.0, 1.4, 2.0, 2.5, 7.75])
def test_pairs_count_as_often_as_their_weight_says_on_average(weight: float) -> None:
    counts = copies(np.array([1.0] * 3 + [weight] * 40))
    assert counts[:3].tolist() == [1, 1, 1]
    assert abs(counts[3:].sum() - 40 * weight) < 1
    assert copies(3 * np.array([1.0] * 3 + [weight] * 40)).tolist() == counts.tolist()


def test_a_weight_is_as_good_as_copies_of_the_corpus(tmp_path: Path, hotel_files: Path) -> None:
    lines = list(zip(*(read_lines(hotel_files / f"dev.{side}") for side in ("es", "en")), strict=True))
    general, mine = table(tmp_path / "general.tsv", lines[:25]), table(tmp_path / "mine.tsv", lines[25:])
    text = train(tmp_path / "weighed", [f"{general}", f"{mine}:3"], domain={"own_lm": False}).text
    train(tmp_path / "once", [f"{general}", f"{mine}"])
    weighed, once = (RuleStore.load(tmp_path / name / FOLDER) for name in ("weighed", "once"))
    assert len(weighed) == len(once)  # the same words are linked, so the same rules are found
    # what only the weighed corpus has comes three times as often, and what only the other has, as often
    theirs, ours = (
        {word for source, _ in part for word in text.source_tokens(source)} for part in (lines[:25], lines[25:])
    )
    for words, factor in ((ours - theirs, 3), (theirs - ours, 1)):
        counts = [
            (weighed.source_counts[phrase], once.source_counts[phrase])
            for phrase in range(weighed.phrases)
            if set(weighed.source(phrase)) & words
        ]
        assert counts
        assert all(one == factor * other for one, other in counts)


def test_the_own_domain_has_a_language_model_of_its_own_as_one_more_feature(tmp_path: Path, hotel_files: Path) -> None:
    lines = list(zip(*(read_lines(hotel_files / f"dev.{side}") for side in ("es", "en")), strict=True))
    general, mine = table(tmp_path / "general.tsv", lines[:25]), table(tmp_path / "mine.tsv", lines[25:])
    model = train(tmp_path / "m", [f"{general}", f"{mine}:5"])
    assert [name for name in model.weights.values if name.startswith("lm")] == ["lm", "lm2"]
    own = model.decoder.languages
    assert len(own) == 2
    same = train(tmp_path / "s", [f"{general}:2", f"{mine}:2"])
    assert len(same.decoder.languages) == 1
    none = train(tmp_path / "n", [f"{general}", f"{mine}:5"], domain={"own_lm": False})
    assert len(none.decoder.languages) == 1


def test_only_the_own_domain_is_held_out(tmp_path: Path, hotel_files: Path) -> None:
    lines = list(zip(*(read_lines(hotel_files / f"train.{side}") for side in ("es", "en")), strict=True))
    general, mine = table(tmp_path / "general.tsv", lines[:300]), table(tmp_path / "mine.tsv", lines[300:])
    train(tmp_path / "m", [f"{general}", f"{mine}:5"], held_out=15)
    held = read_lines(tmp_path / "m.work" / "corpus" / "held-out.source")
    assert held
    assert set(held) <= {source for source, _ in lines[300:]}
    assert own_pairs(np.ones(3)) is None
    split = hold_out(["a", "b", "c"], ["x", "y", "z"], 2, only=np.array([False, True, True]))
    assert split.held.tolist() == [1, 2]


def test_the_flag_is_there(tmp_path: Path) -> None:
    from click.testing import CliRunner

    assert "--own-lm" in CliRunner().invoke(cli, ["train", "--help"]).output
