"""Maps the columns of a file to the fields of a plant."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from plantdesk.domain.errors import LISTED, PlantDeskError, Text, joined, shortened

#: The fields that an import reads.
READ = ("id", "name", "tag", "note")
#: Headers in English, German, French and Spanish, and the usual ones in Italian, Portuguese, Dutch, Swedish, Danish,
#: Norwegian, Finnish, Polish, Czech, Hungarian, Russian, Japanese and Chinese, without case and accents (タク is タグ).
_HEADERS = {
    "id": "id|ids|plant id|plant ids|number|numbers|no|nr|nummer|nummern|kennung|pflanzen id|identifiant|numero|n°"
    "|identificador"
    "|identificativo|numer|identyfikator|cislo|identifikator|szam|sorszam|azonosito|tunnus|номер|番号|编号",
    "name": "name|names|plant|plants|plant name|plant names|pflanze|pflanzen|pflanzenname|pflanzennamen|sorte|sorten"
    "|bezeichnung|nom|noms|plante|plantes|nom de la plante|nombre|nombres|planta|plantas|nomes|nomi|piante|planten"
    "|namen|rosliny|vaxter|rostliny|kasvit|растения|species names|scientific names|botanical names|latin names"
    "|common names|nombre de la planta|title|titel|titre|titulo|species|species name|scientific name|botanical name"
    "|latin name|common name|vernacular name|accepted name|taxon|taxon name|wissenschaftlicher name|botanischer name"
    "|lateinischer name|deutscher name|trivialname|pflanzenart|espece|nom scientifique|nom botanique|nom latin"
    "|nom commun|nom vernaculaire|nom francais|especie|nombre cientifico|nombre botanico|nombre latino|nombre comun"
    "|nombre vulgar|nome|nome scientifico|nome comune|nome cientifico|nome popular|pianta|naam|plantnaam|soort"
    "|wetenschappelijke naam|namn|vaxt|vaxtnamn|navn|plantenavn|nazwa|roslina|nazev|rostlina|название|растение"
    "|nederlandse naam|latijnse naam|botanische naam|nome della pianta|nome italiano|nome botanico|nome latino|specie"
    "|nome da planta|nome comum|svenskt namn|vetenskapligt namn|latinskt namn|plantens navn|dansk navn|norsk navn"
    "|latinsk navn|videnskabeligt navn|vitenskapelig navn|nazwa rosliny|nazwa polska|nazwa łacinska|nazwa naukowa"
    "|gatunek|nazev rostliny|jmeno|cesky nazev|latinsky nazev|vedecky nazev|nev|noveny|noveny neve|novenynev"
    "|megnevezes|magyar nev|latin nev|tudomanyos nev|faj|nimi|kasvi|kasvin nimi|laji|tieteellinen nimi"
    "|名前|名称|植物名|和名|植物",
    "tag": "tag|tags|type|types|category|group|groups|label|labels|beds|locations|beete|standorte|gruppen|groupes"
    "|grupos|gruppi|typ|kategorie|gruppe|schlagwort|categorie|groupe|etiquette|tipo"
    "|categoria|grupo|etiqueta|bed|location|beet|standort|ort|emplacement|lieu|ubicacion|lugar"
    "|mot cle|mots cles|etiquettes|etiquetas|categories|categorias|kategorien|schlagworte|schlagworter|etikett"
    "|etiketten|gruppo|etichetta|etichette|luogo|posizione|local|groep|locatie|standplaats|etiket|etiketter|tagg|taggar"
    "|kategori|grupp|plats|sted|kategoria|grupa|miejsce|znacznik|znaczniki|etykieta|etykiety|misto|stitek|stitky"
    "|trefwoord|trefwoorden|aiuola|canteiro|localizacao|merkelapp|merkelapper|tagi|grzadka|rabata|skupina|zahon"
    "|cimke|cimkek|tipus|csoport|hely|helyszin|agyas|ryhma|tyyppi|paikka|sijainti|kukkapenkki|avainsana|avainsanat"
    "|категория|место|метка|метки|тег|теги|分類|分类|标签|標籤|タク",
    "note": "note|notes|comment|comments|remark|remarks|notiz|notizen|bemerkung|bemerkungen|anmerkung|kommentar"
    "|remarque|remarques|commentaire|commentaires|nota|notas|comentario|comentarios|observaciones|description"
    "|beschreibung|descripcion|osservazioni|commento|commenti|descrizione|observacoes|descricao|opmerking|opmerkingen"
    "|notitie|anteckning|anteckningar|bemærkning|merknad|uwagi|notatka|opis|poznamka"
    "|notities|omschrijving|beschrijving|aantekening|aantekeningen|annotazione|annotazioni|observacao|anotacoes"
    "|kommentarer|beskrivning|notering|noteringar|bemærkninger|noter|beskrivelse|merknader|notat|notater|notatki"
    "|komentarz|komentarze|poznamky|popis|komentar|megjegyzes|megjegyzesek|jegyzet|leiras|huomautus|huomautukset"
    "|muistiinpano|muistiinpanot|kommentti|kommentit|kuvaus|lisatiedot|примечание|заметка|заметки|備考|备注|メモ",
}
#: Headers of parts of a name, which are the name where nothing else is.
_PARTS_OF_NAMES = (
    "cultivar|cultivar name|variety|variedad|variete|genus|gattung|art|genre|genero|kultivar|varietat|hybrid|hybride"
)
#: Headers of columns that hold a part of the name where one for the genus is beside them.
_GENERA = frozenset(
    ("genus", "gattung", "genre", "genero", "genere", "geslacht", "slakte", "slægt", "slekt", "rodzaj", "rod", "suku")
)
_EPITHETS = frozenset(
    "species|species name|specific epithet|epithet|pflanzenart|sorte|sorten|espece|especie|specie|soort|gatunek|faj"
    f"|laji|{_PARTS_OF_NAMES}".split("|")
).difference(_GENERA)
#: Headers of names that are a title where they are alone above others.
_TITLES = frozenset(("plants", "pflanzen", "plantes", "plantas", "piante", "planten", "rosliny", "vaxter", "kasvit"))
#: Headers by which a program's files are recognised, and its headers of our fields. Zotero has columns called Type and
#: Number as well, which mean something else.
_PROGRAMS = (
    (frozenset({"key", "item type", "title", "manual tags"}), {"title": "name", "manual tags": "tag", "notes": "note"}),
)
_FIELD_OF = {header.replace(" ", ""): field for field, headers in _HEADERS.items() for header in headers.split("|")}
_WEAK = {header.replace(" ", ""): "name" for header in _PARTS_OF_NAMES.split("|")}
_LONGEST = 100
#: Characters of a text that is guessed to be a tag.
_LONGEST_TAG = 30
_MAX_NAMED = 10
#: Columns of a table, as many as Excel has.
MAX_COLUMNS = 16_384


#: A whole number, also one that is refused because its separators may be of thousands or decimals.
_WHOLE = re.compile(r"[+-]?(?:[0-9]{1,3}(?:[.,'’\s][0-9]{3})+|[0-9]+(?:\.0{1,2})?)")

#: Rows by which header and columns are guessed, and rows above the header, such as a title.
SAMPLED, _MAX_TITLE = 100, 10


class Columns(NamedTuple):
    """The columns of the fields: `chosen` by name or position, and others by their headers unless `only`.

    `has_header` None: detected; columns are guessed where no header is known.
    """

    chosen: Mapping[str, str | int] = {}
    only: bool = False
    has_header: bool | None = True


class Codes(NamedTuple):
    """The column that has a header of the ID and holds codes, not numbers, its position, and its first code."""

    column: str
    position: int
    example: str


class Layout(NamedTuple):
    """The columns of a table, the position of each field among them, and the number of rows above the header.

    `codes` are not read as IDs, and the columns `parts` not as names: each has a part of the name.
    """

    names: Sequence[str]
    has_header: bool
    fields: Mapping[str, int]
    titles: int = 0
    codes: Codes | None = None
    parts: Sequence[str] = ()


class NoColumnError(PlantDeskError):
    """A file lacks the `requested` column, or one for the name, of which it may have `parts`."""

    text = Text("There is no column for the name. The columns are {columns}.")

    def __init__(self, columns: Sequence[str], requested: str | None = None, parts: Sequence[str] = ()) -> None:
        named = (Text("“{name}”", name=shortened(name, 30)) for name in (parts or columns)[:_MAX_NAMED])
        listed = joined(named, LISTED)
        if parts:
            super().__init__(Text("There is no column for the whole name, only for its parts: {parts}."), parts=listed)
        elif requested is None:
            super().__init__(columns=listed)
        else:
            text = Text("There is no column “{name}”. The columns are {columns}.", name=shortened(requested, 30))
            super().__init__(text, columns=listed)


def plain(header: str) -> str:
    """Return a header without case, accents, punctuation, a leading # or dwc: (Darwin Core), and blanks around it."""
    letters = unicodedata.normalize("NFKD", header[:_LONGEST]).casefold()
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(kept.replace("_", " ").replace("-", " ").replace(".", " ").strip("# ").removeprefix("dwc:").split())


def field_of(header: str) -> str | None:
    """Return the field that a header names in any of the languages."""
    joined = plain(header).replace(" ", "")  # scientificName is one word
    return _FIELD_OF.get(joined) or _WEAK.get(joined)


def mapped(
    columns: Sequence[str], requested: Mapping[str, str | int], *, only: bool = False, without: Container[str] = ()
) -> dict[str, int]:
    """Return the position of each field's column: as `requested`, else the field's own name, else another name of it.

    A number is a position; with `only` no other columns are looked for. Columns `without` a field have only that which
    is requested. Raises NoColumnError for a missing column.
    """
    names = [plain(column) for column in columns]
    found = {field: _position(column, columns, names) for field, column in requested.items()}
    taken = set(found.values())
    program = next((fields for headers, fields in _PROGRAMS if headers <= set(names)), None)
    joined = [name.replace(" ", "") for name in names]
    others = [({field: field for field in READ}, names), (_FIELD_OF, joined), (_WEAK, joined)]
    for known, headers in [] if only else others if program is None else [(program, names)]:
        for at, name in enumerate(headers):
            meant = known.get(name)
            if meant is not None and meant not in found and at not in taken and columns[at] not in without:
                found[meant] = at
                taken.add(at)
    return found


def layout_of(rows: Sequence[Sequence[str | None]], columns: Columns, known: Layout | None = None) -> Layout:
    """Return the layout of a table by its first rows, or as its format has it. Raises PlantDeskError."""
    layout = _by_headers(rows, columns, known)
    return checked(layout, rows[layout.titles + layout.has_header :], columns.chosen)


def checked(layout: Layout, rows: Sequence[Sequence[str | None]], chosen: Container[str] = ()) -> Layout:
    """Return a layout without an ID that holds codes and a name that is a part of one, by the first rows below it.

    The fields that the user has `chosen` stay.
    """
    names, fields = layout.names, dict(layout.fields)
    cells = [*itertools.zip_longest(*rows[:SAMPLED])]
    column = {field: [cell or "" for cell in cells[at]] for field, at in fields.items() if at < len(cells)}
    codes = None
    if "id" not in chosen and (code := _code(column.get("id", ()))):
        position = fields.pop("id")
        codes = Codes(names[position], position, code)
    at = _genus(names, fields.get("name"))
    parts: list[str] = []
    if at is not None and at < len(cells) and "name" not in chosen and _are_parts(column.get("name", ()), cells[at]):
        parts = [name for name in names if plain(name) in _GENERA | _EPITHETS]
        del fields["name"]
        other = mapped(names, {}, without=parts).get("name")
        fields |= {} if other is None or other in fields.values() else {"name": other}
    return layout._replace(fields=fields, codes=codes, parts=parts)


def _code(cells: Iterable[str]) -> str | None:
    """Return the first text that is no whole number, if most are none."""
    texts = [text for cell in cells if (text := cell.strip())]
    codes = [text for text in texts if not _WHOLE.fullmatch(text)]
    return codes[0] if 2 * len(codes) > len(texts) else None


def _genus(names: Sequence[str], name: int | None) -> int | None:
    """Return the position of the genus where the name is an epithet, that of an epithet where it is the genus."""
    headers = [*map(plain, names)]
    if name is None or headers[name] not in _GENERA | _EPITHETS:
        return None
    others = _EPITHETS if headers[name] in _GENERA else _GENERA
    return next((at for at, header in enumerate(headers) if header in others), None)


def _are_parts(names: Sequence[str], others: Sequence[str | None]) -> bool:
    """Return whether most names do not begin with the other part."""
    pairs = [(name.casefold(), other.casefold()) for name, other in zip(names, others, strict=True) if name and other]
    return 2 * sum(not name.startswith(other) for name, other in pairs) > len(pairs)


def _by_headers(rows: Sequence[Sequence[str | None]], columns: Columns, known: Layout | None) -> Layout:
    chosen, only, has_header = columns
    if known is not None:
        fields = mapped(known.names, chosen, only=True)
        others = {field: at for field, at in known.fields.items() if field not in fields and not only}
        return known._replace(fields=others | fields)
    titles = 0 if has_header is False else title_rows(rows)
    rows = rows[titles:]
    first, others_rows = rows[0], rows[1:SAMPLED]
    if len(first) > MAX_COLUMNS:
        text = Text("The table has {count:,} columns, and PlantDesk reads {most:,} at most.")
        raise PlantDeskError(text, count=len(first), most=MAX_COLUMNS)
    if has_header is None:
        has_header = is_header(first, others_rows)
    width = min(max(map(len, rows[:SAMPLED])), MAX_COLUMNS)
    names = [cell or "" for cell in first] if has_header else [str(at) for at in range(1, width + 1)]
    if columns.has_header or chosen:
        return Layout(names, has_header, mapped(names, chosen, only=only or not has_header), titles)
    return Layout(names, has_header, guessed(names, others_rows if has_header else rows[:SAMPLED]), titles)


def title_rows(rows: Iterable[Sequence[str | None]]) -> int:
    """Return how many rows are above the header: rows of one text at most, above known names of several fields."""
    for at, row in enumerate(itertools.islice(rows, _MAX_TITLE + 1)):
        cells = [cell for cell in row if cell and not cell.isspace()]
        fields = set(map(field_of, cells)) - {None}
        if "name" in fields and len(fields) > 1:
            return at
        if len(cells) > 1 or (fields and plain(cells[0]) not in _TITLES):
            break
    return 0


def guessed(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> dict[str, int]:
    """Return the position of each field's column by the headers, or by what the rows hold if none is known."""
    found = mapped(columns, {})
    if found:
        return found
    values = {at: [row[at] for row in rows if at < len(row) and row[at]] for at in range(len(columns))}
    filled = {at: cells for at, cells in values.items() if cells}
    numbers = [at for at, texts in filled.items() if all(map(is_id, texts))]
    words = [at for at in filled if at not in numbers and not all(map(_is_number, filled[at]))]
    unique = [at for at in numbers if len(set(filled[at])) == len(filled[at])]
    if unique and words:
        found["id"] = unique[0]
    texts = words or (numbers if len(columns) == 1 else [])
    if texts:
        # Names differ, tags repeat; of several such columns the first is meant.
        found["name"] = max(texts, key=lambda at: (len(set(filled[at])) * 2 > len(filled[at]), -at))
    rest = [at for at in words if at not in found.values()]
    if rest:
        short = [at for at in rest if max(map(_length, filled[at])) <= _LONGEST_TAG]
        found |= {"tag": short[0]} if short else {}
    rest = [at for at in rest if at not in found.values()]
    if rest:
        found["note"] = max(rest, key=lambda at: max(map(_length, filled[at])))
    return found


def is_header(first: Sequence[str | None], rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether the first row names the columns: a known name, or a text above numbers.

    A known name that is below as well is the tag of several plants, such as bed.
    """
    below = [[row[at] for row in rows if at < len(row) and row[at]] for at in range(len(first))]
    if any(field_of(cell or "") and cell not in texts for cell, texts in zip(first, below, strict=True)):
        return True
    return any(
        cell and not _is_number(cell) and texts and all(map(_is_number, texts))
        for cell, texts in zip(first, below, strict=True)
    )


def is_id(text: str | None) -> bool:
    """Return whether a text is a whole number."""
    digits = (text or "").strip().removeprefix("-")
    return digits.isascii() and digits.isdigit()


def letters_of(position: int) -> str:
    """Return the letters of a spreadsheet's column."""
    first, last = divmod(position, 26)
    return (letters_of(first - 1) if first else "") + chr(ord("A") + last)


def _is_number(text: str | None) -> bool:
    return bool(text) and is_id(str(text).replace(".", "").replace(",", ""))


def _length(text: str | None) -> int:
    return len(text or "")


def _position(column: str | int, columns: Sequence[str], names: Sequence[str]) -> int:
    if isinstance(column, int):
        return column
    if column not in columns and plain(column) not in names:
        raise NoColumnError(columns, column)
    return columns.index(column) if column in columns else names.index(plain(column))
