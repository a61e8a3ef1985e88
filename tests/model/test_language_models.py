"""The language models of a model keep their order, however many there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from toys.models import ngram_model_of, random_ngrams

from camber.model.language_models import open_language_models, save_language_models


def test_the_tenth_language_model_comes_after_the_ninth(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    models = [ngram_model_of(random_ngrams(rng, 2)) for _ in range(11)]
    save_language_models(models, tmp_path)
    opened = open_language_models(tmp_path)
    text = [["u", "v", "w"], ["w"]]
    assert [model.score(text).tolist() for model in opened] == [model.score(text).tolist() for model in models]


def test_a_folder_without_language_models_has_none(tmp_path: Path) -> None:
    (tmp_path / "lm").mkdir()
    assert open_language_models(tmp_path) == []
