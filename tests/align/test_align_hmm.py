"""The kernels of the alignment models against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.word_alignment import chain_posteriors, mixture_posteriors

from camber.align import hmm
from camber.align.links import link_index
from camber.corpus import Bitext


def run_pairs(bitext, lexical, null_target, null_source, jumps, p_null, chain):
    """Call the kernel for a whole bitext; return posterior[links] and jump counts."""
    index = link_index(bitext)
    posterior = np.full(len(index), np.nan, np.float32)
    counts = np.zeros(jumps.shape[::2], np.float64)
    hmm.expect(
        0,
        len(bitext),
        hmm.Pairs.of(bitext.source, bitext.target, index.offsets, index.entries),
        hmm.Parameters(lexical, null_target, null_source, jumps, np.float32(p_null)),
        chain,
        hmm.workspace(bitext.source.longest, bitext.target.longest),
        counts,
        posterior,
    )
    return index, posterior, counts


def random_parameters(bitext, rng):
    """Draw parameters of both directions for every entry of the bitext's link index."""
    lexical = np.empty(link_index(bitext).entry_count, hmm.LEXICAL)
    lexical["forward"], lexical["backward"] = rng.random((2, len(lexical))) ** 3 + 1e-6
    null_target = rng.random(len(bitext.target.vocabulary)).astype(np.float32) + np.float32(1e-6)
    null_source = rng.random(len(bitext.source.vocabulary)).astype(np.float32) + np.float32(1e-6)
    weights = rng.random((2, hmm.jump_width(max(bitext.source.longest, bitext.target.longest)))) + 0.01
    jumps = np.stack((weights, weights[:, ::-1]), axis=1).astype(np.float32)
    return lexical, null_target, null_source, jumps


words = st.lists(st.sampled_from("abcde"), min_size=0, max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=3), st.booleans(), st.integers(0, 1000))
def test_posteriors_and_jumps_equal_enumeration(pairs, chain, seed):
    bitext = Bitext.encode([s for s, _ in pairs], [t for _, t in pairs])
    lexical, null_target, null_source, jumps = random_parameters(bitext, np.random.default_rng(seed))
    index, posterior, counts = run_pairs(bitext, lexical, null_target, null_source, jumps, 0.2, chain)
    middle = jumps.shape[2] // 2
    expected_jumps = np.zeros_like(counts)
    for s, (source, target) in enumerate(zip(bitext.source, bitext.target, strict=True)):
        if not len(source) or not len(target):
            continue
        entries = index.entries[index.offsets[s] : index.offsets[s + 1]].reshape(len(source), len(target))
        sides = []
        for direction, emission, nulls in (
            (0, lexical["forward"][entries].T, null_target[target]),
            (1, lexical["backward"][entries], null_source[source]),
        ):
            if chain:
                table, moves = chain_posteriors(
                    emission.tolist(), nulls.tolist(), lambda d, k=direction: float(jumps[k, 0, middle + d]), 0.2
                )
                for distance, count in moves.items():
                    expected_jumps[direction, middle + distance] += count
            else:
                table = mixture_posteriors(emission.tolist(), nulls.tolist(), 0.2)
            sides.append(np.array(table))
        expected = sides[0].T * sides[1]
        got = posterior[index.offsets[s] : index.offsets[s + 1]].reshape(expected.shape)
        assert got == pytest.approx(expected, abs=2e-5)
    assert counts == pytest.approx(expected_jumps, abs=1e-4)


def test_a_short_pair_after_a_long_one_gets_the_same_posteriors_as_alone():
    rng = np.random.default_rng(5)
    long = [f"w{k}" for k in range(40)], [f"v{k}" for k in range(37)]
    both = Bitext.encode([long[0], ["w1", "w2"]], [long[1], ["v1", "v2", "v3"]])
    parameters = random_parameters(both, rng)
    index, posterior, counts = run_pairs(both, *parameters, 0.1, True)
    work = hmm.workspace(40, 37)
    first = index.offsets[1]
    alone, alone_counts = np.zeros_like(posterior[first:]), np.zeros_like(counts)
    given = (
        hmm.Pairs.of(both.source, both.target, index.offsets, index.entries),
        hmm.Parameters(*parameters, np.float32(0.1)),
    )
    hmm.expect(1, 2, *given, True, work, alone_counts, alone)
    assert np.array_equal(posterior[first:], alone)
    long_counts, alone = np.zeros_like(counts), np.zeros_like(posterior[:first])
    hmm.expect(0, 1, *given, True, work, long_counts, alone)
    assert counts == pytest.approx(long_counts + alone_counts, abs=1e-6)


def test_lexical_parameters_are_smoothed_relative_frequencies():
    bitext = Bitext.encode([["a", "b"], ["a"]], [["x"], ["x", "y"]])
    index = link_index(bitext)
    posterior = np.array([0.5, 0.25, 0.125, 0.75], np.float32)  # a-x b-x | a-x a-y
    lexical = np.zeros(index.entry_count, hmm.LEXICAL)
    counts, source, target = np.zeros(index.entry_count, np.float32), np.zeros(2), np.zeros(2)
    hmm.count_links(index.entries, posterior, counts)
    hmm.maximise(index.entry_offsets, index.entry_targets, 0.5, counts, source, target, lexical)
    entry = index.entries[0]  # a-x: (0.625 + 0.5) / (1.375 + 0.5 · 2), and / (0.875 + 0.5 · 2)
    assert lexical[entry].tolist() == pytest.approx((1.125 / 2.375, 1.125 / 1.875))
