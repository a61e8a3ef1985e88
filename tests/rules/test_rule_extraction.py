"""Extraction and scoring against the textbook, and against Moses' own tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.phrase_rules import phrase_table

import camber.rules.phrase.pairs
from camber.align.pharaoh import Alignment, read_pharaoh
from camber.arrays.scratch import PREFIX, Scratch
from camber.corpus import Bitext, Sentences
from camber.engine import Threads
from camber.errors import CamberError, SettingsError
from camber.files import read_parallel, words
from camber.formats.moses.phrase_table import read_moses
from camber.rules.phrase.extraction import extract, extract_into
from camber.rules.phrase.settings import RuleSettings
from camber.rules.phrase.store import RuleStore
from camber.rules.phrase.suffixes import SortedSuffixes

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@st.composite
def aligned_pairs(draw):
    """Up to six short pairs over few words, so that phrases repeat, with any links at all."""
    pairs = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.lists(st.sampled_from("abc"), max_size=9))
        target = draw(st.lists(st.sampled_from("xyz"), max_size=9))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        links = draw(st.sets(st.sampled_from(cells), max_size=10)) if cells else set()
        pairs.append((source, target, sorted(links)))
    return pairs


def encode(pairs):
    bitext = Bitext.encode([source for source, _, _ in pairs], [target for _, target, _ in pairs])
    return bitext, Alignment.from_pairs([links for _, _, links in pairs])


def as_dictionary(store):
    rows = {}
    for phrase in range(store.phrases):
        for rule in store.rules(phrase):
            links = store.links[store.link_offsets[rule] : store.link_offsets[rule + 1]]
            counts = (store.counts[rule, 0], store.source_counts[phrase], store.counts[rule, 1])
            key = tuple(store.source(phrase)), tuple(store.target(rule))
            assert key not in rows
            rows[key] = (
                tuple(map(int, counts)),
                store.scores[rule].tolist(),
                tuple(map(tuple, links.tolist())),
                store.reordering[rule].tolist(),
            )
    return rows


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(aligned_pairs(), st.sampled_from([1, 2, 4, 7, 8, 15]))
def test_phrase_pairs_and_their_scores_are_those_of_the_textbook(pairs, longest):
    store = extract(*encode(pairs), RuleSettings(max_phrase_length=longest, options_per_phrase=0), engine=Threads(1))
    ours, theirs = as_dictionary(store), phrase_table(pairs, longest)
    assert ours.keys() == theirs.keys()
    for key, entry in theirs.items():
        counts, scores, links, reordering = ours[key]
        assert counts == entry.counts
        assert scores == pytest.approx(entry.scores, rel=1e-5)
        assert links == entry.links
        assert reordering == pytest.approx(entry.orientations, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(aligned_pairs())
def test_the_store_is_sorted_as_promised(pairs):
    store = extract(*encode(pairs), RuleSettings(options_per_phrase=0), engine=Threads(1))
    sources = [
        store.source_ids[a:b].tolist() for a, b in zip(store.source_offsets, store.source_offsets[1:], strict=False)
    ]
    assert sources == sorted(sources)
    for phrase in range(store.phrases):
        rows = [
            (-store.scores[r, 2], store.target_ids[store.target_offsets[r] : store.target_offsets[r + 1]].tolist())
            for r in store.rules(phrase)
        ]
        assert rows == sorted(rows)
        assert sum(store.counts[r, 1] for r in store.rules(phrase)) == store.source_counts[phrase]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=5), st.integers(1, 9))
def test_names_of_ngrams_compare_like_their_words(sentences, longest):
    text = Sentences.encode(sentences)
    suffixes = SortedSuffixes.sort(text, longest)
    named = {}
    for start, end in zip(text.offsets, text.offsets[1:], strict=False):
        for position in range(start, end):
            for n in range(1, min(longest, end - position) + 1):
                code = int(suffixes.first[position, n - 1]) * (longest + 1) + n
                ngram = tuple(text.ids[position : position + n].tolist())
                assert named.setdefault(code, ngram) == ngram
                found = int(suffixes.order[code // (longest + 1)])
                assert tuple(text.ids[found : found + n].tolist()) == ngram
    assert len(set(named.values())) == len(named)
    assert [named[code] for code in sorted(named)] == sorted(named.values())


def random_pairs(seed, count=40):
    """Return so many random pairs of words with random links."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        source, target = (
            list(rng.choice(list("abcd"), rng.integers(0, 9))),
            list(rng.choice(list("wxyz"), rng.integers(0, 9))),
        )
        links = [(i, j) for i in range(len(source)) for j in range(len(target)) if rng.random() < 0.15]
        pairs.append((source, target, links))
    return pairs


@pytest.mark.parametrize(
    "chosen", [RuleSettings(), RuleSettings(max_phrase_length=15, options_per_phrase=2, significance="alpha-epsilon")]
)
def test_any_amount_of_memory_gives_the_same_files(tmp_path, monkeypatch, chosen):
    monkeypatch.setattr(camber.rules.phrase.pairs, "_BATCH", 7)
    text = encode(random_pairs(7, 120))
    extract(*text, chosen).save(tmp_path / "whole")
    for memory, threads in ((100_000, 2), (3_000, 1)):
        with Scratch(memory, tmp_path) as scratch:
            extract_into(tmp_path / "pieces", *text, chosen, Threads(threads), scratch)
            runs = list(tmp_path.glob(f"{PREFIX}*/*.run"))
            assert len(runs) > 1
        names = sorted(path.name for path in (tmp_path / "whole").iterdir())
        assert names == sorted(path.name for path in (tmp_path / "pieces").iterdir())
        for name in names:
            assert (tmp_path / "pieces" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert len(RuleStore.load(tmp_path / "pieces")) > 10


def test_nothing_to_extract_is_a_store_without_rules(tmp_path):
    text = encode([([], [], []), (["a"], ["x"], [])])
    extract_into(tmp_path / "pieces", *text)
    extract(*text).save(tmp_path / "whole")
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "pieces" / path.name).read_bytes()
    assert len(RuleStore.load(tmp_path / "pieces")) == 0


def test_any_number_of_threads_gives_the_same_bytes(monkeypatch):
    monkeypatch.setattr(camber.rules.phrase.pairs, "_BATCH", 3)
    pairs = random_pairs(5)
    one, many = (extract(*encode(pairs), engine=Threads(threads)) for threads in (1, 4))
    for item in dataclasses.fields(one):
        left, right = getattr(one, item.name), getattr(many, item.name)
        assert left.tobytes() == right.tobytes() if isinstance(left, np.ndarray) else left == right, item.name


def test_pairs_without_words_or_links_give_no_rules():
    store = extract(*encode([([], [], []), (["a"], [], []), ([], ["x"], []), (["a", "b"], ["x"], [])]))
    assert (len(store), store.phrases, store.max_phrase_length) == (0, 0, 0)
    assert store.find([0]) == -1
    assert store.prune(3) is store


def test_settings_prune_and_switch_reordering_off():
    pairs = [(["a"], [word], [(0, 0)]) for word in "xxxyyz"]
    store = extract(*encode(pairs), RuleSettings(options_per_phrase=2, reordering=False))
    assert [store.target(rule) for rule in store.rules(0)] == [["x"], ["y"]]
    assert not store.has_reordering
    assert store.reordering.shape == (2, 0)
    with pytest.raises(SettingsError, match="at least 1"):
        RuleSettings(max_phrase_length=0)


def test_an_alignment_of_other_text_is_refused():
    bitext = Bitext.encode([["a", "b"]], [["x"]])
    with pytest.raises(CamberError, match="2 alignments for 1 sentence pairs"):
        extract(bitext, Alignment.from_pairs([[], []]))
    with pytest.raises(CamberError, match=r"sentence pair 1: link 0-1 lies outside 2 and 1 words"):
        extract(bitext, Alignment.from_pairs([[(0, 1)]]))


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "anchors/moses").exists(), reason="Moses' tables are not here")
def test_moses_gives_the_same_rules_from_the_same_alignment():
    folder, text = SHARED / "anchors/moses", SHARED / "data/multi30k/tok"
    theirs = read_moses(folder / "phrase-table.gz", folder / "reordering-table.wbe-msd-bidirectional-fe.gz")
    sides = [[words(line) for line in side] for side in read_parallel(text / "train.de", text / "train.en")]
    alignment = read_pharaoh(folder / "aligned.grow-diag-final-and.gz")
    ours = extract(Bitext.encode(*sides), alignment, RuleSettings(options_per_phrase=0))
    match = np.empty(len(theirs), np.int64)
    for phrase in range(theirs.phrases):
        place = ours.find(ours.source_vocabulary.encode(theirs.source(phrase)))
        assert ours.source_counts[place] == theirs.source_counts[phrase]
        rows = {tuple(ours.target(rule)): rule for rule in ours.rules(place)}
        assert len(rows) == len(theirs.rules(phrase))
        for rule in theirs.rules(phrase):
            match[rule] = rows[tuple(theirs.target(rule))]
    assert np.abs(ours.scores[match][:, [0, 2]] - theirs.scores[:, [0, 2]]).max() < 1e-6
    assert np.abs(ours.scores[match][:, [1, 3]] - theirs.scores[:, [1, 3]]).max() < 1e-4
    assert np.abs(ours.reordering[match] - theirs.reordering).max() < 1e-5
    assert np.array_equal(ours.counts[match], theirs.counts)
    sizes = np.diff(theirs.link_offsets)
    assert np.array_equal(np.diff(ours.link_offsets)[match], sizes)
    at = np.repeat(ours.link_offsets[match] - theirs.link_offsets[:-1], sizes) + np.arange(len(theirs.links))
    assert np.array_equal(ours.links[at], theirs.links)
