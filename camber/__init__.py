"""Camber: machine translation and n-best re-ranking in which every feature may bend.

    model = camber.train(source="train.de", target="train.en", model="my-model")
    model.translate(["Guten Morgen."])

The names below are imported when they are first used, so that ``import camber`` is quick.
"""

from __future__ import annotations

from camber.lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CamberError": "camber.errors",
        "Cancelled": "camber.progress",
        "watching": "camber.progress",
        "Glossary": "camber.formats.glossary.glossary",
        "NBest": "camber.nbest",
        "TrainSettings": "camber.pipeline.settings",
        "Reranker": "camber.rerank.reranker",
        "Threads": "camber.engine",
        "combine_models": "camber.pipeline.combine",
        "curves": "camber.report.curves",
        "Adder": "camber.pipeline.add",
        "add": "camber.pipeline.add",
        "analyse": "camber.pipeline.analyse",
        "forget": "camber.pipeline.forget",
        "import_files": "camber.pipeline.importing",
        "select": "camber.pipeline.select",
        "together": "camber.model.combination",
        "train": "camber.pipeline.train",
        "translate_file": "camber.pipeline.translate_file",
        "tune_model": "camber.pipeline.tune",
        "fold_lists": "camber.pipeline.folds",
        "nbest_folds": "camber.pipeline.folds",
        "load": "camber.model.translator",
    },
)
__all__ += ["__version__"]
