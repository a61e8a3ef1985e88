"""Rules at sampled occurrences of one source pattern: extracted, counted with their equals, scored.

Some occurrences are taken evenly, those of phrases without gaps from the suffix array, others in the order of the text.
Rules are equal if they are equal symbol by symbol; of their word alignments the most frequent is kept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from camber.arrays.types import AnyArray
from camber.kernel import kernel, kernel_inlined
from camber.kernel.table import first_slot, mix, next_slot, record_slot, same_run
from camber.rules.hiero.boxes import BOTH, INSIDE, LEFT, RIGHT, find_boxes, loosen
from camber.rules.hiero.index import HEAD

#: Columns of the raw features.
RAW_NAMES = (
    "p_coherent",
    "lex_t_given_s",
    "lex_s_given_t",
    "lex_t_given_s_averaged",
    "lex_s_given_t_averaged",
    "count_s",
    "count_st",
    "singleton_s",
    "singleton_st",
    "arity",
    "words",
)

#: Longest source and target sides that the arrays are laid out for, in symbols; links of a symbol are bits of an int64.
MOST_SYMBOLS, MOST_TARGET = 8, 60

LEXICON = np.dtype([("key", np.int64), ("t_given_s", np.float64), ("s_given_t", np.float64)])

#: What an occurrence counts, so that its shares are whole numbers: it has up to 3 × 3 choices of its edges.
WHOLE = math.lcm(*range(1, 10))

#: What ran out of room: see `Scratch` and `Rules`.
DONE, ARENA, PAIRS, MATCHES, RULES, VARIANTS = 0, 1, 2, 3, 4, 5


class Lexicon(NamedTuple):
    """Lexical probabilities, as a hash table over ``source id * target words + target id``."""

    table: AnyArray  # LEXICON[power of two], key -1: free
    source_null: AnyArray  # float64[source words] p(s|NULL)
    target_null: AnyArray  # float64[target words] p(t|NULL)


class Scratch(NamedTuple):
    """Memory of one call."""

    local: AnyArray  # int32[source words]: the number of a word within the sentence; all -1 between calls
    child: AnyArray  # int64[2, words]: the child of a word, right behind or behind a gap
    children: AnyArray  # int64[2 * words, 5]: occurrences, places, row of the stack, behind a gap?, word
    own: AnyArray  # int64[MOST_SYMBOLS]: the symbols of the pattern at hand
    stack: AnyArray  # PATTERN[]
    arena: AnyArray  # int64[]: occurrences
    pairs: AnyArray  # int64[, 2]: child and occurrence
    matches: AnyArray  # int64[, 2]: last and first position of a pattern in the sentence
    triples: AnyArray  # int64[, 3]: child, last and first position
    slots: AnyArray  # int64[power of two]: rules of the pattern at hand, by hash; -1: free
    rows: AnyArray  # int64[, 6]: of every rule of the pattern at hand its hash, slot, occurrences, first variant, the
    # sum of its shares in them, its extension
    variants: AnyArray  # int64[, 2 + MOST_SYMBOLS]: count, next, and the links of every source symbol as bits
    batch: AnyArray  # int64[, 2]: occurrences and their blocks
    chunks: AnyArray  # int64[4, 2]: the contiguous parts of an occurrence: position, length
    gaps: AnyArray  # int64[8, 2]: target spans of gaps
    boxes: AnyArray  # int64[4, 7]: what `find_boxes` found
    target_side: AnyArray  # int64[2 * MOST_TARGET]: the target side of a rule, with all words that may join it
    place: AnyArray  # int64[2 * MOST_TARGET]: where a target word stands in it
    bits: AnyArray  # int64[MOST_SYMBOLS]: links of every source symbol
    weights: AnyArray  # float64[MOST_SYMBOLS, 3]: lexical weights of every source symbol
    patterns: AnyArray  # int64[1]: how many there were so far
    seen: AnyArray  # int64[power of two]: for which pattern and target word the rows of `given` are; -1: none
    given: AnyArray  # float64[, 2 * MOST_SYMBOLS + 1]: p(t|s) and p(s|t) for every source symbol, and the best p(t|s)
    extracted: AnyArray  # int64[4]: rules extracted from the pattern at hand, by extension


class Rules(NamedTuple):
    """The rules found."""

    source: AnyArray  # int64[]
    source_offsets: AnyArray  # int64[]
    target: AnyArray  # int64[]
    target_offsets: AnyArray  # int64[]
    raw: AnyArray  # float64[, len(RAW_NAMES)]
    links: AnyArray  # uint8[, 2]
    link_offsets: AnyArray  # int64[]


@kernel_inlined
def collect(corpus, lexicon, words, ids, limits, scratch, rules, sizes, lists, size, parts, places):
    """Extract rules at sampled occurrences of the pattern ``scratch.own``, and score them."""
    wanted = _wanted(scratch.matches, places, len(words), limits.max_span)
    taken = min(lists[1] - lists[0], limits.samples)
    oldest = sizes[0]
    _measure_chunks(scratch.own, size, scratch.chunks)
    sizes[2] = 0  # variants
    for k in range(4):
        scratch.extracted[k] = 0
    status, batch = DONE, scratch.batch
    slots = scratch.slots[: _slots_for(taken, limits, len(scratch.slots))]
    for n in range(taken):
        if n % len(batch) == 0:
            _fetch(corpus, limits.samples, scratch, sizes, lists, parts, n)
        occurrence, block = batch[n % len(batch), 0], batch[n % len(batch), 1]
        _place_chunks(scratch.chunks, parts, occurrence, np.int64(corpus.blocks[block]))
        count = find_boxes(
            corpus.blocks, block, scratch.chunks, parts, size, wanted, limits, scratch.gaps, scratch.boxes
        )
        for b in range(count):
            scratch.extracted[scratch.boxes[b, 0]] += 1
            status = _count_choices(corpus, block, slots, scratch, rules, sizes, oldest, parts, b, limits)
            if status != DONE:
                break
        if status != DONE:
            break
    for rule in range(oldest, sizes[0]):
        slots[scratch.rows[rule - oldest, 1]] = -1
    if status == DONE:
        scratch.patterns[0] += 1
        for rule in range(oldest, sizes[0]):
            if not _finish(lexicon, ids, scratch, rules, rule, rule - oldest, size, taken):
                status = RULES
                break
    if status != DONE:
        sizes[1] = 0
    return status


@kernel
def _slots_for(taken, limits, most):
    """Return how many slots are enough for the rules of so many occurrences: the fewer, the nearer they are."""
    room = 64
    while room < 8 * (1 + limits.loose) * (1 + limits.loose) * taken and room < most:
        room *= 2
    return room


@kernel
def _wanted(matches, places, length, max_span):
    """Return the extensions for which there is room around some place of the pattern in the sentence, as bits."""
    wanted = np.int64(1)
    for m in range(places[0], places[1]):
        end, begin = matches[m, 0], matches[m, 1]
        room = max_span - (end + 1 - begin)
        left, right = begin > 0 and room > 0, end + 1 < length and room > 0
        if left:
            wanted |= 1 << LEFT
        if right:
            wanted |= 1 << RIGHT
        if left and right and room > 1:
            wanted |= 1 << BOTH
    return wanted


@kernel
def _measure_chunks(pattern, size, chunks):
    """Set the lengths of the contiguous parts of a pattern."""
    part = 0
    chunks[0, 1] = 0
    for k in range(size):
        if pattern[k] < 0:
            part += 1
            chunks[part, 1] = 0
        else:
            chunks[part, 1] += 1


@kernel_inlined
def _fetch(corpus, samples, scratch, sizes, lists, parts, n):
    """Write the n-th sampled occurrence and those behind it, as many as fit, with their blocks into the batch.

    Occurrences are all over the memory. Reading a bit of many blocks in a short loop lets the processor wait for all of
    them at once, and not for one after the other later on.
    """
    first, last, low = lists
    total = last - first
    batch, size = scratch.batch, min(min(total, samples) - n, len(scratch.batch))
    for k in range(size):
        at = n + k if total <= samples else (2 * (n + k) * total + samples - 1) // (2 * samples)
        occurrence = np.int64(corpus.suffixes[low + at]) if parts == 1 else scratch.arena[first + at]
        batch[k, 0] = occurrence
        batch[k, 1] = corpus.block_of[occurrence & 0xFFFFFFFF]
    touched = 0
    for k in range(size):
        block = batch[k, 1]
        touched += corpus.blocks[block] ^ corpus.blocks[min(block + 32, len(corpus.blocks) - 1)]
    sizes[3] = touched  # a result that is used nowhere would not be computed


@kernel
def _place_chunks(chunks, parts, occurrence, sentence):
    """Set where the parts of the pattern stand in the sentence of an occurrence."""
    chunks[0, 0] = (occurrence & 0xFFFFFFFF) - sentence
    if parts > 1:
        chunks[1, 0] = chunks[0, 0] + ((occurrence >> 32) & 0xFF)
    if parts > 2:
        chunks[2, 0] = chunks[0, 0] + (occurrence >> 40)


@kernel_inlined
def _count_choices(corpus, block, slots, scratch, rules, sizes, oldest, parts, b, limits):
    """Count the rules of box `b` of an occurrence, one for each choice of its edges; return what ran out of room.

    The target sides of all choices are pieces of the longest one, and their links are those of the shortest.
    """
    boxes, rows, side = scratch.boxes, scratch.rows, scratch.target_side
    extension, low, high = boxes[b, 0], boxes[b, 1], boxes[b, 2]
    first, last = low, high
    if limits.loose > 0:
        before, behind = _room_at_edges(scratch.gaps, boxes, b, parts, limits)
        first, last = loosen(corpus.blocks, block, low, high, before, behind)
    target = block + HEAD + corpus.blocks[block + 1] + corpus.blocks[block + 2]  # the target words
    size = _target_side(corpus.blocks, target, parts, scratch.gaps, boxes, b, first, last, side, scratch.place)
    symbols = _read_links(corpus, block, scratch, parts, extension & LEFT, low)
    choices = 0
    for begin in range(first, low + 1):
        choices += max(0, min(last, begin + limits.max_span) - high + 1)
    share = WHOLE // choices
    for begin in range(first, low + 1):
        start, end = begin - first, size - (last - high)  # of the choice with no words behind
        h = extension + 1
        for k in range(start, end):
            h = h * 0x2545F4914F6CDD1D + side[k] + 3
        for _ in range(high, min(last, begin + limits.max_span) + 1):
            row = _row(slots, scratch, rules, sizes, oldest, extension, start, end, mix(h))
            if row < 0:
                return RULES
            rows[row, 2] += 1
            rows[row, 4] += share
            if not _count_links(scratch.variants, rows, row, scratch.bits, low - begin, symbols, sizes):
                return VARIANTS
            if end < size:
                h = h * 0x2545F4914F6CDD1D + side[end] + 3
            end += 1
    return DONE


@kernel_inlined
def _room_at_edges(gaps, boxes, b, parts, limits):
    """Return how many words without links may join box `b` before and behind: none where a non-terminal ends.

    A word beside a non-terminal joins the rule that fills it.
    """
    extension, low, high = boxes[b, 0], boxes[b, 1], boxes[b, 2]
    room = limits.max_span - (high - low)
    before = behind = min(limits.loose, room)
    if extension & LEFT:
        before, behind = before * (boxes[b, 3] != low), behind * (boxes[b, 4] != high)
    if extension & RIGHT:
        before, behind = before * (boxes[b, 5] != low), behind * (boxes[b, 6] != high)
    for k in range(parts - 1):
        before, behind = before * (gaps[INSIDE + k, 0] != low), behind * (gaps[INSIDE + k, 1] != high)
    return before, behind


@kernel_inlined
def _read_links(corpus, block, scratch, parts, left, low_target):
    """Write the links of every source symbol of a rule as bits; return how many symbols there are up to the last word.

    `left`: 1 if the rule begins with a non-terminal; `low_target`: where bits count from.
    """
    chunks, place, bits = scratch.chunks, scratch.place, scratch.bits
    for k in range(MOST_SYMBOLS):
        bits[k] = 0
    symbol = left
    for k in range(parts):
        for word in range(chunks[k, 0], chunks[k, 0] + chunks[k, 1]):
            span = np.int64(corpus.blocks[block + HEAD + word])
            if span >= 0 and (span >> 16) - (span & 0xFFFF) == 1:
                bits[symbol] = 1 << place[(span & 0xFFFF) - low_target]
            elif span >= 0:
                at = corpus.blocks[block] + word
                for link in range(corpus.link_starts[at], corpus.link_starts[at + 1]):
                    bits[symbol] |= 1 << place[corpus.link_targets[link] - low_target]
            symbol += 1
        symbol += 1
    return symbol - 1


@kernel
def _target_side(words, target, parts, gaps, boxes, b, first, last, target_side, place):
    """Write the target side of a box whose edges are at `first` and `last`; return how many symbols it has.

    In `place` is where words from the box' own edge on stand, counted from there.
    """
    extension, low = boxes[b, 0], boxes[b, 1]
    left, right = extension & LEFT, (extension & RIGHT) >> 1
    size, at = 0, first
    while at < last:
        symbol, end = np.int64(words[target + at]), at + 1
        # non-terminals have the numbers of their gaps in the order of the source side
        if left == 1 and at == boxes[b, 3]:
            symbol, end = np.int64(-1), boxes[b, 4]
        elif right == 1 and at == boxes[b, 5]:
            symbol, end = -(left + parts), boxes[b, 6]
        else:
            for k in range(parts - 1):
                if at == gaps[INSIDE + k, 0]:
                    symbol, end = -(left + k + 1), gaps[INSIDE + k, 1]
        if at >= low:
            place[at - low] = size - (low - first)
        target_side[size] = symbol
        size += 1
        at = end
    return size


@kernel_inlined
def _row(slots, scratch, rules, sizes, oldest, extension, first, last, h):
    """Return the row of the rule whose target side is ``scratch.target_side[first:last]``, a new one if there is none.

    -1: no room.
    """
    rows, target, target_offsets = scratch.rows, rules.target, rules.target_offsets
    size, slot = last - first, first_slot(slots, h)
    while slots[slot] >= 0:
        row = slots[slot]
        if rows[row, 0] == h:
            start = target_offsets[oldest + row]
            same = target_offsets[oldest + row + 1] - start == size and rows[row, 5] == extension
            if same and same_run(target, start, scratch.target_side, first, size):
                return row
        slot = next_slot(slots, slot)
    rule = sizes[0]
    row = rule - oldest
    start = target_offsets[rule]
    if rule + 2 > len(target_offsets) or start + size > len(target) or 2 * row + 2 > len(slots):
        return -1
    for k in range(size):
        target[start + k] = scratch.target_side[first + k]
    target_offsets[rule + 1] = start + size
    slots[slot] = row
    rows[row, 0] = h
    rows[row, 1] = slot
    rows[row, 2] = 0
    rows[row, 3] = -1
    rows[row, 4] = 0
    rows[row, 5] = extension
    sizes[0] += 1
    return row


@kernel
def _count_links(variants, rows, row, bits, shift, symbols, sizes):
    """Count the links of a rule, to know the most frequent ones in the end; False: no room.

    The rule begins `shift` words before what `bits` count from.
    """
    before, variant = -1, rows[row, 3]
    while variant >= 0:
        same, k = True, 0
        while same and k < symbols:
            same = variants[variant, 2 + k] == bits[k] << shift
            k += 1
        if same:
            variants[variant, 0] += 1
            return True
        before, variant = variant, variants[variant, 1]
    variant = sizes[2]
    if variant == len(variants):
        return False
    sizes[2] += 1
    if before < 0:
        rows[row, 3] = variant
    else:
        variants[before, 1] = variant
    variants[variant, 0] = 1
    variants[variant, 1] = -1
    for k in range(symbols):
        variants[variant, 2 + k] = bits[k] << shift
    return True


@kernel_inlined
def _finish(lexicon, ids, scratch, rules, rule, row, size, taken):
    """Write the source side, the most frequent links and the raw features of a rule; False: no room."""
    rows, raw = scratch.rows, rules.raw[rule]
    extension, count = rows[row, 5], rows[row, 4] / WHOLE
    arity = _write_source(ids, scratch.own, size, extension, rules, rule)
    if arity < 0:
        return False
    left = extension & LEFT
    links = scratch.variants[_most_frequent(scratch.variants, rows[row, 3])]
    if not _write_links(links, left, size, rules, rule):
        return False
    best_t, best_s, mean_t, mean_s, words = _lexical_weights(lexicon, ids, links, left, size, scratch, rules, rule)
    raw[0] = count / taken
    raw[1] = best_t
    raw[2] = best_s
    raw[3] = mean_t
    raw[4] = mean_s
    raw[5] = taken
    raw[6] = count
    raw[7] = 1.0 if scratch.extracted[extension] == 1 else 0.0
    raw[8] = 1.0 if rows[row, 2] == 1 else 0.0
    raw[9] = arity
    raw[10] = words
    return True


@kernel_inlined
def _write_source(ids, pattern, size, extension, rules, rule):
    """Write the pattern with its outer non-terminals; return the number of all non-terminals, -1: no room."""
    source, end, arity = rules.source, rules.source_offsets[rule], 0
    if end + size + 2 > len(source):
        return -1
    if extension & LEFT:
        arity += 1
        source[end] = -arity
        end += 1
    for k in range(size):
        if pattern[k] < 0:
            arity += 1
            source[end] = -arity
        else:
            source[end] = ids[pattern[k]]
        end += 1
    if extension & RIGHT:
        arity += 1
        source[end] = -arity
        end += 1
    rules.source_offsets[rule + 1] = end
    return arity


@kernel
def _most_frequent(variants, variant):
    """Return the variant that was counted most often, of those behind the first; the first among equals."""
    best = variant
    while variant >= 0:
        if variants[variant, 0] > variants[best, 0]:
            best = variant
        variant = variants[variant, 1]
    return best


@kernel_inlined
def _write_links(variant, left, size, rules, rule):
    """Write links, given as a row of `variants` with the symbols of the pattern from `left` on; False: no room."""
    targets = rules.target_offsets[rule + 1] - rules.target_offsets[rule]
    link = rules.link_offsets[rule]
    if link + size * targets > len(rules.links):
        return False
    for s in range(left, left + size):
        bits, t = variant[2 + s], 0
        while bits != 0:
            if bits & 1:
                rules.links[link, 0] = s
                rules.links[link, 1] = t
                link += 1
            bits >>= 1
            t += 1
    rules.link_offsets[rule + 1] = link
    return True


@kernel_inlined
def _lexical_weights(lexicon, ids, variant, left, size, scratch, rules, rule):
    """Return the lexical weights p(t|s) and p(s|t), best and mean, and the number of target words.

    Best: the best source word for every target word and the other way round, NULL included. Mean: over linked words
    (Koehn et al. 2003). Links are a row of `variants`, whose symbols are those of the pattern from `left` on.
    """
    own, weights, given = scratch.own, scratch.weights, scratch.given
    best_t, best_s, mean_t, mean_s = 1.0, 1.0, 1.0, 1.0
    words = 0
    for k in range(size):  # per symbol of the pattern: the best, the sum and the number of its counterparts
        weights[k, 0] = lexicon.source_null[ids[own[k]]] if own[k] >= 0 else 1.0
        weights[k, 1] = 0.0
        weights[k, 2] = 0.0
    start = rules.target_offsets[rule]
    for t in range(rules.target_offsets[rule + 1] - start):
        target = rules.target[start + t]
        if target < 0:
            continue
        words += 1
        row = _given(lexicon, ids, size, target, scratch)
        total, linked = 0.0, 0
        for k in range(size):
            weights[k, 0] = max(weights[k, 0], given[row, 2 * k + 1])
            if variant[2 + left + k] >> t & 1:
                total += given[row, 2 * k]
                linked += 1
                weights[k, 1] += given[row, 2 * k + 1]
                weights[k, 2] += 1.0
        best_t *= given[row, 2 * MOST_SYMBOLS]
        if linked > 1:
            total /= linked
        mean_t *= total if linked > 0 else lexicon.target_null[target]
    for k in range(size):
        if own[k] >= 0:
            best_s *= weights[k, 0]
            mean = weights[k, 1] / weights[k, 2] if weights[k, 2] > 1 else weights[k, 1]
            mean_s *= mean if weights[k, 2] > 0 else lexicon.source_null[ids[own[k]]]
    return best_t, best_s, mean_t, mean_s, words


@kernel_inlined
def _given(lexicon, ids, size, target, scratch):
    """Return the row of ``scratch.given`` with the probabilities of a target word beside the words of the pattern.

    The rules of a pattern have many words in common, and its own are in all of them.
    """
    own, seen, given = scratch.own, scratch.seen, scratch.given
    row = target & (len(seen) - 1)
    key = scratch.patterns[0] * len(lexicon.target_null) + target
    if seen[row] != key:
        seen[row] = key
        best = lexicon.target_null[target]
        for k in range(size):
            given[row, 2 * k] = 0.0
            given[row, 2 * k + 1] = 0.0
            if own[k] >= 0:
                found = lexicon.table[record_slot(lexicon.table, ids[own[k]] * len(lexicon.target_null) + target)]
                given[row, 2 * k] = found["t_given_s"]  # 0 in a free slot
                given[row, 2 * k + 1] = found["s_given_t"]
                best = max(best, given[row, 2 * k])
        given[row, 2 * MOST_SYMBOLS] = best
    return row
