"""Errors are one family and say where and what to do."""

import pytest

import camber
from camber.errors import CamberError, InputError, ModelError, SettingsError


@pytest.mark.parametrize("kind", [InputError, ModelError, SettingsError])
def test_every_error_is_a_camber_error(kind):
    assert issubclass(kind, CamberError)


def test_an_input_error_names_file_line_and_remedy():
    error = InputError("3 columns, expected 2", "corpus.tsv", 7, remedy="check the tabs")
    assert str(error) == "corpus.tsv:7: 3 columns, expected 2; check the tabs"
    assert (error.path, error.line) == ("corpus.tsv", 7)


def test_line_and_remedy_may_be_left_out():
    assert str(InputError("empty", "a.txt")) == "a.txt: empty"


def test_the_family_is_reachable_from_the_package():
    assert camber.CamberError is CamberError


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        camber.nonsense  # noqa: B018
