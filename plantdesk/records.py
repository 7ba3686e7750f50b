"""The validator of input, and the immutable rows that the store returns.

`new_plant` and `plant_fields` are the only validators: form, API, import and command line use them, so that all have
the same rules and messages. The tables are in `plantdesk.store.tables`, and their objects never leave that package.
This module imports little, since the window imports it before it shows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from typing_extensions import override

from plantdesk.errors import Fault, InvalidPlantError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

SMALLEST_ID = -(2**63)
LARGEST_ID = 2**63 - 1
#: Bytes of a note in UTF-8.
MAX_NOTE_BYTES = 100_000


# --- input ---


def _no_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null_tag", "null is not a string")
    return value


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


#: Any Unicode text. The constraint makes pydantic refuse lone surrogates, which UTF-8 cannot encode.
AnyText = Annotated[str, StringConstraints(min_length=0), WithJsonSchema({"type": "string"})]


class PlantFields(BaseModel):
    """A plant without its id: the API's schema `Plant`."""

    model_config = ConfigDict(title="Plant", strict=True, frozen=True)

    name: AnyText = Field(description="The name of the plant")
    tag: Annotated[AnyText | None, BeforeValidator(_no_null), WithJsonSchema({"type": "string"})] = Field(
        default=None,
        description="Tag that specifies the type of the plant",
        json_schema_extra=_without_default,
    )


_Fields = TypeVar("_Fields", bound=PlantFields)


class NewPlant(PlantFields):
    """A plant to be added: an int64 id, a name and an optional tag, any text that UTF-8 can encode."""

    model_config = ConfigDict(title="NewPlant")

    id: int = Field(
        ge=SMALLEST_ID,
        le=LARGEST_ID,
        description="Identification number of the plant",
        json_schema_extra={"format": "int64"},
    )


def new_plant(values: Mapping[str, object]) -> NewPlant:
    """Return the plant that `values` describe; keys other than id, name and tag are ignored.

    Raises InvalidPlantError, which names all invalid fields.
    """
    return _validated(NewPlant, values)


def plant_fields(values: Mapping[str, object]) -> PlantFields:
    """Return the plant that `values` describe, for the store to choose the id. Raises InvalidPlantError."""
    return _validated(PlantFields, values)


def plant_note(text: str) -> str | None:
    """Return a note as it is stored: None for an empty one. Raises InvalidPlantError."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidPlantError(
            [Fault("note", "The note cannot be stored: it holds half of a surrogate pair.")]
        ) from None
    if size > MAX_NOTE_BYTES:
        raise InvalidPlantError([Fault("note", f"The note is too long. It may have {MAX_NOTE_BYTES:,} bytes.")])
    return text or None


def _validated(kind: type[_Fields], values: Mapping[str, object]) -> _Fields:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = [_fault(details) for details in error.errors(include_url=False)]
        raise InvalidPlantError(sorted(faults, key=_form_order)) from None


def parse_id(text: str) -> int:
    """Return the id that a user typed, with an optional sign and surrounding spaces. Raises InvalidPlantError.

    Only ASCII digits are accepted, and they are counted before the conversion: int() takes quadratic time.
    """
    digits = text.strip()
    unsigned = digits[1:] if digits[:1] in {"-", "+"} else digits
    if not (unsigned.isascii() and unsigned.isdigit()):
        raise InvalidPlantError([Fault("id", _TEXTS["id", "int_type"])])
    significant = unsigned.lstrip("0") or "0"
    number = int(significant) if len(significant) <= len(str(LARGEST_ID)) else LARGEST_ID + 2
    number = -number if digits[0] == "-" else number
    if number > LARGEST_ID:
        raise InvalidPlantError([Fault("id", _TEXTS["id", "less_than_equal"])])
    if number < SMALLEST_ID:
        raise InvalidPlantError([Fault("id", _TEXTS["id", "greater_than_equal"])])
    return number


class UnfitNumber:
    """A JSON number that is not an int64 integer, with its text for the message."""

    __slots__ = ("is_whole", "text")

    def __init__(self, text: str, *, is_whole: bool) -> None:
        self.text = text
        self.is_whole = is_whole


_TEXTS = {
    ("id", "missing"): "The ID is missing: give “id” as a whole number.",
    ("id", "int_type"): "The ID must be a whole number.",
    ("id", "less_than_equal"): f"That ID is too large. The largest is {LARGEST_ID}.",
    ("id", "greater_than_equal"): f"That ID is too small. The smallest is {SMALLEST_ID}.",
    ("name", "missing"): "The name is missing: give “name” as text.",
    ("name", "string_type"): "The name must be text.",
    ("name", "string_unicode"): "The name cannot be stored: it contains half a surrogate pair. Send whole characters.",
    ("tag", "string_type"): "The tag must be text.",
    ("tag", "null_tag"): "The tag must be text: leave “tag” out when the plant has none.",
    ("tag", "string_unicode"): "The tag cannot be stored: it contains half a surrogate pair. Send whole characters.",
}


def _fault(details: ErrorDetails) -> Fault:
    field = str(details["loc"][0]) if details["loc"] else "id"
    kind, value = details["type"], details["input"]
    if field == "id" and isinstance(value, UnfitNumber) and value.is_whole:
        kind = "greater_than_equal" if value.text.startswith("-") else "less_than_equal"
    shown = kind in {"int_type", "string_type"} or kind.endswith("than_equal")
    return Fault(field, _TEXTS[field, kind], f"Received {_described(value)}." if shown else "")


def _described(value: object) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, str):
        return f"the text “{shortened(value, 30)}”"
    if isinstance(value, UnfitNumber):
        return f"the number {shortened(value.text, 30)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"


def _form_order(fault: Fault) -> int:
    return ("id", "name", "tag", "note").index(fault.field)


# --- rows ---


class SourceKind(StrEnum):
    """How a plant was added."""

    FORM = "form"
    COMMAND = "command"
    IMPORT = "import"
    TOKEN = "token"  # noqa: S105  not a secret
    #: A value that a newer PlantDesk or another program has written.
    OTHER = "other"

    @classmethod
    @override
    def _missing_(cls, _value: object) -> SourceKind:
        return cls.OTHER


class Source(NamedTuple):
    """The origin of a plant, a row of table `source`; `label` is the name of the import or token.

    `token_id` and `digest` identify the token of a request, since the file may be replaced before the write.
    """

    id: int
    kind: SourceKind
    label: str = ""
    token_id: int | None = None
    digest: bytes | None = None


#: The sources that the first migration creates in every store.
FORM = Source(1, SourceKind.FORM)
COMMAND = Source(2, SourceKind.COMMAND)


class PlantRow(NamedTuple):
    """A plant in the store. `added_at` is in milliseconds since 1970, UTC.

    `version` identifies this content: two rows of one id with one version are the same.
    """

    id: int
    name: str
    tag: str | None
    added_at: int
    source: Source
    note: str | None = None
    version: int = 0


class TokenRow(NamedTuple):
    """A token without its secret. Times are in milliseconds since 1970, UTC."""

    name: str
    created_at: int
    expires_at: int | None
    last_used_at: int | None
    plants_added: int
    source: Source
    max_plants: int | None = None

    def expired(self, now: int) -> bool:
        """Whether the token has expired at `now` (milliseconds since 1970, UTC)."""
        return self.expires_at is not None and self.expires_at <= now


class ChangeKind(StrEnum):
    """What a change of the history did."""

    EDIT = "edit"
    DELETE = "delete"
    INSERT = "insert"
    IMPORT = "import"
    RESTORE = "restore"
    UNDO = "undo"
    REDO = "redo"
    #: Of a newer PlantDesk.
    OTHER = "other"

    @classmethod
    @override
    def _missing_(cls, _value: object) -> ChangeKind:
        return cls.OTHER


class Change(NamedTuple):
    """An entry of the history: one transaction that changed plants. `made_at` is in milliseconds since 1970, UTC.

    `undoes` is the number of the change that this one took back. `can_undo`: the state before is still stored, and the
    change is not undone.
    """

    number: int
    made_at: int
    source: Source
    kind: ChangeKind
    title: str
    plants: int
    undoes: int | None = None
    is_undone: bool = False
    can_undo: bool = True


class PlantChange(NamedTuple):
    """A change as far as it concerns one plant: what the plant was before, None where it was not there."""

    change: Change
    before: PlantRow | None


class Changes(NamedTuple):
    """What one commit changed, passed to listeners after it is durable.

    `added` are the new plants in the order in which they were added, `updated` are edited plants and those that came
    back, `removed` the ids of deleted ones. `needs_reload` is true when something else may have changed as well:
    another program wrote to the file, or there were too many plants to list. `history`: the history has a new entry.
    `unrecorded`: neither history nor order of arrival tell what changed: another program wrote, or the file is another.
    """

    added: tuple[PlantRow, ...] = ()
    updated: tuple[PlantRow, ...] = ()
    removed: tuple[int, ...] = ()
    needs_reload: bool = False
    tokens: bool = False
    history: bool = False
    unrecorded: bool = False
