"""The user's settings and their file. `Settings` is immutable: a change makes a new object.

Not a pydantic model: the window reads its settings before it shows, and importing pydantic takes as long as opening an
empty Qt window.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from plantdesk import DEFAULT_PORT, LARGEST_PORT

_Kind = TypeVar("_Kind", "Settings", "WindowSettings")
_Value = TypeVar("_Value")

_log = logging.getLogger(__name__)

#: How often backups are made, and the seconds between two of them.
BACKUP_INTERVALS = {"hour": 3600.0, "day": 24 * 3600.0, "week": 7 * 24 * 3600.0, "never": 0.0}
SMALLEST_TEXT, LARGEST_TEXT = 0.5, 3.0
#: Automatic backups that may stay.
MOST_BACKUPS = 999
#: Seconds for which a change of the settings waits for that of another window.
_LOCK_TIMEOUT = 1.0
#: The other stores for which something is remembered.
_MAX_STORES = 50


class ThemeMode(StrEnum):
    """The colours that the user may choose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class InvalidSettingError(ValueError):
    """A setting has an invalid value."""


def _setting(default: _Value, is_valid: Callable[[Any], bool] = lambda _: True, kinds: tuple[type, ...] = ()) -> _Value:
    """Return a field with its default. Its values are of the same type, or one of `kinds`, and valid."""
    types = kinds or (type(default),)
    metadata = {"is_valid": lambda value: type(value) in types and is_valid(value)}
    return field(default_factory=lambda: default, metadata=metadata)


def is_port(value: object) -> bool:
    """Return whether a value is a port, or 0 for any free one."""
    return type(value) is int and 0 <= value <= LARGEST_PORT


def _is_path(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """Settings with values that are checked when they are made.

    `others` keeps unknown ones, so that an older PlantDesk does not drop those of a newer one.
    """

    others: Mapping[str, object] = _setting({})

    def __post_init__(self) -> None:
        """Raises InvalidSettingError."""
        for each in fields(self):
            if not each.metadata["is_valid"](getattr(self, each.name)):
                raise InvalidSettingError(f"{each.name} cannot be {getattr(self, each.name)!r}")


@dataclass(frozen=True, kw_only=True)
class WindowSettings(_Checked):
    """The window's last size and position, without its frame, in device-independent pixels."""

    width: int = _setting(1180, range(1, 32768).__contains__)
    height: int = _setting(760, range(1, 32768).__contains__)
    maximized: bool = _setting(default=False)
    #: Empty: the desktop chooses the position.
    position: Sequence[int] = _setting([], lambda value: [type(each) for each in value] in ([], [int, int]))


@dataclass(frozen=True, kw_only=True)
class Settings(_Checked):
    """All settings."""

    theme: str = _setting("system", [*ThemeMode].__contains__)
    language: str = _setting("")  # empty: that of the system
    text_scale: float = _setting(1.0, lambda value: SMALLEST_TEXT <= value <= LARGEST_TEXT, (int, float))
    api_enabled: bool = _setting(default=True)
    port: int = _setting(DEFAULT_PORT, is_port)
    ask_for_updates: bool = _setting(default=False)
    updates_asked_at: int = _setting(0, range(2**53 + 1).__contains__)  # seconds since 1970
    seen_version: str = _setting("")  # the last one that was started
    #: The address of the shared store that was chosen last, without a password, and whether the window opens it.
    shared_store: str = _setting("", _is_path)
    opens_shared_store: bool = _setting(default=False)
    #: What the histories of shared stores call this computer; empty: as the system does.
    computer_name: str = _setting("")
    #: Files and addresses, the newest first.
    recent_stores: Sequence[str] = _setting([], lambda value: all(map(_is_path, value)))
    keep_in_tray: bool = _setting(default=False)  # when the window is closed
    tray_answered: bool = _setting(default=False)  # whether the user has answered the question about that
    offers_known_names: bool = _setting(default=True)  # of the list that the user has imported
    enter_goes_to_tag: bool = _setting(default=False)  # Enter in Name, instead of adding the plant
    #: Where automatic backups and those of the user are kept; empty: beside the database.
    backup_folder: str = _setting("", _is_path)
    backup_every: str = _setting("hour", BACKUP_INTERVALS.__contains__)
    backup_count: int = _setting(50, range(1, MOST_BACKUPS + 1).__contains__)
    label_sheet: int = _setting(0, range(1001).__contains__)  # its position in the list of sheets
    label_line: str = _setting("")
    #: What is remembered for each store, by the path of its file; the one used last is the last.
    layouts: Mapping[str, object] = _setting({})
    window: WindowSettings = _setting(WindowSettings())  # noqa: RUF009  immutable

    def changed(self, **values: object) -> Settings:
        """Return a copy with `values`; those of `window` may be a partial dict. Raises InvalidSettingError."""
        now = _flat(self)
        window = values.get("window")
        if isinstance(window, dict):
            values["window"] = {**now["window"], **window}
        return _built(Settings, {**now, **values})


def of_store(settings: Settings, key: str) -> Mapping[str, object]:
    """Return what is remembered for one store: a JSON object, which may hold anything."""
    values = settings.layouts.get(key)
    return values if isinstance(values, dict) else {}


def with_store(settings: Settings, key: str, values: Mapping[str, object]) -> Settings:
    """Return the settings with some of what is remembered for one store changed."""
    others = {each: value for each, value in settings.layouts.items() if each != key}
    kept = dict(list(others.items())[-_MAX_STORES:])
    return settings.changed(layouts={**kept, key: {**of_store(settings, key), **values}})


def _built(kind: type[_Kind], values: object, known: _Kind | None = None) -> _Kind:
    """Return the settings in a JSON object; unknown members go into `others`, and `known` replaces what is invalid.

    Raises InvalidSettingError, of a value only without `known`.
    """
    if not isinstance(values, dict):
        raise InvalidSettingError(f"{values!r} is not an object")
    others = dict(values)
    found: dict[str, Any] = {}
    for each in fields(kind):
        name = each.name
        if name in others and name != "others":
            value, before = others.pop(name), getattr(known, name, None)
            if name == "window" and (known is None or isinstance(value, dict)):
                value = _built(WindowSettings, value, before)
            if known is not None and not each.metadata["is_valid"](value):
                _log.warning("The setting %s cannot be %.100r and stays %r", name, value, before)
                value = before
            found[name] = value
    return kind(**found, others=others)


def _flat(settings: Settings | WindowSettings) -> dict[str, Any]:
    """Return the JSON object of settings, with `others` as members of it."""
    values = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name != "others"}
    flat = {name: _flat(value) if isinstance(value, WindowSettings) else value for name, value in values.items()}
    return {**settings.others, **flat}


def load(file: Path, on_damaged: Callable[[Path], object] | None = None) -> Settings:
    """Read the settings. A damaged file is renamed, and the defaults are used: they never prevent a start.

    `on_damaged` is called with the new name of a damaged file.
    """
    try:
        return read(file)
    except FileNotFoundError:
        return Settings()
    except (ValueError, RecursionError) as error:
        names = [file.with_name(f"{file.stem}.damaged{each}{file.suffix}") for each in ("", *range(2, 10))]
        quarantined = next((each for each in names if not each.exists()), names[-1])  # plants may wait in each
        _log.warning("The settings in %s are damaged and were moved to %s: %s", file, quarantined.name, error)
        _quarantine(file, quarantined)
        if on_damaged is not None:
            on_damaged(quarantined)
    except OSError as error:
        _log.warning("The settings cannot be read, the defaults are used: %s", error)
    return Settings()


def read(file: Path, known: Settings | None = None) -> Settings:
    """Return the settings in a regular file, not a pipe; `known`, or the default, replaces an invalid one.

    Raises OSError, and ValueError or RecursionError for what is no JSON object.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", str(file))
    return _built(Settings, json.loads(file.read_text(encoding="utf-8")), known or Settings())


def read_saved() -> Settings:
    """Return the settings of the user as they are saved, for commands; the defaults if they cannot be read."""
    from plantdesk.platform import paths

    try:
        file = paths.usable(paths.settings_file)
        return Settings() if file is None else read(file)
    except (OSError, ValueError, RecursionError):
        return Settings()


def update(file: Path, change: Callable[[Settings], Settings], known: Settings) -> None:
    """Change, atomically, the settings that are in the file now: other windows change them as well.

    `known` replaces missing or invalid settings. Raises OSError.
    """
    from plantdesk.platform import paths

    paths.create_folder(file.parent)
    with locked(file):
        try:
            now = read(file, known)
        except (FileNotFoundError, ValueError, RecursionError):
            now = known
        save(change(now), file)


def save(settings: Settings, file: Path) -> None:
    """Write the settings atomically, whatever is in the file. Raises OSError."""
    from plantdesk.platform import paths
    from plantdesk.platform.atomic_files import write_private

    paths.create_folder(file.parent)
    write_private(file, json.dumps(_flat(settings), indent=2) + "\n")


@contextlib.contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock of a file that several windows change for a block.

    Raises OSError, also when another program holds it for long.
    """
    from plantdesk.platform.file_locks import lock
    from plantdesk.platform.paths import open_regular

    handle = open_regular(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        if not lock(handle, _LOCK_TIMEOUT):
            raise TimeoutError("another PlantDesk changes them")
        yield
    finally:
        os.close(handle)


def _quarantine(file: Path, quarantined: Path) -> None:
    try:
        file.replace(quarantined)
    except OSError as error:
        _log.warning("The damaged settings could not be moved: %s", error)
