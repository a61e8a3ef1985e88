"""Readers under attack: whatever a file holds, it is read or refused with an error of ours, soon and in little room."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from adversary.bounds import bounded
from adversary.readers import READERS, TOKENS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camber.errors import CamberError

_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "put", "replace", "repeat", "flip"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 12),
        st.one_of(st.sampled_from(TOKENS), st.binary(max_size=6)),
    ),
    max_size=4,
)


def edited(data: bytes, edits: list[tuple[str, float, int, bytes]]) -> bytes:
    """Damage a file in some places."""
    for kind, where, length, token in edits:
        at = int(where * (len(data) + 1))
        before, piece, after = data[:at], data[at : at + length], data[at + length :]
        if kind == "flip":
            piece = bytes(byte ^ (1 << length % 8) for byte in piece[:1]) + piece[1:]
        data = (
            before + {"cut": b"", "put": token + piece, "replace": token, "repeat": piece * 40}.get(kind, piece) + after
        )
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_accepted_plain_and_packed(folder: Path, name: str) -> None:
    reader = READERS[name]
    for seed in reader.files:
        for data in (seed, gzip.compress(seed)) if reader.packed else (seed,):
            (folder / reader.file).write_bytes(data)
            reader.read(folder / reader.file)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(number=st.integers(0, 5), edits=_EDITS)
def test_damaged_files_are_read_or_refused(
    folder: Path, name: str, number: int, edits: list[tuple[str, float, int, bytes]]
) -> None:
    reader = READERS[name]
    data = edited(reader.files[number % len(reader.files)], edits)
    path = folder / reader.file
    path.write_bytes(data)
    with bounded(len(data)), suppress(CamberError):
        reader.read(path)
