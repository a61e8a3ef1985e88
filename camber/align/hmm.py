"""Expected links of the HMM alignment model (Vogel 1996; Och & Ney 2003), in both directions at once.

In one direction the words of one side (the states) produce those of the other (the observations), in order: each is
produced by a state, chosen by how far it lies from the previous one (the jump), or by NULL, with probability `p_null`,
which keeps the place of the previous state. The other direction is the same model with the sides exchanged. Kernels
work on a range of pairs and write the probability of every possible link, so that ranges can run in parallel and
nothing depends on how the corpus was cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from camber.arrays.types import F4, I4, I8, Array
from camber.corpus.bitext import Sentences
from camber.kernel import kernel, kernel_inlined

#: Lexical parameters of one entry of the link index: p(target word | source word) and p(source word | target word).
LEXICAL = np.dtype([("forward", np.float32), ("backward", np.float32)])


class Pairs(NamedTuple):
    """Sentence pairs and their possible links."""

    source_offsets: Array  # int64[pairs + 1]
    target_offsets: Array  # int64[pairs + 1]
    source_ids: Array  # int32[tokens]
    target_ids: Array  # int32[tokens]
    link_offsets: Array  # int64[pairs + 1]
    entries: Array  # int32[links]: the entry of every possible link (see `links`)

    @classmethod
    def of(cls, source: Sentences, target: Sentences, link_offsets: I8, entries: I4) -> Pairs:
        """Take the arrays of both sides."""
        return cls(source.offsets, target.offsets, source.ids, target.ids, link_offsets, entries)


class Parameters(NamedTuple):
    """The parameters of both directions."""

    lexical: Array  # LEXICAL[entries]
    null_target: Array  # float32[target words]: p(t|NULL)
    null_source: Array  # float32[source words]: p(s|NULL)
    jumps: Array  # float32[2 directions, plain and reversed, width]: weight of a jump, distance 0 in the middle
    p_null: Array  # float32


@kernel
def expect(first, last, pairs, parameters, chain, work, jump_counts, posterior):
    """Compute posterior[links of these pairs] of pairs `first` to `last`: the product of both directions' posteriors.

    Without `chain` the jumps are not used. `work` comes from :func:`workspace`; jump_counts[2, width] are added to.
    """
    source_offsets, target_offsets, source_ids, target_ids, link_offsets, entries = pairs
    lexical, null_target, null_source, jumps, p_null = parameters
    forward, backward, nulls = work[0], work[1], work[2]
    for s in range(first, last):
        source, target, base = source_offsets[s], target_offsets[s], link_offsets[s]
        sources, targets = source_offsets[s + 1] - source, target_offsets[s + 1] - target
        if sources == 0 or targets == 0:
            continue
        # rows are padded to a whole number of vectors, with zeros, so that the loops over states have no ragged end
        source_row, target_row = (sources + 7) // 8 * 8, (targets + 7) // 8 * 8
        forward[: targets * source_row] = 0
        backward[: sources * target_row] = 0
        for i in range(sources):
            row, here = backward[i * target_row :], entries[base + i * targets :]
            for j in range(targets):
                entry = here[j]
                forward[j * source_row + i] = lexical[entry]["forward"]
                row[j] = lexical[entry]["backward"]
        for j in range(targets):
            nulls[j] = null_target[target_ids[target + j]] * p_null
        _observe(targets, sources, source_row, forward, p_null, jumps[0], chain, work, jump_counts[0])
        for i in range(sources):
            nulls[i] = null_source[source_ids[source + i]] * p_null
        _observe(sources, targets, target_row, backward, p_null, jumps[1], chain, work, jump_counts[1])
        own = base - link_offsets[first]
        for i in range(sources):
            row, here = backward[i * target_row :], posterior[own + i * targets :]
            for j in range(targets):
                here[j] = row[j] * forward[j * source_row + i]


@kernel
def _observe(observations, states, row, emission, p_null, jumps, chain, work, jump_counts):
    """Turn emission[observations, row] into posteriors in place, by the chain or by the mixture."""
    if chain:
        _chain(observations, states, row, emission, p_null, jumps, work, jump_counts)
    else:
        _mixture(observations, states, row, emission, p_null, work[2])


@kernel
def _mixture(observations, states, row, emission, p_null, nulls):
    """Turn emissions into posteriors when every state is equally likely (IBM model 1)."""
    share = (np.float32(1) - p_null) / np.float32(states)
    for j in range(observations):
        here = emission[j * row : j * row + row]
        scale = share / (nulls[j] + share * _sum(here))
        for i in range(row):
            here[i] *= scale


@kernel
def _chain(observations, states, row, emission, p_null, jumps, work, jump_counts):
    """Turn emissions into posteriors by the forward-backward recursions.

    alpha[observations, row] is P(o_1..o_j, last real state i) / P(o_1..o_j): whether o_j itself comes from that state
    or from NULL does not matter for what follows.
    """
    middle = jumps.shape[1] // 2
    _leaving(states, row, np.float32(1) - p_null, jumps[0], middle, work[5])
    _forward(observations, states, row, emission, p_null, jumps[0], work)
    _backward(observations, row, emission, p_null, jumps[1], work)
    plain, counts = jumps[0], work[9]
    for d in range(middle - row, middle + row):
        jump_counts[d] += counts[d] * plain[d]
        counts[d] = 0


@kernel
def _leaving(states, row, keep, plain, middle, leave):
    """Set leave[k] to p(a state produces the next word) / Z(k): a jump from k must land inside the sentence."""
    window = plain[middle : middle + states]
    total = np.float32(0)
    for i in range(states):
        total += window[i]
    for k in range(row):
        leave[k] = 0
    for k in range(states):
        leave[k] = keep / total
        total += plain[middle - k - 1] - plain[middle + states - 1 - k]


@kernel_inlined
def _forward(observations, states, row, emission, p_null, plain, work):
    """Fill alpha and the factors by which its rows were scaled."""
    nulls, alpha, scales, leave, reach, weight = work[2], work[3], work[4], work[5], work[6], work[7]
    middle, keep = len(plain) // 2, np.float32(1) - p_null
    # the first word: a jump from the place before the sentence
    total = np.float32(0)
    for i in range(states):
        total += plain[middle + i + 1]
    for i in range(row):
        alpha[i] = plain[middle + i + 1] / total * (keep * emission[i] + nulls[0])
    for i in range(states, row):
        alpha[i] = 0
    scales[0] = np.float32(1) / _sum(alpha[:row])
    for i in range(row):
        alpha[i] *= scales[0]
    for j in range(1, observations):
        before, after, here = alpha[(j - 1) * row :], alpha[j * row : j * row + row], emission[j * row :]
        for k in range(row):
            weight[k] = before[k] * leave[k]
        _jump(row, weight, plain, middle, reach)
        null = nulls[j]
        for i in range(row):
            after[i] = reach[i] * here[i] + before[i] * null
        scale = np.float32(1) / _sum(after)
        scales[j] = scale
        for i in range(row):
            after[i] *= scale


@kernel_inlined
def _backward(observations, row, emission, p_null, mirrored, work):
    """Turn emissions into posteriors and count jumps; β is scaled so that Σ_i α_j(i) β_j(i) = 1."""
    nulls, alpha, scales, leave = work[2], work[3], work[4], work[5]
    reach, weight, beta, counts = work[6], work[7], work[8], work[9]
    ahead = work[10][4:]  # with room for three zeros on its left
    middle, keep = len(mirrored) // 2, np.float32(1) - p_null
    for i in range(row):
        beta[i] = 1
    for i in range(row, row + 4):
        ahead[i] = 0
    for j in range(observations - 1, 0, -1):
        before, after, here = alpha[(j - 1) * row :], alpha[j * row :], emission[j * row : j * row + row]
        scale, null = scales[j], nulls[j] * scales[j]
        for i in range(row):
            ahead[i] = here[i] * beta[i] * scale
            # what is left of α β when the share of NULL, α_{j-1}(i) · null · β_j(i), is taken away
            here[i] = max((after[i] - before[i] * null) * beta[i], np.float32(0))
            beta[i] *= null
            weight[i] = before[i] * leave[i]
        _count_jumps(row, weight, work[10], counts, middle)
        _jump(row, ahead, mirrored, middle, reach)
        # β_{j-1}(k) = null · β_j(k) + 1/Z(k) Σ_i p(i - k) e_j(i) β_j(i)
        for k in range(row):
            beta[k] += reach[k] * leave[k]
    for i in range(row):
        real = keep * emission[i]
        emission[i] = alpha[i] * beta[i] * real / (real + nulls[0])


@kernel
def _sum(values):
    """Add up a whole number of vectors in four lanes."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for i in range(0, len(values), 4):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
    return (a + b) + (c + d)


@kernel
def _jump(row, weight, jumps, middle, reach):
    """Set reach[i] = Σ_k weight[k] · jumps[middle + i - k]; four k at a time: loads and stores cost the most."""
    for i in range(row):
        reach[i] = 0
    for k in range(0, row, 4):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        window = jumps[middle - k - 3 : middle - k + row]
        for i in range(row):
            reach[i] += (w0 * window[i + 3] + w1 * window[i + 2]) + (w2 * window[i + 1] + w3 * window[i])


@kernel
def _count_jumps(row, weight, ahead, counts, middle):
    """Add weight[k] · ahead[i] to counts[middle + i - k]; ahead begins and ends with four zeros.

    The factor p(d) of a jump is the same for all of them and is multiplied in at the end of the sentence.
    """
    for k in range(0, row, 4):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        window = counts[middle - k - 3 : middle - k + row]
        for d in range(row + 3):
            window[d] += (w0 * ahead[d + 1] + w1 * ahead[d + 2]) + (w2 * ahead[d + 3] + w3 * ahead[d + 4])


def jump_width(longest: int) -> int:
    """Return how many jump weights there are for sentences of up to `longest` words, with margins for whole vectors."""
    return 2 * (longest + 16) + 1


def workspace(longest_source: int, longest_target: int) -> F4:
    """Make the scratch arrays of :func:`expect` for pairs of up to these lengths."""
    rows = (longest_source + 8) * (longest_target + 8)
    return np.zeros((11, max(rows, jump_width(max(longest_source, longest_target)))), np.float32)


@kernel
def count_links(entries, posterior, counts):
    """Add the posteriors of possible links to the counts of their entries."""
    for link in range(len(entries)):
        counts[entries[link]] += posterior[link]


@kernel
def add_up(entry_offsets, entry_targets, counts, source_totals, target_totals):
    """Add the counts of entries to the totals of their words."""
    for word in range(len(entry_offsets) - 1):
        for entry in range(entry_offsets[word], entry_offsets[word + 1]):
            source_totals[word] += counts[entry]
            target_totals[entry_targets[entry]] += counts[entry]


@kernel
def maximise(entry_offsets, entry_targets, alpha, counts, source_totals, target_totals, lexical):
    """Set the lexical parameters from the counts of entries.

    p(t|s) = (c(s, t) + α) / (Σ_t c(s, t) + α · target words), and so for p(s|t); the totals come with what was counted
    elsewhere.
    """
    add_up(entry_offsets, entry_targets, counts, source_totals, target_totals)
    for word in range(len(entry_offsets) - 1):
        total = source_totals[word] + alpha * len(target_totals)
        for entry in range(entry_offsets[word], entry_offsets[word + 1]):
            count = counts[entry] + alpha
            lexical[entry]["forward"] = count / total
            lexical[entry]["backward"] = count / (target_totals[entry_targets[entry]] + alpha * len(source_totals))


@kernel
def best_links(
    first, last, source_offsets, target_offsets, link_offsets, posterior, threshold, best, forward, backward
):
    """Find the best source of every target word and the best target of every source word, -1 below `threshold`.

    That is done for the pairs `first` to `last`, whose links have these posteriors.
    """
    for s in range(first, last):
        source, target = source_offsets[s], target_offsets[s]
        targets = target_offsets[s + 1] - target
        for j in range(targets):
            best[j] = threshold
        for i in range(source_offsets[s + 1] - source):
            link = link_offsets[s] - link_offsets[first] + i * targets
            best_here = np.float32(threshold)
            for j in range(targets):
                value = posterior[link + j]
                if value > best_here:
                    best_here = value
                    backward[source + i] = j
                if value > best[j]:
                    best[j] = value
                    forward[target + j] = i
