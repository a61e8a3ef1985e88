"""Batches of sentences through a decoder: what every decoder does around its search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from camber.decode.derivation import Derivation
from camber.decode.searcher import Work
from camber.engine import Engine
from camber.errors import CamberError
from camber.progress import each

AnyDecoder = TypeVar("AnyDecoder")
AnyDerivation = TypeVar("AnyDerivation", bound=Derivation)
Sentence = TypeVar("Sentence")
#: decode a batch: a decoder, how many derivations of a sentence are wanted, whether of distinct texts only, and the
#: sentences → derivations of each sentence, and what the search did
DecodeBatch = Callable[[tuple[AnyDecoder, int, bool], Sequence[Sentence]], tuple[list[list[AnyDerivation]], Work]]


def decode_batches(
    task: DecodeBatch[AnyDecoder, Sentence, AnyDerivation],
    decoder: AnyDecoder,
    batches: Sequence[Sequence[Sentence]],
    nbest: int,
    *,
    distinct: bool,
    engine: Engine,
    work: Work | None,
) -> Iterator[list[AnyDerivation]]:
    """Yield the derivations of every sentence, in order; what the search did is added to `work`, if it is given."""
    if nbest < 1:
        raise CamberError(f"{nbest} hypotheses were asked for; at least 1 is needed")
    found = engine.map(task, (decoder, nbest, distinct), batches)
    for derivations, done in each(found, "decode", sum(map(len, batches)), "sentences", lambda item: len(item[0])):
        if work is not None:
            work += done
        yield from derivations
