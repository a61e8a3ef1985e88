"""Very long sentences: where they are cut, and how the pieces are decoded one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from camber.corpus.constraints import Term
from camber.corpus.inputs import Input
from camber.decode.derivation import Derivation
from camber.decode.languages import Languages
from camber.progress import log

_STRONG = frozenset(".;:!?…。")
_WEAK = frozenset(',)"»”、—–-')

AnyDerivation = TypeVar("AnyDerivation", bound=Derivation)
#: decode a window: its part of the sentence, the language models' state before it, whether it ends the sentence
Decode = Callable[[Input, npt.NDArray[np.int64], bool], list[AnyDerivation]]


def cut_points(words: Sequence[str], window: int, terms: Sequence[Term] = ()) -> list[int]:
    """Return 0, the cuts, and the length: windows of at most `window` words, cut after punctuation where possible.

    No term is cut, so that a very long one may make a window longer.

    >>> cut_points(["a", "b", ".", "c", "d"], 4)
    [0, 3, 5]
    """
    cuts = [0]
    while len(words) - cuts[-1] > window:
        low, high = cuts[-1] + window // 2, cuts[-1] + window
        cut = high
        for marks in (_STRONG, _WEAK):
            places = [i + 1 for i in range(low, high) if words[i] in marks]
            if places:
                cut = places[-1]
                break
        for term in terms:
            if term.begin < cut < term.end:
                cut = term.begin if term.begin > cuts[-1] else term.end
        cuts.append(cut)
    return cuts if cuts[-1] == len(words) > 0 else [*cuts, len(words)]


def decode_in_windows(
    item: Input, window: int, languages: Languages, decode: Decode[AnyDerivation]
) -> list[AnyDerivation]:
    """Decode a very long sentence window by window; the language models go on across the cuts.

    The n-best list varies the last window only.
    """
    cuts = cut_points(item.tokens, window, item.constraints.terms)
    log.info("a sentence of %d words is decoded in %d windows", len(item), len(cuts) - 1)
    done: AnyDerivation | None = None
    state = languages.begin
    for a, b in pairwise(cuts):
        final = b == len(item)
        pieces = decode(item.part(a, b), state, final)
        joined = [piece.after(done, a) for piece in pieces]
        if final:
            return joined
        done = joined[0]
        said = len(pieces[0].words)  # what is left of a prefix is for the windows that follow
        item = replace(item, constraints=replace(item.constraints, prefix=item.constraints.prefix[said:]))
        state = languages.after(pieces[0].words, state)
    raise AssertionError("the last window ends the sentence")
