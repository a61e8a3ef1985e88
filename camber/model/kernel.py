"""Models of translation by regression: phrase pairs, the pairs of sentences, and what was learnt of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.decode.phrase.settings import DecodeSettings
from camber.features.weights import Weights
from camber.model.added import open_overlay
from camber.model.directory import ModelDirectory
from camber.model.phrase import FOLDER, open_rules, store_sizes
from camber.model.regression import PAIRS
from camber.regress.decoder import RegressionDecoder
from camber.regress.learnt import LearntRegression
from camber.regress.settings import KernelSettings, PreimageSettings
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.source import OverlaidRules, StoredRules
from camber.rules.phrase.store import RuleStore

if TYPE_CHECKING:  # imported where there are added pairs
    from camber.rules.phrase.overlay import Overlay


class KernelKind:
    """Models of kind "kernel"."""

    takes_pairs = True
    weighs = False

    def open(self, directory: ModelDirectory) -> tuple[RegressionDecoder, Weights]:
        """Open a model: its decoder, and no weights."""
        tables = directory.settings
        decoder = open_decoder(
            directory.path / FOLDER,
            RuleSettings.from_dict(tables.get("rules", {})),
            KernelSettings.from_dict(tables.get("kernel", {})),
            PreimageSettings.from_dict(tables.get("preimage", {})),
            partial(open_overlay, directory),
        )
        return decoder, Weights({})


KIND = KernelKind()


def open_decoder(
    folder: Path,
    rules: RuleSettings,
    kernel: KernelSettings,
    search: PreimageSettings,
    overlay_of: Callable[[RuleStore], Overlay | None] | None = None,
) -> RegressionDecoder:
    """Open phrase pairs and pairs of sentences; `overlay_of` joins phrase pairs with those of added pairs."""
    phrases = open_rules(folder, rules.features, DecodeSettings())
    store, large = phrases.store, phrases.large
    learnt = LearntRegression.load(folder / PAIRS, store.source_vocabulary, store.target_vocabulary)
    overlay = overlay_of(store) if overlay_of else None
    if overlay is None:
        return RegressionDecoder(StoredRules(store, phrases.features, large), learnt.regression(kernel), search)
    source = OverlaidRules(overlay, phrases.features, large.inventory if large else None)
    return RegressionDecoder(source, learnt.regression(kernel, overlay.index.bitext), search)


def regression_sizes(folder: Path) -> dict[str, Any]:
    """Return what a reader of `model.toml` wants to know about phrase pairs and the regression."""
    store = RuleStore.load(folder)
    learnt = LearntRegression.load(folder / PAIRS, store.source_vocabulary, store.target_vocabulary)
    return {**store_sizes(store), **learnt.sizes()}
