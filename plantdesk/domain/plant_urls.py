"""The URL of a plant, such as `plantdesk:42`: the content of the QR code on a label. Users know it as an address."""

from __future__ import annotations

import re

from plantdesk import URL_SCHEME
from plantdesk.domain.errors import InvalidPlantError, PlantDeskError
from plantdesk.domain.records import parse_id
from plantdesk.domain.texts import Text, shortened

_URL = re.compile(rf"{URL_SCHEME}(?P<id>[+-]?\d+)\s*\Z", re.ASCII | re.IGNORECASE)


class InvalidAddressError(PlantDeskError):
    """A URL of PlantDesk's scheme names no plant."""

    text = Text("“{address}” is not the address of a plant. Such an address is “plantdesk:” and an ID.")

    def __init__(self, address: str) -> None:
        super().__init__(address=shortened(" ".join(address.split())))


def url_of(plant_id: int) -> str:
    """Return the URL of a plant, such as `plantdesk:42`."""
    return f"{URL_SCHEME}{plant_id}"


def id_of_url(url: str) -> int:
    """Return the id of the plant that a URL names. Raises InvalidAddressError for any other text."""
    before, plant_id = split_url(url)
    if before or plant_id is None:
        raise InvalidAddressError(url)
    return plant_id


def split_url(text: str) -> tuple[str, int | None]:
    """Split a text that ends with the URL of a plant, typed by a barcode reader, into the text before it and the id.

    Without such a URL, return the whole text and None.
    """
    match = _URL.search(text)
    if match is None:
        return text, None
    try:
        return text[: match.start()], parse_id(match["id"])
    except InvalidPlantError:
        return text, None
