"""Aligning whole corpora: what every caller may rely on."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.word_alignment import likeness as slow_likeness

from camber.align import words as words_module
from camber.align.cognates import likeness
from camber.align.error_rate import Gold, error_rate, read_gold
from camber.align.links import link_index
from camber.align.pharaoh import Alignment, read_pharaoh
from camber.align.words import AlignSettings, align_corpus
from camber.cli.align import command
from camber.corpus import Bitext
from camber.engine import Threads
from camber.errors import SettingsError
from camber.files import read_parallel, words

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
ROMANIAN = SHARED / "data" / "gold-align" / "wpt05-ro-en"


def shuffled_corpus(pairs=600, vocabulary=60, seed=3):
    """Draw pairs that translate word by word with neighbours exchanged now and then, and their true links."""
    rng = np.random.default_rng(seed)
    source, target, truth = [], [], []
    for _ in range(pairs):
        sentence = rng.integers(0, vocabulary, rng.integers(2, 9))
        order = np.arange(len(sentence))
        for k in range(len(order) - 1):
            if rng.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        source.append([f"s{word}" for word in sentence])
        target.append([f"{word}t" for word in sentence[order]])
        truth.append([(int(i), j) for j, i in enumerate(order)])
    return Bitext.encode(source, target), Alignment.from_pairs(truth)


@pytest.mark.parametrize("model", ["quick", "best"])
def test_a_word_for_word_translation_is_found(model):
    bitext, truth = shuffled_corpus()
    assert error_rate(align_corpus(bitext, AlignSettings(model=model)), Gold(truth, truth)).aer < 0.03


def test_both_directions_give_the_same_links():
    bitext, _ = shuffled_corpus(200)
    there = align_corpus(bitext, AlignSettings(symmetrise="union"))
    back = align_corpus(bitext.swapped(), AlignSettings(symmetrise="union")).swapped()
    either = {(s, *link) for s, pair in enumerate(there) for link in pair.tolist()}
    other = {(s, *link) for s, pair in enumerate(back) for link in pair.tolist()}
    assert len(either ^ other) <= len(either) // 100  # sums in another order may decide a tie


def test_any_number_of_threads_gives_the_same_bytes():
    bitext, _ = shuffled_corpus(300)
    one, two, five = (align_corpus(bitext, engine=Threads(threads)) for threads in (1, 2, 5))
    assert one.links.tobytes() == two.links.tobytes() == five.links.tobytes()
    assert one.offsets.tobytes() == two.offsets.tobytes() == five.offsets.tobytes()


def test_empty_sides_get_no_links_and_leave_the_others_alone():
    source = [["a", "b"], [], ["b"], ["a"], []]
    target = [["x", "y"], ["x"], [], ["x"], []]
    alignment = align_corpus(Bitext.encode(source, target))
    assert [len(pair) for pair in alignment][1:] == [0, 0, 1, 0]
    full = align_corpus(Bitext.encode([source[0], source[3]], [target[0], target[3]]))
    assert alignment[0].tolist() == full[0].tolist()


@pytest.mark.parametrize("pairs", [[], [([], [])], [(["a"], [])], [(["a"], ["x"])], [(["a"] * 7, ["x"] * 5)]])
def test_tiny_corpora_are_aligned_within_their_pairs(pairs):
    alignment = align_corpus(Bitext.encode([s for s, _ in pairs], [t for _, t in pairs]))
    assert len(alignment) == len(pairs)
    for links, (source, target) in zip(alignment, pairs, strict=True):
        assert (links < [len(source), len(target)]).all()


def test_a_text_aligned_with_itself_is_the_diagonal():
    text = [f"the {a} likes the {b} .".split() for a in ("cat", "dog", "owl") for b in ("fish", "mouse", "worm")]
    for links, sentence in zip(align_corpus(Bitext.encode(text, text)), text, strict=True):
        assert links.tolist() == [[i, i] for i in range(len(sentence))]


def test_sentences_of_two_thousand_words_are_cut_with_a_note(caplog):
    bitext, _ = shuffled_corpus(300)
    source = [bitext.source.vocabulary.decode(ids) for ids in bitext.source]
    target = [bitext.target.vocabulary.decode(ids) for ids in bitext.target]
    long = [[word for sentence in side for word in sentence] * 2 for side in (source, target)]
    assert len(long[0]) > 2000
    both = Bitext.encode([*source, long[0], long[0]], [*target, long[1], long[1][:3]])
    with caplog.at_level("WARNING", logger="camber"):
        alignment = align_corpus(both)
    assert "2 of 302 pairs have more than 200 words" in caplog.text
    assert (alignment[300] < len(long[0])).all()
    assert (alignment[301][:, 1] < 3).all()
    matched = np.array(long[0])[alignment[300][:, 0]]
    translated = np.array(long[1])[alignment[300][:, 1]]
    assert np.mean([s[1:] == t[:-1] for s, t in zip(matched, translated, strict=True)]) > 0.95


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(1, 4))
def test_cutting_and_joining_keeps_every_word_in_its_pair(lengths, longest):
    pairs = [([str(n)] * n, ["x"] * (9 - n)) for n in lengths]
    bitext = Bitext.encode([s for s, _ in pairs], [t for _, t in pairs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words_module, "LONGEST", longest)
        cut, owner = words_module._cut_long_pairs(bitext)
    assert max(cut.source.longest, cut.target.longest) <= longest
    first = Alignment.from_pairs(
        [[(0, 0)] if len(s) and len(t) else [] for s, t in zip(cut.source, cut.target, strict=True)]
    )
    joined = words_module._join(first, cut, bitext, owner)
    assert len(joined) == len(bitext)
    for links, (source, target) in zip(joined, pairs, strict=True):
        assert (links < [len(source), len(target)]).all()


words_of_letters = st.lists(st.text("abcéÉ1", min_size=1, max_size=5), min_size=1, max_size=5)


@settings(deadline=None)
@given(words_of_letters, words_of_letters)
def test_likeness_equals_comparing_strings(source, target):
    bitext = Bitext.encode([source], [target])
    index = link_index(bitext)
    alike = likeness(index, bitext.source.vocabulary, bitext.target.vocabulary)
    for i, s in enumerate(source):
        for j, t in enumerate(target):
            assert alike[index.entries[i * len(target) + j]] == pytest.approx(slow_likeness(s, t))


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.lists(st.sampled_from("abc"), max_size=4)] * 2), max_size=4))
def test_links_with_the_same_words_and_no_others_share_an_entry(pairs):
    bitext = Bitext.encode([s for s, _ in pairs], [t for _, t in pairs])
    index = link_index(bitext)
    expected = [(s, t) for source, target in pairs for s in source for t in target]
    assert len(index) == len(expected)
    entry_of = dict(zip(expected, index.entries.tolist(), strict=True))
    assert [entry_of[pair] for pair in expected] == index.entries.tolist()
    assert len(set(entry_of.values())) == len(entry_of) == index.entry_count
    for (s, t), entry in entry_of.items():
        word = bitext.source.vocabulary.id(s)
        assert index.entry_offsets[word] <= entry < index.entry_offsets[word + 1]
        assert index.entry_targets[entry] == bitext.target.vocabulary.id(t)


def test_settings_refuse_unknown_models():
    with pytest.raises(SettingsError, match="quick, best"):
        AlignSettings(model="giza")


@pytest.mark.skipif(not ROMANIAN.exists(), reason=f"no gold alignments at {ROMANIAN}")
def test_two_hundred_romanian_pairs_alone_are_aligned_better_than_two_links_in_three():
    sides = read_parallel(ROMANIAN / "test.ro", ROMANIAN / "test.en")
    bitext = Bitext.encode(*[[words(line) for line in side] for side in sides])
    gold = read_gold(ROMANIAN / "test.align.ro-en")
    assert error_rate(align_corpus(bitext), gold).aer < 0.34


def test_the_command_writes_pharaoh_and_prints_the_error_rate(tmp_path):
    source, target, out, gold = (tmp_path / name for name in ("s", "t", "out.align", "gold"))
    source.write_text("la casa\nla flor\n\ncasa\n", encoding="utf-8")
    target.write_text("the house\nthe flower\nx\nhouse\n", encoding="utf-8")
    gold.write_text("0-0 1-1\n")
    arguments = ["--source", str(source), "--target", str(target), "--out", str(out), "--gold", str(gold)]
    result = CliRunner().invoke(command, [*arguments, "--model", "quick"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "AER 0.0000  precision 1.0000  recall 1.0000  (1 of 4 pairs)" in result.output
    assert [pair.tolist() for pair in read_pharaoh(out)] == [[[0, 0], [1, 1]], [[0, 0], [1, 1]], [], [[0, 0]]]
