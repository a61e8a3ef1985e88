"""A re-ranking of an n-best list that someone brings, with what it won and lost, sentence by sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from camber.engine import Threads
from camber.errors import CamberError
from camber.files import write_bytes
from camber.metrics.sentence import sentence_scores
from camber.nbest import NBest
from camber.rerank.reranker import Reranker
from camber.text.difference import differences
from camber.tune.caution import of_sentences

#: what one request may bring
_MOST = 100_000
_FEWEST = 10
_FOLDS = 5
#: sentences that are shown, on either side
_SHOWN = 25


def rerank(nbest: bytes, references: list[str], name: str = "nbest") -> dict[str, Any]:
    """Re-rank a list, each sentence by weights that were fitted without it, and compare with its own order.

    Returns scores of the whole, and the sentences that won and lost most, with where the texts differ.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name).name or "nbest")
        write_bytes(path, nbest)
        try:
            lists = NBest.read(path, sentences=len(references))
        except CamberError as error:
            raise CamberError(str(error).replace(str(path), name)) from None
    if lists.hypotheses > _MOST:
        raise CamberError(f"{lists.hypotheses:,} hypotheses; here are {_MOST:,} at most, use camber rerank fit")
    if len(lists) < _FEWEST:
        raise CamberError(f"{len(lists)} sentences; at least {_FEWEST} are needed to learn from some and judge others")
    reranker = Reranker(engine=Threads(1))
    data = reranker.tuning_data(lists, [references])
    fold_of = np.arange(len(data)) % _FOLDS
    own = lists.best()
    chosen = own.copy()
    for fold in range(_FOLDS):
        reranker.fit_data(of_sentences(data, np.flatnonzero(fold_of != fold)))
        best = data.best_by(reranker.fitted.scores(data.present(), data.parts))
        chosen[fold_of == fold] = best[fold_of == fold]
    kept = np.flatnonzero((own >= 0) & (chosen >= 0))
    tables = [data.statistics[side[kept]].astype(np.float64) for side in (own, chosen)]
    before, after = (sentence_scores(data.metric, table) for table in tables)
    order = np.argsort(before - after, kind="stable")
    changed = [int(row) for row in order if chosen[kept[row]] != own[kept[row]]]
    wins = [row for row in changed if after[row] > before[row]]
    losses = [row for row in reversed(changed) if after[row] < before[row]]

    def told(row: int) -> dict[str, Any]:
        sentence = int(kept[row])
        one, two = lists.texts[own[sentence]], lists.texts[chosen[sentence]]
        return {
            "sentence": lists.first + sentence,
            "before": round(float(before[row]), 1),
            "after": round(float(after[row]), 1),
            "pieces": [{"one": piece.one, "two": piece.two, "same": piece.same} for piece in differences(one, two)],
            "reference": references[sentence],
        }

    corpus = [float(data.metric.score(table.sum(0))) for table in tables]
    return {
        "metric": data.metric.name,
        "sentences": len(lists),
        "hypotheses": lists.hypotheses,
        "before": round(corpus[0], 2),
        "after": round(corpus[1], 2),
        "changed": len(changed),
        "won": len(wins),
        "lost": len(losses),
        "wins": [told(row) for row in wins[:_SHOWN]],
        "losses": [told(row) for row in losses[:_SHOWN]],
    }
