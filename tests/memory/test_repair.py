"""Repair: what a match and a line have in common keeps its translation, and the rest is searched."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camber.corpus.constraints import Ban, Constraints, Term
from camber.engine import Threads
from camber.errors import CamberError
from camber.files import write_lines
from camber.formats.glossary.glossary import Glossary
from camber.memory.repair import _zones, beside, filled, repair
from camber.model.translator import load
from camber.pipeline.add import add

LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8)


@given(LINKS)
def test_zones_cover_the_source_hold_every_link_and_are_as_small_as_can_be(links: list[tuple[int, int]]) -> None:
    zones = _zones(6, 6, links)
    assert [zone.source[0] for zone in zones] == [0, *(zone.source[1] for zone in zones[:-1])]
    assert zones[-1].source[1] == 6
    for one, two in pairwise(zones):
        assert one.target[1] <= two.target[0]
    for s, t in links:
        (zone,) = [zone for zone in zones if zone.source[0] <= s < zone.source[1]]
        assert zone.target[0] <= t < zone.target[1]
    cuts = [
        cut
        for cut in range(1, 6)
        if {s < cut for s, _ in links} == {True, False}
        and max(t for s, t in links if s < cut) < min(t for s, t in links if s >= cut)
    ]
    groups = {frozenset(link for link in links if link[0] < cut) for cut in cuts}
    assert len(zones) == len(groups) + 1


@given(LINKS, st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8))
def test_what_is_kept_is_in_the_line_and_in_the_order_of_the_match(links: list, line: list[str]) -> None:
    source, target = list("abcdef"), tuple("ABCDEF")
    kept = repair(line, source, target, links)
    said = [word for term in kept.terms for word in term.targets[0]]
    assert said == sorted(said)
    assert len(set(said)) == len(said)
    for term in kept.terms:
        for s, t in links:
            if target[t] in term.targets[0]:
                assert source[s] in line[term.begin : term.end]


def test_a_line_that_is_its_match_keeps_everything(monkeypatch) -> None:
    monkeypatch.setattr("camber.memory.repair.SHORTEST", 1)
    kept = repair(list("abc"), list("abc"), ("A", "x", "C", "B", "y"), [(0, 0), (1, 3), (2, 2)])
    assert [word for term in kept.terms for word in term.targets[0]] == ["A", "x", "C", "B", "y"]


def test_target_words_without_links_go_with_what_differs_beside_them(monkeypatch) -> None:
    source, target, links = list("aabb"), ("A", "A", "is", "B", "B"), [(0, 0), (1, 1), (2, 3), (3, 4)]
    monkeypatch.setattr("camber.memory.repair.SHORTEST", 2)
    assert [term.targets for term in repair(list("aaz"), source, target, links).terms] == [(("A",),), (("A",),)]
    assert repair(list("aabbz"), source, target, links).terms[1].targets == (("A", "is"),)


def test_a_few_words_alone_are_not_kept() -> None:
    links = [(k, k) for k in range(8)]
    kept = repair(list("abxdefgh"), list("abcdefgh"), tuple("ABCDEFGH"), links)
    assert [(term.begin, term.end) for term in kept.terms] == [(k, k + 1) for k in range(3, 8)]
    assert repair(list("abxdefxh"), list("abcdefgh"), tuple("ABCDEFGH"), links) == Constraints()


def test_what_was_asked_for_comes_before_what_is_remembered() -> None:
    own = Constraints((Term(0, 1, (("x",),)), Term(2, 3, (("y",),))), walls=(1, 2))
    term = Term(0, 2, (("t",),))
    assert beside(own, Constraints((term,))) == Constraints((term, own.terms[1]), walls=(2,))
    assert beside(own, Constraints(prefix=("a",))) == Constraints(prefix=("a",))
    ban = Ban(0, 3, ("Y",))
    assert beside(own, Constraints(bans=(ban,))).terms == own.terms[:1]


def test_numbers_and_placeholders_are_filled_in_where_nothing_else_differs() -> None:
    assert filled("{a} has {b}", [("{a}", "{x}"), ("{b}", "{y}")]) == "{x} has {y}"
    assert filled("{a}", [("{a}", "{x}"), ("{b}", "{y}")]) is None  # not all of it
    assert filled("{a} {a}", [("{a}", "{x}"), ("{a}", "{y}")]) is None  # which of them is which?


def _monotone(path: Path, words: int) -> Path:
    write_lines(path, [" ".join(f"{k}-{k}" for k in range(words))])
    return path


@pytest.fixture
def model(hotel_model: Path, tmp_path: Path):
    path = Path(shutil.copytree(hotel_model, tmp_path / "m"))
    pair = "la llave del zorbo está en la mesa .", "a keyword off blorp lies upon a table ."
    add(path, [pair[0]], [pair[1]], alignment=_monotone(tmp_path / "links", 9))
    return add(path, ["página {n} de 17"], ["page {n} of 17!!"])


def test_only_what_differs_is_translated_anew(model) -> None:
    line = "la llave del zorbo está en la habitación ."
    (best,) = next(model.translations([line], fuzzy=0.7, engine=Threads(1)))
    assert best.match is not None
    assert best.match.percent == 88
    assert best.notes == ()
    before, _, after = best.text.partition("room")
    assert (before, after) == ("a keyword off blorp lies upon a ", ".")
    assert model.translate([line], Threads(1)) != [best.text]


def test_exact_repeats_of_the_training_come_back(hotel_model: Path) -> None:
    model = load(hotel_model)
    source, target = model.memory.trained.pair(3)
    exact = {match.target for match in model.matches(source, 1.0, 9)}
    (best,) = next(model.translations([source], fuzzy=1.0, engine=Threads(1)))
    assert best.text in exact
    assert target in exact
    assert best.match.percent == 100


def test_a_line_that_differs_in_a_number_comes_back_with_its_own(model) -> None:
    assert model.translate(["página {x} de 18"], Threads(1), fuzzy=0.9) == ["page {x} of 18!!"]
    assert model.translate(["página {x} de 18"], Threads(1), fuzzy=1.0) != ["page {x} of 18!!"]


def test_terms_and_prefixes_come_before_the_memory(model) -> None:
    line = "la llave del zorbo está en la habitación ."
    (text,) = model.translate([line], Threads(1), fuzzy=0.7, glossary=Glossary.of({"zorbo": "wug"}))
    assert "wug" in text
    (text,) = model.translate([line], Threads(1), fuzzy=0.7, prefix="Our")
    assert text.startswith("Our")


def test_without_the_flag_nothing_changes(model) -> None:
    lines = ["la llave del zorbo está en la habitación .", "hola"]
    (one, two), alone = model.translate(lines, Threads(1)), [model.translate([line], Threads(1))[0] for line in lines]
    assert [one, two] == alone


def test_models_that_cannot_repair_say_so(hotel_hiero: Path) -> None:
    model = load(hotel_hiero)
    with pytest.raises(CamberError, match="cannot repair matches"):
        model.translate(["hola"], fuzzy=0.7)
    source, _ = model.memory.trained.pair(0)
    assert model.translate([source], Threads(1), fuzzy=1.0)


def test_the_command_has_it(hotel_model: Path) -> None:
    from click.testing import CliRunner

    from camber.cli import cli

    source, _ = load(hotel_model).memory.trained.pair(5)
    targets = {match.target for match in load(hotel_model).matches(source, 1.0, 9)}
    done = CliRunner().invoke(cli, ["translate", str(hotel_model), "--fuzzy", "0.7"], input=source)
    assert done.stdout.strip() in targets
