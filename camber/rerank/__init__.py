"""Re-ranking: an estimator for the n-best lists of any engine."""

from __future__ import annotations

import importlib
from typing import Any

_homes = {"Reranker": "camber.rerank.reranker", "FeatureSettings": "camber.rerank.settings"}

__all__ = [*_homes]


def __getattr__(name: str) -> Any:
    if name in _homes:
        return getattr(importlib.import_module(_homes[name]), name)
    raise AttributeError(f"module 'camber.rerank' has no attribute {name!r}")
