"""The exceptions of PlantDesk, one class per cause, their texts, and the table of the API's error numbers.

Every message can be shown to users and API clients as it is: it says what happened and what to do. It contains no
token, no stack trace, and no path except of a file that the user named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, unique
from typing import Protocol, Self

from plantdesk.domain.texts import Text, joined, shortened


@unique
class ErrorNumber(IntEnum):
    """The `error` of an Error body: HTTP status × 100 + n. A number never changes its meaning after a release."""

    meaning: str

    def __new__(cls, number: int, meaning: str) -> Self:
        """Create a member with the sentence from which the OpenAPI document is generated."""
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        return member

    MALFORMED_HTTP = 40001, "The request is not well-formed HTTP/1.1."
    HOST_REFUSED = 40002, "Host is missing, given twice, or not 127.0.0.1, localhost or [::1]."
    ORIGIN_REFUSED = 40003, "The request comes from a web page (its header Origin or Sec-Fetch-Site says so)."
    WRONG_CONTENT_TYPE = 40010, "Content-Type is not application/json, or the body is encoded."
    BODY_TOO_LARGE = 40011, "The body is larger than 1 MiB (1,048,576 bytes)."
    NOT_JSON = 40012, "The body is not JSON in UTF-8."
    NOT_AN_OBJECT = 40013, "The body is JSON, but not an object."
    REPEATED_MEMBER = 40014, "A member of the object is given more than once."
    INVALID_PLANT = 40020, "A field is missing, of the wrong type, out of range, or cannot be stored."
    ID_TAKEN = 40021, "The ID belongs to another plant."
    TOKEN_USED_UP = 40022, "The token has added as many plants as it is allowed to."
    TEXT_REFUSED = 40023, "A text contains U+0000, which a shared store cannot keep."
    TOKEN_MISSING = 40101, "No bearer token was sent in the Authorization header."
    TOKEN_REFUSED = 40102, "The token is unknown, expired or revoked."
    PATH_NOT_FOUND = 40401, "There is nothing at this path."
    METHOD_NOT_ALLOWED = 40501, "The path does not support this method; the header Allow names those it supports."
    REQUEST_TIMEOUT = 40801, "The request did not arrive in time."
    DEFECT = 50001, "A defect of PlantDesk; its cause is in PlantDesk's log."
    STORE_BUSY = 50301, "Another program holds the store locked; try again after Retry-After seconds."
    STORE_FULL = 50302, "The disk is full."
    STORE_READ_ONLY = 50303, "The store cannot be written to."
    STORE_DAMAGED = 50304, "The stored data is damaged."
    STORE_UNREACHABLE = 50305, "The store's file cannot be read or written, or its server does not answer."
    STORE_CLOSED = 50306, "PlantDesk is closing; try again after Retry-After seconds."
    OUT_OF_MEMORY = 50307, "There is not enough memory; try again after Retry-After seconds."

    @property
    def status(self) -> int:
        """The HTTP status of the response."""
        return self // 100


class PlantDeskError(Exception):
    """A foreseeable failure, with a message for the user: `text`, or `str()` in English.

    A subclass may define the template as `text`; the constructor then gets the values of its fields. `number` is the
    API's error number; `retry_after` (seconds) is set if a retry may succeed.
    """

    number: ErrorNumber = ErrorNumber.DEFECT
    retry_after: int | None = None
    text: Text

    def __init__(self, text: Text | None = None, /, **values: str | float | Text) -> None:
        self.text = (text or self.text).filled(**values)  # copying uses `args`, which stay unchanged

    def __str__(self) -> str:
        return str(self.text)


class OutOfMemoryError(PlantDeskError):
    """The system gives no more memory."""

    number = ErrorNumber.OUT_OF_MEMORY
    retry_after = 5
    text = Text("There is not enough memory. Close other programs and try again.")


@dataclass(frozen=True)
class InvalidField:
    """An invalid field of a plant; `text` describes the problem."""

    field: str
    text: Text


class InvalidPlantError(PlantDeskError):
    """The input is not a valid plant; `fields` has every invalid field."""

    number = ErrorNumber.INVALID_PLANT

    def __init__(self, fields: Sequence[InvalidField]) -> None:
        super().__init__(joined(field.text for field in fields))
        self.fields = tuple(fields)


class IdOwner(Protocol):
    """The plant that has an id, with the values that messages show."""

    @property
    def id(self) -> int:
        """The id that is taken."""

    @property
    def name(self) -> str:
        """The name of the plant that has it."""

    @property
    def tag(self) -> str | None:
        """The tag of the plant that has it."""


class IdTakenError(PlantDeskError):
    """The id belongs to another plant, `owner`. `name` may be the name of the plant to be added."""

    number = ErrorNumber.ID_TAKEN
    text = Text("ID {id} already belongs to {plant}. Choose another ID.")

    def __init__(self, owner: IdOwner, name: str | None = None) -> None:
        plant = Text("“{name}”", name=shortened(owner.name))
        if owner.tag is not None:
            plant = Text("{plant} with tag “{tag}”", plant=plant, tag=shortened(owner.tag))
        elif owner.name == name:
            plant = Text("{plant} without a tag", plant=plant)
        super().__init__(id=owner.id, plant=plant)
        self.owner = owner


class SamePlantError(IdTakenError):
    """The owner of the id has the same name and tag as the plant to be added."""

    text = Text("{plant} is already there with ID {id}. To add it once more, choose another ID.")


def id_taken(owner: IdOwner, name: str, tag: str | None) -> IdTakenError:
    """Return the error for adding a plant with this name and tag under the id that the plant `owner` has."""
    return SamePlantError(owner) if (owner.name, owner.tag) == (name, tag) else IdTakenError(owner, name)


class InvalidTokenNameError(PlantDeskError):
    """The name for a token is empty, too long, or in use."""


class UnknownTokenError(PlantDeskError):
    """There is no token with that name."""


class TokenRefusedError(PlantDeskError):
    """The token is unknown, revoked or expired."""

    number = ErrorNumber.TOKEN_REFUSED
    text = Text("This token is unknown, expired or revoked. Create a new one under File > API access in PlantDesk.")


class TokenUsedUpError(PlantDeskError):
    """The token has added as many plants as its limit allows."""

    number = ErrorNumber.TOKEN_USED_UP
    text = Text(
        "This token may add {count} plants, and has added them. Create a new token.",
        one="This token may add 1 plant, and has added it. Create a new token.",
    )

    def __init__(self, max_plants: int) -> None:
        super().__init__(count=max_plants)


class UnknownPlantError(PlantDeskError):
    """There is no plant with this id."""

    text = Text("There is no plant with ID {id}. `plantdesk list` shows the plants.")

    def __init__(self, plant_id: int) -> None:
        super().__init__(id=plant_id)


class UnknownTagError(PlantDeskError):
    """No plant has this tag."""

    text = Text("No plant has the tag “{tag}”. `plantdesk tag list` shows the tags.")

    def __init__(self, tag: str) -> None:
        super().__init__(tag=shortened(tag))


class EditConflictError(PlantDeskError):
    """A plant has changed since the user saw it. `current` is the plant now, None if it was deleted."""

    text = Text("“{name}” was changed meanwhile, so nothing was saved.")

    def __init__(self, name: str, current: IdOwner | None) -> None:
        deleted = Text("“{name}” was deleted meanwhile, so nothing was saved.")
        super().__init__(deleted if current is None else None, name=shortened(name))
        self.current = current


class SelectionChangedError(PlantDeskError):
    """A set of plants has another size than when the user was asked about it."""

    text = Text("{found:,} plants match now instead of {expected:,}. Nothing was changed. Try again.")

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(expected=expected, found=found)


class NothingToUndoError(PlantDeskError):
    """There is no such change, it is already undone, or the earlier texts of its plants are no longer stored."""


class UndoConflictError(PlantDeskError):
    """Undoing a change would overwrite later changes of all its plants; `plants` is their number."""

    text = Text(
        "Not undone, as all {count:,} plants have been changed or deleted since, or are there again: {title}.",
        one="Not undone, as the plant has been changed or deleted since, or is there again: {title}.",
    )

    def __init__(self, title: Text, plants: int, *, is_redo: bool = False) -> None:
        not_redone = Text(
            "Not redone, as all {count:,} plants have been changed or deleted since, or are there again: {title}.",
            one="Not redone, as the plant has been changed or deleted since, or is there again: {title}.",
        )
        super().__init__(not_redone if is_redo else None, count=plants, title=title)


_THE_STORE = Text("The plant store")


class StoreError(PlantDeskError):
    """The store cannot do what was requested; nothing was partly written."""

    number = ErrorNumber.STORE_UNREACHABLE
    #: Whether the store may have written the change nevertheless.
    may_have_committed = False


class StoreBusyError(StoreError):
    """Another program holds a lock on the store."""

    number = ErrorNumber.STORE_BUSY
    retry_after = 2
    text = Text("Another program or computer is changing the plants. Try again in a moment.")


class StoreInUseError(StoreBusyError):
    """The store must be updated, but another program has it open and could not use it afterwards."""

    text = Text(
        "“{file}” has to be updated, and another program has it open, perhaps an older PlantDesk. Close that program, "
        "also in the tray; then try again."
    )

    def __init__(self, file: str) -> None:
        super().__init__(file=file)


class StoreFullError(StoreError):
    """There is no space for new data."""

    number = ErrorNumber.STORE_FULL
    text = Text("The disk is full. Free some space on it.")


class DiskReserveError(StoreFullError):
    """The disk is almost full; API clients may not use the rest."""

    text = Text("The disk is almost full. Free some space on it.")


class StoreReadOnlyError(StoreError):
    """The store cannot be written to: the rights of its file or folder, or of the user on a server, forbid it."""

    number = ErrorNumber.STORE_READ_ONLY
    #: Whether the error lasts until somebody grants a right or updates a program. Plants must not wait for that.
    is_lasting = False
    text = Text("{what} is read-only. Allow writing to the file and its folder.", what=_THE_STORE)


class StoreOutdatedError(StoreReadOnlyError):
    """The shared store has the tables of an older PlantDesk. A user must update them, for all computers together."""

    is_lasting = True
    text = Text(
        "An older PlantDesk has made this shared store. You can read it. To change plants, update it in the window or "
        "by `plantdesk migrate`."
    )


class StoreNewerError(StoreReadOnlyError):
    """A newer PlantDesk has updated the shared store."""

    is_lasting = True
    text = Text("A newer PlantDesk has updated this shared store. You can read it; update PlantDesk to change plants.")


class StoreDamagedError(StoreError):
    """The database engine found the stored data malformed."""

    number = ErrorNumber.STORE_DAMAGED
    text = Text(
        "{what} is damaged. It was left as it is. Restore a backup (File > Restore, or: plantdesk backup --list), "
        "or choose another file.",
        what=_THE_STORE,
    )


class StoreUnreachableError(StoreError):
    """The store cannot be opened, read or written: folder gone, disk fault, no connection."""

    text = Text("The plant store cannot be reached. Check its disk and folder.")


class SignInNeededError(StoreUnreachableError):
    """A shared store needs a user and a password."""


class StoreClosedError(StoreError):
    """The store is closing or closed."""

    number = ErrorNumber.STORE_CLOSED
    retry_after = 5
    text = Text("PlantDesk is closing. Try again when it is open.")


class StoreMovedError(StoreUnreachableError):
    """The store that was open has been moved, replaced or deleted."""

    retry_after = 2
    text = Text(
        "The database was moved, replaced or deleted while PlantDesk was open. Put it back, or restore a backup."
    )


class StoreGoneError(StoreError):
    """The store's file is missing, but its backups or its log exist: the file was moved or deleted."""

    text = Text(
        "The file “{file}” is gone, but PlantDesk has kept plants there before. Put it back, or restore a backup "
        "(File > Restore, or: plantdesk backup --list). To start without plants, move “{backups}” and “{file}-wal” "
        "away."
    )

    def __init__(self, file: str, backups: str) -> None:
        super().__init__(file=file, backups=backups)


class NoStoreError(StoreError):
    """There is no store yet; a command that only reads or changes plants creates none."""

    text = Text("There is no database “{file}” yet. The window and `plantdesk add` create it.")


class FolderMissingError(StoreUnreachableError):
    """The folder of the named file does not exist."""


class BackupFolderError(StoreUnreachableError):
    """A backup cannot be written to its folder."""


class BackupUnusableError(StoreError):
    """The file to restore is not a backup, is damaged, or was written by a newer PlantDesk."""


class ForeignFileError(StoreError):
    """The file is not a PlantDesk store; it was left untouched."""


class ForeignSchemaError(ForeignFileError):
    """The file has the id of a store, but other tables, triggers or views; none of them was executed."""

    text = Text(
        "This file is not a PlantDesk store: it has other tables, triggers or views. "
        "It was left as it is; choose another file."
    )


class UnsafeFileError(ForeignFileError):
    """The file is not regular or has hard links, or a journal beside it could harm other files."""


class IsFolderError(UnsafeFileError):
    """A folder is named instead of a file."""

    text = Text("“{file}” is a folder. Name a file in it instead.")


class StoreTooNewError(StoreError):
    """A newer PlantDesk has made or changed the store; it was left untouched."""


def prevents_changes(error: BaseException | None) -> bool:
    """Return whether an error means that no plant can be changed now; plants to add may wait until it is over."""
    return isinstance(error, StoreReadOnlyError | StoreUnreachableError)
