"""The demonstration: the built-in corpus, a training, a test, and a page about it all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from camber.align.pharaoh import Alignment
from camber.arrays.types import F8
from camber.corpus.bitext import Bitext, Sentences
from camber.corpus.hotel import SOURCE_LANG, TARGET_LANG, HotelCorpus, Pairs, everyday, generate
from camber.decode.phrase.features import untuned_weights
from camber.engine import LOCAL, Engine
from camber.errors import CamberError
from camber.features.weights import Weights
from camber.files import read_lines, write_lines
from camber.metrics.bleu import BLEU
from camber.metrics.compare import Result, compare
from camber.model.translator import Translation, Translator
from camber.pipeline.corpus import load_bitext
from camber.pipeline.settings import TrainSettings
from camber.pipeline.stages import RECORD
from camber.pipeline.train import train
from camber.progress import Watcher, stage, watched
from camber.report.comparison import Comparison
from camber.report.markup import Markup
from camber.report.page import Aligned, Candidate, Report, Shown, TextFacts
from camber.report.segmentation import RIGHT, Segmentation, error_rows, example_rows
from camber.report.tuning import learning, responses_of
from camber.rules.phrase.store import RuleStore
from camber.text.settings import TextSettings
from camber.tune.loop import ROUNDS, TuneSettings

#: how many sentences the page draws, how many of the worst it lists, and how long its n-best list is
EXAMPLES, ERRORS, CANDIDATES = 6, 6, 10
#: weights that the test set is translated with
UNTUNED, TUNED = "untuned", "tuned"
_NOTE = "The test set, which neither training nor tuning saw, with the weights before tuning and after it."
_NAMES = ("Spanish", "English")
_STAGES = {
    "corpus": "tokenise and clean",
    "align": "word alignment",
    "lm": "language model",
    "rules": "phrase pairs",
    "tune": "tuning",
}


@dataclass(frozen=True)
class Sizes:
    """How many sentence pairs to generate."""

    train: int = 10_000
    dev: int = 500
    test: int = 500
    everyday: int = 1_500  # more to train on, so that a visitor's own sentence finds its words


#: of tuning, at most: a visitor waits, and more gain nothing here
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Demo:
    """What a demonstration gave."""

    folder: Path
    report: Path
    translator: Translator
    scores: list[Result]
    stages: list[tuple[str, float | None]]  # seconds; None: kept from an earlier run
    examples: Sequence[Shown]
    errors: Sequence[Shown]
    seconds: float


@watched
def run_demo(
    folder: str | Path = "camber-demo",
    *,
    seed: int = 1,
    engine: Engine = LOCAL,
    sizes: Sizes | None = None,
    progress: Watcher | None = None,
) -> Demo:
    """Generate the hotel corpus into `folder`, train on it, translate its test set, and write ``report.html`` there.

    >>> run_demo("camber-demo").scores[0].score                                       # doctest: +SKIP
    97.4
    """
    started = time.monotonic()
    folder, sizes = Path(folder), sizes or Sizes()
    with stage("generate"):
        corpus = _with_everyday(generate(sizes.train, sizes.dev, sizes.test, seed), sizes.everyday, seed)
        _write_corpus(corpus, folder)
    stages: list[tuple[str, float | None]] = [("generate the corpus", time.monotonic() - started)]

    clock = time.time()
    translator = train(
        folder / f"train.{SOURCE_LANG}",
        folder / f"train.{TARGET_LANG}",
        folder / "model",
        dev_source=folder / f"dev.{SOURCE_LANG}",
        dev_target=folder / f"dev.{TARGET_LANG}",
        settings=TrainSettings(
            text=TextSettings(source_lang=SOURCE_LANG, target_lang=TARGET_LANG),
            tune=TuneSettings(iterations=MOST_ROUNDS),
        ),
        seed=seed,
        engine=engine,
    )
    stages += _stage_seconds(folder / "model.work", clock)

    started_test = time.monotonic()
    with stage("test"):
        translations = [best[0] for best in translator.translations(corpus.test.source, engine=engine)]
        outputs = [item.text for item in translations]
        write_lines(folder / f"test.output.{TARGET_LANG}", outputs)
        untuned = _untuned(translator).translate(corpus.test.source, engine=engine)
        both = {UNTUNED: untuned, TUNED: outputs}
        compared = compare(both, [corpus.test.target], ["bleu", "chrf"], trials=2000, seed=seed)
        scores = compare({"demo": outputs}, [corpus.test.target], ["bleu", "chrf"], seed=seed)
    stages.append(("translate and score the test set", time.monotonic() - started_test))

    with stage("report"):
        metric = BLEU()
        tables = {name: metric.statistics(lines, [corpus.test.target]) for name, lines in both.items()}
        shown = Comparison(both, tables, metric, compared, [corpus.test.target], corpus.test.source, note=_NOTE)
        report = _report(folder, corpus, translator, translations, scores, stages, seed, engine)
        curves = responses_of(translator, corpus.dev.source)
        report = replace(report, tuning=[*_learning(folder / "model"), *shown.sections(), *curves])
        report.write(folder / "report.html")
    return Demo(
        folder, folder / "report.html", translator, scores, stages, report.examples, report.errors,
        time.monotonic() - started,
    )  # fmt: skip


def _report(
    folder: Path,
    corpus: HotelCorpus,
    translator: Translator,
    translations: Sequence[Translation],
    scores: list[Result],
    stages: list[tuple[str, float | None]],
    seed: int,
    engine: Engine,
) -> Report:
    """Choose what the page shows, from the translations of the test set and what training left in the folder."""
    work, test = folder / "model.work", corpus.test
    store, bitext = RuleStore.load(folder / "model" / "rules"), load_bitext(work / "corpus")
    sentence_scores = _sentence_bleu([item.text for item in translations], test.target)
    segmentations = [Segmentation.of(item, store) for item in translations]

    def shown(rows: Sequence[int]) -> list[Shown]:
        return [Shown(segmentations[row], test.source[row], translations[row].text, test.target[row]) for row in rows]

    examples = example_rows(segmentations, (sentence_scores >= RIGHT).tolist(), EXAMPLES)
    errors = error_rows(segmentations, sentence_scores.tolist(), ERRORS)
    listed = test.source[examples[0] if examples else 0]
    return Report(
        title="A translator for the hotel's front desk",
        lead=f"{_NAMES[0]} to {_NAMES[1]}, learnt from the corpus that is built into Camber: what was learnt, how "
        "well it translates, and why it translates as it does.",
        languages=_NAMES,
        texts=_text_facts(corpus, translator, bitext),
        samples=list(zip(corpus.train.source[:5], corpus.train.target[:5], strict=True)),
        stages=stages,
        sizes=_model_facts(translator, store),
        scores=scores,
        sentence_scores=sentence_scores,
        lengths=(bitext.source.lengths, bitext.target.lengths),
        aligned=_aligned_pairs(bitext, work / "align"),
        examples=shown(examples),
        errors=shown(errors),
        feature_names=translator.decoder.names,
        weights=translator.decoder.weights,
        listed=listed,
        candidates=_candidates(translator, listed, engine),
        footer=f"Seed {seed}. Everything on this page comes from the folder it stands in: train, dev and test "
        "text, the model, and the translations.",
    )


def _untuned(translator: Translator) -> Translator:
    """Return the translator with the weights that tuning began with."""
    weights = Weights(untuned_weights(1))
    return translator.shaped(translator.decoder.reweighted(weights.values), weights)


def _learning(model: Path) -> list[Markup]:
    """Return the learning curves that a model keeps; one of an older work folder has none."""
    return [learning(read_lines(model / ROUNDS))] if (model / ROUNDS).exists() else []


def _with_everyday(corpus: HotelCorpus, pairs: int, seed: int) -> HotelCorpus:
    """Add everyday sentences to the training text, but none that is in another set."""
    known = {*corpus.train.source, *corpus.dev.source, *corpus.test.source}
    new = [pair for pair in zip(*everyday(pairs, seed), strict=True) if pair[0] not in known]
    source, target = ([*side, *(pair[at] for pair in new)] for at, side in enumerate(corpus.train))
    return HotelCorpus(Pairs(source, target), corpus.dev, corpus.test)


def _write_corpus(corpus: HotelCorpus, folder: Path) -> None:
    """Write both sides of the three sets."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CamberError(f"{folder}: cannot be made ({error.strerror}); choose another --dir") from None
    for name, pairs in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test)):
        write_lines(folder / f"{name}.{SOURCE_LANG}", pairs.source)
        write_lines(folder / f"{name}.{TARGET_LANG}", pairs.target)


def _stage_seconds(work: Path, since: float) -> list[tuple[str, float | None]]:
    """Return how long the stages took that finished after `since`: each began when the one before had ended."""
    ends = sorted((path.stat().st_mtime, path.parent.name) for path in work.glob(f"*/{RECORD}"))
    seconds: list[tuple[str, float | None]] = []
    before = since
    for end, name in ends:
        seconds.append((_STAGES.get(name, name), max(0.0, end - before) if end >= since else None))
        before = max(before, end)
    return [*seconds, ("assemble the model, check it on dev", max(0.0, time.time() - before))]


def _sentence_bleu(outputs: Sequence[str], references: Sequence[str]) -> F8:
    metric = BLEU(effective_order=True)
    return np.asarray(metric.score(metric.statistics(outputs, [references])), np.float64)


def _text_facts(corpus: HotelCorpus, translator: Translator, trained: Bitext) -> list[TextFacts]:
    """Count tokens and words of the three sets, and what the training text lacks."""
    facts = []
    text = translator.text
    for name, pairs in (("train", corpus.train), ("dev", corpus.dev), ("test", corpus.test)):
        if name == "train":
            sides = [trained.source, trained.target]
        else:
            sides = [
                Sentences.encode([text.source_tokens(line) for line in pairs.source]),
                Sentences.encode([text.target_tokens(line) for line in pairs.target]),
            ]
        known = set(trained.source.vocabulary.words)
        strange = [word not in known for word in sides[0].vocabulary.words]
        unknown = float(np.mean(np.asarray(strange)[sides[0].ids])) if name != "train" else None
        facts.append(
            TextFacts(
                name,
                len(pairs.source),
                (len(sides[0].ids), len(sides[1].ids)),
                (len(sides[0].vocabulary), len(sides[1].vocabulary)),
                unknown,
            )
        )
    return facts


def _model_facts(translator: Translator, store: RuleStore) -> list[tuple[str, str]]:
    """Say what the model is made of."""
    sizes = translator.directory.sizes if translator.directory else {}
    facts = [
        ("source phrases", f"{store.phrases:,}"),
        ("phrase pairs (rules)", f"{len(store):,}"),
        ("longest source phrase, words", f"{store.max_phrase_length}"),
        ("order of the language model", f"{sizes.get('lm_order', 0)}"),
        ("features", f"{len(translator.decoder.names)}"),
    ]
    if translator.directory:
        size = sum(int(item["bytes"]) for item in translator.directory.files.values())
        facts.append(("size on disk", f"{size / 1e6:.1f} MB"))
    return facts


def _aligned_pairs(bitext: Bitext, folder: Path, count: int = 2) -> list[Aligned]:
    """Choose training pairs of a good size in which many links cross and few words are left alone."""
    alignment = Alignment(np.load(folder / "links.npy"), np.load(folder / "offsets.npy"))
    interest: dict[int, int] = {}
    for row in range(min(len(bitext), 3000)):
        links, sizes = alignment[row], (len(bitext.source[row]), len(bitext.target[row]))
        if not 7 <= min(sizes) <= max(sizes) <= 14:
            continue
        crossings = int(np.sum((links[:, None, 0] < links[None, :, 0]) & (links[:, None, 1] > links[None, :, 1])))
        alone = sizes[0] + sizes[1] - len(set(links[:, 0].tolist())) - len(set(links[:, 1].tolist()))
        interest[row] = min(crossings, 12) - 4 * alone
    chosen: list[Aligned] = []
    for row in sorted(interest, key=lambda row: -interest[row]) or range(min(len(bitext), count)):
        source = bitext.source.vocabulary.decode(bitext.source[row])
        # not two pairs of the same pattern
        if all(2 * len(set(source) & set(other.source)) < len(source) for other in chosen):
            target = bitext.target.vocabulary.decode(bitext.target[row])
            chosen.append(Aligned(source, target, [(int(i), int(j)) for i, j in alignment[row]]))
        if len(chosen) == count:
            break
    return chosen


def _candidates(translator: Translator, line: str, engine: Engine) -> list[Candidate]:
    """Return the best translations of a sentence."""
    translations: list[Translation] = next(iter(translator.translations([line], CANDIDATES, engine=engine)))
    return [Candidate(item.text, item.derivation.score, item.derivation.linear_sums) for item in translations]
