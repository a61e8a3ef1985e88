"""cdec's files: grammars, weights, cdec.ini, and the set of grammars that a model keeps."""

import dataclasses
import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from toys.grammars import grammars

import camber
from camber.bend.settings import BendSettings
from camber.corpus import Vocabulary
from camber.corpus.inputs import Input, as_inputs
from camber.decode.derivation import parts_of
from camber.decode.lists import to_nbest
from camber.engine import Threads
from camber.errors import CamberError, InputError
from camber.features.feature import names_of
from camber.features.weights import Weights
from camber.files import packed_lines, write_lines
from camber.formats.cdec.grammars import (
    CdecIni,
    cdec_lines,
    read_cdec_grammar,
    read_cdec_grammars,
    read_cdec_weights,
)
from camber.formats.moses.rule_table import write_moses_rules
from camber.model.translator import load
from camber.pipeline.convert_cdec import convert_cdec
from camber.pipeline.rewrite import with_weights
from camber.rules.hiero.grammar_set import GrammarSet
from camber.tune.bending import bent_decoder

HAUS = """\
[X] ||| haus ||| house ||| p=0.5 q=1 ||| 0-0
[X] ||| das [X,1] ||| the [X,1] ||| p=0.25 ||| 0-0
[X] ||| [X,1] das [X,2] ||| [2] the [1] ||| q=-2e-1 ||| 1-1
"""
HUND = "[X] ||| hund ||| dog ||| p=1 q=1\n"
ARPA = """\\data\\
ngram 1=5

\\1-grams:
-1.0 <unk>
-99 <s>
-0.5 </s>
-0.4 the
-0.6 house

\\end\\
"""


def write(path, text):
    """Write a file, compressed if its name says so."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_a_grammar_is_read_as_it_stands(tmp_path):
    grammar = read_cdec_grammar(write(tmp_path / "grammar.0.gz", HAUS))
    assert len(grammar) == 3
    assert [grammar.source_side(r) for r in range(3)] == [["haus"], ["das", "[1]"], ["[1]", "das", "[2]"]]
    assert [grammar.target_side(r) for r in range(3)] == [["house"], ["the", "[1]"], ["[2]", "the", "[1]"]]
    assert grammar.names == ("p", "q")
    # what a rule leaves out is absent, not 0
    np.testing.assert_array_equal(grammar.features, [[0.5, 1.0], [0.25, np.nan], [np.nan, -0.2]])
    assert [grammar.rule_links(r) for r in range(3)] == [[(0, 0)], [(0, 0)], [(1, 1)]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("haus ||| house ||| p=1", "3 fields"),
        ("[S] ||| haus ||| house ||| p=1", r"a rule for \[S\]"),
        ("[X] ||| [X,1] ||| [X,1] ||| p=1", "source side"),
        ("[X] ||| [X,2] a [X,1] ||| [X,1] [X,2] ||| p=1", "source side"),
        ("[X] ||| a [X,1] ||| b ||| p=1", "does not have the non-terminals"),
        ("[X] ||| a ||| b ||| p=nan", "expected name=number"),
        ("[X] ||| a ||| b ||| p", "expected name=number"),
        ("[X] ||| a ||| b ||| p=1 ||| 0-1", "does not lie inside"),
    ],
)
def test_a_bad_rule_is_named_by_file_and_line(tmp_path, line, problem):
    path = write(tmp_path / "grammar.0", HUND + line + "\n")
    with pytest.raises(InputError, match=problem) as error:
        read_cdec_grammar(path)
    assert str(error.value).startswith(f"{path}:2: ")


def test_a_set_of_grammars_survives_saving(tmp_path):
    paths = [
        write(tmp_path / "grammar.0", HAUS),
        write(tmp_path / "grammar.1", ""),
        write(tmp_path / "grammar.2", HUND),
    ]
    grammars = read_cdec_grammars(paths)
    (tmp_path / "set").mkdir()
    grammars.save(tmp_path / "set")
    loaded = GrammarSet.load(tmp_path / "set")
    assert [len(loaded[n]) for n in range(3)] == [3, 0, 1]
    for n in range(3):
        for name in ("source", "source_offsets", "target", "target_offsets", "features", "links", "link_offsets"):
            np.testing.assert_array_equal(getattr(loaded[n], name), getattr(grammars[n], name))
            assert getattr(loaded[n], name).dtype == getattr(grammars.rules, name).dtype
    assert loaded.names == ("p", "q")
    assert loaded[2].source_side(0) == ["hund"]


def test_a_sentence_finds_its_grammar_by_its_words(tmp_path):
    longer = HAUS + HUND
    paths = [write(tmp_path / f"grammar.{n}", text) for n, text in enumerate((HAUS, HUND, longer, HUND))]
    grammars = read_cdec_grammars(paths)
    assert grammars.number(["das", "haus"]) == 0
    assert grammars.number(["das", "haus", "am", "hund"]) == 2
    assert grammars.number(["hund"]) == 1
    assert grammars.number(["hund"], number=3) == 3, "the line decides between equals"
    assert grammars.number(["hund"], number=0) == 1, "but not against the words"
    assert grammars.number(["katze"]) == -1
    assert len(grammars.grammar(Input(["katze"]))) == 0
    assert len(grammars.grammar(Input([]))) == 0


def test_weights_are_names_and_numbers(tmp_path):
    assert read_cdec_weights(write(tmp_path / "w", "# a comment\np 0.5\n\nq -1e-2\n")) == {"p": 0.5, "q": -0.01}
    for text in ("p\n", "p x\n", "p nan\n", "p 1\np 2\n"):
        with pytest.raises(InputError):
            read_cdec_weights(write(tmp_path / "w", text))


def model_files(folder, ini=""):
    """Write a small cdec model."""
    write(folder / "cdec.ini", f"formalism=scfg\nfeature_function=WordPenalty\n{ini}")
    write(folder / "weights", "p 1\nq 0.5\nWordPenalty -0.1\nPassThrough -10\nLanguageModel 1\n")
    write(folder / "lm.arpa", ARPA)
    write(folder / "grammars" / "grammar.0.gz", HAUS)
    write(folder / "grammars" / "grammar.1.gz", HUND)
    return folder / "cdec.ini"


def test_a_converted_model_translates_its_sentences_in_any_order(tmp_path):
    ini = model_files(tmp_path, "feature_function=KLanguageModel lm.arpa\nscfg_max_span_limit=7\n")
    convert_cdec(ini, tmp_path / "model")
    decoder = load(tmp_path / "model").decoder
    assert (decoder.settings.span_limit, decoder.settings.pop_limit) == (7, 200)
    decoded = list(decoder.decode(as_inputs([["hund"], ["das", "haus"], []]), engine=Threads(1)))
    assert [best[0].words for best in decoded] == [["dog"], ["the", "house"], []]
    sums = dict(zip(decoder.names, decoded[1][0].linear_sums.tolist(), strict=True))
    assert sums["WordPenalty"] == pytest.approx(-2 / np.log(10))
    assert sums["LanguageModel"] == pytest.approx(-1.5)
    assert sums["p"] == 0.75


def test_a_bent_model_opens_again_and_keeps_a_penalty_for_words_as_it_was(tmp_path):
    convert_cdec(model_files(tmp_path, "feature_function=KLanguageModel lm.arpa\n"), tmp_path / "model")
    model = camber.load(tmp_path / "model")
    lines = ["hund", "das haus", "katze"]
    bent = bent_decoder(model.decoder, as_inputs([line.split() for line in lines]), "lnr", BendSettings(bits=4))
    assert {"WordPenalty", "WordPenalty@0", "p@0"} <= {*bent.names}
    assert not any(name.startswith("LanguageModel@") for name in bent.names)
    with_weights(tmp_path / "model", tmp_path / "bent", model.shaped(bent, Weights(bent.weighing.by_name())), None)
    again = camber.load(tmp_path / "bent", verify=True)
    assert again.decoder.names == bent.names
    assert again.translate(lines) == model.translate(lines)


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("feature_function=Mystery\n", "Mystery is not supported"),
        ("feature_function=KLanguageModel none.arpa\n", "no file"),
        ("scfg_max_span_limit=far\n", "is not a whole number"),
        ("nonsense\n", "is not key=value"),
    ],
)
def test_a_model_that_cannot_be_converted_says_why(tmp_path, ini, problem):
    with pytest.raises(CamberError, match=problem):
        convert_cdec(model_files(tmp_path, ini), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_missing_grammar_is_named(tmp_path):
    ini = model_files(tmp_path)
    (tmp_path / "grammars" / "grammar.0.gz").unlink()
    with pytest.raises(InputError, match=r"grammar\.0 is missing"):
        convert_cdec(ini, tmp_path / "model")
    assert CdecIni.read(ini).one("formalism") == "scfg"


@settings(max_examples=50, deadline=None)
@given(grammars())
def test_what_is_written_is_read_as_it_was(grammar):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grammar.0.gz"
        lines = cdec_lines(grammar, {"lex_t_given_s": "MaxLex"})
        write_lines(path, lines)
        assert len(lines) == len(grammar)
        assert path.read_bytes() == packed_lines(lines)
        found = read_cdec_grammar(path)
    assert found.names == tuple(name.replace("lex_t_given_s", "MaxLex") for name in grammar.names)
    assert found.features.tolist() == grammar.features.tolist()
    for rule in range(len(grammar)):
        assert found.source_side(rule) == grammar.source_side(rule)
        assert found.target_side(rule) == grammar.target_side(rule)
        assert found.rule_links(rule) == grammar.rule_links(rule)


def test_words_that_cdec_would_misread_are_left_out(tmp_path):
    grammar = read_cdec_grammar(write(tmp_path / "g", HAUS + HUND))
    spoilt = dataclasses.replace(grammar, target_words=Vocabulary(["[1]", *grammar.target_words.words[1:]]))
    write_lines(tmp_path / "out", cdec_lines(spoilt))
    assert len(read_cdec_grammar(tmp_path / "out")) == 3
    with pytest.raises(CamberError, match="'a=b' cannot be written"):
        cdec_lines(grammar, {"p": "a=b"})


def test_what_a_rule_lacks_is_not_written_and_hits_no_bin(tmp_path):
    grammar = read_cdec_grammar(write(tmp_path / "g", HAUS + HUND))
    write_lines(tmp_path / "out", cdec_lines(grammar))
    assert (tmp_path / "out").read_text().splitlines()[1] == "[X] ||| das [X,1] ||| the [X,1] ||| p=0.25 ||| 0-0"
    np.testing.assert_array_equal(read_cdec_grammar(tmp_path / "out").features, grammar.features)
    with pytest.raises(CamberError, match="some rules have no q, but every rule of a Moses table has all scores"):
        write_moses_rules(tmp_path / "table", grammar, ["p", "q"])

    convert_cdec(model_files(tmp_path, "feature_function=KLanguageModel lm.arpa\n"), tmp_path / "model")
    plain = load(tmp_path / "model").decoder
    sentences = [["das", "haus"], ["hund"]]
    values = plain.rule_values(as_inputs(sentences))
    assert {name: [part.tolist() for part in values[name]] for name in ("p", "q")} == {
        "p": [[0.25, 0.5, 1.0], [1, 1, 1]],
        "q": [[-0.2, 1.0], [1, 2]],
    }
    bent = bent_decoder(plain, as_inputs(sentences), "bins", BendSettings(bits=4))
    (best,) = next(bent.decode(as_inputs(sentences[:1]), engine=Threads(1)))
    (straight,) = next(plain.decode(as_inputs(sentences[:1]), engine=Threads(1)))
    assert best.words == straight.words == ["the", "house"]
    assert best.score == pytest.approx(straight.score)
    lacking = np.isnan(best.features[:, names_of(bent.inputs).index("q")])
    assert sorted(lacking[best.rules >= 0]) == [False, True]  # "das X" has no q, "haus" has
    bins = bent.weighing.design(*parts_of(bent.inputs, [best])).sparse
    hits = dict(zip(bent.names[len(bent.bend.linear) :], bins.dense()[0].tolist(), strict=True))
    assert (hits["p@0"], hits["p@1"], hits["p@2"], hits["q@0"], hits["q@1"]) == (1, 1, 0, 0, 1)
    # a list says what parts lack
    nbest = to_nbest(bent, [[best]])
    lacking = [name for name in nbest.names if np.isnan(nbest.parts.column(name)[best.rules >= 0]).any()]
    assert lacking == ["q"]
    np.testing.assert_allclose(nbest.hypothesis_features()[0], best.linear_sums)
    graph = plain.hypergraph(as_inputs(sentences)[0])
    assert np.isnan(graph.parts.column("q")[graph.parts.rules >= 0]).any()
