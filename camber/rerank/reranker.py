"""The re-ranker: fit on a list with references, then re-rank any list of the same engine.

reranker = Reranker(tuner="mert", metric="bleu", length=True).fit(nbest, references)
better = reranker.rerank(other)          # re-scored and sorted, best first
reranker.save("my-reranker")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from camber.arrays.types import F8
from camber.bend.response import Response
from camber.engine import LOCAL, Engine
from camber.errors import CamberError, ModelError, SettingsError
from camber.lm.ngrams import NgramModel
from camber.metrics.metric import CLOSEST, Metric, References, make_metric
from camber.metrics.outside import Outside
from camber.model.directory import ModelDirectory, write_model
from camber.model.regression import ModelRegression
from camber.nbest import NBest
from camber.progress import Watcher, log, step, watched
from camber.rerank.choice import Trial, best_settings, combinations
from camber.rerank.features import OWN_RANK, OWN_SCORE, text_features
from camber.rerank.learner import Fitting, Learner, Texts
from camber.rerank.learners import LEARNERS, usual_tuner
from camber.rerank.own_order import unless_worse
from camber.rerank.regression import PREFIX, regression_features
from camber.rerank.settings import FeatureSettings, ResponseSettings
from camber.settings import Settings
from camber.tune.data import TuningData
from camber.tune.grid import Grid
from camber.tune.tuners import check_tuner

Chosen = TypeVar("Chosen", bound=Settings)

KIND = "rerank"
#: settings of a re-ranker that its model records as they are
_RECORDED = ("learner", "tuner", "metric", "tokenize", "lowercase", "reference_length", "seed", "cautious")
#: the end of a sentence, apart from its last word
_APART = re.compile(r"\s[.?!]$")


class Reranker:
    """Re-rank n-best lists by weights that were fitted to a metric.

    The list's own order (its score, or the place in it) is always one of the features, so the fitted model can keep it.
    `metric` is bleu, sbp, chrf, ter or extra:NAME, an outside score of the list (extra:-NAME: less is better); BLEU's
    brevity penalty looks at the closest or the shortest of several references (`reference_length`). `lm` is an n-gram
    model, or the path of an ARPA file; the fitted model keeps it. `regression` is the directory of a model that has one
    (:mod:`camber.rerank.regression`), which is needed again whenever the re-ranker is used. A `cautious` fit goes only
    as far from the own order as sentences held out inside the list confirm (:mod:`camber.tune.caution`), and nowhere
    if that does not make the list itself better. Other keyword arguments are those of :class:`FeatureSettings`, the
    features that are made from texts, and of :class:`ResponseSettings`, what learners make; each is an attribute, too.

    The `learner` is linear, or bins, overlap, lnr or mnr, which learn a curve for each feature
    (:mod:`camber.rerank.binned`) in at most ``2 ** bits`` bins, tied with the strength `beta` (lnr, mnr) as sharply as
    `gamma` says (mnr), with soft edges (`softness`), beside or in place of `lines`. Or it is trees
    (:mod:`camber.rerank.trees`): at most so many `trees` of so many `leaves`, which are constants or linear in one
    feature (`leaf`), over parts or whole hypotheses (`tree_scope`). Or it is mixture (:mod:`camber.rerank.mixture`):
    `kernels` of a `kernel_kind` in the space of all features, as wide as one of the factors in `bandwidth`. Without a
    `tuner`, it is the learner's own: pro for those with curves, mert for trees, expected-bleu for the others (mert or,
    with kernels, pro for other metrics than BLEU). A `grid` such as ``{"leaves": [2, 4]}`` has values of these settings
    to choose from by cross-validation (:mod:`camber.rerank.choice`).

    >>> nbest = NBest.of_hypotheses(("lm",), [0, 2, 4], ["x", "a b c d", "a b c d", "y"], [[-2.0], [-1], [-1], [-3]])
    >>> reranker = Reranker(tuner="mert", tokenize="none").fit(nbest, [["a b c d", "a b c d"]])
    >>> reranker.rerank(nbest).best_texts()
    ['a b c d', 'a b c d']
    """

    def __init__(
        self,
        learner: str = "linear",
        tuner: str | None = None,
        metric: str = "bleu",
        *,
        tokenize: str = "13a",
        lowercase: bool = False,
        reference_length: str = CLOSEST,
        lm: NgramModel | str | Path | None = None,
        regression: ModelRegression | str | Path | None = None,
        cautious: bool = True,
        tuner_settings: Mapping[str, Any] | None = None,
        seed: int = 1,
        engine: Engine = LOCAL,
        grid: Grid | None = None,
        **settings: Any,
    ) -> None:
        self.learner, self.metric = learner, metric
        self.tuner = tuner or usual_tuner(learner, metric)
        self.tokenize, self.lowercase = tokenize, lowercase
        self.reference_length = reference_length
        self.lm, self.regression, self.cautious = lm, regression, cautious
        self.tuner_settings = dict(tuner_settings or {})
        self.seed, self.engine, self.grid = seed, engine, grid
        usual = FeatureSettings().to_dict() | ResponseSettings().to_dict()
        for name in settings:
            if name not in usual:
                known = ", ".join([*vars(self), *usual])
                raise SettingsError(f"unknown setting {name!r} of a re-ranker; known: {known}")
        vars(self).update(usual | settings)  # attributes like the others, which are checked when it is fitted
        self.trials: tuple[Trial, ...] = ()  # what the grid gave
        self._fitted: Learner | None = None
        self._optional: frozenset[str] = frozenset()  # features that some hypotheses lacked, and lists may lack
        self._facts: dict[str, int] = {}
        self._fitted_with = ""  # the signature of the regression's model

    # -- settings ------------------------------------------------------------------------------------------------------
    @property
    def feature_settings(self) -> FeatureSettings:
        """The features that are made from texts."""
        return self._settings(FeatureSettings)

    @property
    def response_settings(self) -> ResponseSettings:
        """The bins or trees that learners other than the linear one make."""
        return self._settings(ResponseSettings)

    def _settings(self, cls: type[Chosen]) -> Chosen:
        return cls.from_dict({item.name: getattr(self, item.name) for item in fields(cls)})

    def make_metric(self) -> Metric:
        """Make the metric that is fitted to."""
        return make_metric(self.metric, self.tokenize, lowercase=self.lowercase, reference_length=self.reference_length)

    @property
    def fitted(self) -> Learner:
        """What was learnt: names of features, weights, how far it went."""
        if self._fitted is None:
            raise CamberError("this re-ranker is not fitted yet; call fit, or load a model")
        return self._fitted

    def responses(self) -> list[Response]:
        """Return the learnt response of every bent feature; none for a linear re-ranker."""
        return self.fitted.responses()

    def _language_model(self) -> NgramModel | None:
        if isinstance(self.lm, str | Path):
            self.lm = NgramModel.read(self.lm)
        return self.lm

    def _opened_regression(self) -> ModelRegression | None:
        if isinstance(self.regression, str | Path):
            self.regression = ModelRegression.open(self.regression)
        return self.regression

    # -- fitting -------------------------------------------------------------------------------------------------------
    @watched
    def fit(
        self,
        nbest: NBest,
        refs: References | Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        *,
        progress: Watcher | None = None,
    ) -> Reranker:
        """Fit weights to a list with its references: lines, or several texts of lines; none for an outside score."""
        data = self.tuning_data(nbest, refs, sources)
        return self.fit_data(data).watch(data, nbest, sources)

    def tuning_data(
        self,
        nbest: NBest,
        refs: References | Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
    ) -> TuningData:
        """Return the columns that are fitted to: all features, the metric's statistics, and parts where there are."""
        learner = LEARNERS.load(self.learner)
        check_tuner(self.tuner, learner.needs, learner.task, otherwise="--learner linear")
        metric = self.make_metric()
        references = _references(refs, metric)
        _tell_empty(nbest)
        if references:
            _warn_if_tokenised(nbest, references[0])
        with step("features and scores of the list"):
            data = TuningData.of(self.with_features(nbest, sources), metric, references)
            return replace(data, parts=nbest.hypothesis_parts())

    def fit_data(self, data: TuningData) -> Reranker:
        """Fit to columns that :meth:`tuning_data` made (or a part of them, as cross-validation does)."""
        if self.grid is not None:
            useful = LEARNERS.load(self.learner).settings(self.learner)
            todo = combinations(self.grid, self.response_settings, useful, self.learner)
            best, self.trials = best_settings(data, todo, self._learnt)
            vars(self).update(best.to_dict())
        with step(f"fit {self.learner}"):
            self._fitted = self._learnt(data, self.response_settings)
        lacked = [] if data.absent is None else np.flatnonzero(data.absent.any(0)).tolist()
        self._optional = frozenset(data.names[place] for place in lacked)
        self._facts = {"sentences": len(data), "hypotheses": data.hypotheses, "features": len(data.names)}
        return self

    def _learnt(self, data: TuningData, responses: ResponseSettings) -> Learner:
        """Return the learner that was fitted to columns, or one that keeps the own order."""
        own_order = max(place for place, name in enumerate(data.names) if name in (OWN_SCORE, OWN_RANK))
        how = Fitting(
            self.learner,
            own_order,
            self.tuner,
            tuner_settings=self.tuner_settings,
            responses=responses,
            cautious=self.cautious,
            seed=self.seed,
            engine=self.engine,
        )
        fitted = LEARNERS.load(self.learner).fit(data, how)
        return unless_worse(fitted, data, own_order) if self.cautious else fitted

    def watch(self, data: TuningData, nbest: NBest, sources: Sequence[str] | None = None) -> Reranker:
        """Let what was fitted see what it does to the texts of a list, for those who want to know."""
        lines = nbest.sources if sources is None else sources
        self._fitted = self.fitted.watched(data, Texts(nbest.texts, lines))
        return self

    def with_features(self, nbest: NBest, sources: Sequence[str] | None = None) -> NBest:
        """Return the list, one part per hypothesis, with the features that this re-ranker makes from texts."""
        lines = nbest.sources if sources is None else list(sources)
        made = text_features(nbest, self.feature_settings, self._language_model(), lines)
        regression = self._opened_regression()
        if regression is not None:
            if self._fitted_with not in ("", regression.signature):
                log.warning(
                    "the re-ranker was fitted with the regression of another model, %s; this one is %s",
                    self._fitted_with, regression.signature,
                )  # fmt: skip
            made |= regression_features(nbest, regression, lines, self.engine)
        if both := [name for name in made if name in nbest.names]:
            raise CamberError(f"the list already has a feature {both[0]!r}, which the re-ranker makes; rename it")
        table = np.column_stack([nbest.hypothesis_features(), *made.values()])
        return NBest.of_hypotheses(
            (*nbest.names, *made),
            nbest.sentence_offsets,
            nbest.texts,
            table,
            nbest.scores,
            extra=nbest.extra,
        )

    # -- applying ------------------------------------------------------------------------------------------------------
    def scores(self, nbest: NBest, sources: Sequence[str] | None = None) -> F8:
        """Return the score of every hypothesis, float64[hypotheses]; the features must be those of the fitting."""
        fitted = self.fitted
        wide = self.with_features(nbest, sources)
        columns = dict(zip(wide.names, wide.hypothesis_features().T, strict=True))
        missing = [name for name in fitted.names if name not in columns and name not in self._optional]
        known = set(fitted.names)  # a feature that some hypotheses lack may be new
        unknown = [name for name, column in columns.items() if name not in known and not np.isnan(column).any()]
        if missing:
            hint = "; scores that it was fitted with are given by --scores NAME=FILE (NBest.with_feature)"
            if missing == ["length.ratio"]:
                hint = "; give the sources as when it was fitted"
            if any(name.startswith(PREFIX) for name in missing):
                hint = "; give the model of its regression (--regression), and the sources, as when it was fitted"
            raise CamberError(
                f"the list lacks features that the model was fitted on: {', '.join(missing)}; "
                f"it has: {', '.join(wide.names)}{hint}"
            )
        if unknown:
            raise CamberError(
                f"the list has features that the model does not know: {', '.join(unknown)}; fit it again with them, "
                f"or give a list with: {', '.join(fitted.names)}"
            )
        absent = np.full(wide.hypotheses, np.nan)
        table = np.column_stack([columns.get(name, absent) for name in fitted.names])
        return fitted.scores(table, nbest.hypothesis_parts())

    def rerank(self, nbest: NBest, sources: Sequence[str] | None = None) -> NBest:
        """Return the list with the model's scores, every sentence's hypotheses best first (equals in their order)."""
        _tell_empty(nbest)
        with step("score the list"):
            scores = self.scores(nbest, sources)
        bounds = zip(nbest.sentence_offsets[:-1].tolist(), nbest.sentence_offsets[1:].tolist(), strict=True)
        order = [start + np.argsort(-scores[start:end], kind="stable") for start, end in bounds]
        return replace(nbest, scores=scores).of_rows(order)

    # -- on disk -------------------------------------------------------------------------------------------------------
    def save(self, path: str | Path, report: str = "") -> None:
        """Write a model directory of kind "rerank", with its language model if it has one."""
        fitted, lm, regression = self.fitted, self._language_model(), self._opened_regression()
        with write_model(path, KIND) as draft:
            fitted.save(draft)
            if lm is not None:
                draft.path("lm/lm.words.txt")
                lm.save(draft.folder / "lm", "lm")
            if report:
                draft.path("report.txt").write_text(report + "\n", "utf-8")
            chosen = {name: getattr(self, name) for name in _RECORDED}
            draft.settings[KIND] = {**chosen, "step": fitted.step, "sparse": sorted(self._optional), **fitted.record()}
            if useful := LEARNERS.load(self.learner).settings(self.learner):
                plain, settings = ResponseSettings().to_dict(), self.response_settings.to_dict()
                draft.settings["bend"] = {
                    name: value for name, value in settings.items() if name in useful or value != plain[name]
                }
            draft.settings["features"] = self.feature_settings.to_dict()
            draft.settings["tuner"] = dict(self.tuner_settings)
            if regression is not None:
                draft.settings["regression"] = {"kind": regression.kind, "signature": regression.signature}
            draft.sizes |= fitted.sizes() | self._facts | {"language_models": int(lm is not None)}

    @classmethod
    def load(cls, path: str | Path) -> Reranker:
        """Open a model directory that :meth:`save` wrote."""
        return ModelDirectory.opened(path, cls.of)

    @classmethod
    def of(cls, model: ModelDirectory) -> Reranker:
        """Open what a model directory holds (inside :meth:`ModelDirectory.opened`)."""
        path = model.path
        if model.kind != KIND:
            raise ModelError(f"{path}: a {model.kind} model, which cannot re-rank lists; fit one: camber rerank fit")
        try:
            return cls._as_recorded(model, model.settings[KIND])
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path}: not what a re-ranker records ({error}); fit it again") from None

    @classmethod
    def _as_recorded(cls, model: ModelDirectory, recorded: Mapping[str, Any]) -> Reranker:
        path = model.path
        if recorded["learner"] not in LEARNERS:
            raise ModelError(f"{path}: learner {recorded['learner']!r}, which this version does not know")
        lm = NgramModel.load(model.path / "lm", "lm") if model.sizes.get("language_models") else None
        features = FeatureSettings.from_dict(model.settings["features"]).to_dict()
        responses = ResponseSettings.from_dict(model.settings.get("bend", {})).to_dict()
        chosen = {name: recorded[name] for name in _RECORDED if name in recorded}  # older models lack some
        reranker = cls(**chosen, **features, **responses, lm=lm, tuner_settings=model.settings.get("tuner", {}))
        reranker._optional = frozenset(recorded["sparse"])
        reranker._fitted = LEARNERS.load(reranker.learner).load(model, recorded)
        reranker._fitted_with = str(model.settings.get("regression", {}).get("signature", ""))
        reranker._facts = {name: model.sizes[name] for name in ("sentences", "hypotheses", "features")}
        return reranker


def as_references(refs: References | Sequence[str] | None) -> References:
    """Return references as a list of texts; they may be given as the lines of one text.

    >>> as_references(["a", "b"])
    [['a', 'b']]
    """
    if not refs:
        return []
    texts: Any = [list(refs)] if isinstance(refs[0], str) else refs
    return texts


def _references(refs: References | Sequence[str] | None, metric: Metric) -> References:
    if isinstance(metric, Outside):
        if refs:
            log.info("references are not used: the metric is the outside score %s", metric.column)
        return []
    if not refs:
        raise CamberError(f"{metric.name} needs references; give them, or fit to an outside score (extra:NAME)")
    return as_references(refs)


def _tell_empty(nbest: NBest, named: int = 5) -> None:
    """Say how many sentences have no hypotheses, and name the first."""
    empty = np.flatnonzero(np.diff(nbest.sentence_offsets) == 0).tolist()
    if empty:
        first = ", ".join(str(nbest.first + place) for place in empty[:named]) + (", …" if len(empty) > named else "")
        log.warning(
            "%s of %s sentences have no hypotheses and count as empty translations: %s (the first is 0)",
            f"{len(empty):,}", f"{len(nbest):,}", first,
        )  # fmt: skip


def _warn_if_tokenised(nbest: NBest, references: Sequence[str | None]) -> None:
    """Warn if the texts of a list look tokenised and the references do not: scores would be too low."""
    texts = nbest.best_texts()
    apart, expected = (sum(bool(_APART.search(line or "")) for line in lines) for lines in (texts, references))
    if apart >= 3 and 5 * apart >= len(texts) and apart > 4 * expected:
        log.warning(
            "the list looks tokenised (%s of its best texts end in ' .', ' ?' or ' !'), the references do not (%s); "
            "give a list of finished texts, or references that are tokenised alike and --tokenize none",
            f"{apart:,}", f"{expected:,}",
        )  # fmt: skip
