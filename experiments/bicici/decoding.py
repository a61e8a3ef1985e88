"""Figures 2 to 4 and Table 4: translations through graphs, by W as a phrase table, and by phrases of the instances."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from features import SPANS, regressed
from texts import Pairs, Text

from camber.corpus import Vocabulary
from camber.corpus.inputs import as_inputs
from camber.decode.phrase.settings import DecodeSettings
from camber.decode.searcher import LogLinear
from camber.engine import Threads
from camber.metrics.bleu import BLEU
from camber.model.phrase import PhraseRules
from camber.model.sparse import SparseRules
from camber.regress.graph_settings import GraphSettings
from camber.regress.transduce.settings import SparseSettings
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import StoredRules
from camber.tune.course import tune
from camber.tune.dev_set import DevSet
from camber.tune.loop import TuneSettings

METRIC = BLEU(tokenize="none")
#: what the paper leaves of a phrase table's scores, so that it has no more than W
FEW = "p_s_given_t,p_t_given_s"
#: numbers of instances
SIZES = (50, 100, 250, 500)


@dataclass(frozen=True)
class System:
    """One way to translate: a condition of a figure or a table."""

    name: str
    sparse: dict[str, Any] = field(default_factory=dict)  # empty: phrases of all pairs
    graph: dict[str, Any] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    whole_dev: bool = False  # tuned on the whole dev file

    def decoder(self, text: Text) -> LogLinear:
        """Return the decoder with untuned weights."""
        rules = RuleSettings.from_dict(self.rules)
        everything = text.phrases
        if rules.max_phrase_length != 7:
            everything = extract(text.index.bitext, text.index.alignment, rules, Threads(1))
        if not self.sparse:
            made: Any = PhraseRules(everything, rules.features, DecodeSettings())
        else:
            made = SparseRules(
                text.index,
                SparseSettings.from_dict(self.sparse),
                GraphSettings.from_dict(self.graph),
                rules,
                DecodeSettings(),
                StoredRules(everything, rules.features),
            )
        return made.weighted(text.languages, made.untuned(len(text.languages)))

    def run(self, text: Text) -> dict[str, Any]:
        """Tune on dev by MERT, translate the test set, and tell BLEU and what the search met."""
        begin = time.thread_time()
        decoder = self.decoder(text).remembering()
        dev = text.dev_file if self.whole_dev else text.sets["dev"]
        settings = TuneSettings(tuner="mert", iterations=8, nbest=100)
        outcome = tune(decoder, _dev_set(decoder.target_vocabulary, dev), settings, 1, Threads(1))
        middle = time.thread_time()
        source, target = text.sets["test"]
        work = np.zeros(len(outcome.decoder.WORK), np.int64)
        best = outcome.decoder.decode(as_inputs(source), engine=Threads(1), work=work)
        lines = [" ".join(derivations[0].words) for derivations in best]
        statistics = METRIC.statistics(lines, [[" ".join(words) for words in target]])
        found: dict[str, Any] = {}
        if self.sparse.get("decoder", "graph") == "graph" and self.sparse:
            chosen = SparseSettings.from_dict({**self.sparse, "decoder": "table"})
            thresholds = regressed(text, text.sets["dev"], chosen).best_thresholds()
            guesses = regressed(text, text.sets["test"], chosen)
            found = {"f1": guesses.measures(thresholds)["f1"], "sentence_f1": guesses.sentence_f1(thresholds).tolist()}
        return {
            **found,
            "dev": float(outcome.scores.mean()),
            "bleu": float(METRIC.score(statistics.sum(0))),
            "lines": lines,
            "statistics": np.asarray(statistics).tolist(),
            "weights": outcome.weights.values,
            "work": dict(zip(outcome.decoder.WORK, work.tolist(), strict=True)),
            "cpu_tune": middle - begin,
            "cpu_sentence": (time.thread_time() - middle) / len(source),
        }


def _dev_set(vocabulary: Vocabulary, pairs: Pairs) -> DevSet:
    source, target = pairs
    return DevSet([list(words) for words in source], [[list(words) for words in target]], vocabulary, "bleu")


#: n-grams that graphs are made of (Figures 2 and 3), and W as a phrase table
GRAPHS = {"multi30k": "2-grams", "eutrans": "1&2-grams"}
TABLES = "1&2-grams"


def systems(name: str, chosen: dict[str, dict[str, str]]) -> Iterator[System]:
    """Yield the systems of a corpus; `chosen` are the settings that dev liked best: n-grams → regressor → settings."""
    graph = dict(zip(("shortest", "order"), SPANS[GRAPHS[name]], strict=True))
    yield System("phrase", {})
    for longest in (2, 3):
        yield System(f"phrase, {longest} words, few", rules={"max_phrase_length": longest, "rule_features": FEW})
    for instances in SIZES:
        for regressor, settings in chosen[GRAPHS[name]].items():
            own = {"regressor": regressor, "regressor_settings": settings, "instances": instances}
            yield System(f"graph, {regressor}, {instances}", {**own, **graph}, {"features": "paper"})
        for regressor, settings in chosen[TABLES].items():
            own = {"regressor": regressor, "regressor_settings": settings, "instances": instances}
            yield System(f"table, {regressor}, {instances}", {**own, "decoder": "table"})
        for longest in (2, 3):
            yield System(
                f"individual, {longest}, {instances}",
                {"decoder": "individual", "instances": instances, "phrase_length": longest},
                rules={"rule_features": FEW},
            )
    for instances in (250, 500):
        yield System(f"individual, 7, {instances}", {"decoder": "individual", "instances": instances})
        yield System(f"mixed, {instances}", {"decoder": "mixed", "instances": instances})
    for regressor, settings in chosen[TABLES].items():
        own = {"regressor": regressor, "regressor_settings": settings, "instances": 250}
        yield System(f"feature, {regressor}, 250", {**own, "decoder": "feature"})
    for regressor, settings in chosen[GRAPHS[name]].items():
        own = {"regressor": regressor, "regressor_settings": settings, "instances": 250}
        yield System(f"graph more, {regressor}, 250", {**own, **graph}, {"features": "more"})
    if name == "multi30k":
        yield System("phrase, whole dev", {}, whole_dev=True)
