"""Settings refuse what they do not know and what is out of range."""

from dataclasses import FrozenInstanceError, dataclass

import pytest

from camber.errors import SettingsError
from camber.settings import Settings, setting


@dataclass(frozen=True)
class Oven(Settings):
    heat: int = setting(180, "degrees", low=50, high=250)
    mode: str = setting("fan", "how it heats", choices=("fan", "grill"))
    timer: float = setting(0.5, "hours", low=0.0)


@dataclass(frozen=True)
class Pantry(Settings):
    jars: int = setting(3, "jars")


def test_defaults_are_legal_and_survive_a_round_trip():
    oven = Oven()
    assert oven.to_dict() == {"heat": 180, "mode": "fan", "timer": 0.5}
    assert Oven.from_dict(oven.to_dict()) == oven
    assert Oven.from_dict({}) == oven


def test_an_unknown_key_is_an_error_that_lists_the_known_ones():
    with pytest.raises(SettingsError, match="unknown setting 'heet' for Oven; known: heat, mode, timer"):
        Oven.from_dict({"heet": 200})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"heat": 20}, "Oven.heat is 20; expected at least 50"),
        ({"heat": 300}, "Oven.heat is 300; expected at most 250"),
        ({"mode": "steam"}, "Oven.mode is 'steam'; expected one of fan, grill"),
        ({"timer": -1.0}, "Oven.timer is -1.0; expected at least 0"),
    ],
)
def test_a_value_out_of_range_is_an_error_that_says_the_range(values, message):
    with pytest.raises(SettingsError, match=message):
        Oven(**values)


def test_the_ends_of_a_range_are_legal():
    assert Oven(heat=50).heat == 50
    assert Oven(heat=250).heat == 250


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Oven().heat = 100


def test_no_number_is_larger_than_kernels_can_multiply():
    for number in (2**31, 2**63 - 1, 10**30):
        with pytest.raises(SettingsError, match="too large a number; the most is 2,147,483,647"):
            Pantry(jars=number)
    assert Pantry(jars=2**31 - 1).jars == 2**31 - 1


def test_numbers_are_finite_and_texts_can_be_written():
    for wrong in ({"share": float("inf")}, {"share": -float("inf")}, {"name": "\udcff"}):
        with pytest.raises(SettingsError, match=r"finite number|UTF-8 can hold"):
            _Anything(**wrong)
    assert _Anything(share=1e308, name="é").share == 1e308


@dataclass(frozen=True)
class _Anything(Settings):
    share: float = setting(0.5, "a share")
    name: str = setting("x", "a name")
