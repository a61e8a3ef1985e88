"""The decoder on Moses' own model, beside Moses' own output."""

import numpy as np
import pytest

from camber.corpus.inputs import as_inputs
from camber.engine import Threads

pytestmark = pytest.mark.slow

#: our columns in the order of Moses' n-best lists
COLUMNS = [*range(4, 10), 10, 14, 11, 12, *range(4)]


def segmentation(derivation):
    """Write the spans of a derivation as Moses does: 0-1=0 2=1-2 …"""

    def span(a, b):
        return str(a) if b - a == 1 else f"{a}-{b - 1}"

    both = zip(derivation.spans.tolist(), derivation.target_spans.tolist(), strict=True)
    return " ".join(f"{span(*source)}={span(*target)}" for source, target in both)


def test_features_agree_with_moses_wherever_both_lists_have_a_derivation(anchor):
    decoder = anchor.decoder(pop_limit=200)
    sentences = range(60)
    both = firsts = 0
    decoded = decoder.decode(as_inputs([anchor.text[i] for i in sentences]), nbest=100, engine=Threads(1))
    for i, ours in zip(sentences, decoded, strict=True):
        theirs = {(" ".join(f[1].split()), f[4].strip()): f for f in anchor.lists[i]}
        first = anchor.lists[i][0]
        for derivation in ours:
            fields = theirs.get((" ".join(derivation.words), segmentation(derivation)))
            if fields is None:
                continue
            values = [float(field) for field in fields[2].split() if not field.endswith("=")]
            np.testing.assert_allclose(derivation.linear_sums[COLUMNS], values, rtol=0, atol=1e-3)
            assert abs(derivation.score - float(fields[3])) < 1e-3
            assert decoder.word_alignment(derivation) == links(fields[5], derivation)
            both += 1
            firsts += fields is first
    assert both > 2500
    assert firsts > 50


def links(field, derivation):
    """Parse Moses' alignment; it leaves out the words that were passed through."""
    links = [tuple(map(int, link.split("-"))) for link in field.split()]
    spans = zip(derivation.rules, derivation.spans, derivation.target_spans, strict=True)
    passed = [(int(source[0]), int(target[0])) for r, source, target in spans if r < 0]
    return sorted({*links, *passed})


def test_search_is_as_good_as_that_of_moses(anchor):
    count = 100
    decoded = list(anchor.decoder(pop_limit=400).decode(as_inputs(anchor.text[:count]), engine=Threads(1)))
    theirs = np.array([float(anchor.lists[i][0][3]) for i in range(count)])
    ours = np.array([derivations[0].score for derivations in decoded])
    assert ours.mean() >= theirs.mean() - 0.01


def test_a_larger_pop_limit_does_not_lower_the_mean_score(anchor):
    means = []
    for pop_limit in (50, 1000):
        decoded = anchor.decoder(pop_limit=pop_limit).decode(as_inputs(anchor.text[:30]), engine=Threads(1))
        means.append(np.mean([derivations[0].score for derivations in decoded]))
    assert means[0] <= means[1] + 1e-6


def test_blank_lines_stay_as_they_are(anchor):
    assert anchor.translator.translate(["", "  ", "zwei"], engine=Threads(1))[:2] == ["", "  "]
