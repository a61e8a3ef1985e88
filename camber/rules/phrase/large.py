"""The large set of features of phrase pairs: an inventory, and what it says about the rules of a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from camber.arrays.checks import Checks
from camber.arrays.files import Shapes, open_arrays, save_arrays
from camber.rules.features import SUBWORD_NAMES
from camber.rules.inventory import Inventory, frequent_sequences
from camber.rules.measuring import Measured, Measurer, cluster_sequences
from camber.rules.phrase.store import RuleStore
from camber.rules.settings import WordSettings
from camber.rules.sides import RuleSides
from camber.rules.words import WordKnowledge

_MEASURED: Shapes = {"numbers": (np.int16, 1), "offsets": (np.int64, 1), "subword_scores": (np.float32, 2)}


@dataclass(frozen=True)
class LargeFeatures:
    """An inventory, and what it says about the rules of a store."""

    inventory: Inventory
    measured: Measured

    @classmethod
    def of(cls, words: WordKnowledge, store: RuleStore, settings: WordSettings) -> Self:
        """Choose indicators for the rules of a store, and measure them; a signature counts as often as its pairs."""
        ids, offsets = cluster_sequences(sides_of(store), words.source.clusters, words.target.clusters)
        signatures = frequent_sequences(ids, offsets, store.counts[:, 1], settings.signatures)
        vocabularies = store.source_vocabulary, store.target_vocabulary
        inventory = Inventory.make(words, vocabularies, signatures, settings)
        return cls.measure(inventory, Measurer.of(inventory, *vocabularies), store)

    @classmethod
    def measure(cls, inventory: Inventory, measurer: Measurer, store: RuleStore) -> Self:
        """Return the features of all rules of a store, by the inventory that the measurer was made from."""
        return cls(inventory, measurer.measure(sides_of(store)))

    def save(self, folder: Path) -> None:
        """Write everything into a folder."""
        self.inventory.save(folder)
        save_arrays(folder, {name: getattr(self.measured, name) for name in _MEASURED}, _MEASURED)

    @classmethod
    def load(cls, folder: Path, store: RuleStore) -> Self:
        """Open what :meth:`save` wrote for this store."""
        measured = Measured(**open_arrays(folder, _MEASURED))
        inventory, checks = Inventory.load(folder), Checks(folder)
        checks.offsets("offsets", measured.offsets, len(store), len(measured.numbers))
        checks.below("numbers", measured.numbers, len(inventory.names))
        checks.shape("subword_scores", measured.subword_scores, len(store), len(SUBWORD_NAMES))
        return cls(inventory, measured)


def sides_of(store: RuleStore) -> RuleSides:
    """Return the rules of a store as they are measured."""
    return RuleSides(
        store.source_ids,
        store.source_offsets,
        np.repeat(np.arange(store.phrases), np.diff(store.rule_offsets)),
        store.target_ids,
        store.target_offsets,
        store.links,
        store.link_offsets,
    )
