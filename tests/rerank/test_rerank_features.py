"""Features made from texts: own order, language model, lengths, consensus."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camber.errors import CamberError
from camber.lm.kneser_ney import LmSettings, estimate_arpa
from camber.lm.ngrams import NgramModel
from camber.nbest import NBest
from camber.rerank.features import consensus, own_order, text_features
from camber.rerank.settings import FeatureSettings


def listed(*groups, **more):
    texts = [text for group in groups for text in group]
    return NBest.of_hypotheses((), np.cumsum([0, *map(len, groups)]), texts, np.empty((len(texts), 0)), **more)


def test_the_own_order_is_the_score_or_the_place_in_the_list():
    name, values = own_order(listed(["a", "b"], [], ["c"]))
    assert (name, values.tolist()) == ("list.rank", [0, -1, 0])
    name, values = own_order(listed(["a", "b"], scores=[-3.0, -2.0]))
    assert (name, values.tolist()) == ("list.score", [-3, -2])


def test_lengths_and_the_ratio_to_the_source():
    nbest = listed(["ab c", ""], ["é"])
    features = text_features(nbest, FeatureSettings(length=True), sources=["abcdefgh", ""])
    assert list(features) == ["list.rank", "length.words", "length.characters", "length.ratio"]
    assert features["length.words"].tolist() == [2, 0, 1]
    assert features["length.characters"].tolist() == [4, 0, 1]
    assert features["length.ratio"].tolist() == [0.5, 0, 1]
    assert "length.ratio" not in text_features(nbest, FeatureSettings(length=True))
    with pytest.raises(CamberError, match="1 sources for 2 sentences"):
        text_features(nbest, FeatureSettings(length=True), sources=["a"])


def test_the_language_model_scores_tokens_in_the_chosen_case(tmp_path):
    (tmp_path / "text").write_text("le chat dort .\nle chien dort .\nle chat mange .\n" * 3)
    estimate_arpa(tmp_path / "text", tmp_path / "arpa", LmSettings(order=2))
    lm = NgramModel.read(tmp_path / "arpa")
    assert text_features(listed(["<s> le <unk>"]), FeatureSettings(), lm)["lm.unknown"].tolist() == [2]
    nbest = listed(["Le chat dort.", "Le dort chat xylophone."])
    plain = text_features(nbest, FeatureSettings(), lm)
    assert plain["lm.unknown"].tolist() == [2, 2]  # split at spaces, "Le" and "dort." are unknown
    features = text_features(nbest, FeatureSettings(lm_language="fr", lm_lowercase=True), lm)
    assert features["lm.unknown"].tolist() == [0, 1]
    expected = lm.score([["le", "chat", "dort", "."], ["le", "dort", "chat", "xylophone", "."]])
    np.testing.assert_allclose(features["lm"], expected)
    assert features["lm"][0] > features["lm"][1]


def plain_consensus(texts):
    """The definition, in plain Python."""

    def grams(text, n):
        words = text.split()
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    features = []
    for text in texts:
        parts = []
        for n in range(1, 5):
            mine = grams(text, n)
            everything = {gram for other in texts for gram in grams(other, n)}
            mean = {gram: sum(grams(other, n).count(gram) for other in texts) / len(texts) for gram in everything}
            both = sum(min(mine.count(gram), mean[gram]) for gram in set(mine))
            below = len(mine) + sum(mean.values())
            parts.append(2 * both / below if below else 1.0)
        features.append(sum(parts) / 4)
    return features


@given(st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=5).map(" ".join), max_size=4), max_size=3))
@settings(deadline=None)
def test_consensus_is_the_agreement_with_the_mean_counts(groups):
    values = consensus(listed(*groups))
    expected = [value for group in groups for value in (plain_consensus(group) if group else [])]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    assert ((values >= 0) & (values <= 1 + 1e-12)).all()


def test_a_hypothesis_alone_agrees_with_itself():
    assert consensus(listed(["a b c"])).tolist() == [1.0]
    assert math.isclose(consensus(listed([""]))[0], 1.0)
