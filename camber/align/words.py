"""Align the words of a bitext: one function and its settings.

Two models, both of the same kind (see `agreement`): `best` for accuracy, `quick` with fewer passes for a first look or
for very much text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from camber.align.agreement import Trainer
from camber.align.aligner import Aligner
from camber.align.lesson import Lesson
from camber.align.links import link_index
from camber.align.pharaoh import Alignment
from camber.align.symmetrise import METHODS, symmetrise
from camber.arrays.scratch import UNLIMITED, Scratch
from camber.arrays.types import I8
from camber.corpus.bitext import Bitext, Sentences
from camber.corpus.vocabulary import Vocabulary
from camber.engine import LOCAL, Engine
from camber.progress import log, step
from camber.settings import Settings, setting

#: Longer sentences are cut: the HMM's time grows with the third power of the length.
LONGEST = 200

# passes of model 1 and of the HMM
_PASSES = {"quick": (3, 1), "best": (3, 3)}
# chosen on Hansards dev and WPT 2005 ro-en: pseudo-counts of any pair of words and of equal words, share of NULL
_ALPHA, _COGNATES, _P_NULL = 0.0003, 0.5, 0.1
# least mean posterior of a link: 0.3 has the lower error rate (by .006 on Hansards), but the phrase tables of 0.1 are
# a tenth smaller and translate a little better (Multi30k dev)
_THRESHOLD = 0.1
# passes over new pairs, with the jumps that were learnt: of the links that 29,000 Multi30k pairs give the last 1,000
# when aligned together, an aligner of the other 28,000 finds .973 (F1) without a pass, .978 with one or more
_REVISIONS = 1


@dataclass(frozen=True)
class AlignSettings(Settings, group="Word alignment"):
    """How to align words."""

    model: str = setting("best", "accuracy (best) or speed (quick)", choices=("quick", "best"))
    symmetrise: str = setting("grow-diag-final-and", "how both directions become one alignment", choices=METHODS)


def align_corpus(bitext: Bitext, settings: AlignSettings | None = None, engine: Engine = LOCAL) -> Alignment:
    """Align every pair of a bitext with its own vocabularies; a pair with an empty side gets no links.

    Nothing is drawn at random: the same text gives the same links.
    """
    return learn_alignment(bitext, settings, engine)[0]


def learn_alignment(
    bitext: Bitext, settings: AlignSettings | None = None, engine: Engine = LOCAL, scratch: Scratch = UNLIMITED
) -> tuple[Alignment, Aligner]:
    """Align a bitext as :func:`align_corpus` does, and keep what was learnt for pairs that come later."""
    settings = settings or AlignSettings()
    cut, owner = _cut_long_pairs(bitext)
    trainer = _trainer(cut, engine, scratch)
    trainer.train(*_PASSES[settings.model])
    aligner = Aligner.of(trainer, settings.symmetrise)
    return _links(trainer, settings.symmetrise, bitext, owner), aligner


def align_new(aligner: Aligner, bitext: Bitext, engine: Engine = LOCAL) -> tuple[Alignment, Aligner]:
    """Align new pairs with what earlier text taught; also return the aligner with the new pairs counted in.

    >>> old = Bitext.encode([["la", "casa"], ["la", "mesa"]], [["the", "house"], ["the", "table"]])
    >>> links, _ = align_new(learn_alignment(old)[1], Bitext.encode([["mesa", "la"]], [["table", "the"]]))
    >>> links.links.tolist()
    [[0, 0], [1, 1]]
    """
    links, lesson = align_added(aligner, bitext, engine)
    return links, aligner.after([lesson])


def align_added(aligner: Aligner, bitext: Bitext, engine: Engine = LOCAL) -> tuple[Alignment, Lesson]:
    """Align new pairs as :func:`align_new` does; also return what they teach, ``aligner.after([lesson])`` knows it."""
    bitext = Bitext(_encoded(bitext.source, aligner.source), _encoded(bitext.target, aligner.target))
    cut, owner = _cut_long_pairs(bitext)
    trainer = _trainer(cut, engine)
    aligner.teach(trainer)
    trainer.revise(_REVISIONS)
    return _links(trainer, aligner.symmetrise, bitext, owner), aligner.lesson(trainer)


def _trainer(bitext: Bitext, engine: Engine, scratch: Scratch = UNLIMITED) -> Trainer:
    with step("index links"):
        index = link_index(bitext, scratch)
    return Trainer(bitext, index, alpha=_ALPHA, cognates=_COGNATES, p_null=_P_NULL, engine=engine)


def _links(trainer: Trainer, method: str, bitext: Bitext, owner: I8) -> Alignment:
    """Read the links out of a trainer, as links of the whole pairs."""
    directions = trainer.decode(_THRESHOLD)
    with step("symmetrise"):
        alignment = symmetrise(*directions, method)
        return alignment if trainer.bitext is bitext else _join(alignment, trainer.bitext, bitext, owner)


def _encoded(text: Sentences, known: Vocabulary) -> Sentences:
    """Return the same sentences with ids of a vocabulary, new words behind it."""
    vocabulary = known.extended(text.vocabulary.words)
    renumber = vocabulary.encode(text.vocabulary.words).astype(np.int32)
    return Sentences(renumber[text.ids], text.offsets, vocabulary)


def _cut_long_pairs(bitext: Bitext) -> tuple[Bitext, I8]:
    """Cut pairs with a side of more than LONGEST words, both sides in proportion; also return the pair of every piece.

    Only the offsets change: a piece is a stretch of the same token ids.
    """
    longest = np.maximum(bitext.source.lengths, bitext.target.lengths)
    pieces = np.maximum(-(-longest // LONGEST), 1)
    owner = np.repeat(np.arange(len(bitext)), pieces)
    if len(owner) == len(bitext):
        return bitext, owner
    log.warning(
        "align: %s of %s pairs have more than %d words on a side (the longest %s): cut in proportion",
        f"{(pieces > 1).sum():,}",
        f"{len(bitext):,}",
        LONGEST,
        f"{longest.max():,}",
    )
    number = np.arange(len(owner)) - (np.cumsum(pieces) - pieces)[owner]

    def cut(side: Sentences) -> Sentences:
        starts = side.offsets[owner] + side.lengths[owner] * number // pieces[owner]
        return Sentences(side.ids, np.append(starts, side.offsets[-1]), side.vocabulary)

    return Bitext(cut(bitext.source), cut(bitext.target)), owner


def _join(alignment: Alignment, cut: Bitext, bitext: Bitext, owner: I8) -> Alignment:
    """Turn links of pieces into links of the whole pairs."""
    starts = np.stack(
        [
            side.offsets[:-1] - whole.offsets[owner]
            for side, whole in ((cut.source, bitext.source), (cut.target, bitext.target))
        ],
        axis=1,
    )
    links = alignment.links + np.repeat(starts, np.diff(alignment.offsets), axis=0)
    first = np.searchsorted(owner, np.arange(len(bitext) + 1))
    return Alignment(links.astype(np.int32), alignment.offsets[first])
