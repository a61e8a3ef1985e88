"""How a translation is made of phrases: which source words became which target words, and in what order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from camber.model.translator import Translation
from camber.rules.phrase.features import SCORE_NAMES
from camber.rules.phrase.store import RuleStore

Span = tuple[int, int]

#: BLEU of a sentence from which on it is its reference, up to rounding
RIGHT = 99.99

#: colours of the terminal for phrases that changed their place
_TERMINAL = ("cyan", "yellow", "green", "magenta", "blue", "red")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Part:
    """One phrase pair of a translation."""

    source: Span  # words begin .. end (exclusive)
    target: Span
    note: str = ""  # what there is to know about the rule, in a line


@dataclass(frozen=True)
class Segmentation:
    """A sentence, its translation, and the phrase pairs that lead from one to the other, in target order."""

    source: list[str]
    target: list[str]
    parts: list[Part]

    @classmethod
    def of(cls, translation: Translation, store: RuleStore) -> Segmentation:
        """Take a translation apart; the notes say how probable the rules are."""
        derivation = translation.derivation
        parts = [
            Part((a, b), (c, d), _note(store, rule))
            for rule, (a, b), (c, d) in zip(
                derivation.rules.tolist(), derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True
            )
        ]
        return cls(translation.tokens, derivation.words, parts)

    @property
    def source_order(self) -> list[int]:
        """The numbers of the parts in the order of their source words."""
        return sorted(range(len(self.parts)), key=lambda k: self.parts[k].source)

    @property
    def moved(self) -> set[int]:
        """The numbers of the parts that cross another part on the way to the target.

        >>> Segmentation(["a", "b"], ["B", "A"], [Part((1, 2), (0, 1)), Part((0, 1), (1, 2))]).moved
        {0, 1}
        """
        starts = [part.source[0] for part in self.parts]
        crossing = [(i, j) for j in range(len(starts)) for i in range(j) if starts[i] > starts[j]]
        return {k for pair in crossing for k in pair}

    def source_words(self, part: Part) -> str:
        """Return the source phrase of a part."""
        return " ".join(self.source[slice(*part.source)])

    def target_words(self, part: Part) -> str:
        """Return the target phrase of a part."""
        return " ".join(self.target[slice(*part.target)])

    def lines(self) -> tuple[str, str]:
        """Return both sides for a terminal, in brackets; phrases that changed places have the same number and colour.

        >>> two = Segmentation(["casa", "verde"], ["green", "house"], [Part((1, 2), (0, 1)), Part((0, 1), (1, 2))])
        >>> [click.unstyle(line) for line in two.lines()]
        ['[casa]¹ [verde]²', '[green]² [house]¹']
        """
        moved, order = self.moved, self.source_order
        numbers = {k: number for number, k in enumerate((k for k in order if k in moved), 1)}

        def show(words: str, k: int) -> str:
            if k not in moved:
                return f"[{words}]"
            mark = str(numbers[k]).translate(_SUPERSCRIPTS)
            return click.style(f"[{words}]{mark}", fg=_TERMINAL[(numbers[k] - 1) % len(_TERMINAL)], bold=True)

        source = " ".join(show(self.source_words(self.parts[k]), k) for k in order)
        target = " ".join(show(self.target_words(part), k) for k, part in enumerate(self.parts))
        return source, target


def _note(store: RuleStore, rule: int) -> str:
    if rule < 0:
        return "not in the rules: passed through"
    shown = {"p_t_given_s": "p(t|s)", "p_s_given_t": "p(s|t)"}
    values = [f"{label} = {store.scores[rule, SCORE_NAMES.index(name)]:.3g}" for name, label in shown.items()]
    return ", ".join([*values, f"seen {int(store.counts[rule, 1]):,} times"])


def alike(one: Segmentation, other: Segmentation) -> bool:
    """Say whether more than half of the source words of one are in the other: a reader learns nothing from both."""
    words = set(one.source)
    return 2 * len(words & set(other.source)) > len(words)


def error_rows(segmentations: Sequence[Segmentation], scores: Sequence[float], count: int) -> list[int]:
    """Choose the sentences with the lowest scores that are translated to something, unlike each other."""
    chosen: list[int] = []
    for row in sorted(range(len(segmentations)), key=lambda row: scores[row]):
        wrong = scores[row] < RIGHT and segmentations[row].target
        if wrong and not any(alike(segmentations[row], segmentations[other]) for other in chosen):
            chosen.append(row)
        if len(chosen) == count:
            break
    return chosen


def example_rows(segmentations: Sequence[Segmentation], right: Sequence[bool], count: int) -> list[int]:
    """Choose sentences worth showing: translated well, with phrases that change places, and unlike each other."""
    chosen: list[int] = []
    for wanted in (2, 1, 0):  # if there are too few good ones, show what there is
        for row, item in enumerate(segmentations):
            good = right[row] and len(item.moved) > 0 and 3 <= len(item.parts) <= 9 and len(item.source) <= 15
            if (wanted == 2 and not good) or (wanted == 1 and not item.moved) or row in chosen or not item.parts:
                continue
            if wanted == 2 and any(alike(item, segmentations[other]) for other in chosen):
                continue
            chosen.append(row)
            if len(chosen) == count:
                return chosen
    return chosen
