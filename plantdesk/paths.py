"""Where PlantDesk keeps its files. Folders are created for their owner only, when a file is about to go there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from platformdirs import PlatformDirs

from plantdesk.errors import PlantDeskError

HOME_VARIABLE = "PLANTDESK_HOME"


class FolderUnusableError(PlantDeskError):
    """A folder that PlantDesk keeps files in cannot be created."""

    def __init__(self, folder: Path, reason: OSError) -> None:
        super().__init__(
            f"PlantDesk cannot make its folder {folder} ({reason.strerror}). "
            f"Set {HOME_VARIABLE} to a folder that you may write to."
        )


class NoHomeFolderError(PlantDeskError):
    """The system names no home folder of this user (no HOME, no entry in the user database)."""

    def __init__(self) -> None:
        super().__init__(
            f"You have no home folder here. Set {HOME_VARIABLE} to a folder that you may write to, or HOME."
        )


def home_folder() -> Path:
    """Return the user's home folder. Raises NoHomeFolderError."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise NoHomeFolderError from error


def expanded(name: str) -> Path:
    """Return the absolute path that `name` stands for, which may begin with `~`. Raises NoHomeFolderError."""
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as error:
        raise NoHomeFolderError from error


def data_folder() -> Path:
    """Return the folder of the database and of what belongs to it, and create it. Raises FolderUnusableError."""
    folder = _data()
    try:
        create_folder(folder)
    except OSError as reason:
        raise FolderUnusableError(folder, reason) from reason
    return folder


def settings_folder() -> Path:
    """Return the folder of the settings file; it need not exist before there are settings to save."""
    return _folder("settings", "user_config_path")


def log_folder() -> Path:
    """Return the folder of the log files; it need not exist, since nothing depends on a log."""
    return _folder("logs", "user_log_path")


def runtime_folder() -> Path:
    """Return the folder in which running servers leave their runtime files; it need not exist."""
    return _data() / "run"


def database_file(*, with_folder: bool = True) -> Path:
    """Return the store that is opened when nobody names another. It need not exist; `with_folder`, its folder does."""
    return (data_folder() if with_folder else _data()) / "plants.db"


def settings_file() -> Path:
    """Return the settings file; it need not exist."""
    return settings_folder() / "settings.json"


def create_folder(folder: Path) -> None:
    """Create one of PlantDesk's own folders and its missing parents, for their owner alone. Raises OSError.

    One that is there and gives rights to others loses them (POSIX).
    """
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises where a file has the name
    if sys.platform != "win32":
        status = folder.stat()
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            folder.chmod(0o700)


def _data() -> Path:
    return _folder("data", "user_data_path")


def _folder(name: str, of_system: str) -> Path:
    """Return `name` within PLANTDESK_HOME, or platformdirs' folder. Raises NoHomeFolderError."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return expanded(home) / name
    try:
        # No cache: the environment differs from test to test, and it costs microseconds.
        found: Path = getattr(PlatformDirs("PlantDesk", appauthor=False), of_system)
    except RuntimeError as error:
        raise NoHomeFolderError from error
    return found
