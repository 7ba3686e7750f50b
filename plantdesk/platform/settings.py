"""The user's settings and their file. `Settings` is immutable: a change makes a new object."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from plantdesk import DEFAULT_PORT, LARGEST_PORT
from plantdesk.platform import paths
from plantdesk.platform.atomic_files import write_private
from plantdesk.platform.file_locks import lock

_log = logging.getLogger(__name__)

BackupInterval = Literal["hour", "day", "week", "never"]
#: Seconds between two automatic backups.
BACKUP_INTERVALS: Mapping[BackupInterval, float] = {
    "hour": 3600.0,
    "day": 24 * 3600.0,
    "week": 7 * 24 * 3600.0,
    "never": 0.0,
}
MIN_TEXT_SCALE = 0.5
MAX_TEXT_SCALE = 3.0
#: The largest number of automatic backups to retain.
MAX_BACKUPS = 999
#: Seconds to wait for another window's write.
_LOCK_TIMEOUT = 1.0
#: The most stores whose values are remembered, besides the one in use.
_MAX_REMEMBERED_STORES = 50


class ThemeMode(StrEnum):
    """The theme that the user chooses."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def is_port(value: object) -> bool:
    """Return whether a value is a port, or 0 for any free one."""
    return type(value) is int and 0 <= value <= LARGEST_PORT


def _refuse_nul(path: str) -> str:
    if "\0" in path:
        raise ValueError("a path has no U+0000")
    return path


#: The path of a file, or the address of a store.
_Path = Annotated[str, AfterValidator(_refuse_nul)]


class _KeptSettings(BaseModel):
    """Settings that preserve unknown members, so that an older PlantDesk does not drop those of a newer one."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _replace_invalid(cls, value: object, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        """Replace an invalid value by the one of the `Settings` in the validation context, if there are any."""
        try:
            return validate(value)
        except ValidationError:
            if info.context is None or info.field_name is None:
                raise
            known = info.context if cls is Settings else info.context.window
            known_value = getattr(known, info.field_name)
            _log.warning("The setting %s cannot be %.100r and stays %s", info.field_name, value, known_value)
            return known_value


class WindowSettings(_KeptSettings):
    """The window's last size and position, without its frame, in device-independent pixels."""

    width: int = Field(1180, ge=1, le=32767)
    height: int = Field(760, ge=1, le=32767)
    maximized: bool = False
    #: The position on the screen; if empty, the desktop chooses it.
    position: tuple[int, int] | tuple[()] = ()


class Settings(_KeptSettings):
    """All settings of the user, with their defaults."""

    theme: ThemeMode = ThemeMode.SYSTEM
    language: str = ""  # empty: the language of the system
    text_scale: float = Field(1.0, ge=MIN_TEXT_SCALE, le=MAX_TEXT_SCALE)
    api_enabled: bool = True
    port: int = Field(DEFAULT_PORT, ge=0, le=LARGEST_PORT)
    ask_for_updates: bool = False
    updates_asked_at: int = Field(0, ge=0, le=2**53)  # seconds since 1970
    seen_version: str = ""  # the version of the last start
    #: The address of the shared store that was chosen last, without a password.
    shared_store: _Path = ""
    #: Whether the window opens that store.
    opens_shared_store: bool = False
    #: The name of this computer in the histories of shared stores; empty: that of the system.
    computer_name: str = ""
    #: Files and addresses of stores, the newest first.
    recent_stores: list[_Path] = []
    keep_in_tray: bool = False  # after the window is closed
    tray_answered: bool = False  # whether the user has answered the question about the tray
    offers_known_names: bool = True  # from the list that the user has imported
    enter_goes_to_tag: bool = False  # by Enter in Name, instead of adding the plant
    #: The folder of automatic backups and of the user's; empty: the one beside the database.
    backup_folder: _Path = ""
    backup_every: BackupInterval = "hour"
    backup_count: int = Field(50, ge=1, le=MAX_BACKUPS)
    label_sheet: int = Field(0, ge=0, le=1000)  # its position in the list of sheets
    label_line: str = ""
    #: The values that are remembered for each store, by the path of its file, in the order of their last use.
    layouts: Mapping[_Path, Any] = {}
    window: WindowSettings = WindowSettings()

    def changed(self, **values: object) -> Settings:
        """Return a copy with `values`; those of `window` may be a partial dict. Raises ValidationError."""
        if isinstance(window := values.get("window"), dict):
            values["window"] = {**dict(self.window), **window}
        return Settings.model_validate({**dict(self), **values})


def of_store(settings: Settings, key: str) -> Mapping[str, object]:
    """Return the values that are remembered for one store, unchecked."""
    values = settings.layouts.get(key)
    return values if isinstance(values, dict) else {}


def with_store(settings: Settings, key: str, values: Mapping[str, object]) -> Settings:
    """Return settings with changed `values` of one store, without those of stores that were changed long ago."""
    others = {other_key: value for other_key, value in settings.layouts.items() if other_key != key}
    recent = dict(list(others.items())[-_MAX_REMEMBERED_STORES:])
    return settings.changed(layouts={**recent, key: {**of_store(settings, key), **values}})


def load(file: Path, on_damaged: Callable[[Path], object] | None = None) -> Settings:
    """Read the settings. A damaged file is moved to `settings.damaged.json`, and the defaults are used.

    `on_damaged` is called with the new name of a damaged file. Settings never prevent a start.
    """
    try:
        return read(file)
    except FileNotFoundError:
        return Settings()
    except (ValueError, RecursionError) as error:
        quarantined = file.with_stem(f"{file.stem}.damaged")
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        _log.warning("The settings in %s are damaged and were moved to %s: %s", file, quarantined.name, reason)
        try:
            file.replace(quarantined)
        except OSError as failure:
            _log.warning("The damaged settings could not be moved: %s", failure)
        if on_damaged is not None:
            on_damaged(quarantined)
    except OSError as error:
        _log.warning("The settings cannot be read, the defaults are used: %s", error)
    return Settings()


def read(file: Path, known: Settings | None = None) -> Settings:
    """Return the settings in a regular file. An invalid setting is replaced by that in `known`, or by its default.

    Raises OSError, and ValueError or RecursionError if the file is no JSON object.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file", str(file))
    return Settings.model_validate(json.loads(file.read_text(encoding="utf-8-sig")), context=known or Settings())


def read_saved() -> Settings:
    """Return the settings of the user as they are saved, for commands; the defaults if they cannot be read."""
    try:
        file = paths.path_or_none(paths.settings_file)
        return Settings() if file is None else read(file)
    except (OSError, ValueError, RecursionError):
        return Settings()


def update(file: Path, change: Callable[[Settings], Settings], known: Settings) -> None:
    """Change the current content of the file atomically, since other windows change it as well.

    `known` replaces missing or invalid settings. Raises OSError.
    """
    paths.create_folder(file.parent)
    with lock_file(file):
        try:
            current = read(file, known)
        except (FileNotFoundError, ValueError, RecursionError):
            current = known
        save(change(current), file)


def save(settings: Settings, file: Path) -> None:
    """Write the settings atomically, whatever is in the file. Raises OSError."""
    paths.create_folder(file.parent)
    write_private(file, json.dumps(settings.model_dump(), indent=2) + "\n")


@contextlib.contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Hold the lock of a file that several windows change. Raises OSError, also after waiting too long."""
    handle = paths.open_regular(file.with_name(f".{file.name}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        if not lock(handle, _LOCK_TIMEOUT):
            raise TimeoutError("another PlantDesk changes them")
        yield
    finally:
        os.close(handle)
