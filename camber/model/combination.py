"""Models that translate together: a directory with the models themselves, and weights for what they agree upon.

A combination holds copies of its members below `members/1`, `members/2`, …, so that it stays what it is when they are
tuned or removed (large files are hard links where the file system has them).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from functools import partial

from camber.decode.consensus.features import ConsensusFeatures
from camber.decode.consensus.search import ConsensusSearch
from camber.decode.consensus.settings import ConsensusSettings
from camber.errors import CamberError, ModelError
from camber.features.feature import names_of
from camber.features.weights import Weights
from camber.files import write_lines
from camber.model.directory import MANIFEST, RERANKER, Draft, ModelDirectory
from camber.model.journal import take_journal
from camber.model.kinds import open_decoder
from camber.model.memory import FILES, Memory
from camber.model.translator import Translator

#: the kind of such models
COMBINATION = "combination"
#: the folder of the members, the table of what is recorded, and how much memory of added pairs
FOLDER, TABLE = "members", "consensus"


class CombinationKind:
    """Models of kind "combination"."""

    takes_pairs = False
    weighs = False
    unweighed = "its members have; tune these, and combine them again (`camber combine`)"

    def open(self, directory: ModelDirectory) -> tuple[ConsensusSearch, Weights]:
        """Open the members and the weights of their consensus."""
        recorded = dict(directory.settings.get(TABLE, {}))
        scales = recorded.pop("scales", None)
        members = directory.recorded_size("members")
        if (
            not isinstance(scales, list)
            or not 1 <= members == len(scales)
            or not all(isinstance(scale, int | float) and math.isfinite(scale) and scale >= 0 for scale in scales)
        ):
            raise ModelError(f"{directory.path / MANIFEST}: not what a combination records; combine the models again")
        weights = Weights.read(directory.file("weights.tsv"), names_of(ConsensusFeatures(members).all))
        searches = []
        for number in range(1, members + 1):
            inside = ModelDirectory.open(directory.path / FOLDER / str(number))
            check_member(inside)
            searches.append(open_decoder(inside)[0])
        ordered = {name: weights[name] for name in names_of(ConsensusFeatures(members).all)}
        return ConsensusSearch(searches, ConsensusSettings.from_dict(recorded), ordered, scales), weights


KIND = CombinationKind()


def check_member(directory: ModelDirectory) -> None:
    """Refuse what cannot be a member: combinations of combinations, and re-rankers."""
    if directory.kind in (COMBINATION, RERANKER):
        raise ModelError(f"{directory.path}: a {directory.kind} model cannot be combined with others; name translators")


def together(
    translators: Sequence[Translator], settings: ConsensusSettings | None = None
) -> Translator[ConsensusSearch]:
    """Return a translator that takes what several agree upon, all alike; one alone decodes by minimum Bayes risk.

    Lines are read, and translations finished, as the first does it; the others must have the same settings of text.

    >>> together([camber.load("phrases"), camber.load("hiero")]).translate(["ein haus"])       # doctest: +SKIP
    ['a house']
    """
    if not translators:
        raise CamberError("no model was given; name at least one")
    first, *others = translators
    for other in others:
        mine, theirs = first.text.settings.to_dict(), other.text.settings.to_dict()
        if different := [name for name, value in mine.items() if theirs[name] != value]:
            raise CamberError(
                f"{_name(other)}: its text is made otherwise than that of {_name(first)} ({', '.join(different)}: "
                f"{', '.join(repr(theirs[name]) for name in different)} instead of "
                f"{', '.join(repr(mine[name]) for name in different)}); combine models that were trained alike"
            )
    for translator in translators:
        if translator.directory is not None:
            check_member(translator.directory)
    search = ConsensusSearch([translator.decoder for translator in translators], settings)
    weights = Weights(search.weights)
    if not others:
        return first.shaped(search, weights)
    return Translator(first.text, search, weights, memory=Memory.joined([each.memory for each in translators]))


def _name(translator: Translator) -> str:
    return str(translator.directory.path) if translator.directory else "a model"


def write_members(draft: Draft, members: Sequence[ModelDirectory], memory: Memory | None) -> None:
    """Copy the members into a combination that is being written, with the pairs that were added to them.

    One that is not any more what it was when it was opened is an error.
    """
    for number, member in enumerate(members, 1):
        now = ModelDirectory.opened(member.path, partial(_taken, draft, member, f"{FOLDER}/{number}"))
        if now.signature != member.signature:
            raise ModelError(f"{member.path}: it changed while it was combined; combine the models again")
    draft.take_folder(draft.folder / FOLDER / "1" / "text", "text")
    if memory is not None:
        for name, lines in zip(FILES, (memory.source, memory.target, memory.tokens), strict=True):
            write_lines(draft.path(name), lines)
    draft.sizes["members"] = len(members)


def _taken(draft: Draft, before: ModelDirectory, folder: str, now: ModelDirectory) -> ModelDirectory:
    """Take over the files of a member if it is still the one that it was before; return what is there now."""
    if now.signature == before.signature:
        shutil.rmtree(draft.folder / folder, ignore_errors=True)
        for name in (MANIFEST, *now.files):
            draft.take(now.path / name, f"{folder}/{name}")
        take_journal(now.path, draft.folder / folder)
    return now
