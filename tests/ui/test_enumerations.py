"""The enumerations of PySide, which are made faster, are those that Python would make."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGradient, QIcon, QTextOption
from PySide6.QtWidgets import QDialog, QStyle

import plantdesk.ui  # noqa: F401 - it lets them be made faster

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What is set later, by PySide, or when the class is made.
_OF_THE_MAKER = {"__module__", "__qualname__", "__doc__", "_missing_", "__static_attributes__", "__firstlineno__"}


def _made_by_python(base: type[enum.Enum], name: str, members: Sequence[tuple[str, object]]) -> Any:  # noqa: ANN401
    body = enum.EnumType.__prepare__(name, (base,))
    for key, value in members:
        body[key] = value
    return enum.EnumType(name, (base,), body, boundary=enum.KEEP)


def _described(made: type[enum.Enum]) -> dict[str, object]:
    """Everything that the class has, with its members as what they have."""

    def plain(value: object) -> object:
        if isinstance(value, made):
            return {**vars(value), "__objclass__": vars(value)["__objclass__"] is made}, repr(value), hash(value)
        if isinstance(value, dict):
            return [(key, plain(each)) for key, each in value.items()]
        return list(value) if isinstance(value, list) else getattr(value, "__func__", value)

    return {key: plain(value) for key, value in vars(made).items() if key not in _OF_THE_MAKER}


def _assert_alike(base: type[enum.Enum], members: Sequence[tuple[str, object]]) -> None:
    """Make an enumeration as PySide does, and by Python, and compare all that they have."""
    maker: Any = base
    made = maker("Made", members, boundary=enum.KEEP)
    of_python = _made_by_python(base, "Made", members)
    assert _described(made) == _described(of_python)
    assert list(map(repr, made)) == list(map(repr, of_python))
    for _, number in members:
        assert repr(made(number)) == repr(of_python(number))


_OWNERS = (Qt, QStyle, QIcon, QGradient, QTextOption, QDialog)


@pytest.mark.parametrize(
    "of_pyside", [each for owner in _OWNERS for each in vars(owner).values() if isinstance(each, enum.EnumType)]
)
def test_enumerations_of_pyside_are_those_of_python(of_pyside: type[enum.Enum]) -> None:
    _assert_alike(of_pyside.__mro__[1], [(name, each.value) for name, each in of_pyside.__members__.items()])


@pytest.mark.parametrize("base", [enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag])
@pytest.mark.parametrize(
    "members",
    [
        [],
        [("One", 1)],
        [("Zero", 0), ("One", 1), ("Alias", 1), ("All", 15), ("Eight", 8), ("Large", 2**63)],
        [("Two", 2), ("One", 1)],
    ],
)
def test_what_is_made_is_that_of_python(base: type[enum.Enum], members: list[tuple[str, object]]) -> None:
    _assert_alike(base, members)


@pytest.mark.parametrize("base", [enum.Enum, enum.IntEnum])
def test_negative_numbers_are_made_as_by_python(base: type[enum.Enum]) -> None:
    _assert_alike(base, [("Below", -1), ("Zero", 0), ("Alias", -1)])


def test_what_is_no_number_is_made_by_python() -> None:
    _assert_alike(enum.Enum, [("First", 1), ("Text", "2"), ("Truth", True)])


def test_a_member_may_be_called_name() -> None:
    maker: Any = enum.Enum
    made = maker("Made", [("First", 1), ("name", 2), ("value", 3)], boundary=enum.KEEP)
    assert [(each.name, each.value) for each in made] == [("First", 1), ("name", 2), ("value", 3)]


def test_combined_flags_are_those_of_python() -> None:
    members = [("None_", 0), ("One", 1), ("Two", 2), ("Both", 3), ("Eight", 8)]
    maker: Any = enum.Flag
    made, of_python = maker("Made", members, boundary=enum.KEEP), _made_by_python(enum.Flag, "Made", members)
    for number in range(32):
        one, other = made(number), of_python(number)
        assert [repr(each) for each in (one, ~one, one | made.Two, one & made.Both, *one)] == [
            repr(each) for each in (other, ~other, other | of_python.Two, other & of_python.Both, *other)
        ]


def test_enumerations_of_others_belong_to_their_module() -> None:
    assert enum.Enum("Colour", "RED GREEN").__module__ == __name__
