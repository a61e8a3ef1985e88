"""Two texts are cut where they begin or cease to differ."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from camber.text.difference import differences

TEXTS = st.text(alphabet="ab .,'’é\u0301中 ", max_size=12)


@given(TEXTS, TEXTS)
def test_the_pieces_are_the_texts_and_differ_where_they_say(one: str, two: str) -> None:
    pieces = differences(one, two)
    assert "".join(piece.one for piece in pieces) == one.rstrip()
    assert "".join(piece.two for piece in pieces) == two.rstrip()
    for piece in pieces:
        if piece.same:
            assert "".join(piece.one.split()) == "".join(piece.two.split())
        else:
            assert piece.one.strip() != piece.two.strip()


def test_a_word_is_not_cut() -> None:
    pieces = differences("it's a well-known house.", "it's a known house.")
    assert [(piece.one, piece.two) for piece in pieces if not piece.same] == [(" well-known", " known")]
