"""The pydantic models of what others send and get: a plant, a plant to be added, an error, a file of a shared store.

The OpenAPI document has their schemas. `validation` checks input by them and has the messages.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID

_NUMBERS = "Numeric error value; a number keeps its meaning for ever.\n\n| error | meaning |\n|---|---|\n"


def _encodable(text: str) -> str:
    """Return a text that UTF-8 can encode; one with a lone surrogate raises UnicodeEncodeError, a ValueError."""
    text.encode()
    return text


def _given(tag: object) -> object:
    """Refuse null: a plant without a tag has no such member."""
    if tag is None:
        raise ValueError
    return tag


_Text = Annotated[str, AfterValidator(_encodable)]
_Name = Annotated[_Text, Field(description="The name of the plant")]
_Tag = Annotated[
    _Text | None,
    BeforeValidator(_given),
    WithJsonSchema({"description": "Tag that specifies the type of the plant", "type": "string"}),
]


class _Model(BaseModel):
    """Takes no value of another type for a field; members that it does not name are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class Plant(_Model):
    """A plant without its id. Name and tag are any text that UTF-8 can encode."""

    name: _Name
    tag: _Tag = None


class NewPlant(_Model):
    """A plant to be added: an int64 id, a name and an optional tag."""

    id: int = Field(
        description="Identification number of the plant",
        ge=SMALLEST_ID,
        le=LARGEST_ID,
        json_schema_extra={"format": "int64"},
    )
    name: _Name
    tag: _Tag = None


class Error(_Model):
    """The body of a response that is not 200."""

    error: int = Field(
        description=_NUMBERS + "".join(f"| {number} | {number.meaning} |\n" for number in ErrorNumber),
        json_schema_extra={"format": "int32"},
    )
    message: str = Field(description="Error message text: what was received, and what to do")


class DeskFile(_Model):
    """The content of a file that names a shared store. It is passed on to others, and has neither user nor password."""

    format: str = "PlantDesk store"
    version: int = 1
    address: str
