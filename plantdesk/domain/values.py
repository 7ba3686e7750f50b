"""The base of small immutable classes, as a frozen dataclass: importing dataclasses takes as long as Python's start."""

from __future__ import annotations

from typing import ClassVar, NoReturn, dataclass_transform

from plantdesk.domain.overrides import override


@dataclass_transform(frozen_default=True)
class Value:
    """Has the annotated fields, with the defaults of the class, and equals one of its class with the same values."""

    _fields: ClassVar[tuple[str, ...]] = ()

    @override
    def __init_subclass__(cls) -> None:
        cls._fields = cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc, attr-defined]  # for `case` with positions

    def __init__(self, *values: object, **named: object) -> None:
        vars(self).update(zip(self._fields, values, strict=False), **named)

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    @override
    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._values() == self._values()

    @override
    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._values()}"

    @override
    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(name)
