"""Where PlantDesk keeps its files. Each folder is made when it is asked for, for its owner's eyes only."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import PlatformDirs

from plantdesk.errors import PlantDeskError

HOME_VARIABLE = "PLANTDESK_HOME"


class FolderUnusableError(PlantDeskError):
    """A folder that PlantDesk keeps files in cannot be made."""

    def __init__(self, folder: Path, reason: OSError) -> None:
        super().__init__(
            f"PlantDesk cannot make its folder {folder} ({reason.strerror}). "
            f"Set {HOME_VARIABLE} to a folder that you may write to."
        )


def data_folder() -> Path:
    """Return the folder of the database and of what belongs to it."""
    return _made(_data())


def settings_folder() -> Path:
    """Return the folder of the settings file."""
    return _made(_home("settings") or _system().user_config_path)


def log_folder() -> Path:
    """Return the folder of the log files."""
    return _made(_home("logs") or _system().user_log_path)


def database_file(*, create_folder: bool = True) -> Path:
    """Return the store that is opened when nobody names another; it need not exist."""
    return (data_folder() if create_folder else _data()) / "plants.db"


def runtime_file() -> Path:
    """Return the file in which scripts find the server that runs; there is none while none does."""
    return data_folder() / "runtime.json"


def settings_file() -> Path:
    """Return the settings file; it need not exist yet."""
    return settings_folder() / "settings.json"


def _data() -> Path:
    return _home("data") or _system().user_data_path


def _home(name: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home).absolute() / name if home else None


def _system() -> PlatformDirs:
    # No cache: the variables it looks at differ from test to test, and it costs microseconds.
    return PlatformDirs("PlantDesk", appauthor=False)


def _made(folder: Path) -> Path:
    try:
        for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)  # told where a file stands in its place
    except OSError as reason:
        raise FolderUnusableError(folder, reason) from reason
    return folder
