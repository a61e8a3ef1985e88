"""Paths through predicted n-grams, against the enumeration of every text."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import graph_paths as naive
from toys.models import ngram_model_of, random_ngrams
from toys.predictions import WrittenGrams

from camber.corpus.inputs import as_inputs
from camber.features.feature import names_of
from camber.regress.graph_decoder import GraphDecoder
from camber.regress.graph_settings import GraphSettings, graph_features

WORDS = ("u", "v", "w")
EVERYTHING = 5_000  # paths of a stack: more than there are


@dataclass(frozen=True)
class Limited(GraphSettings):
    """Settings under which paths are short enough to be enumerated."""

    most: int = 3

    def longest(self, source, ratio):
        return self.most


def random_grams(rng, order, orders, share):
    """Draw n-grams over WORDS and marks, with expected counts of either sign, some of them well above 1."""
    grams = {}
    level = [("<s>",), *((word,) for word in WORDS)]
    for n in range(1, order + 1):
        if n > 1:
            level = [(*gram, word) for gram in level if gram[-1] != "</s>" for word in (*WORDS, "</s>")]
        if n in orders:
            for gram in level:
                if gram != ("<s>",) and rng.random() < share:
                    grams[gram] = float(rng.normal(0.6, 0.9)) * float(rng.choice([1, 1, 2]))
    return grams


def toy(seed, orders, share, longest, language_models, glue, strange, features="more"):
    """Return a task for the twin, weights, and a decoder that looks at everything."""
    rng = np.random.default_rng(seed)
    order = max(orders)
    source = [str(word) for word in rng.choice(["a", "b", "c"], rng.integers(1, 4))] + ["?x"] * strange
    grams = random_grams(rng, order, orders, share)
    models = [random_ngrams(rng, 2 + k, WORDS[:-1]) for k in range(language_models)]
    ratio = float(rng.uniform(0.5, 1.5))
    names = names_of(graph_features(language_models, orders, features))
    weights = {name: float(rng.normal()) for name in names}
    task = naive.Task(grams, order, source, ["?x"] * strange, models, ratio, alpha=0.7)
    provider = WrittenGrams({tuple(source): grams}, orders, ratio, WORDS)
    decoder = GraphDecoder(
        provider,
        [ngram_model_of(model) for model in models],
        weights,
        Limited(beam=EVERYTHING, glue=glue, glue_words=50, brevity=0.7, features=features, most=longest),
    )
    return task, weights, decoder


cases = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "orders": st.sampled_from([(2,), (1, 2), (1, 2), (2, 3), (3,), (1, 2, 3)]),
        "share": st.sampled_from([0.2, 0.5, 0.9]),
        "longest": st.integers(1, 5),
        "language_models": st.integers(0, 2),
        "glue": st.sampled_from(["needed", "always"]),
        "strange": st.integers(0, 2),
        "features": st.sampled_from(["more", "paper"]),
    }
)


@given(cases)
@settings(max_examples=150)
def test_the_search_finds_the_best_of_all_paths_with_their_scores_and_features(case):
    task, weights, decoder = toy(**case)
    work = np.zeros(len(decoder.WORK), np.int64)
    (best,) = decoder.decode(as_inputs([task.source]), 30, work=work)
    every, needed = naive.all_paths(task, weights, case["longest"], case["glue"] == "always")
    if not every:  # no n-gram has a word, and no word is passed through
        assert [item.words for item in best] == [[]]
        return
    assert len(best) == min(30, len(every))
    assert [item.score for item in best] == pytest.approx([score for score, _ in every[:30]], abs=1e-6)
    assert len({tuple(item.words) for item in best}) == len(best)
    by_text = {text: score for score, text in every}
    for item in best:
        assert by_text[tuple(item.words)] == pytest.approx(item.score, abs=1e-6)
        parts = naive.features(task, item.words)
        expected = np.array([[part.get(name, np.nan) for name in decoder.names] for part in parts])
        missing = [k for k, name in enumerate(decoder.names) if not name.startswith(("regression", "brevity"))]
        expected[:, missing] = np.nan_to_num(expected[:, missing])
        np.testing.assert_allclose(item.features, expected, atol=1e-6)
        assert item.linear_sums @ decoder.weights == pytest.approx(item.score, abs=1e-6)
    if case["glue"] == "needed":
        assert work[2] == needed
    assert work[3] == (best[0].features[:, decoder.names.index("glue")] > 0).sum()
