"""Re-ranking: an estimator for the n-best lists of any engine."""

from __future__ import annotations

from camber.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {"Reranker": "camber.rerank.reranker", "FeatureSettings": "camber.rerank.settings"},
)
