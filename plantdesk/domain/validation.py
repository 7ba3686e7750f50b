"""The validator of input.

`new_plant` and `plant_fields` are the only validators: form, API, import and command line use them, so that all have
the same rules and messages. Imports pydantic, which takes as long as opening an empty window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from plantdesk.domain.errors import InvalidField, InvalidPlantError, Text, joined, shortened
from plantdesk.domain.records import ID_TOO_LARGE, ID_TOO_SMALL, ID_TYPE, LARGEST_ID, SMALLEST_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

#: Bytes of a note in UTF-8.
MAX_NOTE_BYTES = 100_000


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
            [InvalidField("note", Text("The note cannot be stored: it holds half of a surrogate pair."))]
        ) from None
    if size > MAX_NOTE_BYTES:
        too_long = Text("The note is too long. It may have {bytes:,} bytes.", bytes=MAX_NOTE_BYTES)
        raise InvalidPlantError([InvalidField("note", too_long)])
    return text or None


def _validated(kind: type[_Fields], values: Mapping[str, object]) -> _Fields:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        fields = [_invalid_field(details) for details in error.errors(include_url=False)]
        raise InvalidPlantError(sorted(fields, key=_form_order)) from None


class UnfitNumber:
    """A JSON number that is not an int64 integer, with its text for the message."""

    __slots__ = ("is_whole", "text")

    def __init__(self, text: str, *, is_whole: bool) -> None:
        self.text = text
        self.is_whole = is_whole


_TEXTS = {
    ("id", "missing"): Text("The ID is missing: give “id” as a whole number."),
    ("id", "int_type"): ID_TYPE,
    ("id", "less_than_equal"): ID_TOO_LARGE,
    ("id", "greater_than_equal"): ID_TOO_SMALL,
    ("name", "missing"): Text("The name is missing: give “name” as text."),
    ("name", "string_type"): Text("The name must be text."),
    ("name", "string_unicode"): Text(
        "The name cannot be stored: it contains half a surrogate pair. Send whole characters."
    ),
    ("tag", "string_type"): Text("The tag must be text."),
    ("tag", "null_tag"): Text("The tag must be text: leave “tag” out when the plant has none."),
    ("tag", "string_unicode"): Text(
        "The tag cannot be stored: it contains half a surrogate pair. Send whole characters."
    ),
}


def _invalid_field(details: ErrorDetails) -> InvalidField:
    field = str(details["loc"][0]) if details["loc"] else "id"
    kind, value = details["type"], details["input"]
    if field == "id" and isinstance(value, UnfitNumber) and value.is_whole:
        kind = "greater_than_equal" if value.text.startswith("-") else "less_than_equal"
    shown = kind in {"int_type", "string_type"} or kind.endswith("than_equal")
    return InvalidField(field, joined([_TEXTS[field, kind], *([_received(value)] if shown else [])]))


def _received(value: object) -> Text:
    """Return the sentence for a JSON value that a script sent."""
    if isinstance(value, str):
        return Text("Received the text “{value}”.", value=shortened(value, 30))
    if isinstance(value, UnfitNumber):
        return Text("Received the number {value}.", value=shortened(value.text, 30))
    if value is None or isinstance(value, bool):
        return Text("Received {value}.", value={None: "null", True: "true", False: "false"}[value])
    if isinstance(value, int):
        return Text("Received the number {value}.", value=value)
    return Text("Received a list.") if isinstance(value, list) else Text("Received an object.")


def _form_order(field: InvalidField) -> int:
    return ("id", "name", "tag", "note").index(field.field)
