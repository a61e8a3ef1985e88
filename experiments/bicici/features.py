"""Tables 1 to 3: how well regressors tell which target n-grams a translation has."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from texts import Pairs, Text

from camber.corpus import Sentences
from camber.engine import Threads
from camber.regress.select.coverage import coverage
from camber.regress.transduce.instances import Instances
from camber.regress.transduce.ngrams import NgramRows
from camber.regress.transduce.regression import SentenceRegression
from camber.regress.transduce.settings import SparseSettings
from camber.rules.phrase.extraction import extract
from camber.rules.phrase.settings import RuleSettings

#: what tables call n-grams of some lengths
SPANS = {"1-grams": (1, 1), "2-grams": (2, 2), "1&2-grams": (1, 2)}
#: thresholds that are tried for n-grams of a length
TRIED = 100


@dataclass(frozen=True)
class Guesses:
    """What is expected of the target n-grams of a set, and which of them its references have."""

    values: np.ndarray  # [n-grams of all sentences]
    right: np.ndarray  # whether the reference has it
    lengths: np.ndarray
    owners: np.ndarray  # the sentence
    references: np.ndarray  # [sentences] distinct n-grams of the reference
    wanted: dict[int, int]  # the same of all references, by length
    sizes: tuple[float, float]  # mean numbers of source and target n-grams

    def chosen(self, thresholds: dict[int, float]) -> np.ndarray:
        """Return which n-grams are taken to be there."""
        edges = np.array([thresholds.get(n, np.inf) for n in range(int(self.lengths.max(initial=0)) + 1)])
        return np.asarray(self.values >= edges[self.lengths])

    def sentence_f1(self, thresholds: dict[int, float]) -> np.ndarray:
        """Return F1 of every sentence."""
        chosen, sentences = self.chosen(thresholds), len(self.references)
        hits = np.bincount(self.owners[chosen & self.right], minlength=sentences)
        return np.asarray(2 * hits / (np.bincount(self.owners[chosen], minlength=sentences) + self.references))

    def counts(self, thresholds: dict[int, float]) -> tuple[int, int, int, int]:
        """Return true positives, false positives, true negatives and false negatives."""
        chosen = self.chosen(thresholds)
        hits = int((chosen & self.right).sum())
        wrong = int(chosen.sum()) - hits
        return hits, wrong, int((~self.right).sum()) - wrong, sum(self.wanted.values()) - hits

    def measures(self, thresholds: dict[int, float]) -> dict[str, float]:
        """Return BER, precision, recall and F1 (bicici Eq. 6-7) of all sentences together."""
        hits, wrong, passed, missed = self.counts(thresholds)
        precision, recall = hits / max(1, hits + wrong), hits / max(1, hits + missed)
        ber = (wrong / max(1, passed + wrong) + missed / max(1, hits + missed)) / 2
        f1 = 2 * precision * recall / max(1e-12, precision + recall)
        return {"ber": ber, "precision": precision, "recall": recall, "f1": f1}

    def best_thresholds(self) -> dict[int, float]:
        """Return the threshold of every length, such that F1 of all n-grams together is greatest."""
        steps = []
        for n, wanted in self.wanted.items():
            here = self.lengths == n
            order = np.argsort(-self.values[here], kind="stable")
            values, right = self.values[here][order], self.right[here][order]
            last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # equal values go together
            last = last[: np.searchsorted(last, 6 * wanted) + 1]
            last = np.unique(last[np.linspace(0, len(last) - 1, TRIED).astype(int)]) if len(last) else last
            hits = np.append(0, np.cumsum(right)[last])
            steps.append((n, np.append(np.inf, values[last]), hits, np.append(0, last + 1)))
        total = sum(self.wanted.values())
        hits, chosen = np.zeros(1), np.zeros(1)
        for _, _, own_hits, own_chosen in steps:
            hits = (hits[..., None] + own_hits).reshape(*hits.shape, -1)
            chosen = (chosen[..., None] + own_chosen).reshape(*chosen.shape, -1)
        f1 = 2 * hits / np.maximum(1, chosen + total)
        place = np.unravel_index(int(np.argmax(f1)), f1.shape)[1:]
        return {n: float(values[at]) for (n, values, _, _), at in zip(steps, place, strict=True)}


def ngrams(words: Sequence[str], lengths: Sequence[int]) -> set[tuple[str, ...]]:
    """Return the distinct n-grams of a sentence."""
    return {tuple(words[at : at + n]) for n in lengths for at in range(len(words) - n + 1)}


def gathered(
    text: Text, pairs: Pairs, lengths: Sequence[int], guess: Callable[[list[str]], tuple[NgramRows, np.ndarray, int]]
) -> Guesses:
    """Collect what `guess` says about the target n-grams of every source sentence."""
    values, right, sizes, kinds, references = [], [], [], [], []
    wanted = dict.fromkeys(lengths, 0)
    for source, target in zip(*pairs, strict=True):
        grams, expected, width = guess(source)
        ids = text.index.target.vocabulary.encode(target).astype(np.int32)
        hit = np.zeros(len(grams), bool)
        if len(grams):
            hit[grams.vectors(ids, np.array([0, len(ids)])).columns] = True
        values.append(expected)
        right.append(hit)
        kinds.append(grams.lengths)
        sizes.append((width, len(grams)))
        own = ngrams(target, lengths)
        references.append(len(own))
        for gram in own:
            wanted[len(gram)] += 1
    mean = np.mean(sizes, axis=0)
    owners = np.repeat(np.arange(len(values)), [len(some) for some in values])
    return Guesses(
        np.concatenate(values), np.concatenate(right), np.concatenate(kinds), owners, np.array(references), wanted,
        (float(mean[0]), float(mean[1])),
    )  # fmt: skip


def regressed(text: Text, pairs: Pairs, settings: SparseSettings) -> Guesses:
    """Ask a regressor."""
    regression = SentenceRegression.of(Instances(text.index, settings))

    def guess(words: list[str]) -> tuple[NgramRows, np.ndarray, int]:
        posed = regression.problem(words, marks=False)
        return posed.target, regression.expected(posed), len(posed.source)

    return gathered(text, pairs, settings.lengths, guess)


def by_phrases(text: Text, pairs: Pairs, span: tuple[int, int]) -> Guesses:
    """Ask a phrase table of all pairs, with phrases of up to 2 words: the sum of p(t|s) over the sentence's n-grams."""
    lengths = range(span[0], span[1] + 1)
    store = extract(text.index.bitext, text.index.alignment, RuleSettings(max_phrase_length=2), Threads(1))
    sizes = np.diff(store.target_offsets)

    def guess(words: list[str]) -> tuple[NgramRows, np.ndarray, int]:
        spans = store.spans(text.index.source.vocabulary.encode(words))[:, span[0] - 1 : span[1]]
        phrases = np.unique(spans[spans >= 0])
        rules = [rule for phrase in phrases.tolist() for rule in store.rules(phrase) if sizes[rule] in lengths]
        rows = np.array(rules, np.int64)
        ids = [store.target_ids[store.target_offsets[rule] : store.target_offsets[rule + 1]] for rule in rules]
        flat = np.concatenate([*ids, np.zeros(0, np.int32)]).astype(np.int32)
        offsets = np.cumsum([0, *map(len, ids)])
        grams = NgramRows.of(flat, offsets, list(lengths), len(text.index.target.vocabulary))
        whole = grams.lengths[grams.rows.columns] == np.repeat(sizes[rows], np.diff(grams.rows.offsets))
        column = grams.rows.columns[whole]  # of each rule, the n-gram that all of its words are
        sums = np.bincount(column, store.scores[rows, 2], len(grams))
        kept = np.unique(column).astype(np.int64)
        return grams.take(kept), sums[kept], len(phrases)

    return gathered(text, pairs, list(lengths), guess)


#: regressor → settings that are tried on dev; the paper's name
GRIDS: dict[str, tuple[str, list[str]]] = {
    "ridge": ("L2", [f"penalty={value}" for value in (0.3, 1, 3, 10, 30, 100)]),
    "fsr": ("lasso (FSR)", [f"iterations={value}" for value in (5, 10, 20, 50, 200)]),
    "lasso": ("lasso (solved)", [f"penalty={value}" for value in (0.03, 0.1, 0.3, 1, 2, 4)]),
    "l1": ("L1-reg", [""]),
    "svr": ("SVR", ["cost=1", "cost=10"]),
    "threshold": ("iter-ε", [f"penalty={value}" for value in (0.3, 1, 3)]),
    "logreg": ("logreg", ["cost=1", "cost=10"]),
    "svc": ("SVC", ["cost=1", "cost=10"]),
}


def tuned(text: Text, name: str, span: str, instances: int, measured: str, selector: str = "dice") -> dict[str, Any]:
    """Choose settings and thresholds on dev, and measure another set."""
    shortest, order = SPANS[span]
    begin = time.thread_time()
    tried: list[dict[str, Any]] = []
    if name == "phrases":
        dev = by_phrases(text, text.sets["dev"], (shortest, order))
        tried.append({"settings": "", "thresholds": dev.best_thresholds()})
        tried[0] |= dev.measures(tried[0]["thresholds"])
        final = by_phrases(text, text.sets[measured], (shortest, order))
    else:

        def settings(chosen: str) -> SparseSettings:
            return SparseSettings(
                decoder="table", instances=instances, selector=selector, regressor=name, regressor_settings=chosen,
                shortest=shortest, order=order,
            )  # fmt: skip

        for chosen in GRIDS[name][1]:
            dev = regressed(text, text.sets["dev"], settings(chosen))
            thresholds = dev.best_thresholds()
            tried.append({"settings": chosen, "thresholds": thresholds, **dev.measures(thresholds)})
        best = max(tried, key=lambda trial: trial["f1"])
        final = regressed(text, text.sets[measured], settings(best["settings"]))
    best = max(tried, key=lambda trial: trial["f1"])
    return {
        "tried": tried,
        "settings": best["settings"],
        "thresholds": best["thresholds"],
        "dev_f1": best["f1"],
        **final.measures(best["thresholds"]),
        "sizes": final.sizes,
        "cpu": time.thread_time() - begin,
    }


def covered(text: Text, selector: str, instances: int, measured: str) -> dict[str, list[float]]:
    """Return scov and tcov of a selection: of 1-grams, 2-grams and both."""
    chosen = Instances(text.index, SparseSettings(selector=selector, instances=instances))
    source, target = text.sets[measured]
    rows = [chosen.select(chosen.encode(words)) for words in source]
    return {
        name: [one.share(1), one.share(2), one.share()]
        for name, side, words in (("scov", text.index.source, source), ("tcov", text.index.target, target))
        for one in [coverage(side, Sentences.encode(words, side.vocabulary), rows)]
    }


def conditions(names: Sequence[str]) -> Iterator[tuple[str, str, int, str]]:
    """Yield (regressor, span, instances, set) of Tables 1 to 3, of the regressors that there are."""
    for span in SPANS:
        some = ("ridge", "fsr", "lasso", "l1", "svr", "threshold") if span != "1&2-grams" else ("ridge", "fsr", "lasso")
        yield from ((name, span, 100, "dev2") for name in (*some, "phrases") if name in names or name == "phrases")
    yield from ((name, "1&2-grams", 100, "dev2") for name in ("logreg", "svc") if name in names)
    for span in SPANS:
        yield from ((name, span, 250, "test") for name in ("ridge", "fsr", "lasso") if name in names)


#: regressors that take long, and run last
SLOW = ("l1", "svr", "logreg", "svc")
