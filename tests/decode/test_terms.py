"""Terms of a glossary in sentences."""

import pytest

from camber.corpus.constraints import Ban, Constraints, Term, settle
from camber.decode.terms import TermFinder, copied_case
from camber.errors import CamberError
from camber.formats.glossary.glossary import Entry, Glossary
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings

TEXT = TextPipeline(TextSettings(source_lang="fr", target_lang="en"))


def found(entries, line):
    glossary = Glossary.of(entries) if isinstance(entries, dict) else Glossary(entries)
    return TermFinder(glossary, TEXT).find(TEXT.prepare(line))


def terms(entries, line):
    return [(term.begin, term.end, *map(" ".join, term.targets)) for term in found(entries, line)[0]]


def test_the_longest_entry_wins_and_words_are_whole():
    entries = {"chef": "boss", "chef de service": "head", "service public": "utility"}
    assert terms(entries, "le chef de service public") == [(1, 4, "head")]
    assert terms(entries, "un chef , le service public") == [(4, 6, "utility"), (1, 2, "boss")]
    assert terms(entries, "des chefs") == []


def test_case_makes_no_difference_and_is_copied():
    entries = {"maison": "home", "OTAN": "NATO"}
    assert terms(entries, "la Maison, la MAISON, la maison") == [(1, 2, "Home"), (4, 5, "HOME"), (7, 8, "home")]
    assert terms(entries, "une otan") == [(1, 2, "NATO")]
    assert copied_case(("Contract",), ["Contrat"], ["contrat"]) == ("contract",)
    assert copied_case(("iPhone", "case"), ["étui"], ["Étui"]) == ("IPhone", "case")


def test_what_is_not_translated_stays_as_it_is_written():
    assert terms({"Camber": None}, "le CAMBER") == [(1, 2, "CAMBER")]


def test_protected_text_in_a_term_keeps_its_token():
    prepared = TEXT.prepare("la grippe de 1918")
    (term,), _ = TermFinder(Glossary.of({"grippe de 1918": "1918 flu"}), TEXT).find(prepared)
    assert term.targets == ((prepared.tokens[3], "flu"),)
    assert terms({"grippe de 1918": "1918 flu"}, "la grippe de 2009") == []


def test_forbidden_targets_are_bans():
    some, bans = found([Entry("maison", (), ("house", "big house"))], "la maison")
    assert some == []
    assert [(ban.begin, ban.end, ban.target) for ban in bans] == [(1, 2, ("house",)), (1, 2, ("big", "house"))]


@pytest.mark.parametrize(
    ("some", "bans", "note"),
    [
        ([Term(0, 1, ((),), "a → ")], [], "a → : a term without a translation"),
        ([Term(0, 2, (("x",),), "a"), Term(1, 2, (("y",),), "b")], [], "b: a term that overlaps another one, a"),
        ([Term(0, 1, (("X",),), "a")], [Ban(0, 1, ("x",))], "a: a term whose translation is forbidden, too"),
        ([Term(1, 4, (("x",),), "c")], [], "c: a term that is not in the sentence"),
        ([], [Ban(0, 1, (), "d")], "d: nothing is forbidden by it in this sentence"),
    ],
)
def test_what_cannot_be_had_is_left_out_with_a_note(some, bans, note):
    constraints, notes = settle(["a", "b"], some, bans)
    assert notes == [note]
    assert len(constraints.terms) == max(0, len(some) - 1)


def test_constraints_that_were_not_settled_are_refused():
    for bad in ([Term(0, 2, (("x",),)), Term(1, 3, (("y",),))], [Term(0, 1, ())], [Term(2, 2, (("x",),))]):
        with pytest.raises(CamberError):
            Constraints(tuple(bad))
