"""Why maximum margin translates badly: trials on dev with 4,000 short pairs, what the paper leaves open among them.

    python experiments/wang2007/margin.py [--data ../shared] [--work FOLDER] [--sentences 150]

Each line changes one thing: how many options a phrase has, how wide the beam is, what is centred, what an n-gram of
several words counts. Least squares stand beside it where the change concerns both. About two CPU-minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import numpy as np  # noqa: E402
from plan import FULL  # noqa: E402
from steps import METRIC, arguments  # noqa: E402
from texts import texts_of  # noqa: E402

from camber.align.words import AlignSettings, learn_alignment  # noqa: E402
from camber.arrays.sparse import Counts  # noqa: E402
from camber.corpus import Bitext, Sentences  # noqa: E402
from camber.corpus.inputs import as_inputs  # noqa: E402
from camber.engine import Threads  # noqa: E402
from camber.files import read_lines  # noqa: E402
from camber.regress import margin, prediction  # noqa: E402
from camber.regress.decoder import RegressionDecoder  # noqa: E402
from camber.regress.margin import Centred, MarginRegression  # noqa: E402
from camber.regress.prediction import LeastSquares, MaximumMargin, Regression, Vectors  # noqa: E402
from camber.regress.settings import PreimageSettings  # noqa: E402
from camber.regress.spectrum import BLENDED, WEIGHTED, Spectrum  # noqa: E402
from camber.rules.phrase.extraction import extract  # noqa: E402
from camber.rules.phrase.settings import RuleSettings  # noqa: E402
from camber.rules.phrase.source import StoredRules  # noqa: E402

ONE = Threads(1)
ORDER = 5  # what the paper chose for maximum margin


@dataclass(frozen=True)
class Dev:
    """A dev set, and phrases to translate it with."""

    rules: StoredRules
    bitext: Bitext  # in the words of the rules
    source: list[str]
    target: list[str]

    def told(self, regression: Regression, search: PreimageSettings) -> str:
        """Translate; return BLEU and words as a share of the reference's, as columns of a table."""
        decoder = RegressionDecoder(self.rules, regression, search)
        inputs = as_inputs(line.split() for line in self.source)
        lines = [" ".join(best[0].words) for best in decoder.decode(inputs, engine=ONE)]
        words = [sum(len(line.split()) for line in side) for side in (lines, self.target)]
        score = METRIC.score(METRIC.statistics(lines, [self.target]).sum(0))
        return f"{score:.2f} | {words[0] / words[1]:.2f}"

    def vectors(self, weighting: str = BLENDED, order: int = ORDER) -> Vectors:
        """Return n-gram vectors of the training pairs."""
        return Vectors.of(self.bitext, Spectrum(order, weighting))


def maximum_margin(vectors: Vectors, cost: float = 1.0) -> MaximumMargin:
    """Learn it."""
    return MaximumMargin(vectors, MarginRegression(cost=cost).fit(vectors.source, vectors.target))


class _AsIs(Centred):
    """Vectors that are normalised, but not centred: their mean is taken to be nothing."""

    @classmethod
    def of(cls, rows: Counts) -> Centred:
        centred = Centred.of(rows)
        squares = replace(rows, values=rows.values**2).products(np.ones(rows.width))
        lengths = np.where(squares > 0.0, np.sqrt(squares), 1.0)
        return centred._replace(mean=centred.mean * 0.0, onto_mean=centred.onto_mean * 0.0, lengths=lengths)


@contextmanager
def uncentred() -> Iterator[None]:
    """Learn and predict without centring."""
    with patch.object(margin, "Centred", _AsIs), patch.object(prediction, "Centred", _AsIs):
        yield


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__, HERE)
    parser.add_argument("--sentences", type=int, default=150)
    options = parser.parse_args()
    texts = texts_of(FULL.corpora["short"], options.data, options.work, FULL.sentences)
    pairs = [[line.split() for line in read_lines(file)] for file in texts.training(FULL.first)]
    bitext = Bitext.encode(*pairs)
    alignment, _ = learn_alignment(bitext, AlignSettings(), engine=ONE)
    rules = StoredRules(extract(bitext, alignment, RuleSettings(reordering=False), engine=ONE))
    sides = zip(pairs, (rules.source_words, rules.target_words), strict=True)
    dev = [side[: options.sentences] for side in texts.pairs("dev")]
    there = Dev(rules, Bitext(*(Sentences.encode(side, words) for side, words in sides)), *dev)

    print("| | BLEU | length |\n|---|---|---|")
    paper = maximum_margin(there.vectors())
    squares = LeastSquares.of(there.vectors(order=2), 0.1)
    search = PreimageSettings(scale=1.4)
    for limit in (10, 5, 3, 2, 1):
        few = replace(search, options=limit)
        print(f"| LSR, n = 2, {limit} options for a phrase | {there.told(squares, few)} |", flush=True)
        print(f"| MMR, n = {ORDER}, {limit} options for a phrase | {there.told(paper, few)} |", flush=True)
    print(f"| MMR, a beam of 1,000 | {there.told(paper, replace(search, beam=1000))} |", flush=True)
    with uncentred():
        print(f"| MMR, nothing centred | {there.told(maximum_margin(there.vectors()), search)} |", flush=True)
    for cost in (1.0, 0.01):
        heavy = maximum_margin(there.vectors(WEIGHTED), cost)
        print(f"| MMR, a p-gram counts p, C = {cost:g} | {there.told(heavy, search)} |", flush=True)


if __name__ == "__main__":
    main()
