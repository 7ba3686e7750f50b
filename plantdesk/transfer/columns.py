"""Which column of a file is which field of a plant."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from plantdesk.errors import PlantDeskError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The fields that an import reads.
READ = ("id", "name", "tag", "note")
#: Headers in English, German, French and Spanish, without case and accents.
_HEADERS = {
    "id": "id|plant id|number|no|nr|nummer|kennung|pflanzen id|identifiant|numero|n°|identificador",
    "name": "name|plant|plant name|pflanze|pflanzenname|sorte|bezeichnung|nom|plante|nom de la plante|nombre|planta"
    "|nombre de la planta",
    "tag": "tag|tags|type|category|group|label|typ|kategorie|gruppe|schlagwort|categorie|groupe|etiquette|tipo"
    "|categoria|grupo|etiqueta",
    "note": "note|notes|comment|comments|remark|remarks|notiz|notizen|bemerkung|bemerkungen|anmerkung|kommentar"
    "|remarque|remarques|commentaire|commentaires|nota|notas|comentario|comentarios|observaciones",
}
_FIELD_OF = {header: field for field, headers in _HEADERS.items() for header in headers.split("|")}
_LONGEST = 100
_MAX_NAMED = 10


class NoColumnError(PlantDeskError):
    """A file lacks a column."""

    def __init__(self, wanted: str, columns: Sequence[str]) -> None:
        names = ", ".join(f"“{shortened(name, 30)}”" for name in columns[:_MAX_NAMED])
        super().__init__(f"There is no column {wanted}. The columns are {names}. Use --map name=COLUMN.")


def plain(header: str) -> str:
    """Return a header without case, accents, and blanks around it."""
    letters = unicodedata.normalize("NFKD", header[:_LONGEST]).casefold()
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(kept.replace("_", " ").replace("-", " ").split())


def field_of(header: str) -> str | None:
    """Return the field that a header names in any of the languages."""
    return _FIELD_OF.get(plain(header))


def mapped(columns: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int]:
    """Return the position of each field's column: as `wanted`, else the field's own name, else another name of it.

    Raises NoColumnError for a wanted column that is missing.
    """
    found: dict[str, int] = {}
    names = [plain(column) for column in columns]
    for field, column in wanted.items():
        if column not in columns and plain(column) not in names:
            raise NoColumnError(f"“{shortened(column, 30)}”", columns)
        found[field] = columns.index(column) if column in columns else names.index(plain(column))
    taken = set(found.values())
    for known in ({field: field for field in READ}, _FIELD_OF):
        for at, name in enumerate(names):
            meant = known.get(name)
            if meant is not None and meant not in found and at not in taken:
                found[meant] = at
                taken.add(at)
    return found
