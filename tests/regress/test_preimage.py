"""The pre-image search, against the enumeration of all translations and scores from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import preimage_search

from camber.corpus import Bitext, Sentences, Vocabulary
from camber.regress.margin import MarginRegression
from camber.regress.prediction import LeastSquares, MaximumMargin, Vectors
from camber.regress.preimage import Grams, Hypotheses, PhraseOptions, search
from camber.regress.spectrum import Spectrum

WORDS = 5  # of both languages
words = st.integers(0, WORDS - 1)
texts = st.lists(words, min_size=1, max_size=5).map(tuple)
pairs = st.lists(st.tuples(texts, texts), min_size=2, max_size=5)
spectra = st.builds(Spectrum, st.integers(1, 3), st.sampled_from(["blended", "weighted"]))
#: one word more than n-grams have
phrases = st.lists(st.lists(st.integers(0, WORDS), min_size=1, max_size=2).map(tuple), max_size=2, unique=True)


@st.composite
def tasks(draw: st.DrawFn) -> tuple[preimage_search.Text, preimage_search.Options]:
    source = draw(st.lists(st.integers(-2, WORDS - 1), min_size=1, max_size=4).map(tuple))
    options = [[draw(phrases) for _ in range(min(2, len(source) - start))] for start in range(len(source))]
    return source, options


class Toy:
    """The same regression as the package has it, and as the twin does."""

    def __init__(self, pairs: list[tuple[tuple[int, ...], tuple[int, ...]]], spectrum: Spectrum, kind: str) -> None:
        vocabulary = Vocabulary([f"w{n}" for n in range(WORDS)])
        sides = [Sentences.encode([[f"w{n}" for n in pair[k]] for pair in pairs], vocabulary) for k in (0, 1)]
        self.vectors = Vectors.of(Bitext(*sides), spectrum)
        alphas = None
        if kind == "lsr":
            self.regression: LeastSquares | MaximumMargin = LeastSquares.of(self.vectors, 0.5)
        else:
            margin = MarginRegression().fit(self.vectors.source, self.vectors.target)
            self.regression, alphas = MaximumMargin(self.vectors, margin), margin.alphas.tolist()
        self.twin = preimage_search.Scorer(pairs, spectrum.weights.tolist(), 0.5, alphas)

    def search(self, source: preimage_search.Text, options: preimage_search.Options, beam: int) -> Hypotheses:
        sentence = np.array(source, np.int32)
        prediction = self.regression.predict(sentence, np.ones(WORDS, bool))
        return search(PhraseOptions.of(options), prediction, Grams.of(self.vectors.target_grams), beam)


@pytest.mark.parametrize("kind", ["lsr", "mmr"])
@given(pairs, spectra, tasks())
@settings(max_examples=60)
def test_a_wide_search_finds_all_translations_with_their_scores(kind: str, pairs, spectrum, task) -> None:  # type: ignore[no-untyped-def]
    source, options = task
    toy = Toy(pairs, spectrum, kind)
    found = toy.search(source, options, 3000)
    expected = {}
    for _, pieces in preimage_search.translations(options):
        text = tuple(word for piece in pieces for word in piece)
        expected[text] = toy.twin.score(source, text)
    got = {tuple(found.text(h)): float(found.score[h]) for h in found.best()}
    assert len(got) == len(found.best())  # every text once
    assert set(got) == set(expected)
    assert got == pytest.approx(expected, abs=1e-5)
    scores = [float(found.score[h]) for h in found.best()]
    assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-6)


@pytest.mark.parametrize("kind", ["lsr", "mmr"])
@given(pairs, spectra, tasks(), st.integers(1, 4))
@settings(max_examples=60)
def test_every_hypothesis_has_the_score_of_its_words_and_of_as_many_source_words_as_it_translates(  # type: ignore[no-untyped-def]
    kind: str, pairs, spectrum, task, beam
) -> None:
    source, options = task
    toy = Toy(pairs, spectrum, kind)
    found = toy.search(source, options, beam)
    assert (np.diff(found.first) <= beam).all()
    for stack in range(1, len(source) + 1):
        kept = range(int(found.first[stack]), int(found.first[stack + 1]))
        scores = [float(found.score[h]) for h in kept]
        assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-6)
        for h in kept:
            path = found.path(h)
            covered = sorted(n for one in path for n in range(found.start[one], found.stop[one]))
            assert len(covered) == len(set(covered)) == stack
            expected = toy.twin.score(source[:stack], tuple(found.text(h)))
            assert float(found.score[h]) == pytest.approx(expected, abs=1e-5)
            for one in path:
                span = options[found.start[one]][found.stop[one] - found.start[one] - 1]
                here = found.text(one)[found.size[found.parent[one]] :]
                assert tuple(here) in span


def test_phrases_that_leave_a_gap_give_no_translation() -> None:
    toy = Toy([((0,), (1,)), ((1,), (0,))], Spectrum(order=2), "lsr")
    assert not toy.search((0, 1, 0), [[[(1,)], []], [[], []], [[(1,)]]], 10).best()
