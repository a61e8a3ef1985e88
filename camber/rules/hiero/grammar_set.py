"""Grammars of many sentences that were made before, in common columns: a source of grammars for these sentences.

The files of other systems do not say which sentence a grammar is for; they rely on the order of the input. Here a
sentence finds its grammar by its words: the words of the grammar must all be in the sentence, and the grammar with most
words wins; the line's number decides between equals. So lines may come in any order, and lines may be left out.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.arrays.ragged import offsets_from
from camber.arrays.types import I8
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input
from camber.errors import ModelError
from camber.features.feature import NUMBER, RULE, Feature
from camber.progress import log
from camber.rules.hiero.grammar import Grammar, check_rules

#: Columns of the rules: symbols in 32 bits, features in 64.
_COLUMNS: Shapes = {
    "source": (np.int32, 1),
    "source_offsets": (np.int64, 1),
    "target": (np.int32, 1),
    "target_offsets": (np.int64, 1),
    "features": (np.float64, 2),
    "links": (np.uint8, 2),
    "link_offsets": (np.int64, 1),
}
#: Which rules, and which words, belong to a sentence.
_SENTENCES: Shapes = dict.fromkeys(("offsets", "words", "word_offsets"), (np.int64, 1))


@dataclass(frozen=True)
class GrammarSet:
    """Rules of all sentences behind each other; grammar `n` has the rules ``offsets[n]`` … ``offsets[n + 1] - 1``.

    >>> grammars = read_cdec_grammars(["grammar.0.gz", "grammar.1.gz"])              # doctest: +SKIP
    >>> len(grammars.grammar(Input(["ein", "haus"])))                                      # doctest: +SKIP
    812
    """

    rules: Grammar  # of all sentences
    offsets: I8  # [grammars + 1]
    words: I8  # the distinct source words of every grammar, rising
    word_offsets: I8  # [grammars + 1]
    _holders: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, rules: Grammar, offsets: I8, sentences: Iterable[Sequence[str]] | None = None) -> GrammarSet:
        """Make a set; with `sentences`, a grammar belongs to exactly the words of its sentence that it knows."""
        told = None if sentences is None else list(sentences)
        words = []
        for n in range(len(offsets) - 1):
            a, b = rules.source_offsets[offsets[n]], rules.source_offsets[offsets[n + 1]]
            symbols = np.unique(rules.source[a:b])
            if told is not None and n < len(told):
                symbols = np.union1d(symbols, rules.source_words.encode(told[n]))
            words.append(symbols[symbols >= 0])
        flat = np.concatenate([*words, np.zeros(0, np.int64)]).astype(np.int64)
        return cls(rules, np.asarray(offsets, np.int64), flat, offsets_from(map(len, words)))

    @property
    def names(self) -> tuple[str, ...]:
        """The features of every rule."""
        return self.rules.names

    @property
    def features(self) -> tuple[Feature, ...]:
        """What their maker gave to every rule: numbers, whatever they mean."""
        return tuple(Feature(name, NUMBER, RULE) for name in self.names)

    @property
    def source_words(self) -> Vocabulary:
        """The source words of all rules."""
        return self.rules.source_words

    @property
    def target_words(self) -> Vocabulary:
        """The target words of all rules."""
        return self.rules.target_words

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """Nothing: the grammars are as they are."""
        return {}

    def remembering(self) -> GrammarSet:
        """Return this: all grammars are here."""
        return self

    def __len__(self) -> int:
        """Return the number of grammars."""
        return len(self.offsets) - 1

    def number(self, sentence: Sequence[str], number: int | None = None) -> int:
        """Return which grammar is for a sentence (on line `number`, from 0), -1 if none is."""
        if not self._holders:
            holders = defaultdict(list)
            for n, (a, b) in enumerate(pairwise(self.word_offsets.tolist())):
                for word in self.words[a:b].tolist():
                    holders[word].append(n)
            self._holders.update(holders)
        hits: Counter[int] = Counter()
        for word in set(self.rules.source_words.encode(sentence).tolist()):
            hits.update(self._holders.get(word, ()))
        sizes = np.diff(self.word_offsets)
        fitting = [n for n, count in hits.items() if count == sizes[n]]
        if not fitting:
            return -1
        most = max(int(sizes[n]) for n in fitting)
        best = [n for n in fitting if sizes[n] == most]
        return number if number is not None and number in best else min(best)

    def grammar(self, item: Input) -> Grammar:
        """Return the rules of a sentence; where there is no grammar for it, none, and say so."""
        n = self.number(item.tokens, item.number)
        if n >= 0:
            return self[n]
        if item.tokens:
            log.warning("no grammar came along for %r: its words are passed through", " ".join(item.tokens)[:60])
        return Grammar.empty(self.names, self.rules.source_words, self.rules.target_words)

    def __getitem__(self, n: int) -> Grammar:
        """Return grammar `n`."""
        r, a, b = self.rules, int(self.offsets[n]), int(self.offsets[n + 1])

        def part(flat: I8, offsets: I8) -> tuple[I8, I8]:
            first, last = int(offsets[a]), int(offsets[b])
            return np.asarray(flat[first:last]).astype(np.int64), offsets[a : b + 1] - first

        source, source_offsets = part(r.source, r.source_offsets)
        target, target_offsets = part(r.target, r.target_offsets)
        first, last = int(r.link_offsets[a]), int(r.link_offsets[b])
        return Grammar(
            r.names,
            source,
            source_offsets,
            target,
            target_offsets,
            np.ascontiguousarray(r.features[a:b], np.float64),  # no copy: derivations keep their grammar
            r.links[first:last],
            r.link_offsets[a : b + 1] - first,
            r.source_words,
            r.target_words,
        )

    def save(self, folder: str | Path) -> None:
        """Write the columns as .npy files into a folder that exists."""
        folder = Path(folder)
        save_arrays(folder, {name: getattr(self.rules, name) for name in _COLUMNS}, _COLUMNS)
        save_arrays(folder, {name: getattr(self, name) for name in _SENTENCES}, _SENTENCES)
        self.rules.source_words.save(folder / "source_words.txt")
        self.rules.target_words.save(folder / "target_words.txt")
        (folder / "features.json").write_text(json.dumps(list(self.names)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> GrammarSet:
        """Open what :meth:`save` wrote; the columns are memory-mapped."""
        folder = Path(folder)
        try:
            names = tuple(json.loads((folder / "features.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ModelError(f"{folder / 'features.json'}: cannot be read ({error}); convert the model again") from None
        words = [Vocabulary.load(folder / f"{side}_words.txt") for side in ("source", "target")]
        remedy = "convert the model again"
        rules = Grammar(names, **open_arrays(folder, _COLUMNS, remedy), source_words=words[0], target_words=words[1])
        grammars = cls(rules, **open_arrays(folder, _SENTENCES, remedy))
        checks, count, sentences = Checks(folder, remedy), len(rules.features), len(grammars.offsets) - 1
        checks.names("features.json", names)
        checks.shape("source_offsets", rules.source_offsets, count + 1)
        check_rules(checks, rules.source, rules.source_offsets, np.arange(count + 1), rules, count)
        checks.shape("features", rules.features, count, len(names))
        checks.offsets("offsets", grammars.offsets, sentences, count)
        checks.offsets("word_offsets", grammars.word_offsets, sentences, len(grammars.words))
        checks.below("words", grammars.words, len(words[0]))
        return grammars
