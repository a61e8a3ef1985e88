"""Train a translator: text, alignment, language model, rules, model; each stage runs once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camber.bend.kinds import KEEP, NONE, settings_of
from camber.corpus.splitting import FEWEST_TO_TUNE, seen_lines
from camber.engine import LOCAL, Engine
from camber.errors import InputError, SettingsError
from camber.files import Lines, read_bytes, read_parallel
from camber.metrics.bleu import BLEU
from camber.model import places
from camber.model.directory import check_place
from camber.model.translator import Translator, load
from camber.pipeline.corpus import load_held_out
from camber.pipeline.importing import SIDES, Corpus, check_weights
from camber.pipeline.importing import WEIGHTS as PAIR_WEIGHTS
from camber.pipeline.methods import METHODS, unweighed, weighs
from camber.pipeline.methods.method import Dev
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import Stage, Stages
from camber.pipeline.training import PairsAdded, Training, check_added
from camber.progress import Watcher, log, result, step, watched
from camber.tune.loop import TuneSettings
from camber.tune.tuner import REGULARISER, SPARSE
from camber.tune.tuners import check_tuner

Name = str | Path

#: share of dev lines that may stand in the training text without a word
REPEATS = 0.05


@watched
def train(
    source: Name | None = None,
    target: Name | None = None,
    model: Name = "",
    *,
    corpus: Sequence[Name | Corpus] | Name | Corpus = (),
    unconfirmed: bool = False,
    keep_going: bool = False,
    method: str = "phrase",
    dev_source: Name | None = None,
    dev_target: Sequence[Name] | Name = (),
    lm: Sequence[Name] | Name = (),
    alignment: Name | None = None,
    held_out: int | None = None,
    tuned: bool = True,
    settings: TrainSettings | None = None,
    seed: int = 1,
    engine: Engine = LOCAL,
    keep_work: bool = True,
    memory: int | str | None = None,
    progress: Watcher | None = None,
) -> Translator:
    """Train a translator from two parallel files and return it, opened from its directory `model`.

    Or from each `corpus`, a file with both languages (TMX, XLIFF, PO, MO, TSV, CSV), the languages of which the
    settings of the text name; ``"mine.tmx:5"`` lets each of its pairs count five times. `unconfirmed` and `keep_going`
    are those of `camber.import_files`, but a broken file is an error.

    `method` is "phrase", or "hiero" for hierarchical rules that are extracted for every sentence, or "kernel" for a
    regression, which has no language model and no weights, only a scale that is chosen on the dev set, or "sparse" for
    what pairs that are selected for each sentence teach, or one that another package brings along (see
    `camber.pipeline.methods`).

    `lm`: ARPA files to use instead of a language model of the target side; `alignment`: a Pharaoh file instead of our
    own. Without a dev set, `held_out` pairs are kept out of training (None: a sensible number, none if nothing is
    tuned; 0: none). The weights are tuned on the dev set or the held-out pairs unless `tuned` is false. What the stages
    made stays in ``<model>.work``, so that an interrupted or changed training runs only what it must. Stages that take
    more than `memory` (bytes, or a text such as ``"2G"``; by default half of what is free) put the rest on disk, beside
    what they make; the model is the same.

    A model that training wrote is replaced. One that was changed since, by tuning say, is kept as ``<model>.old``; one
    that pairs were added to is not replaced at all: that is an error.

    >>> camber.train("train.de", "train.en", "my-model")                            # doctest: +SKIP
    """
    settings = settings or TrainSettings()
    corpora = [Corpus.of(item) for item in ([corpus] if isinstance(corpus, str | Path | Corpus) else corpus)]
    check_weights(corpora)
    text = _given_text(source, target, model, corpora)
    model = Path(model).resolve()
    references = [Path(dev_target)] if isinstance(dev_target, str | Path) else [Path(name) for name in dev_target]
    arpas = [Path(lm)] if isinstance(lm, str | Path) else [Path(name) for name in lm]
    chosen = METHODS.load(method)
    if not weighs(chosen):
        if arpas:
            raise SettingsError(f"the method {method} has no language model; leave lm out")
        if settings.tune.bend not in (KEEP, NONE):
            raise SettingsError(f"the method {method} has no weights to bend; leave the bend {settings.tune.bend} out")
        tuned = tuned and unweighed(chosen).left_open(settings)
    # all that can be known is checked before the long work: a wrong path should not cost an hour
    check_place(model, chosen.kind)
    check_added(model)
    dev = _read_dev(dev_source, references)
    held_out = _to_hold_out(held_out, has_dev=dev is not None, has_alignment=alignment is not None, tuned=tuned)
    _check_bend(settings.tune, tuned=tuned and (dev is not None or held_out != 0))

    with Stages(model.with_name(model.name + ".work")) as stages:
        training = Training(chosen, settings, stages, seed, engine, memory)
        weights: Path | None = None
        imported: Path | None = None
        if text is None:
            imported = training.imported(corpora, unconfirmed=unconfirmed, keep_going=keep_going).folder
            text, weights = (imported / SIDES[0], imported / SIDES[1]), imported / PAIR_WEIGHTS
        if dev is not None:
            _tell_of_repeats(dev, text[0])
        made = training.make(*text, arpas, Path(alignment) if alignment else None, held_out, weights=weights)
        remembered = training.memory(made, *text, imported) if settings.memory.memory else None
        dev = dev or _held_out(made.corpus)
        tuning, told = None, False
        if tuned and dev and _can_be_tuned_on(dev):
            if weighs(chosen):
                tuning = training.tune(made, dev)
            else:
                training, told = training.choose(made, dev), True
        if tuned and dev is None:
            log.info("not tuned: there is no dev set")
        if tuning is None and settings.tune.bend not in (KEEP, NONE):
            log.warning("not bent: %s is made by tuning, and there was too little text to tune on", settings.tune.bend)
        try:
            training.assemble(model, made, tuning, remembered)
        except PairsAdded as error:  # the work is not lost, and neither are the pairs
            beside = places.free_name(model, "trained")
            training.assemble(beside, made, tuning, remembered)
            raise PairsAdded(f"{error}; that happened while this training ran, whose model is in {beside}") from None
        if not keep_work:
            stages.remove()
    translator = load(model)
    if dev and tuning is None and not told:
        _report(translator, dev, engine)
    return translator


def _given_text(
    source: Name | None, target: Name | None, model: Name, corpora: Sequence[Corpus]
) -> tuple[Path, Path] | None:
    """Return the files of a parallel text, None if it comes from corpora; refuse what has no text, or both."""
    if not str(model):
        raise SettingsError("nothing says where the model goes; give the name of its directory as model")
    if corpora and (source is not None or target is not None):
        raise SettingsError("text comes from source and target, or from corpora; give one of them")
    if corpora:
        return None
    if source is None or target is None:
        raise SettingsError("there is no text to train on; give source and target, or a corpus")
    return Path(source), Path(target)


def _to_hold_out(asked: int | None, *, has_dev: bool, has_alignment: bool, tuned: bool) -> int | None:
    """Return how many pairs to hold out (None: a sensible number); refuse what contradicts itself."""
    if asked and (has_dev or has_alignment):
        raise SettingsError(
            f"no pairs are held out with {'a dev set' if has_dev else 'an alignment'}; leave held_out out"
        )
    # a file of alignments has a line for every pair, and all of them are used
    return 0 if has_dev or has_alignment or (asked is None and not tuned) else asked


def _check_bend(settings: TuneSettings, *, tuned: bool) -> None:
    """Refuse a bend that cannot be made, because nothing is tuned or the tuner is not made for so many weights."""
    if settings.bend in (KEEP, NONE):
        return
    if not tuned:
        raise SettingsError(f"the bend {settings.bend} is made by tuning, which needs a dev set or held-out pairs")
    if "bits" in settings_of(settings.bend):
        check_tuner(settings.tuner, [SPARSE, REGULARISER], f"the bins of the bend {settings.bend}")


def _read_dev(source: Name | None, references: list[Path]) -> Dev | None:
    """Read the dev set, if one was given: source lines, and the lines of every reference."""
    if source is None and not references:
        return None
    if source is None or not references:
        raise InputError("a dev set needs a source file and at least one target file", source or references[0])
    first, *others = read_parallel(source, *references)
    return first, others


def _held_out(corpus: Stage) -> Dev | None:
    """Return the pairs that were set aside as a dev set with one reference."""
    held = load_held_out(corpus.folder)
    return (held.source, [held.target]) if held else None


def _tell_of_repeats(dev: Dev, source: Path) -> None:
    """Warn if much of a dev set is training text: such lines say little about text that nobody has seen."""
    seen = seen_lines(dev[0], Lines(read_bytes(source), source))
    if seen > REPEATS * len(dev[0]):
        log.warning(
            "%s of %s dev lines stand in the training text, too; they flatter BLEU, and weights are tuned "
            "to lines that are known by heart",
            f"{seen:,}",
            f"{len(dev[0]):,}",
        )


def _can_be_tuned_on(dev: Dev) -> bool:
    """Say whether a dev set is worth tuning on, and tell the user if it is not."""
    if len(dev[0]) < FEWEST_TO_TUNE:
        log.info("not tuned: %d dev sentences are too few (at least %d)", len(dev[0]), FEWEST_TO_TUNE)
        return False
    return True


def _report(translator: Translator, dev: Dev, engine: Engine) -> None:
    """Say how well the model translates text that it was not trained on."""
    source, references = dev
    metric = BLEU(tokenize="none" if translator.text.settings.tokenizer == "none" else "13a")
    with step("dev"):
        score = float(metric.score(metric.statistics(translator.translate(source, engine), references).sum(0)))
    result("dev", "BLEU on %s dev lines: %.2f", f"{len(source):,}", score, metric="BLEU", score=score)
