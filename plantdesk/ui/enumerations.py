"""Makes the enumerations of PySide, of which a start needs 5,000 members, in half the time.

PySide makes those of a class together with the class, by calling `Enum` with names and numbers. Python takes 60,000
instructions for each, as a member may be anything. A number needs only an object with four attributes, in the
collections of its class. What others make is left to Python. `tests/ui/test_enumerations.py` compares
what is made with what Python makes; a new version of Python is used only when it has passed.
"""

from __future__ import annotations

import enum
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

#: The versions whose `enum` has these collections.
_KNOWN = ((3, 11), (3, 12), (3, 13))
#: What Python does not make a plain attribute of the class.
_SPECIAL = frozenset(("name", "value", "mro"))

#: The classes that PySide derives its enumerations from.
_BASES = (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)
#: What Python gives an enumeration without members.
_empty: dict[type, dict[str, object]] = {}
_create = cast("Callable[..., type]", vars(enum.EnumType)["_create_"])


def make_quickly() -> None:
    """Let enumerations of numbers be made in less time from now on."""
    if sys.version_info[:2] in _KNOWN:
        vars(enum)["EnumType"]._create_ = _create_quickly


def _create_quickly(cls: type, class_name: str, names: list[tuple[str, int]], **options: object) -> type:
    if options.get("boundary") is enum.KEEP and cls in _BASES and _are_plain(names, is_flag=issubclass(cls, enum.Flag)):
        if cls not in _empty:
            _empty[cls] = dict(vars(_create(cls, "Empty", [], module=__name__, boundary=enum.KEEP)))
        body = {name: type(each)() if isinstance(each, list | dict) else each for name, each in _empty[cls].items()}
        made = type.__new__(enum.EnumType, class_name, (cls,), body)
        _add(made, names)
        return made
    if options.get("module") is None:
        with suppress(ValueError):  # Python takes that of the caller, if there is one
            options["module"] = sys._getframe(2).f_globals.get("__name__")  # noqa: SLF001 - as `enum` does
    return _create(cls, class_name, names, **options)


def _are_plain(members: list[tuple[str, int]], *, is_flag: bool) -> bool:
    """Whether these are pairs of a name and a number, as of PySide, of which none has a meaning of its own."""
    if any(name in _SPECIAL or name[0] == "_" or type(number) is not int for name, number in members):
        return False
    numbers = [number for _, number in members]
    # Versions differ in flags of several bits, and all in those in another order.
    return not is_flag or (
        all(number & (number - 1) == 0 <= number for number in numbers) and numbers == sorted(numbers)
    )


def _add(made: type, members: list[tuple[str, int]]) -> None:
    """Add members to an enumeration; those of the same number are one."""
    names, by_name, by_number = [vars(made)[each] for each in ("_member_names_", "_member_map_", "_value2member_map_")]
    numbers = vars(made).get("_hashable_values_", [])  # from Python 3.13 on
    is_number, is_flag = issubclass(made, int), issubclass(made, enum.Flag)
    for name, number in members:
        member: Any = by_number.get(number)
        if member is None:
            member = int.__new__(made, number) if is_number else object.__new__(made)
            member._value_, member._name_, member.__objclass__, member._sort_order_ = number, name, made, len(names)
            if not is_flag or number:
                names.append(name)
            numbers.append(number)
            by_number[number] = member
        by_name[name] = member
        type.__setattr__(made, name, member)
    if is_flag:
        bits = sum(by_number)
        for name, mask in (("_flag_mask_", bits), ("_singles_mask_", bits), ("_all_bits_", 2 ** bits.bit_length() - 1)):
            if name in vars(made):  # the second one is not in all versions
                type.__setattr__(made, name, mask)
