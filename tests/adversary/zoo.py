"""A small model of every kind that there is, to be attacked.

    animal = ZOO["table"](files, tmp_path / "table")      # the path of the model

`files` is a folder with train and dev text in Spanish and English (`train.es`, …). Models are made by the same commands
as those of users, so that their files are those that users have.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from toys.lists import flipped, planted

from camber.align.pharaoh import Alignment, write_pharaoh
from camber.corpus.bitext import Sentences
from camber.files import write_lines
from camber.lm.arpa import write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.pipeline.add import add
from camber.pipeline.calibrate import calibrate_model
from camber.pipeline.combine import combine_models
from camber.pipeline.convert_cdec import convert_cdec
from camber.pipeline.convert_moses import convert_moses
from camber.pipeline.corpus import load_bitext
from camber.pipeline.extract import extract_hiero, extract_tables
from camber.pipeline.forget import forget
from camber.pipeline.importing import Corpus
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train
from camber.rerank.reranker import Reranker

#: the re-ranker whose trees look at parts
LOCAL = "rerank-trees-local"
#: tokenised, and translated by every model of the zoo
LINES = ("¿ cuánto cuesta una habitación doble ?", "quiero hablar con el director .", "¡ hasta el martes !")
#: added to some models
PAIRS = (
    ["¡ hasta el martes !", "quiero hablar con la directora ."],
    ["see you on Tuesday !", "the director , please ."],
)

CDEC = """formalism=scfg
feature_function=WordPenalty
feature_function=KLanguageModel lm.arpa
"""
CDEC_WEIGHTS = """EgivenFCoherent 1
WordPenalty -0.1
PassThrough -10
LanguageModel 1
"""
MOSES = """[distortion-limit]
6

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=4 path=phrase-table.gz input-factor=0 output-factor=0
LexicalReordering name=LR num-features=6 type=wbe-msd-bidirectional-fe-allff path=reordering.gz
Distortion
KENLM name=LM0 path=lm.arpa order=3

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.25
TM= 0.1 0.2 0.3 0.4
LR= 0.1 0.2 0.3 0.4 0.5 0.6
Distortion0= 0.3
LM0= 0.7
"""
CHART = """[search-algorithm]
3

[non-terminals]
X

[max-chart-span]
12
1000

[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM0 num-features=3 path=rule-table.gz input-factor=0 output-factor=0
PhraseDictionaryMemory name=TM1 num-features=1 path=glue-grammar input-factor=0 output-factor=0
KENLM name=LM0 path=lm.arpa order=3

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.25
TM0= 0.2 0.3 0.4
TM1= 0.75
LM0= 0.7
"""


#: the same, with inline codes
CODED = {1: ('quiero <g id="1">hablar</g> con la directora .', 'the <g id="1">director</g> , <x id="2"/> please .')}


def _train(files: Path, model: Path, method: str = "phrase", added: bool = False, **settings: Any) -> Path:
    chosen = TrainSettings.from_dict({"lm": {"order": 3}, "align": {"model": "quick"}, **settings})
    dev = {"dev_source": files / "dev.es", "dev_target": files / "dev.en"}
    train(
        files / "train.es", files / "train.en", model, method=method, settings=chosen, tuned="tune" in settings, **dev
    )
    if added:
        for source, target in zip(*PAIRS, strict=True):
            add(model, [source], [target])
    return model


def _forgetful(files: Path, model: Path) -> Path:
    """Make a model to which pairs with inline codes were added by somebody, and one of each sort was taken back."""
    _train(files, model)
    add(model, *PAIRS, coded=CODED, author="me", time="now")
    learnt = (files / "train.es").read_text("utf-8").splitlines()
    forget(model, texts=[PAIRS[0][0], learnt[0]], author="me", time="now")
    return model


def _calibrated(files: Path, model: Path, make: Callable[[Path, Path], Path] = _train) -> Path:
    """Make a model that knows how sure it is."""
    make(files, model)
    calibrate_model(model, files / "dev.es", files / "dev.en")
    return model


def _imported(files: Path, model: Path, method: str = "phrase") -> Path:
    """Make a model of two memories with inline codes, of which one counts more: it has a language model of its own."""
    home = model.with_suffix(".from")
    home.mkdir()
    pairs = list(
        zip(*((files / f"train.{side}").read_text("utf-8").splitlines() for side in ("es", "en")), strict=True)
    )
    corpora = []
    for name, some, weight in (("mine", pairs[:150], 3.0), ("others", pairs[150:], 1.0)):
        units = "".join(map(_unit, some))
        (home / f"{name}.tmx").write_text(
            f'<tmx version="1.4"><header srclang="es"/><body>{units}</body></tmx>', encoding="utf-8"
        )
        corpora.append(Corpus(home / f"{name}.tmx", weight))
    chosen = TrainSettings.from_dict(
        {
            "text": {"source_lang": "es", "target_lang": "en"},
            "lm": {"order": 3},
            "align": {"model": "quick"},
            "tune": {"tuner": "pro", "iterations": 1, "nbest": 30},
        }
    )
    dev = {"dev_source": files / "dev.es", "dev_target": files / "dev.en"}
    train(model=model, corpus=corpora, method=method, settings=chosen, **dev)
    return model


def _unit(pair: tuple[str, str]) -> str:
    """Return a unit of a memory, with codes around the first words of its sides."""
    sides = ""
    for language, line in zip(("es", "en"), pair, strict=True):
        first, blank, rest = html.escape(line, quote=False).partition(" ")
        sides += f'<tuv xml:lang="{language}"><seg><bpt i="1">&lt;b></bpt>{first}<ept i="1">&lt;/b></ept>'
        sides += f"{blank}{rest}</seg></tuv>"
    return f"<tu>{sides}</tu>"


def _combined(files: Path, model: Path) -> Path:
    """Combine two models, to one of which a pair was added."""
    home = model.with_suffix(".from")
    home.mkdir()
    members = [_train(files, home / "phrase", added=True), _train(files, home / "hiero", method="hiero")]
    combine_models(members, files / "dev.es", files / "dev.en", model, settings={"tuner": "pro", "mbr_size": 20})
    return model


def _tables(files: Path, folder: Path) -> list[Path]:
    """Write tokenised text, an alignment and a language model, as other engines have them; return the text's files."""
    work = _train(files, folder / "first").with_name("first.work")
    bitext = load_bitext(work / "corpus")
    links = Alignment(np.load(work / "align" / "links.npy"), np.load(work / "align" / "offsets.npy"))
    names = [folder / name for name in ("text.es", "text.en", "text.links")]
    for name, side in zip(names, (bitext.source, bitext.target), strict=False):
        write_lines(name, (" ".join(side.vocabulary.decode(ids)) for ids in side))
    write_pharaoh(names[2], links)
    write_arpa(folder / "lm.arpa", estimate(bitext.target, LmSettings(order=3)))
    write_lines(folder / "test.es", LINES)
    return names


def _moses(files: Path, model: Path) -> Path:
    home = model.with_suffix(".from")
    home.mkdir()
    extract_tables(*_tables(files, home), home / "tables")
    (home / "lm.arpa").rename(home / "tables" / "lm.arpa")
    next((home / "tables").glob("reordering-table*")).rename(home / "tables" / "reordering.gz")
    (home / "tables" / "moses.ini").write_text(MOSES)
    convert_moses(home / "tables" / "moses.ini", model)
    return model


def _table(files: Path, model: Path) -> Path:
    home = model.with_suffix(".from")
    home.mkdir()
    extract_hiero(*_tables(files, home), home / "tables", home / "test.es", "moses")
    (home / "lm.arpa").rename(home / "tables" / "lm.arpa")
    (home / "tables" / "moses.ini").write_text(CHART)
    convert_moses(home / "tables" / "moses.ini", model)
    return model


def _grammars(files: Path, model: Path) -> Path:
    home = model.with_suffix(".from")
    home.mkdir()
    extract_hiero(*_tables(files, home), home / "grammars", home / "test.es", "cdec")
    (home / "cdec.ini").write_text(CDEC)
    (home / "weights").write_text(CDEC_WEIGHTS)
    convert_cdec(home / "cdec.ini", model)
    return model


def reranked(kind: str) -> tuple[Any, Any]:
    """Return the list that a kind of re-rankers is fitted to, and its references."""
    return planted(150) if kind == LOCAL else flipped(sentences=40)


def _reranker(files: Path, model: Path, kind: str, *, lm: bool = False, **more: Any) -> Path:
    nbest, references = reranked(kind)
    language = None
    if lm:
        language = NgramModel.from_trie(
            estimate(Sentences.encode([line.split() for line in references]), LmSettings(2))
        )
    Reranker(learner=kind.split("-")[1], lm=language, **more).fit(nbest, references).save(model)
    return model


_BENT = {"tuner": "pro", "iterations": 2, "nbest": 30, "cautious": False}

#: name → a function that makes the model
ZOO: dict[str, Callable[[Path, Path], Path]] = {
    "phrase": _train,
    "phrase-added": partial(_train, added=True),
    "large": partial(_train, rules={"rule_features": "large"}),
    "large-added": partial(_train, added=True, rules={"rule_features": "large"}),
    "trees": partial(_train, tune={"bend": "trees", **_BENT}),
    "bins": partial(_train, tune={"bend": "mnr", **_BENT}),
    "lines-and-bins": partial(_train, tune={"bend": "anchored", **_BENT}),
    "one-way": partial(_train, tune={"bend": "isotonic", **_BENT}),
    "regression": partial(_train, added=True, regression={"regression": "lsr"}),
    "regression-margin": partial(_train, added=True, regression={"regression": "mmr"}),
    "raw": partial(_train, tune={"bend": "raw", **_BENT}),
    "bins-and-trees": partial(_train, tune={"bend": "overlap+trees", **_BENT}),
    "forgetful": _forgetful,
    "imported": _imported,
    "calibrated": _calibrated,
    "hiero": partial(_train, method="hiero"),
    "hiero-added": partial(_train, method="hiero", added=True),
    "hiero-large": partial(_train, method="hiero", hiero={"rule_features": "large"}),
    "hiero-bins": partial(_train, method="hiero", tune={"bend": "mnr", **_BENT}),
    "hiero-trees": partial(_train, method="hiero", tune={"bend": "trees", **_BENT}),
    "hiero-imported": partial(_imported, method="hiero"),
    "hiero-lines-and-bins": partial(_train, method="hiero", tune={"bend": "anchored", **_BENT}),
    "kernel": partial(_train, method="kernel"),
    "kernel-added": partial(_train, method="kernel", added=True),
    "kernel-margin": partial(_train, method="kernel", kernel={"regression": "mmr"}),
    "sparse": partial(_train, method="sparse"),
    "sparse-table": partial(_train, method="sparse", added=True, sparse={"decoder": "table"}),
    "sparse-mixed": partial(_train, method="sparse", added=True, sparse={"decoder": "mixed"}),
    "sparse-feature": partial(_train, method="sparse", sparse={"decoder": "feature"}),
    "combination": _combined,
    "combination-calibrated": partial(_calibrated, make=_combined),
    "moses": _moses,
    "table": _table,
    "grammars": _grammars,
    "rerank-linear": partial(_reranker, kind="rerank-linear", lm=True),
    "rerank-mnr": partial(_reranker, kind="rerank-mnr"),
    "rerank-trees": partial(_reranker, kind="rerank-trees"),
    LOCAL: partial(_reranker, kind=LOCAL, tokenize="none", leaves=4),
    "rerank-mixture": partial(_reranker, kind="rerank-mixture"),
}
