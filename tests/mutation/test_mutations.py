"""The list of mutations matches the source: every text stands once, and the tests that shall notice are there."""

from __future__ import annotations

from collections import Counter

import pytest
from mutation.change import PROJECT, arguments
from mutation.mutations import MUTATIONS


@pytest.mark.parametrize("file", sorted({mutation.file for mutation in MUTATIONS}))
def test_what_is_changed_stands_in_its_file_exactly_once(file: str) -> None:
    text = (PROJECT / "camber" / file).read_text("utf-8")
    for mutation in MUTATIONS:
        if mutation.file == file:
            assert text.count(mutation.old) == 1, f"move the list along: {mutation}"
            assert mutation.old != mutation.new
            if file.endswith(".py"):
                compile(mutation.mutated(text), file, "exec")  # no test is needed to see that it is no Python


def test_the_tests_that_shall_notice_are_there() -> None:
    for words in {mutation.tests for mutation in MUTATIONS}:
        for word in arguments(words):
            if ".py" in word:
                assert (PROJECT / word.split("::")[0]).is_file(), words


def test_there_are_enough_of_them_and_no_change_is_tried_twice() -> None:
    assert len(MUTATIONS) >= 150
    assert max(Counter((m.file, m.old, m.new) for m in MUTATIONS).values()) == 1
    with_source = {
        path.parent.relative_to(PROJECT / "camber").parts[0] for path in (PROJECT / "camber").rglob("*/*.py")
    }
    assert with_source == {m.file.split("/")[0] for m in MUTATIONS if "/" in m.file}
