"""What a person has set, and its file. A change is a new `Settings`: nothing changes under a reader's hands.

Plain dataclasses instead of a pydantic model, and nothing else imported that is not there anyway: the window reads its
settings before it shows, and importing pydantic would take as long as all of an empty Qt window does.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_Kind = TypeVar("_Kind", "Settings", "WindowSettings")

logger = logging.getLogger(__name__)

#: The same every day, so that scripts keep working.
DEFAULT_PORT = 8721
THEMES = ("system", "light", "dark")


SMALLEST_TEXT, LARGEST_TEXT = 0.5, 3.0


class InvalidSettingError(ValueError):
    """A value that the setting cannot have."""


def _one_of(default: Any, valid: Callable[[Any], bool]) -> Any:  # noqa: ANN401 - as dataclasses.field has it
    return field(default=default, metadata={"valid": valid})


def _whole(default: int, lowest: int, highest: int) -> Any:  # noqa: ANN401 - the same
    return _one_of(default, lambda value: type(value) is int and lowest <= value <= highest)


def _switch(*, default: bool) -> Any:  # noqa: ANN401 - the same
    return _one_of(default, lambda value: isinstance(value, bool))


def _fits_text(value: Any) -> bool:  # noqa: ANN401 - whatever stands in the file
    return type(value) in {int, float} and SMALLEST_TEXT <= value <= LARGEST_TEXT


@dataclass(frozen=True)
class WindowSettings:
    """The window as it was left, in device-independent pixels."""

    width: int = _whole(1180, 1, 32767)
    height: int = _whole(760, 1, 32767)
    maximized: bool = _switch(default=False)
    others: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True)
class Settings:
    """All settings. Unknown ones are kept: a newer PlantDesk finds its own again after an older one has saved."""

    theme: str = _one_of("system", lambda value: value in THEMES)
    text_scale: float = _one_of(1.0, _fits_text)
    api_enabled: bool = _switch(default=True)
    port: int = _whole(DEFAULT_PORT, 0, 65535)
    ask_for_updates: bool = _switch(default=False)
    updates_answered: bool = _switch(default=False)  # whether the user has said yes or no to that
    updates_asked_at: int = _whole(0, 0, 2**53)  # seconds since 1970
    window: WindowSettings = field(default_factory=WindowSettings, metadata={"nested": WindowSettings})
    others: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)

    def changed(self, **values: object) -> Settings:
        """Return a copy with other values, those of the window given as a dict. Raises InvalidSettingError."""
        now = _flat(asdict(self))
        window = values.get("window")
        if isinstance(window, dict):
            values["window"] = {**now["window"], **window}
        return _built(Settings, {**now, **values})


def _built(kind: type[_Kind], values: object) -> _Kind:
    """Return the settings that a JSON object describes; what it holds besides goes into `others`."""
    if not isinstance(values, dict):
        raise InvalidSettingError(f"{values!r} is no object")
    others = dict(values)
    known: dict[str, Any] = {}
    for each in fields(kind):
        if each.name in others:
            value, nested = others.pop(each.name), each.metadata.get("nested")
            known[each.name] = _built(nested, value) if nested else value
    return kind(**known, others=others)


def _check(settings: Settings | WindowSettings) -> None:
    for each in fields(settings):
        valid, value = each.metadata.get("valid"), getattr(settings, each.name)
        if valid is not None and not valid(value):
            raise InvalidSettingError(f"{each.name} cannot be {value!r}")


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object of settings: `others` beside what is known."""
    others = values.pop("others")
    return {**others, **{name: _flat(value) if isinstance(value, dict) else value for name, value in values.items()}}


def load(file: Path, on_damaged: Callable[[Path], object] | None = None) -> Settings:
    """Read the settings; a damaged file is set aside and the defaults are used, for no setting is worth a refusal.

    `on_damaged` is called with the file that a damaged one was moved to.
    """
    try:
        return _built(Settings, json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Settings()
    except (ValueError, RecursionError) as error:
        aside = file.with_name(f"{file.stem}.damaged{file.suffix}")
        logger.warning("The settings in %s are damaged and were moved to %s: %s", file, aside.name, error)
        _set_aside(file, aside)
        if on_damaged is not None:
            on_damaged(aside)
    except OSError as error:
        logger.warning("The settings cannot be read, the defaults are used: %s", error)
    return Settings()


def save(settings: Settings, file: Path) -> None:
    """Write the settings so that a crash leaves either the old file or the new one, whole.

    Raises OSError.
    """
    from plantdesk import paths
    from plantdesk.atomic_replace import write_private

    paths.create_folder(file.parent)
    write_private(file, json.dumps(_flat(asdict(settings)), indent=2) + "\n")


def _set_aside(file: Path, aside: Path) -> None:
    try:
        file.replace(aside)
    except OSError as error:
        logger.warning("The damaged settings could not be moved: %s", error)
