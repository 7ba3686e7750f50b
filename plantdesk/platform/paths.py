"""The folders and files of PlantDesk, and how they are created and opened.

Folders are created with mode 0700, just before a file is written there.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text

HOME_VARIABLE = "PLANTDESK_HOME"
_PRIVATE_MODE = 0o600
#: The certificates that a system trusts. An OpenSSL of a wheel looks in the folders of the machine that built it.
CERTIFICATE_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class NotRegularError(OSError):
    """A path is no regular file: a link, a folder, a pipe, a socket or a device."""


class FolderUnusableError(PlantDeskError):
    """A folder of PlantDesk cannot be created."""

    text = Text(
        "PlantDesk cannot create its folder {folder} ({reason}). Set {variable} to a folder that you may write to."
    )

    def __init__(self, folder: Path, reason: OSError) -> None:
        super().__init__(folder=str(folder), reason=str(reason.strerror), variable=HOME_VARIABLE)


class NoHomeFolderError(PlantDeskError):
    """The user has no home folder: no HOME, and no entry in the user database."""

    text = Text(
        "You have no home folder here. Set {variable} to a folder that you may write to, or HOME.",
        variable=HOME_VARIABLE,
    )


def home_folder() -> Path:
    """Return the user's home folder. Raises NoHomeFolderError."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise NoHomeFolderError from error


def expand_path(name: str) -> Path:
    """Return the absolute path of `name`, with `~` expanded. Raises NoHomeFolderError."""
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as error:
        raise NoHomeFolderError from error


def data_folder() -> Path:
    """Create and return the folder of the database. Raises FolderUnusableError."""
    folder = _find_data_folder()
    try:
        create_folder(folder)
    except OSError as reason:
        raise FolderUnusableError(folder, reason) from reason
    return folder


def path_or_none(path: Callable[[], Path]) -> Path | None:
    """Return the result of a function of this module; None if it raises: the window opens even without a folder."""
    try:
        return path()
    except PlantDeskError:
        return None


def settings_folder() -> Path:
    """Return the folder of the settings file; it may not exist."""
    return _find_folder("settings", "user_config_path")


def log_folder() -> Path:
    """Return the folder of the log files; it may not exist."""
    return _find_folder("logs", "user_log_path")


def runtime_folder() -> Path:
    """Return the folder of the runtime files; it may not exist."""
    return _find_data_folder() / "run"


def database_file(*, with_folder: bool = True) -> Path:
    """Return the path of the default store; create its folder if `with_folder`."""
    return (data_folder() if with_folder else _find_data_folder()) / "plants.db"


def settings_file() -> Path:
    """Return the path of the settings file; it may not exist."""
    return settings_folder() / "settings.json"


def create_folder(folder: Path) -> None:
    """Create one of PlantDesk's own folders and its parents with mode 0700. Raises OSError.

    Makes an existing folder private, too (POSIX).
    """
    for missing in reversed([parent for parent in (folder, *folder.parents) if not parent.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # raises if it is a file
    if sys.platform != "win32":
        status = folder.stat()
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            folder.chmod(0o700)


def is_writable(path: Path) -> bool:
    """Return whether this process may write to the file and create others in its folder."""
    can_use_effective = os.access in os.supports_effective_ids
    may_write = os.access(path, os.R_OK | os.W_OK, effective_ids=can_use_effective)
    return may_write and os.access(path.parent, os.W_OK | os.X_OK, effective_ids=can_use_effective)


def open_regular(path: Path, flags: int) -> int:
    """Open or create (mode 0600) a regular file, without following links or waiting for pipes. Not for databases.

    Raises NotRegularError and OSError.
    """
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags, _PRIVATE_MODE)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EISDIR, errno.ENXIO}:
            raise NotRegularError(error.errno, error.strerror, str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegularError(errno.EINVAL, "it is not a regular file", str(path))
    return handle


def make_private(path: Path) -> None:
    """Set the mode of one of our files to 0600, without following a link that has replaced it (POSIX).

    Closing an ordinary descriptor would release the locks of this process. A file that is private already keeps its
    ctime. Raises OSError.
    """
    if sys.platform == "linux":
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if _is_own(status := os.fstat(handle)) and stat.S_IMODE(status.st_mode) != _PRIVATE_MODE:
                os.chmod(f"/proc/self/fd/{handle}", _PRIVATE_MODE)  # noqa: PTH101  of a descriptor
        finally:
            os.close(handle)
    elif sys.platform != "win32" and _is_own(status := path.lstat()) and stat.S_IMODE(status.st_mode) != _PRIVATE_MODE:
        path.chmod(_PRIVATE_MODE, follow_symlinks=False)


def _is_own(status: os.stat_result) -> bool:
    is_own = sys.platform == "win32" or status.st_uid == os.geteuid()
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and is_own


def _find_data_folder() -> Path:
    return _find_folder("data", "user_data_path")


def _find_folder(name: str, platformdirs_name: str) -> Path:
    """Return the folder `name` in PLANTDESK_HOME, otherwise the one of platformdirs. Raises NoHomeFolderError."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return expand_path(home) / name
    from platformdirs import PlatformDirs

    try:
        # Not cached: it takes microseconds, and tests change the environment.
        folder: Path = getattr(PlatformDirs("PlantDesk", appauthor=False), platformdirs_name)
    except RuntimeError as error:
        raise NoHomeFolderError from error
    return folder


def resources_folder() -> Path:
    """Return the folder that contains icons/ and the other resources."""
    bundle_folder = getattr(sys, "_MEIPASS", None)  # set by the bootloader of PyInstaller
    if bundle_folder is not None:
        return Path(bundle_folder) / "resources"
    return _find_resources()


@cache
def _find_resources() -> Path:
    package = Path(__file__).resolve().parents[1]
    packaged_folder = package / "_resources"  # force-included by the build; missing in an editable install
    return packaged_folder if packaged_folder.is_dir() else package.parent / "resources"


def package_channel() -> str:
    """Return the distribution channel that the package names: deb, rpm, tar, nsis, zip or dmg; otherwise "source"."""
    try:
        return (resources_folder() / "channel").read_text(encoding="ascii").strip()
    except OSError:
        return "source"
