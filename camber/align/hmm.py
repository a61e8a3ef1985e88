"""Expected links of the HMM alignment model (Vogel 1996; Och & Ney 2003), in both directions at once.

In one direction the words of one side (the states) produce those of the other (the observations), in order: each is
produced by a state, chosen by how far it lies from the previous one (the jump), or by NULL, with probability `p_null`,
which keeps the place of the previous state. The other direction is the same model with the sides exchanged. Kernels
work on a range of pairs and write the probability of every possible link, so that ranges can run in parallel and
nothing depends on how the corpus was cut.
"""

from __future__ import annotations

import numpy as np

from camber.kernel import kernel

#: Lexical parameters of one entry of the link index: p(target word | source word) and p(source word | target word).
LEXICAL = np.dtype([("forward", np.float32), ("backward", np.float32)])

#: How a pass uses the model.
MIXTURE, CHAIN = 0, 1  # IBM model 1; HMM


@kernel
def expect(
    first,
    last,
    source_offsets,
    target_offsets,
    source_ids,
    target_ids,
    link_offsets,
    entries,
    lexical,
    null_target,
    null_source,
    jumps,
    p_null,
    model,
    combine,
    work,
    jump_counts,
    forward_links,
    backward_links,
):
    """Compute the posterior of the links of pairs `first` to `last`.

    lexical[entries] LEXICAL; null_target[target words] p(t|NULL); jumps[2, 2, width] jump weights of both directions,
    second as they are and reversed, distance 0 in the middle; work[8, most links of a pair]; jump_counts[2, width]
    are added to. Without `combine` forward_links[links] and backward_links[links] get the posteriors of either direction;
    with it forward_links gets their product (agreement: Liang, Taskar & Klein 2006).
    """
    forward, backward, alpha, nulls, row = work[0], work[1], work[2], work[3], work[4]
    for s in range(first, last):
        sources = source_offsets[s + 1] - source_offsets[s]
        targets = target_offsets[s + 1] - target_offsets[s]
        if sources == 0 or targets == 0:
            continue
        base = link_offsets[s]
        for i in range(sources):
            for j in range(targets):
                entry = entries[base + i * targets + j]
                forward[j * sources + i] = lexical[entry]["forward"]
                backward[i * targets + j] = lexical[entry]["backward"]
        for j in range(targets):
            nulls[j] = null_target[target_ids[target_offsets[s] + j]]
        if model == CHAIN:
            _chain(
                targets,
                sources,
                forward,
                nulls,
                jumps[0],
                p_null,
                alpha,
                row,
                work[5],
                work[6],
                work[7],
                jump_counts[0],
            )
        else:
            _mixture(targets, sources, forward, nulls, p_null)
        for i in range(sources):
            nulls[i] = null_source[source_ids[source_offsets[s] + i]]
        if model == CHAIN:
            _chain(
                sources,
                targets,
                backward,
                nulls,
                jumps[1],
                p_null,
                alpha,
                row,
                work[5],
                work[6],
                work[7],
                jump_counts[1],
            )
        else:
            _mixture(sources, targets, backward, nulls, p_null)
        for i in range(sources):
            for j in range(targets):
                link = base + i * targets + j
                if combine:
                    forward_links[link] = forward[j * sources + i] * backward[i * targets + j]
                else:
                    forward_links[link] = forward[j * sources + i]
                    backward_links[link] = backward[i * targets + j]


@kernel
def _mixture(observations, states, emission, nulls, p_null):
    """Turn emission[observations, states] into posteriors in place, every state being equally likely (IBM model 1)."""
    share = (np.float32(1) - p_null) / np.float32(states)
    for j in range(observations):
        at = j * states
        total = nulls[j] * p_null
        for i in range(states):
            total += emission[at + i] * share
        scale = share / total
        for i in range(states):
            emission[at + i] *= scale


@kernel
def _chain(observations, states, emission, nulls, jumps, p_null, alpha, stay, after, back, local, jump_counts):
    """Turn emission[observations, states] into posteriors in place by the forward-backward recursions.

    alpha[observations, states] holds P(o_1..o_j, last real state i) / P(o_1..o_j): whether o_j itself comes from that
    state or from NULL does not matter for what follows. stay[observations] is the scale of a step.
    """
    width = jumps.shape[1]
    middle = width // 2
    plain, mirrored = jumps[0], jumps[1]
    keep = np.float32(1) - p_null
    # 1 / Z(i'): jumps from i' must land inside the sentence; back[0:states] holds it, back[states:2*states] is scratch
    for i in range(states):
        total = np.float32(0)
        for k in range(states):
            total += plain[middle + k - i]
        back[i] = keep / total
    # the first word: a jump from the place before the sentence
    total = np.float32(0)
    for i in range(states):
        total += plain[middle + i + 1]
    start = np.float32(1) / total
    for i in range(states):
        after[i] = plain[middle + i + 1] * start
    for j in range(observations):
        at = j * states
        null = nulls[j] * p_null
        total = np.float32(0)
        if j == 0:
            for i in range(states):
                value = after[i] * (keep * emission[i] + null)
                alpha[i] = value
                total += value
        else:
            before = at - states
            for i in range(states):
                after[i] = np.float32(0)
            for k in range(states):
                weight = alpha[before + k] * back[k]
                shift = middle - k
                for i in range(states):
                    after[i] += weight * plain[shift + i]
            for i in range(states):
                value = after[i] * emission[at + i] + alpha[before + i] * null
                alpha[at + i] = value
                total += value
        scale = np.float32(1) / total
        stay[j] = scale
        for i in range(states):
            alpha[at + i] *= scale
    # after[i] is β_j(i) from here on, scaled so that Σ_i α β = 1; emission becomes the posterior row by row
    here = back[states:]
    for i in range(states):
        after[i] = np.float32(1)
    for j in range(observations - 1, 0, -1):
        at, before = j * states, (j - 1) * states
        scale = stay[j]
        null = nulls[j] * p_null * scale
        # probability that o_j came from NULL while the last state is i: α_{j-1}(i) · null · β_j(i)
        for i in range(states):
            here[i] = emission[at + i] * after[i] * scale
            gone = alpha[before + i] * null * after[i]
            emission[at + i] = max(alpha[at + i] * after[i] - gone, np.float32(0))
            after[i] *= null
        # jumps: Σ α_{j-1}(k) / Z(k) · e β; the factor p(d) is the same for all and is multiplied in at the end
        for k in range(states):
            weight = alpha[before + k] * back[k]
            shift = middle - k
            for i in range(states):
                local[shift + i] += weight * here[i]
        # β_{j-1}(k) = null · β_j(k) + 1/Z(k) Σ_i p(i - k) e β
        for k in range(states):
            alpha[at + k] = np.float32(0)
        for i in range(states):
            weight = here[i]
            shift = middle - i
            for k in range(states):
                alpha[at + k] += weight * mirrored[shift + k]
        for k in range(states):
            after[k] += alpha[at + k] * back[k]
    null = nulls[0] * p_null
    for i in range(states):
        real = keep * emission[i]
        emission[i] = alpha[i] * after[i] * real / (real + null)
    for d in range(middle - states, middle + states + 1):
        jump_counts[d] += local[d] * plain[d]
        local[d] = np.float32(0)


@kernel
def maximise(entries, posterior, entry_offsets, entry_targets, alpha, counts, source_totals, target_totals, lexical):
    """Count the posterior of every possible link and set the lexical parameters; the totals come as zeros."""
    for link in range(len(entries)):
        counts[entries[link]] += posterior[link]
    for word in range(len(entry_offsets) - 1):
        for entry in range(entry_offsets[word], entry_offsets[word + 1]):
            source_totals[word] += counts[entry]
            target_totals[entry_targets[entry]] += counts[entry]
    for word in range(len(entry_offsets) - 1):
        total = source_totals[word] + alpha * len(target_totals)
        for entry in range(entry_offsets[word], entry_offsets[word + 1]):
            count = counts[entry] + alpha
            lexical[entry]["forward"] = count / total
            lexical[entry]["backward"] = count / (target_totals[entry_targets[entry]] + alpha * len(source_totals))


@kernel
def best_links(source_offsets, target_offsets, link_offsets, posterior, threshold, best, forward, backward):
    """Find the best source of every target word and the best target of every source word, -1 below `threshold`."""
    for s in range(len(link_offsets) - 1):
        source, target = source_offsets[s], target_offsets[s]
        targets = target_offsets[s + 1] - target
        for j in range(targets):
            best[j] = threshold
        for i in range(source_offsets[s + 1] - source):
            link = link_offsets[s] + i * targets
            best_here = np.float32(threshold)
            for j in range(targets):
                value = posterior[link + j]
                if value > best_here:
                    best_here = value
                    backward[source + i] = j
                if value > best[j]:
                    best[j] = value
                    forward[target + j] = i
