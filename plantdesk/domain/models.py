"""The pydantic models of the API and of the file of a shared store.

The OpenAPI document has their schemas. `validation` checks input by them and has the messages.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from plantdesk.domain.errors import ErrorNumber
from plantdesk.domain.records import LARGEST_ID, SMALLEST_ID

_NUMBERS_HEADING = "Numeric error value; a number keeps its meaning for ever.\n\n| error | meaning |\n|---|---|\n"


def _check_encodable(text: str) -> str:
    """Return a text that UTF-8 can encode. Raises UnicodeEncodeError, a ValueError, for a lone surrogate."""
    text.encode()
    return text


def _refuse_null(tag: object) -> object:
    """Refuse null: the member is left out for a plant without a tag. Raises ValueError."""
    if tag is None:
        raise ValueError
    return tag


_Text = Annotated[str, AfterValidator(_check_encodable)]
_Name = Annotated[_Text, Field(description="The name of the plant")]
_Tag = Annotated[
    _Text | None,
    BeforeValidator(_refuse_null),
    WithJsonSchema({"description": "Tag that specifies the type of the plant", "type": "string"}),
]


class _Model(BaseModel):
    """Accepts only values of the declared types, and ignores unknown members."""

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
        description=_NUMBERS_HEADING + "".join(f"| {number} | {number.meaning} |\n" for number in ErrorNumber),
        json_schema_extra={"format": "int32"},
    )
    message: str = Field(description="Error message text: what was received, and what to do")


class DeskFile(_Model):
    """The content of a file with the address of a shared store, without user and password, as it is given to others."""

    format: str = "PlantDesk store"
    version: int = 1
    address: str
