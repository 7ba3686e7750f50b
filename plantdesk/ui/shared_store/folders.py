"""Folders in which a file of plants is not safe: those that a program synchronises, and those of other computers.

SQLite's locks do not reach other computers there, and a synchronised copy may have a database without its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QStorageInfo

if TYPE_CHECKING:
    from pathlib import Path

#: Names of folders, in lower case, that the programs of cloud services make.
_CLOUDS = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "icloud drive": "iCloud",
    "iclouddrive": "iCloud",
    "com~apple~clouddocs": "iCloud",
    "synologydrive": "Synology Drive",
    "syncthing": "Syncthing",
}
#: Types of file systems of other computers, as systems name them.
_NETWORK = ("nfs", "cifs", "smb", "afpfs", "webdav", "davfs", "fuse.sshfs", "fuse.davfs", "fuse.rclone", "ncpfs")


def cloud_of(folder: Path) -> str:
    """Return the name of the service that synchronises a folder; empty: none that is known."""
    for part in folder.parts:
        name = part.lower()
        service = _CLOUDS.get(name) or _CLOUDS.get(name.partition(" - ")[0])  # “OneDrive - Company”
        if service is not None:
            return service
    return next((_CLOUDS["nextcloud"] for each in (folder, *folder.parents) if _has_journal(each)), "")


def is_remote(folder: Path) -> bool:
    """Whether a folder is on another computer. Waits for that computer, which may be off."""
    return folder.drive.startswith("\\\\") or is_network(bytes(QStorageInfo(str(folder)).fileSystemType().data()))


def is_network(file_system: bytes) -> bool:
    """Whether a type of file system is one of other computers."""
    return file_system.decode(errors="replace").lower().startswith(_NETWORK)


def _has_journal(folder: Path) -> bool:
    """Whether the client of Nextcloud or ownCloud has its database in a folder, which may have any name."""
    try:
        return any(folder.glob(".sync_*.db"))
    except OSError:
        return False
