"""Hierarchical rules on demand: against the definition, against cdec's own grammars, by hand."""

from __future__ import annotations

import gzip
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.hiero_extraction import fits, grammar

from camber.align.lexical import lexical_table
from camber.align.pharaoh import Alignment, read_pharaoh
from camber.corpus import Bitext, Sentences, Vocabulary
from camber.corpus.inputs import Input, as_inputs
from camber.errors import CamberError, SettingsError
from camber.files import read_parallel, words
from camber.formats.cdec.grammars import cdec_values
from camber.rules.hiero.extraction import EDGES, HieroExtractor, HieroSettings
from camber.rules.hiero.features import CDEC_NAMES, DEFAULT_NAMES
from camber.rules.hiero.index import CorpusIndex
from camber.rules.phrase.extraction import extract

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@st.composite
def aligned_pairs(draw, most=7):
    """Up to six short pairs over few words, so that patterns repeat, with links near the diagonal or anywhere."""
    pairs = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.lists(st.sampled_from("abcd"), max_size=most))
        target = draw(st.lists(st.sampled_from("xyz"), max_size=most))
        cells = [(i, j) for i in range(len(source)) for j in range(len(target))]
        near = [(i, j) for i, j in cells if abs(i - j) <= 1]
        links = draw(st.sets(st.sampled_from(near), max_size=7)) if near else set()
        links |= draw(st.sets(st.sampled_from(cells), max_size=2)) if cells else set()
        pairs.append((source, target, sorted(links)))
    return pairs


def index_of(pairs):
    bitext = Bitext.encode([source for source, _, _ in pairs], [target for _, target, _ in pairs])
    return CorpusIndex.build(bitext, Alignment.from_pairs([links for _, _, links in pairs]))


def rule_of(grammar, rule):
    """Return a rule's sides with words as strings and non-terminals as numbers."""
    sides = []
    for flat, offsets, vocabulary in (
        (grammar.source, grammar.source_offsets, grammar.source_words),
        (grammar.target, grammar.target_offsets, grammar.target_words),
    ):
        symbols = flat[offsets[rule] : offsets[rule + 1]].tolist()
        sides.append(tuple(vocabulary.words[s] if s >= 0 else s for s in symbols))
    return tuple(sides)


def links_of(grammar, rule):
    return tuple(map(tuple, grammar.links[grammar.link_offsets[rule] : grammar.link_offsets[rule + 1]].tolist()))


def as_dictionary(raw):
    rules = {rule_of(raw, rule): rule for rule in range(len(raw))}
    assert len(rules) == len(raw)
    return rules


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    aligned_pairs(),
    st.lists(st.sampled_from("abcde"), max_size=7),
    st.sampled_from([(15, 5, 2, 1), (15, 5, 2, 2), (4, 5, 2, 1), (15, 3, 1, 1), (15, 5, 0, 1), (5, 8, 2, 1)]),
    st.sampled_from(EDGES),
)
def test_rules_and_counts_are_those_of_the_definition(pairs, sentence, limits, edges):
    chosen = HieroSettings(*limits, samples=100_000, edges=edges)
    raw = HieroExtractor(index_of(pairs), settings=chosen).raw(sentence)
    ours, (theirs, extracted) = as_dictionary(raw), grammar(pairs, sentence, *limits, edges)
    assert ours.keys() == theirs.keys()
    for key, rule in theirs.items():
        at = ours[key]
        assert raw.column("count_st")[at] == pytest.approx(rule.count)
        assert raw.column("count_s")[at] == rule.samples
        assert raw.column("p_coherent")[at] == pytest.approx(rule.count / rule.samples)
        assert raw.column("singleton_st")[at] == (rule.times == 1)
        assert raw.column("singleton_s")[at] == (extracted[key[0]] == 1)
        assert raw.column("arity")[at] == sum(isinstance(symbol, int) for symbol in key[0])
        assert raw.column("words")[at] == sum(isinstance(symbol, str) for symbol in key[1])
        assert rule.links[links_of(raw, at)] == max(rule.links.values())


@settings(max_examples=40, deadline=None)
@given(aligned_pairs(), st.lists(st.sampled_from("abcd"), max_size=6))
def test_lexical_weights_are_those_of_the_formulas(pairs, sentence):
    index = index_of(pairs)
    table = lexical_table(index.bitext, index.alignment)
    raw = HieroExtractor(index, table).raw(sentence)
    for rule in range(len(raw)):
        source = raw.source[raw.source_offsets[rule] : raw.source_offsets[rule + 1]]
        target = raw.target[raw.target_offsets[rule] : raw.target_offsets[rule + 1]]
        links = links_of(raw, rule)
        best_t = best_s = mean_t = mean_s = 1.0
        for j, t in enumerate(target):
            if t >= 0:
                best_t *= max(table.p_target_given_source(s, t) for s in [-1, *source[source >= 0]])
                linked = [source[i] for i, k in links if k == j] or [-1]
                mean_t *= np.mean([table.p_target_given_source(s, t) for s in linked])
        for i, s in enumerate(source):
            if s >= 0:
                best_s *= max(table.p_source_given_target(s, t) for t in [-1, *target[target >= 0]])
                linked = [target[j] for k, j in links if k == i] or [-1]
                mean_s *= np.mean([table.p_source_given_target(s, t) for t in linked])
        assert raw.raw[rule, 1:5] == pytest.approx([best_t, best_s, mean_t, mean_s])


def example():
    pairs = [
        (["ein", "mann", "mit", "hut"], ["a", "man", "with", "hat"], [(0, 0), (1, 1), (2, 2), (3, 3)]),
        (["ein", "mann"], ["a", "guy"], [(0, 0), (1, 1)]),
        (["ein", "hut"], ["one", "hat"], [(0, 0), (1, 1)]),
    ]
    return index_of(pairs)


def test_features_of_a_small_example_by_hand():
    extractor = HieroExtractor(example())
    values = cdec_values(extractor.features, extractor.grammar(Input(["ein", "mann"])))
    rules = {key: values.features[rule] for key, rule in as_dictionary(values).items()}
    assert values.names == DEFAULT_NAMES == extractor.names
    # "ein": three occurrences, twice "a"; p(a|ein) = 2/3, p(ein|a) = 1
    a = dict(zip(values.names, rules[("ein",), ("a",)], strict=True))
    assert a["p_coherent"] == pytest.approx(-math.log10(2 / 3))
    assert a["lex_t_given_s"] == pytest.approx(-math.log10(2 / 3))
    assert a["lex_s_given_t"] == 0
    assert a["count_s"] == pytest.approx(math.log10(4))
    assert a["count_st"] == pytest.approx(math.log10(3))
    assert (a["singleton_s"], a["singleton_st"], a["arity"]) == (0, 0, 0)
    # "X mann" can be used, "X ein" cannot: nothing stands before "ein"
    assert dict(zip(values.names, rules[(-1, "mann"), (-1, "guy")], strict=True))["singleton_st"] == 1
    assert not any(source[0] == -1 and source[1] == "ein" for source, _ in rules)


def test_values_are_raw_and_settings_choose_the_kind_of_lexical_weights():
    for lexical, names in (
        ("max", DEFAULT_NAMES),
        ("averaged", ("p_coherent", "lex_t_given_s_averaged", "lex_s_given_t_averaged", *DEFAULT_NAMES[3:])),
    ):
        chosen = HieroSettings(lexical=lexical)
        extractor = HieroExtractor(example(), settings=chosen)
        grammar, raw = extractor.grammar(Input(["ein", "mann"])), extractor.raw(["ein", "mann"])
        assert grammar.names == extractor.names == chosen.features == names
        assert grammar.features.tolist() == [[raw.column(name)[r] for name in names] for r in range(len(raw))]
    both = HieroSettings(lexical="both").features
    assert len(set(both)) == len(both) == len(DEFAULT_NAMES) + 2
    assert {*DEFAULT_NAMES} < {*both}
    a = as_dictionary(grammar)[("ein",), ("a",)]
    assert dict(zip(grammar.names, grammar.features[a], strict=True))["count_s"] == 3


def test_a_small_sample_is_even_and_the_same_every_time():
    pairs = [(["a", "b"], [f"x{n}", "y"], [(0, 0), (1, 1)]) for n in range(10)]
    index = index_of(pairs)
    raw = [HieroExtractor(index, settings=HieroSettings(samples=5)).raw(["a", "b"]) for _ in range(2)]
    assert np.array_equal(raw[0].raw, raw[1].raw)
    assert np.array_equal(raw[0].target, raw[1].target)
    targets = {target[0] for source, target in as_dictionary(raw[0]) if source == ("a",)}
    assert len(targets) == 5  # of ten different ones
    assert set(raw[0].column("count_s")) == {5}


def test_threads_share_an_extractor():
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(300):
        length = int(rng.integers(2, 12))
        source = [f"s{n}" for n in rng.integers(0, 30, length)]
        pairs.append((source, [f"t{word[1:]}" for word in source], [(n, n) for n in range(length)]))
    extractor = HieroExtractor(index_of(pairs))
    sentences = [source for source, _, _ in pairs[:60]]
    alone = [extractor.grammar(Input(sentence)) for sentence in sentences]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(extractor.grammar, as_inputs(sentences)))
    for one, other in zip(alone, together, strict=True):
        for name in ("source", "target", "features", "links", "source_offsets", "target_offsets", "link_offsets"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_the_rules_of_the_last_sentence_are_at_hand():
    extractor = HieroExtractor(example())
    first = extractor.raw(["ein", "mann"])
    assert extractor.raw(("ein", "mann")) is first
    other = extractor.raw(["ein", "hut"])
    assert as_dictionary(other).keys() != as_dictionary(first).keys()
    again = extractor.raw(["ein", "mann"])
    assert again is not first
    assert np.array_equal(again.raw, first.raw)


@pytest.mark.parametrize("sentence", [[], ["zebra"], ["zebra", "ein", "zebra"], ["ein"] * 400])
def test_odd_sentences_have_grammars_too(sentence):
    grammar = HieroExtractor(example()).grammar(Input(sentence))
    assert all(symbol < len(grammar.source_words) for symbol in grammar.source)
    assert bool(len(grammar)) == ("ein" in sentence)
    if sentence[1:2] == ["ein"] and len(sentence) == 3:
        assert any(grammar.source_side(rule) == ["[1]", "ein", "[2]"] for rule in range(len(grammar))) is False
        assert any(grammar.source_side(rule) == ["ein", "[1]"] for rule in range(len(grammar)))


def test_an_empty_corpus_gives_no_rules():
    extractor = HieroExtractor(index_of([([], [], [])]))
    assert len(extractor.grammar(Input(["a"]))) == 0


def test_wrong_wishes_are_refused():
    with pytest.raises(CamberError, match=r"no rule feature is called 'nonsense'; known: p_coherent"):
        HieroExtractor(example(), features=["nonsense"])
    with pytest.raises(SettingsError, match="samples is 0"):
        HieroSettings(samples=0)
    assert HieroExtractor(example(), features=["EgivenFCoherent"]).names == ("p_coherent",)


@pytest.fixture(scope="module")
def multi30k():
    if not (SHARED / "anchors/cdec/grammars").exists():
        pytest.skip("no ../shared/anchors")
    tok = SHARED / "data/multi30k/tok"
    sides = [[words(line) for line in lines] for lines in read_parallel(tok / "train.de", tok / "train.en")]
    alignment = read_pharaoh(SHARED / "anchors/moses/aligned.grow-diag-final-and.gz")
    # cdec numbers words by first use, which decides the order of its suffixes and so what it samples
    vocabularies = [Vocabulary(list(dict.fromkeys(word for line in side for word in line))) for side in sides]
    bitext = Bitext(*(Sentences.encode(side, v) for side, v in zip(sides, vocabularies, strict=True)))
    extractor = HieroExtractor(CorpusIndex.build(bitext, alignment), settings=HieroSettings(edges="tight"))
    return extractor, (tok / "test.de").read_text(encoding="utf-8").splitlines()


def read_cdec(number):
    """Read a grammar as {(source, target): features}."""
    rules = {}
    with gzip.open(SHARED / f"anchors/cdec/grammars/grammar.{number}.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            _, source, target, features, _ = line.rstrip("\n").split(" ||| ")
            sides = (
                tuple({"[X,1]": -1, "[X,2]": -2}.get(symbol, symbol) for symbol in side.split())
                for side in (source, target)
            )
            rules[tuple(sides)] = {name: float(value) for name, value in (f.split("=") for f in features.split())}
    return rules


@pytest.mark.slow
def test_grammars_are_those_of_cdec(multi30k):
    extractor, sentences = multi30k
    same = ours_only = theirs_only = 0
    for number in range(8):
        sentence = sentences[number].split()
        theirs = {key: f for key, f in read_cdec(number).items() if fits(key[0], sentence, 15, 1)}
        values = cdec_values(extractor.features, extractor.grammar(Input(sentence)))
        ours = as_dictionary(values)
        # where all occurrences were looked at, rules and features are equal …
        full = math.log10(301) - 1e-6
        count_s = values.features[:, values.names.index("count_s")]
        whole = {key for key, rule in ours.items() if count_s[rule] < full}
        assert whole == {key for key, features in theirs.items() if features["SampleCountF"] < full}
        for key in whole:
            for name, ours_name in CDEC_NAMES.items():
                value = values.features[ours[key], values.names.index(ours_name)]
                assert value == pytest.approx(theirs[key][name], abs=1e-3), (key, name)
        # … and where they were sampled, most are: suffixes that are equal up to the end of a sentence stand in
        # another order
        same += len(ours.keys() & theirs.keys())
        ours_only += len(ours.keys() - theirs.keys())
        theirs_only += len(theirs.keys() - ours.keys())
    assert same > 30_000
    assert same / (same + ours_only) > 0.95
    assert same / (same + theirs_only) > 0.95


def ending_in_z():
    """Pairs whose target sides all end in `z`, which goes with no source word."""
    pairs = [(list("ab"), list("ABz"), [(0, 0), (1, 1)]), (list("ba"), list("BAz"), [(0, 0), (1, 1)])]
    return [*pairs, (list("ab"), list("AzB"), [(0, 0), (1, 2)])]


def targets_of(pairs, edges):
    extractor = HieroExtractor(index_of(pairs), settings=HieroSettings(edges=edges))
    raw = extractor.raw(["a", "b"])
    return raw, {target: rule for (source, target), rule in as_dictionary(raw).items() if source == ("b",)}


def test_unaligned_words_at_the_edges_of_a_pair_are_in_no_tight_rule():
    """A hierarchical model with tight edges (Chiang 2007) drops the last word of a corpus whose pairs all end in it.

    Phrase pairs may take such words along at their edges (Och and Ney), and keep it. Inside a box it is kept.
    """
    pairs = ending_in_z()
    raw, _ = targets_of(pairs, "tight")
    sides = {target for _, target in as_dictionary(raw)}
    assert {("A",), ("B",), ("A", "B"), ("A", "z", "B")} <= sides
    assert not any(target[-1] == "z" or target[0] == "z" for target in sides)
    bitext = Bitext.encode([source for source, _, _ in pairs], [target for _, target, _ in pairs])
    store = extract(bitext, Alignment.from_pairs([links for _, _, links in pairs]))
    assert ["B", "z"] in [store.target(rule) for rule in range(len(store))]


def test_choices_of_loose_edges_share_their_occurrence():
    raw, targets = targets_of(ending_in_z(), "loose")
    counts = {target: raw.column("count_st")[rule] for target, rule in targets.items()}
    # "b" is B: with and without the z behind it, where it is the last one; with and without the z before it
    assert counts == {("B",): 0.5 + 1.0 + 0.5, ("B", "z"): 0.5, ("z", "B"): 0.5}
    assert raw.column("p_coherent")[targets["B", "z"]] == pytest.approx(0.5 / 3)
    assert raw.column("singleton_st")[targets["B", "z"]] == 1
    assert raw.column("singleton_s")[targets["B", "z"]] == 0


def test_loose_edges_are_no_longer_than_a_span():
    pairs = [(["a"], ["x", "x", "A", "x", "x"], [(0, 2)])]
    extractor = HieroExtractor(index_of(pairs), settings=HieroSettings(max_span=2, edges="loose"))
    raw = extractor.raw(["a"])
    assert set(as_dictionary(raw)) == {(("a",), target) for target in (("A",), ("x", "A"), ("A", "x"))}
    assert raw.column("count_st").tolist() == pytest.approx([1 / 3] * 3)


def test_two_words_join_a_loose_edge_and_none_beside_a_gap():
    pairs = [(["a", "b"], ["x", "x", "x", "A", "y", "B", "z"], [(0, 3), (1, 5)])]
    rules = as_dictionary(HieroExtractor(index_of(pairs)).raw(["a", "b"]))
    assert {target for source, target in rules if source == ("b",)} == {
        ("B",), ("y", "B"), ("B", "z"), ("y", "B", "z"),
    }  # fmt: skip
    assert {target for source, target in rules if source == (-1, "b")} == {(-1, "y", "B"), (-1, "y", "B", "z")}
    assert {target for source, target in rules if source == ("a", -1)} == {
        ("A", "y", -1), ("x", "A", "y", -1), ("x", "x", "A", "y", -1),
    }  # fmt: skip
