"""The regression of a model: pairs of sentences beside its phrase pairs, from which both are learnt.

Models of kind "kernel" translate with it. Phrase models may have it as one more feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from camber.errors import ModelError
from camber.model.added import open_overlay
from camber.model.directory import ModelDirectory
from camber.regress.settings import KernelSettings, PreimageSettings, RegressionSettings
from camber.text.pipeline import TextPipeline

if TYPE_CHECKING:  # imported where there is a regression, or added pairs
    from camber.corpus import Vocabulary
    from camber.regress.prediction import Regression
    from camber.regress.scorer import RegressionScorer
    from camber.rules.phrase.overlay import Overlay
    from camber.rules.phrase.store import RuleStore

#: the folder of the pairs, in that of the phrase pairs
PAIRS = "pairs"


def open_scorer(
    folder: Path, feature: RegressionSettings, kernel: KernelSettings, store: RuleStore, overlay: Overlay | None = None
) -> RegressionScorer | None:
    """Open the regression of a phrase model with the pairs that were added; None, if it has none as a feature."""
    learnt = feature.of(kernel)
    if learnt is None:
        return None
    from camber.regress.scorer import RegressionScorer

    regression, source, _ = _open(folder, learnt, store, overlay)
    return RegressionScorer.of(regression, source)


@dataclass(frozen=True)
class ModelRegression:
    """The regression of a model, with what its texts must become."""

    text: TextPipeline
    regression: Regression
    source_words: Vocabulary
    target_words: Vocabulary
    kind: str  # lsr, or mmr
    scale: float  # what predictions are multiplied by
    signature: str  # of the model

    @classmethod
    def open(cls, path: str | Path) -> ModelRegression:
        """Open that of a kernel model, or of a phrase model that has one."""
        return ModelDirectory.opened(path, cls._of)

    @classmethod
    def _of(cls, directory: ModelDirectory) -> ModelRegression:
        from camber.model.phrase import FOLDER
        from camber.rules.phrase.store import RuleStore

        tables = directory.settings
        kernel: KernelSettings | None = KernelSettings.from_dict(tables.get("kernel", {}))
        if directory.kind != "kernel":
            kernel = RegressionSettings.from_dict(tables.get("regression", {})).of(kernel or KernelSettings())
        if kernel is None or directory.kind not in ("kernel", "phrase"):
            raise ModelError(
                f"{directory.path}: a {directory.kind} model without a regression; train one with `camber train "
                "--method kernel`, or with `--regression lsr`"
            )
        store = RuleStore.load(directory.path / FOLDER)
        opened = _open(directory.path / FOLDER, kernel, store, open_overlay(directory, store))
        scale = PreimageSettings.from_dict(tables.get("preimage", {})).scale if directory.kind == "kernel" else 0.0
        text = TextPipeline.load(directory.path / "text")
        return cls(text, *opened, kernel.regression, scale or 1.0, directory.signature)


def _open(
    folder: Path, settings: KernelSettings, store: RuleStore, overlay: Overlay | None
) -> tuple[Regression, Vocabulary, Vocabulary]:
    """Return a regression, and the words of both sides as it numbers them."""
    from camber.regress.learnt import LearntRegression

    source, target = store.source_vocabulary, store.target_vocabulary
    learnt = LearntRegression.load(folder / PAIRS, source, target)
    if overlay is None:
        return learnt.regression(settings), source, target
    added = overlay.index.bitext
    return learnt.regression(settings, added), added.source.vocabulary, added.target.vocabulary


def learnt_sizes(folder: Path, store: RuleStore) -> dict[str, Any]:
    """Return what a reader of `model.toml` wants to know about the regression of a phrase model, if it has one."""
    if not (folder / PAIRS).exists():
        return {}
    from camber.regress.learnt import LearntRegression

    learnt = LearntRegression.load(folder / PAIRS, store.source_vocabulary, store.target_vocabulary)
    return {f"regression_{name}": size for name, size in learnt.sizes().items()}
