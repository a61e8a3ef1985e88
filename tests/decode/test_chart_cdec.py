"""The chart decoder beside cdec: its grammars, language model, weights and n-best lists."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from camber.corpus.inputs import as_inputs
from camber.engine import Threads
from camber.model.translator import load
from camber.pipeline.convert_cdec import convert_cdec

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
CDEC = SHARED / "anchors" / "cdec"


@pytest.fixture(scope="module")
def cdec(tmp_path_factory):
    """Return cdec's model as a decoder, its sentences, and the fields of its n-best list by sentence and text."""
    if not CDEC.is_dir():
        pytest.skip(f"{CDEC} is absent")
    folder = tmp_path_factory.mktemp("cdec") / "model"
    convert_cdec(CDEC / "cdec.ini", folder)
    lines = (SHARED / "data/multi30k/tok/test.de").read_text(encoding="utf-8").splitlines()[:100]
    lists = [{} for _ in lines]
    with gzip.open(CDEC / "test.first100.nbest100.gz", "rt", encoding="utf-8") as file:
        for line in file:
            number, text, features, score = line.rstrip("\n").split(" ||| ")
            values = dict(item.split("=") for item in features.split())
            lists[int(number)].setdefault(text, (float(score), {name: float(v) for name, v in values.items()}))
    return load(folder).decoder, [line.split() for line in lines], lists


@pytest.fixture(scope="module")
def decoded(cdec):
    """Return our 100 best."""
    decoder, text, _ = cdec
    return list(decoder.decode(as_inputs(text), nbest=100, engine=Threads(1)))


@pytest.mark.parametrize("nbest", [1, 100])
def test_the_best_scores_are_at_least_those_of_cdec(cdec, decoded, nbest):
    decoder, text, lists = cdec
    derivations = decoded if nbest == 100 else decoder.decode(as_inputs(text), engine=Threads(1))
    ours = np.array([best[0].score for best in derivations])
    theirs = np.array([next(iter(listed.values()))[0] for listed in lists])
    assert ours.mean() >= theirs.mean()
    assert (ours >= theirs - 1e-4).mean() >= 0.95


def test_lists_are_at_least_as_good_as_those_of_cdec(cdec, decoded):
    _, _, lists = cdec
    wide = [n for n, listed in enumerate(lists) if len(listed) == 100]
    ours = [derivation.score for n in wide for derivation in decoded[n]]
    theirs = [score for n in wide for score, _ in lists[n].values()]
    assert np.mean(ours) >= np.mean(theirs)


def test_features_of_shared_derivations_agree_to_the_printed_digits(cdec, decoded):
    decoder, _, lists = cdec
    agree = []
    for listed, best in zip(lists, decoded, strict=True):
        for derivation in best:
            theirs = listed.get(" ".join(derivation.words))
            # cdec may have found another derivation of the same text, now and then one with the same score
            if theirs and np.isclose(theirs[0], derivation.score, rtol=6e-6, atol=0):
                names = [at for at, name in enumerate(decoder.names) if name != "SourceOOV"]  # cdec has none
                wanted = [theirs[1].get(decoder.names[at], 0.0) for at in names]
                agree.append(np.allclose(derivation.linear_sums[names], wanted, rtol=6e-6, atol=6e-6))
    assert len(agree) > 6000
    assert np.mean(agree) > 0.999


def test_language_model_scores_are_those_of_the_whole_text(cdec, decoded):
    decoder, _, _ = cdec
    flat = [derivation for best in decoded for derivation in best[:20]]
    whole = decoder.languages.models[0].score([derivation.words for derivation in flat]) / np.log(10)
    column = decoder.names.index("LanguageModel")
    np.testing.assert_allclose([d.features[:, column].sum() for d in flat], whole, rtol=0, atol=1e-8)
    np.testing.assert_allclose([d.linear_sums @ decoder.weights for d in flat], [d.score for d in flat], atol=1e-8)


def test_lines_find_their_grammars_in_any_order(cdec, decoded):
    decoder, text, _ = cdec
    order = np.random.default_rng(1).permutation(100)[:20]
    again = list(decoder.decode(as_inputs([text[n] for n in order]), nbest=2, engine=Threads(1)))
    assert [best[0].words for best in again] == [decoded[n][0].words for n in order]
