"""The report of a training as one HTML page that needs nothing else: no scripts, no fonts, no other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from camber.arrays.types import F8, I8, Bools
from camber.files import write_lines
from camber.metrics.compare import Result
from camber.report.axes import fixed, percent
from camber.report.blocks import cards, difference, figure, section, table, whole_page
from camber.report.drawing import drawing_style
from camber.report.markup import Markup, element, join
from camber.report.pictures import alignment_matrix, contributions, histogram, length_curves, ribbons, seconds_bars
from camber.report.segmentation import RIGHT, Segmentation

#: short headings of the features in the n-best table; others are shown by their names
_SHORT = {
    "p_s_given_t": "p(s|t)",
    "lex_s_given_t": "lex(s|t)",
    "p_t_given_s": "p(t|s)",
    "lex_t_given_s": "lex(t|s)",
    "reorder_monotone_backward": "mono ←",
    "reorder_swap_backward": "swap ←",
    "reorder_discontinuous_backward": "disc ←",
    "reorder_monotone_forward": "mono →",
    "reorder_swap_forward": "swap →",
    "reorder_discontinuous_forward": "disc →",
    "distortion": "jumps",
    "word_penalty": "words",
    "phrase_penalty": "phrases",
}


@dataclass(frozen=True)
class TextFacts:
    """What one set of sentence pairs is made of."""

    name: str
    pairs: int
    tokens: tuple[int, int]  # of source and target
    words: tuple[int, int]  # different ones
    unknown: float | None  # share of the source tokens that the training text does not have


@dataclass(frozen=True)
class Shown:
    """A test sentence to look at."""

    segmentation: Segmentation
    source: str
    output: str
    reference: str


class Aligned(NamedTuple):
    """A sentence pair with its word alignment."""

    source: list[str]
    target: list[str]
    links: list[tuple[int, int]]


@dataclass(frozen=True)
class Candidate:
    """One of the best translations of a sentence, with the sums of its features, unweighted."""

    text: str
    score: float
    features: F8


@dataclass(frozen=True)
class Report:
    """Everything that the page shows."""

    title: str
    lead: str
    languages: tuple[str, str]
    texts: Sequence[TextFacts]
    samples: Sequence[tuple[str, str]]  # pairs of the training text
    stages: Sequence[tuple[str, float | None]]  # seconds; None: kept from an earlier run
    sizes: Sequence[tuple[str, str]]  # what the model is made of
    scores: Sequence[Result]
    sentence_scores: F8  # [test sentences] BLEU
    lengths: tuple[I8, I8]  # tokens of the training sentences
    aligned: Sequence[Aligned]  # some training pairs
    examples: Sequence[Shown]
    errors: Sequence[Shown]  # the worst ones
    feature_names: Sequence[str]
    weights: F8  # [features]
    listed: str  # the source sentence of the candidates
    candidates: Sequence[Candidate]  # best first
    tuning: Sequence[Markup] = ()  # sections on what tuning did
    footer: str = ""

    @property
    def _right(self) -> Bools:
        """Whether a test sentence is translated like its reference, bool[test sentences]."""
        return self.sentence_scores >= RIGHT

    def html(self) -> str:
        """Return the whole page."""
        return whole_page(
            self.title,
            self.lead,
            self._cards(),
            self._quality(),
            *self.tuning,
            self._examples(),
            self._errors(),
            self._search(),
            self._training(),
            self._corpus(),
            footer=self.footer,
            style=drawing_style(),
        )

    def write(self, path: str | Path) -> None:
        """Write the page, all or nothing."""
        write_lines(path, [self.html()])

    # --- sections ----------------------------------------------------------------------------------------------------

    def _cards(self) -> Markup:
        facts = [
            (f"{score.score:.1f}", f"{score.metric} ({score.low:.1f} to {score.high:.1f})") for score in self.scores
        ]
        facts.append(
            (percent(float(self._right.mean()) if len(self._right) else 0.0), "translations equal to the reference")
        )
        facts.append((f"{self.texts[0].pairs:,}", "sentence pairs to learn from"))
        seconds = sum(time or 0.0 for _, time in self.stages)
        facts.append((f"{seconds:.0f} s", "for everything"))
        return cards(facts)

    def _quality(self) -> Markup:
        rows = [
            [
                score.metric,
                f"{score.score:.2f}",
                f"{score.low:.2f} to {score.high:.2f}",
                element("code", score.signature),
            ]
            for score in self.scores
        ]
        test, train = self.texts[-1], self.texts[0]
        return section(
            "Quality",
            f"Measured on {test.pairs:,} sentences that training did not see. The interval holds 95 % of the scores of "
            "test sets drawn again from these sentences (bootstrap). The signature says how the score was computed.",
            table(["metric", "score", "95 % interval", "signature"], rows, numbers={1, 2}),
            element(
                "div",
                figure(
                    histogram(
                        self.sentence_scores[~self._right],
                        range(0, 101, 10),
                        "BLEU of the test sentences that differ from their reference",
                        "BLEU of a sentence",
                    ),
                    f"{int(self._right.sum()):,} of the {test.pairs:,} test sentences are translated exactly like the "
                    "reference; this is how good the others are.",
                ),
                figure(
                    length_curves(*self.lengths, self.languages, "lengths of training sentences"),
                    f"How long the {train.pairs:,} training sentences are.",
                ),
                class_="pair",
            ),
        )

    def _examples(self) -> Markup:
        source, target = self.languages
        return section(
            "How sentences are translated",
            "A sentence is cut into phrases, each phrase is translated by a rule, and the translations may change "
            f"places. {source} above, {target} below; point at a ribbon to see how probable its rule is.",
            element("div", *(self._drawn(item) for item in self.examples), class_="flow"),
        )

    def _drawn(self, item: Shown, compare: bool = False) -> Markup:
        caption: list[object] = [element("b", item.output)]
        if compare:
            caption = [difference(item.output, item.reference)]
        return figure(ribbons(item.segmentation), join(caption))

    def _errors(self) -> Markup:
        if not self.errors:
            return Markup("")
        rows = [[item.source, difference(item.output, item.reference), item.reference] for item in self.errors]
        return section(
            "Where it goes wrong",
            join(
                [
                    "Some of the sentences with the lowest BLEU. Words that the reference does not have are ",
                    element("del", "marked so"),
                    ", words that are missing ",
                    element("ins", "so"),
                    ".",
                ]
            ),
            table([self.languages[0], "translation", "reference"], rows),
            self._drawn(self.errors[0], compare=True),
        )

    def _search(self) -> Markup:
        if not self.candidates:
            return Markup("")
        best, *others = self.candidates
        second = others[0] if others else None
        shown = [k for k in range(len(self.feature_names)) if any(item.features[k] for item in self.candidates)]
        names = [self.feature_names[k] for k in shown]
        caption: list[object] = ["Bars: ", element("b", best.text), f" with the score {fixed(best.score)}"]
        if second:
            caption += ["; ticks: ", element("b", second.text), f" with {fixed(second.score)}"]
        headings: list[object] = ["translation", "score"]
        headings += [
            element("span", _SHORT.get(name, name.replace("_", " ")), title=f"{name}, weight {self.weights[k]:g}")
            for k, name in zip(shown, names, strict=True)
        ]
        rows = [
            [item.text, fixed(item.score), *(fixed(float(item.features[k])) for k in shown)] for item in self.candidates
        ]
        return section(
            "Why this translation",
            join(
                [
                    "The score of a translation is the sum of its features, each times its weight; the search looks "
                    "for the highest score. The sentence here is: ",
                    element("b", self.listed),
                ]
            ),
            figure(
                contributions(
                    names,
                    (self.weights * best.features)[shown],
                    (self.weights * second.features)[shown] if second else None,
                    "weight times feature of the best translation",
                ),
                join(caption),
            ),
            element("h3", f"The {len(self.candidates)} best translations"),
            element(
                "p",
                "Sums of the features without weights; probabilities are natural logarithms. Point at a heading for "
                "the full name.",
                class_="note",
            ),
            table(headings, rows, numbers=set(range(1, len(headings))), wide=True),
        )

    def _training(self) -> Markup:
        source, target = self.languages
        return section(
            "Training",
            "Stages run one after the other; a stage whose inputs did not change is not run again.",
            figure(seconds_bars(self.stages), "Seconds on the clock. The first run also compiles the kernels, once."),
            table(["the model", "size"], [[name, value] for name, value in self.sizes], numbers={1}, narrow=True),
            element("h3", "Word alignment"),
            element(
                "p",
                "Which words translate each other is learnt from the sentence pairs alone; phrases are read off it. "
                f"Some pairs of the training text, {source} in rows and {target} in columns; a square is a link:",
            ),
            element(
                "div",
                *(
                    figure(alignment_matrix(*pair), f"{len(pair.links)} links; words without a link stand alone.")
                    for pair in self.aligned
                ),
                class_="flow",
            ),
        )

    def _corpus(self) -> Markup:
        source, target = self.languages
        rows = [
            [
                text.name,
                f"{text.pairs:,}",
                *(f"{count:,}" for count in (*text.tokens, *text.words)),
                "" if text.unknown is None else percent(text.unknown, 2),
            ]
            for text in self.texts
        ]
        headings = ["set", "pairs", f"{source} tokens", f"{target} tokens", f"{source} words", f"{target} words",
                    "unknown tokens"]  # fmt: skip
        return section(
            "Corpus",
            "Tokens are words and punctuation marks; words are different tokens.",
            table(headings, rows, numbers=set(range(1, 7))),
            element("h3", "Some training pairs"),
            table([source, target], [[left, right] for left, right in self.samples]),
        )
