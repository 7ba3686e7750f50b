"""Finds the fields of a plant in the columns of a file, by the user's choice, known headers, or the contents."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import LISTED, Text, joined, shortened
from plantdesk.transfer.name_parts import (
    find_cultivar_column,
    find_name_columns,
    is_whole_name,
    join_names,
    make_header_key,
    normalize_header,
    repeats_genus,
)

#: The headers that an import knows, separated by `|`: in English, German, French and Spanish, and the usual ones in
#: Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Finnish, Polish, Czech, Hungarian, Russian, Japanese and
#: Chinese, without case and accents (タク is タグ).
HEADERS = {
    "id": "id|ids|plant id|plant ids|number|numbers|no|nr|nummer|nummern|kennung|pflanzen id|identifiant|numero|n°"
    "|identificador|inventarnr|inventarnummer"
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
    "|megnevezes|artname|magyar nev|latin nev|tudomanyos nev|faj|nimi|kasvi|kasvin nimi|laji|tieteellinen nimi"
    "|名前|名称|植物名|和名|植物",
    "tag": "tag|tags|type|types|category|group|groups|label|labels|beds|locations|beete|standorte|gruppen|groupes"
    "|grupos|gruppi|typ|kategorie|gruppe|schlagwort|categorie|groupe|etiquette|tipo"
    "|categoria|grupo|etiqueta|bed|location|beet|standort|ort|emplacement|lieu|ubicacion|lugar"
    "|mot cle|mots cles|etiquettes|etiquetas|categories|categorias|kategorien|schlagworte|schlagworter|etikett"
    "|etiketten|gruppo|etichetta|etichette|luogo|posizione|local|groep|locatie|standplaats|etiket|etiketter|tagg|taggar"
    "|kategori|grupp|plats|sted|kategoria|grupa|miejsce|znacznik|znaczniki|etykieta|etykiety|misto|stitek|stitky"
    "|trefwoord|trefwoorden|aiuola|canteiro|localizacao|merkelapp|merkelapper|tagi|grzadka|rabata|skupina|zahon"
    "|room|rooms|raum|raume|zimmer|piece|salle|chambre|habitacion|cuarto|sala|place|places|platz|localisation|endroit"
    "|massif|plate bande|arriate|bancal|macizo|sitio"
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
#: Headers of parts of a name, used for the name if no other column has it.
PARTS_OF_NAMES = (
    "cultivar|cultivar name|variety|variedad|variete|genus|gattung|art|genre|genero|kultivar|varietat|hybrid|hybride"
)
#: Headers of the name that are a title where they stand alone in a row above the headers.
TITLES = frozenset(("plants", "pflanzen", "plantes", "plantas", "piante", "planten", "rosliny", "vaxter", "kasvit"))

#: The fields that an import reads.
IMPORTED_FIELDS = ("id", "name", "tag", "note")
_FIELDS_BY_HEADER = {
    header.replace(" ", ""): field for field, headers in HEADERS.items() for header in headers.split("|")
}
_FIELDS_BY_WEAK_HEADER = {header.replace(" ", ""): "name" for header in PARTS_OF_NAMES.split("|")}
#: The most characters of a text in a column that is guessed to be the tag.
_MAX_GUESSED_TAG_LENGTH = 30
_MAX_NAMED_COLUMNS = 10
#: The most columns of a table, as many as Excel has.
MAX_COLUMNS = 16_384
#: A whole number. One with separators is refused later: they may separate thousands or decimals.
_WHOLE_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:[.,'’\s][0-9]{3})+|[0-9]+(?:\.0{1,2})?)")

#: The number of rows from which header and columns are guessed.
SAMPLE_ROWS = 100
#: The most rows above the header, such as a title.
_MAX_TITLE_ROWS = 10
#: The header or position of a column, or of several columns of the name, also as one text: `Genus+Species`.
Column = str | int | tuple[str | int, ...]


class Columns(NamedTuple):
    """The columns to read: those `chosen` for fields and, unless `only_chosen`, those with a known header for others.

    If `has_header` is None, a header is detected, and columns are guessed from their contents if no header is known.
    """

    chosen: Mapping[str, Column] = {}
    only_chosen: bool = False
    has_header: bool | None = True


class Codes(NamedTuple):
    """A column with a header for the ID but codes such as A-17 instead of numbers; `example` is the first code."""

    column: str
    position: int
    example: str


class Layout(NamedTuple):
    """How a table is read: the `names` of its columns, and for each of the `fields` the position of its column.

    `title_rows` precede the header. The column `codes` holds no IDs. `name_parts`, if any, are joined to the name.
    """

    names: Sequence[str]
    has_header: bool
    fields: Mapping[str, int]
    title_rows: int = 0
    codes: Codes | None = None
    name_parts: Sequence[int] = ()

    @property
    def first_row(self) -> int:
        """The position of the first row of data, below title and header."""
        return self.title_rows + 1 if self.has_header else self.title_rows

    @property
    def columns(self) -> dict[str, Sequence[int]]:
        """The positions of each field's columns; only the name can have several."""
        names = {"name": self.name_parts} if self.name_parts else {}
        return {field: [position] for field, position in self.fields.items()} | names

    def read_row_names(self, rows: Iterable[Sequence[str | None]]) -> Iterator[str | None]:
        """Yield the name of each row, joined from its columns, or None."""
        position = self.fields.get("name")
        if self.name_parts:
            return join_names(rows, self.names, self.name_parts)
        return (None if position is None or position >= len(row) else row[position] for row in rows)

    def without_id(self) -> Layout:
        """Return a copy in which no column is the ID, so that all plants get new IDs."""
        return self._replace(fields={field: position for field, position in self.fields.items() if field != "id"})


class NoColumnError(PlantDeskError):
    """A file has no column `requested`, or none for the name."""

    text = Text("There is no column for the name. The columns are {columns}.")

    def __init__(self, columns: Sequence[str], requested: str | None = None) -> None:
        named = (Text("“{name}”", name=shortened(name, 30)) for name in columns[:_MAX_NAMED_COLUMNS])
        listed = joined(named, LISTED)
        if requested is None:
            super().__init__(columns=listed)
        else:
            text = Text("There is no column “{name}”. The columns are {columns}.", name=shortened(requested, 30))
            super().__init__(text, columns=listed)


def find_field(header: str) -> str | None:
    """Return the field that a header means, in any known language, or None."""
    key = make_header_key(header)
    return _FIELDS_BY_HEADER.get(key) or _FIELDS_BY_WEAK_HEADER.get(key)


def map_columns(
    columns: Sequence[str], requested: Mapping[str, Column], *, only_chosen: bool = False
) -> dict[str, int]:
    """Return the position of each field's column: the `requested` one, otherwise one with its name or a known header.

    With `only_chosen` only the requested ones. Raises NoColumnError for a missing column, and PlantDeskError for
    several columns of a field other than the name.
    """
    positions = {field: _find_positions(column, columns) for field, column in requested.items()}
    for field, field_positions in positions.items():
        if len(field_positions) > 1 and field != "name":
            text = Text("Only the name can be put together from several columns, not “{field}”.")
            raise PlantDeskError(text, field=field)
    first_positions = {field: field_positions[0] for field, field_positions in positions.items()}
    taken = set(itertools.chain.from_iterable(positions.values()))
    headers = [*map(make_header_key, columns)]
    own_names = {field: field for field in IMPORTED_FIELDS}
    for fields in (
        () if only_chosen else (own_names, _FIELDS_BY_HEADER, _FIELDS_BY_WEAK_HEADER)
    ):  # the more certain ones first
        for position, header in enumerate(headers):
            known_field = fields.get(header)
            if known_field is not None and known_field not in first_positions and position not in taken:
                first_positions[known_field] = position
                taken.add(position)
    return first_positions


def find_layout(rows: Sequence[Sequence[str | None]], columns: Columns, names: Sequence[str] | None = None) -> Layout:
    """Return the layout of a table by its first rows, or by the names of its columns if its format has them.

    A column of codes under a header for the ID is left out, unless it was chosen. Raises PlantDeskError.
    """
    if names is None:
        title_count = 0 if columns.has_header is False else count_title_rows(rows)
        layout = _find_layout_below(title_count, rows[title_count:], columns)
        rows = rows[layout.first_row :]
    else:
        chosen = {field: column for field, column in columns.chosen.items() if names and _is_present(column, names)}
        columns = columns._replace(chosen=chosen)
        layout = Layout(names, has_header=True, fields=map_columns(names, chosen, only_chosen=columns.only_chosen))
    layout = _with_name_parts(layout, rows[:SAMPLE_ROWS], columns)
    id_position = None if "id" in columns.chosen else layout.fields.get("id")
    if id_position is None:
        return layout
    code = _find_code(row[id_position] or "" for row in rows[:SAMPLE_ROWS] if id_position < len(row))
    if code is None:
        return layout
    return layout.without_id()._replace(codes=Codes(layout.names[id_position], id_position, code))


def _find_code(cells: Iterable[str]) -> str | None:
    """Return the first text that is not a whole number, if most texts are not."""
    texts = [cell.strip() for cell in cells if cell and not cell.isspace()]
    codes = [text for text in texts if not _WHOLE_NUMBER.fullmatch(text)]
    return codes[0] if 2 * len(codes) > len(texts) else None


def _with_name_parts(layout: Layout, rows: Sequence[Sequence[str | None]], columns: Columns) -> Layout:
    """Return `layout` with a name joined from several columns, if these were chosen or no column has whole names."""
    if "name" in columns.chosen:
        parts = _find_positions(columns.chosen["name"], layout.names)
    else:
        parts = () if columns.only_chosen else find_name_parts(layout, rows)
    if not parts:
        return layout
    return layout._replace(fields={**layout.fields, "name": parts[0]}, name_parts=parts if len(parts) > 1 else ())


def find_name_parts(layout: Layout, rows: Sequence[Sequence[str | None]]) -> tuple[int, ...]:
    """Return the positions of the columns that make the name: its parts, or the whole name and perhaps the cultivar.

    Empty if no column is known. If the species repeats the genus, as in `Acer palmatum`, parts are preferred to a
    column of whole names, which may have authors.
    """
    names = layout.names
    name_position = layout.fields.get("name")
    parts = find_name_columns(names, [position for field, position in layout.fields.items() if field != "name"])
    if not parts or (name_position is not None and is_whole_name(names[name_position])):
        return _with_cultivar(layout, name_position)
    whole = [position for position, name in enumerate(names) if find_field(name) == "name" and is_whole_name(name)]
    return _with_cultivar(layout, whole[0]) if whole and not repeats_genus(rows, parts) else parts


def _with_cultivar(layout: Layout, name_position: int | None) -> tuple[int, ...]:
    """Return the positions of the whole name and, if there is one, of the cultivar."""
    if name_position is None:
        return ()
    cultivar = find_cultivar_column(layout.names, {name_position, *layout.fields.values()})
    return (name_position,) if cultivar is None else (name_position, cultivar)


def _find_layout_below(title_count: int, rows: Sequence[Sequence[str | None]], columns: Columns) -> Layout:
    """Return the layout of rows that follow `title_count` rows above the header."""
    first_row = rows[0]
    later_rows = rows[1:SAMPLE_ROWS]
    if len(first_row) > MAX_COLUMNS:
        text = Text("The table has {count:,} columns, and PlantDesk reads {most:,} at most.")
        raise PlantDeskError(text, count=len(first_row), most=MAX_COLUMNS)
    has_header = is_header(first_row, later_rows) if columns.has_header is None else columns.has_header
    width = min(max(map(len, rows[:SAMPLE_ROWS])), MAX_COLUMNS)
    names = [cell or "" for cell in first_row] if has_header else [*map(str, range(1, width + 1))]
    if columns.has_header or columns.chosen:
        fields = map_columns(names, columns.chosen, only_chosen=columns.only_chosen or not has_header)
    else:
        fields = guess_columns(names, later_rows if has_header else rows[:SAMPLE_ROWS])
    return Layout(names, has_header, fields, title_count)


def count_title_rows(rows: Iterable[Sequence[str | None]]) -> int:
    """Return how many rows with at most one text are above a header of several known fields."""
    for position, row in enumerate(itertools.islice(rows, _MAX_TITLE_ROWS + 1)):
        cells = [cell for cell in row if cell and not cell.isspace()]
        fields = set(map(find_field, cells)) - {None}
        if ("name" in fields and len(fields) > 1) or find_name_columns(cells):
            return position
        if len(cells) > 1 or (fields and normalize_header(cells[0]) not in TITLES):
            break
    return 0


def guess_columns(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> dict[str, int]:
    """Return the position of each field's column by the headers, or by the contents if no header is known."""
    texts = {
        index: [text for row in rows if index < len(row) and (text := row[index])] for index in range(len(columns))
    }
    filled = {position: cells for position, cells in texts.items() if cells}
    return map_columns(columns, {}) or _guess_by_contents(filled, is_list=len(columns) == 1)


def _guess_by_contents(filled: Mapping[int, list[str]], *, is_list: bool) -> dict[str, int]:
    """Guess columns by their texts: IDs are whole numbers and unique, most names differ, tags are short."""
    numbers = [position for position, texts in filled.items() if all(map(is_id, texts))]
    words = [position for position, texts in filled.items() if not all(map(_is_number, texts))]
    positions: dict[str, int] = {}
    unique = [position for position in numbers if len(set(filled[position])) == len(filled[position])]
    if unique and words:
        positions["id"] = unique[0]
    if names := words or (numbers if is_list else []):
        differing = [position for position in names if 2 * len(set(filled[position])) > len(filled[position])]
        positions["name"] = next(iter(differing), names[0])
    others = {position: max(map(len, filled[position])) for position in words if position != positions.get("name")}
    return positions | _guess_tag_and_note(others)


def _guess_tag_and_note(lengths: Mapping[int, int]) -> dict[str, int]:
    """Guess that the tag is the first column of short texts, and the note the other with the longest text."""
    tag = next((position for position, length in lengths.items() if length <= _MAX_GUESSED_TAG_LENGTH), None)
    note = max((position for position in lengths if position != tag), key=lengths.__getitem__, default=None)
    return {field: position for field, position in (("tag", tag), ("note", note)) if position is not None}


def may_repeat_as_header(header: Sequence[str | None]) -> bool:
    """Return whether later rows equal to `header` repeat it and are no plants, as it names several fields."""
    return sum(1 for cell in header if find_field(cell or "") is not None) > 1


def is_header(first_row: Sequence[str | None], rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether the first row names the columns: it has a known header, or a text above numbers.

    A known header that its column has again below, such as “bed”, is a tag of plants, unless the whole row repeats.
    """
    rows = [row for row in rows if [*row] != [*first_row]] if may_repeat_as_header(first_row) else rows
    below = [[row[index] for row in rows if index < len(row) and row[index]] for index in range(len(first_row))]
    return any(map(_is_heading, first_row, below))


def _is_heading(cell: str | None, texts: Sequence[str | None]) -> bool:
    if find_field(cell or "") and cell not in texts:
        return True
    return bool(cell and texts) and not _is_number(cell) and all(map(_is_number, texts))


def is_id(text: str | None) -> bool:
    """Return whether a text has only the digits 0 to 9, perhaps after a minus and between blanks."""
    digits = (text or "").strip().removeprefix("-")
    return digits.isascii() and digits.isdigit()


def column_letters(position: int) -> str:
    """Return the letters of a spreadsheet column by its position from 0, such as AB for 27."""
    first, last = divmod(position, 26)
    return (column_letters(first - 1) if first else "") + chr(ord("A") + last)


def _is_number(text: str | None) -> bool:
    return bool(text) and is_id(str(text).replace(".", "").replace(",", ""))


def _is_present(column: Column, columns: Iterable[str]) -> bool:
    """Return whether `columns` has all that `column` names."""
    try:
        return bool(_find_positions(column, [*columns]))
    except NoColumnError:
        return False


def _find_positions(column: Column, columns: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of the columns that `column` names, by their headers. Raises NoColumnError."""
    if isinstance(column, int):
        return (column,)
    if isinstance(column, tuple):
        return tuple(dict.fromkeys(_find_positions(name, columns)[0] for name in column))
    names = [normalize_header(name) for name in columns]
    if column in columns:
        return (columns.index(column),)
    if normalize_header(column) in names:
        return (names.index(normalize_header(column)),)
    if "+" in column:
        return _find_positions(tuple(column.split("+")), columns)
    raise NoColumnError(columns, column)
