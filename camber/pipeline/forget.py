"""Take pairs back: what was added wrongly, or what the training had wrong, is not remembered any more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camber.errors import CamberError
from camber.model import places
from camber.model.combination import COMBINATION
from camber.model.directory import ModelDirectory, changing, check_place, is_model
from camber.model.memory import Memory
from camber.pipeline.add import PATIENCE, moment, person
from camber.progress import log
from camber.text.pipeline import TextPipeline

Name = str | Path
RawPair = tuple[str, str]


def forget(
    model: Name,
    *,
    numbers: Sequence[int] = (),
    texts: Sequence[str] = (),
    pairs: Sequence[RawPair] = (),
    author: str = "",
    time: str = "",
) -> list[RawPair]:
    """Take pairs back by their numbers in listings, by their source lines, or as they are; return them.

    A pair that was added is gone from the next translation on, with the phrases that were learnt from it; the aligner
    keeps what it learnt about words. A pair of the training is not remembered any more, neither for matches nor for
    repeats, but the rules stay as they were trained, and those of a combination's members, too. Adding the pair again
    brings it back.

    >>> camber.forget("my-model", texts=["Guten Morgen!"])                          # doctest: +SKIP
    """
    model = Path(model)
    if not is_model(model):
        ModelDirectory.open(model)  # says what is there instead
    check_place(model)
    who, when = person(author), moment(time)
    path = model.resolve()
    with places.telling_of_the_disk(path), changing(path, PATIENCE):
        directory = ModelDirectory.open(model)
        memory = Memory.open(directory, TextPipeline.load(directory.path / "text"))
        if memory is None:
            raise CamberError(f"{model}: remembers nothing that could be taken back; only training changes its rules")
        asked = _Asked(directory, memory)
        wanted = [pair for number in numbers for pair in asked.numbered(number)]
        wanted += [pair for text in texts for pair in asked.of_text(text)]
        wanted += [pair for one in pairs for pair in asked.itself(one)]
        if not (numbers or texts or pairs):
            raise CamberError("nothing says what to take back; give numbers, source lines, or pairs")
        wanted = list(dict.fromkeys(wanted))
        if wanted:
            directory.journal.appended((), None, wanted, author=who, time=when)
            if directory.kind == COMBINATION:
                log.warning(
                    "%s: not remembered any more, but its members keep the rules that they learnt; take the pairs back "
                    "from these models, and combine them again",
                    model,
                )
    log.info("took %s pairs back from %s", f"{len(wanted):,}", model)
    return wanted


def known_pairs(model: Name, source: Sequence[str], target: Sequence[str]) -> list[RawPair]:
    """Return which of some pairs a model remembers."""

    def known(directory: ModelDirectory) -> list[RawPair]:
        memory = Memory.open(directory, TextPipeline.load(directory.path / "text"))
        asked = dict.fromkeys(zip(source, target, strict=True))
        return [] if memory is None else [pair for pair in asked if pair in memory.pairs_of(pair[0])]

    return ModelDirectory.opened(model, known)


class _Asked:
    """Finds pairs to take back; of what is gone already it tells: the call may have been killed before it could."""

    def __init__(self, directory: ModelDirectory, memory: Memory) -> None:
        self.directory, self.memory = directory, memory
        self.last = len(directory.journal) + directory.recorded_size("added_pairs")
        self.last += 0 if memory.trained is None else len(memory.trained)

    def numbered(self, number: int) -> list[RawPair]:
        pair = self.memory.pair(number)
        if pair is not None:
            return [pair]
        if not 1 <= number <= self.last:
            told = f"no pair {number}; `camber match` and `camber forget --list` tell the numbers"
            raise CamberError(f"{self.directory.path}: remembers {told}")
        return self._gone(f"pair {number}")

    def of_text(self, text: str) -> list[RawPair]:
        pairs = self.memory.pairs_of(text)
        if pairs:
            return pairs
        if not any(source == text for source, _ in self.directory.journal.taken_back):
            told = f"no pair with the source {text!r:.80}; `camber match` finds what is like it"
            raise CamberError(f"{self.directory.path}: remembers {told}")
        return self._gone(f"{text!r:.80}")

    def itself(self, pair: RawPair) -> list[RawPair]:
        if pair in self.memory.pairs_of(pair[0]):
            return [pair]
        told = f"{pair[0]!r:.60} → {pair[1]!r:.60}"
        if pair not in self.directory.journal.taken_back:
            raise CamberError(f"{self.directory.path}: does not remember {told}; nothing was taken back")
        return self._gone(told)

    def _gone(self, told: str) -> list[RawPair]:
        log.warning("%s: %s was taken back already", self.directory.path, told)
        return []
