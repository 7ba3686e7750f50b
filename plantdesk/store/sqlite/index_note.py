"""The note of a store's indexes: which folder they are in, and that all commits since they were built are recorded.

Indexes can be used as long as history and sequence numbers show each change since (`view_index`). A process that has
the store open notices a change that they do not show, as of the program sqlite3 (`StoreFile.epoch`). What happens
while none has it open, the note shows: it holds the position of the last recorded commit, and size, inode and times of
database and log then. Each writer compares them when it opens the store, before it writes, and, if they were the same,
writes the note anew when the store is idle and at the end. Where anything differs, the indexes are built again.

A write within the same tick of the file system's clock does not change its times, so the note is only written when
they are some ticks old, and never where the clock is coarse, as of FAT.
"""

from __future__ import annotations

import os
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.values import NamedTuple
from plantdesk.platform import paths
from plantdesk.store.sqlite.commit_tracker import Position

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from plantdesk.store.sqlite.files.store_file import StoreFile

_NAME = "note.json"
_FORMAT = 1
#: Nanoseconds: a tick takes up to 16 ms.
_MIN_AGE = 20_000_000
#: Times of a coarse clock are multiples of this.
_COARSE = 10_000_000


class FileTimes(NamedTuple):
    """What each write to a file changes."""

    inode: int
    size: int
    modified: int
    changed: int


class FilesState(NamedTuple):
    """What each write to database or log changes; no log is as good as an empty one."""

    database: FileTimes | None
    log: FileTimes | None

    @property
    def age(self) -> int:
        """Nanoseconds since the last write."""
        return abs(time.time_ns() - max((max(file.modified, file.changed) for file in self if file), default=0))

    @property
    def is_exact(self) -> bool:
        """Whether the times are those of an exact clock."""
        return all(file.modified % _COARSE for file in self if file)


class Note(NamedTuple):
    """What is in the file. `is_whole`: the database holds all that is in the log, so it may be deleted."""

    store: str
    folder: str
    position: Position
    files: FilesState
    is_whole: bool

    def fits(self, position: Position, files: FilesState) -> bool:
        """Whether nothing was committed since."""
        is_same_log = files.log == self.files.log or (files.log is None and self.is_whole)
        return self.position == position and self.files.database == files.database and is_same_log


class Trusted(NamedTuple):
    """Indexes since which all commits are recorded, as long as the file has this generation and epoch."""

    folder: str
    generation: int
    epoch: int
    #: Built by this process, and not noted yet.
    is_new: bool = False


class IndexNote:
    """The note of one store. Belongs to the writer thread, except for `folder`, `offer` and `new_folder`."""

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        #: The folder of the store's indexes, which may not exist.
        self.parent = _folder_of(file.path)
        self._trusted: Trusted | None = None
        self._noted: FilesState | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of the indexes that can be used now, with what has changed since."""
        trusted = self._trusted
        return self.parent / trusted.folder if self.parent and trusted and self._is_current(trusted) else None

    @property
    def is_due(self) -> bool:
        """Whether the note is out of date."""
        return self.folder is not None and self._noted != files_state(self._file.path)

    def offer(self, folder: Path, generation: int, epoch: int) -> None:
        """Let the next note name a folder of indexes, built while the file had this generation and epoch."""
        if folder.parent == self.parent:
            self._trusted, self._noted = Trusted(folder.name, generation, epoch, is_new=True), None

    def new_folder(self) -> AbstractContextManager[Path]:
        """Yield a new folder for indexes, which is removed at the end unless the note names it. Raises OSError."""
        from plantdesk.store.sqlite.files.index_folder import index_folder

        if self.parent is not None:
            _remove_gone(self.parent.parent)
        return index_folder(self.parent, self._is_kept)

    def compare(self, position: Position) -> None:
        """Trust the indexes of the note if it fits; `position` was read after the file was opened."""
        files, epoch, generation = files_state(self._file.path), self._file.epoch, self._file.generation
        note = self._read()
        if note is not None and note.fits(position, files):
            self._trusted, self._noted = Trusted(note.folder, generation, epoch), note.files

    def drop_outdated(self) -> None:
        """Remove the note where this process has noticed what other ones may not have: a change that is not recorded.

        Raises OSError.
        """
        if self.parent and self._trusted and not self._is_current(self._trusted):
            from plantdesk.store.sqlite.files.index_folder import remove_folder

            (self.parent / _NAME).unlink(missing_ok=True)
            remove_folder(self.parent / self._trusted.folder)
            self._trusted = None

    def write(self, position: Position, *, is_whole: bool) -> None:
        """Write the note for the present state, under the write lock. Raises OSError."""
        from plantdesk.store.sqlite.files.index_folder import remove_folder, write_sealed

        trusted, before, files = self._trusted, self._read(), files_state(self._file.path)
        if self.parent is None or trusted is None or files.age < _MIN_AGE:
            return
        if not trusted.is_new:  # of another process, which has built newer ones, and has noted what came before these
            trusted = before and trusted._replace(folder=before.folder)
        if trusted is None or not files.is_exact or not (self.parent / trusted.folder).is_dir():
            self._trusted = None
            return
        note = Note(str(self._file.path), trusted.folder, position, files, is_whole)
        write_sealed(self.parent / _NAME, (_FORMAT, *note))
        self._trusted, self._noted = trusted._replace(is_new=False), files
        if before is not None and before.folder != trusted.folder:
            remove_folder(self.parent / before.folder)

    def wait(self) -> None:
        """Wait until the note can be written, some milliseconds after the last write."""
        if self.is_due:
            time.sleep(max(0, _MIN_AGE - files_state(self._file.path).age) / 1e9)

    def _is_kept(self, folder: Path) -> bool:
        note = self._read()
        return note is not None and folder.parent == self.parent and note.folder == folder.name

    def _is_current(self, trusted: Trusted) -> bool:
        return (trusted.generation, trusted.epoch) == (self._file.generation, self._file.epoch)

    def _read(self) -> Note | None:
        note = None if self.parent is None else read_note(self.parent)
        return note if note is not None and note.store == str(self._file.path) else None


def read_note(parent: Path) -> Note | None:
    """Return the note in the folder of a store; None where there is none, or it is damaged."""
    if not os.path.lexists(parent / _NAME):
        return None
    from plantdesk.store.sqlite.files.index_folder import is_index_name, read_sealed

    match read_sealed(parent / _NAME):
        case [int(version), str(store), str(folder), [seq, change, [*counters]], [database, log], bool(is_whole)]:
            if version == _FORMAT and is_index_name(folder):
                files = FilesState(*(file and FileTimes(*file) for file in (database, log)))
                return Note(store, folder, Position(seq, change, (counters[0], counters[1])), files, is_whole)
    return None


def _remove_gone(parent: Path) -> None:
    """Remove the indexes of stores that are gone."""
    from plantdesk.store.sqlite.files.index_folder import remove_all

    for folder in parent.glob("*"):
        note = read_note(folder)
        if note is not None and not os.path.lexists(note.store):
            with suppress(OSError):
                remove_all(folder)


def _folder_of(store: Path) -> Path | None:
    """Return the folder for the indexes of a store, which may not exist; None where the user has no home folder.

    Two stores may share one, since only a short digest of the path names it: the note names the store.
    """
    with suppress(PlantDeskError):
        return paths.cache_folder() / "indexes" / f"{zlib.crc32(os.fsencode(store)):08x}"
    return None


def files_state(store: Path) -> FilesState:
    """Return the present state of a store's database and log."""
    log = _times(f"{store}-wal")
    # Where root opens a log, SQLite sets its owner, which changes the time of the last change.
    log = log._replace(changed=0) if log is not None and log.size else None
    return FilesState(_times(str(store)), log)


def _times(name: str) -> FileTimes | None:
    try:
        status = os.stat(name)  # noqa: PTH116  half the time of Path.stat
    except OSError:
        return None
    return FileTimes(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
