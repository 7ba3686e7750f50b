"""Joins a name from columns such as Genus, Species and Cultivar, as in lists of botanical gardens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from enum import IntEnum, auto

#: The most characters of a header that are compared.
_MAX_HEADER_LENGTH = 100
#: Headers of vernacular names. A name joined from parts is preferred, as it distinguishes plants.
_VERNACULAR = (
    "common name|common names|vernacular name|vernacular names|deutscher name|trivialname|nom commun|nom vernaculaire"
    "|nom francais|nombre comun|nombre vulgar"
)
#: Headers of the epithet of a species, or, beside a column of the species, of an epithet below it.
_EPITHETS = frozenset(("epithet", "epitheton", "epithete", "epiteto"))
#: Words for ranks, Darwin Core's taxonRank included, and their abbreviations before an epithet.
_RANK_WORDS = {
    **dict.fromkeys(("subspecies", "subsp", "ssp", "unterart", "sous-espece", "sous-espèce", "subespecie"), "subsp."),
    **dict.fromkeys(("variety", "varietas", "var", "varietät", "variete", "variété", "variedad"), "var."),
    **dict.fromkeys(("form", "forma", "forme", "fo", "f"), "f."),
    **dict.fromkeys(("subvariety", "subvarietas", "subvar"), "subvar."),
    **dict.fromkeys(("subform", "subforma", "subf"), "subf."),
    **dict.fromkeys(("infraspecific name", "infraspecific_name", "unranked", "sp", "species", "genus", "family"), ""),
    **dict.fromkeys(("hybrid", "nothospecies", "section", "series", "subgenus", "tribe", "order", "class"), ""),
}
#: Words for the rank of a cultivar. Cultivars are written in quotes.
_CULTIVAR_RANKS = frozenset(("cultivar", "cv", "sorte", "kultivar"))
#: Words in a column of ranks that mean nothing without an epithet; others, such as “agg.”, belong to the name.
_RANKS_ALONE = _RANK_WORDS.keys() | _CULTIVAR_RANKS
#: Texts of cells that mean an empty cell.
_EMPTY_WORDS = frozenset(("-", "--", "–", "—", "?", "n/a", "#n/a", "na", "none", "null", "nil", "unknown", "unbekannt"))
#: Texts of cells that mean no hybrid.
_NOT_HYBRID_WORDS = _EMPTY_WORDS | {"no", "n", "false", "0", "nein", "non", "falsch", "faux", "falso"}
_HYBRID_SIGNS = frozenset("x×")
#: The letter x before a name, instead of the sign of a hybrid.
_LETTER_X = re.compile("^[xX] ")
_CV_PREFIX = re.compile(r"^cv\.? ", re.IGNORECASE)
_QUOTES = "'\"‘’“”„‚´`«»"
_QUOTED = re.compile(rf"[{_QUOTES}].*[{_QUOTES}]")


class Part(IntEnum):
    """The parts of a name that a column may have, in the order of the name."""

    GENUS = auto()
    HYBRID = auto()
    SPECIES = auto()
    SUBSPECIES = auto()
    RANK = auto()
    EPITHET = auto()
    #: A botanical variety or a cultivar, as “Variety” means either.
    VARIETY = auto()
    FORM = auto()
    CULTIVAR = auto()


#: Headers of the parts, separated by `|`, as in `columns.HEADERS`.
_HEADERS = {
    Part.GENUS: "genus|genus name|generic name|gattung|gattungsname|genre|genero|genere|geslacht|slakte|slægt|slekt"
    "|rodzaj|rod|suku",
    Part.HYBRID: "hybrid|hybrid sign|species hybrid|species hybrid marker|hybride|hybridzeichen|hibrido|signe hybride",
    Part.SPECIES: "species|sp|species name|species epithet|specific epithet|epithet|pflanzenart|art|artname"
    "|artepitheton|epitheton"
    "|espece|nom d'espece|epithete|epithete specifique|especie|epiteto|epiteto especifico|specie|soort"
    "|gatunek|faj|laji",
    Part.SUBSPECIES: "subspecies|subsp|ssp|unterart|sous espece|subespecie",
    Part.RANK: "infraspecific rank|infrasp rank|infra rank|rank|taxon rank|verbatim taxon rank"
    "|infraspezifischer rang|rangstufe|rang|rang infraspecifique|rango|rango infraespecifico",
    Part.EPITHET: "infraspecific epithet|infrasp epithet|infraspecific name|infraspecific|infraspecies|infra epithet"
    "|infraspezifisches epitheton|epithete infraspecifique|epiteto infraespecifico",
    Part.VARIETY: "variety|varietas|var|varietat|variete|variedad",
    Part.FORM: "forma",
    Part.CULTIVAR: "cultivar|cultivar name|cultivar epithet|cv|kultivar|sorte|sorten|sortenname|nom du cultivar",
}
#: The ranks written before an epithet if only its header says them.
_RANKS = {Part.SUBSPECIES: "subsp.", Part.VARIETY: "var.", Part.FORM: "f."}


def normalize_header(header: str) -> str:
    """Return a header without case, accents, punctuation, spare blanks, and a leading # or dwc: (Darwin Core)."""
    letters = unicodedata.normalize("NFKD", header[:_MAX_HEADER_LENGTH]).casefold()
    base = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(base.replace("_", " ").replace("-", " ").replace(".", " ").strip("# ").removeprefix("dwc:").split())


def _split_headers(headers: str) -> list[str]:
    return headers.replace(" ", "").split("|")


_PARTS_BY_HEADER = {header: part for part, headers in _HEADERS.items() for header in _split_headers(headers)}
_PARTIAL_NAME_HEADERS = {*_PARTS_BY_HEADER, *_split_headers(_VERNACULAR)}


def make_header_key(header: str) -> str:
    """Return the normalized header as one word: “Scientific name” becomes “scientificname”."""
    return normalize_header(header).replace(" ", "")


def find_parts(headers: Sequence[str]) -> list[Part | None]:
    """Return the part of a name, or None, for each of these headers."""
    words = [*map(make_header_key, headers)]
    parts = [*map(_PARTS_BY_HEADER.get, words)]
    if any(part is Part.SPECIES and word not in _EPITHETS for part, word in zip(parts, words, strict=True)):
        parts = [Part.EPITHET if word in _EPITHETS else part for part, word in zip(parts, words, strict=True)]
    if Part.SUBSPECIES in parts:  # elsewhere, a form may be a growth form: tree, shrub
        parts = [Part.FORM if word == "form" else part for part, word in zip(parts, words, strict=True)]
    return parts


def is_whole_name(header: str) -> bool:
    """Return whether a header of a name means the whole botanical name."""
    return make_header_key(header) not in _PARTIAL_NAME_HEADERS


def find_name_columns(headers: Sequence[str], taken: Container[int] = ()) -> tuple[int, ...]:
    """Return the positions of genus and other parts, in the order of the name; empty if one of the two is missing."""
    positions: dict[Part, int] = {}
    for position, part in enumerate(find_parts(headers)):
        if part is not None and position not in taken:
            positions.setdefault(part, position)
    has_name = Part.GENUS in positions and len(positions) > 1
    return tuple(positions[part] for part in sorted(positions)) if has_name else ()


def find_cultivar_column(headers: Sequence[str], taken: Container[int]) -> int | None:
    """Return the position of the column of cultivars, otherwise of varieties, to be joined to whole names; or None."""
    parts = [None if position in taken else part for position, part in enumerate(find_parts(headers))]
    return next((parts.index(part) for part in (Part.CULTIVAR, Part.VARIETY) if part in parts), None)


def repeats_genus(rows: Sequence[Sequence[str | None]], columns: Sequence[int]) -> bool:
    """Return whether most species begin with the genus; `columns` begins with genus and species."""
    cells = ([row[position] if position < len(row) else None for position in columns[:2]] for row in rows)
    pairs = [(genus.casefold(), species.casefold()) for genus, species in cells if genus and species]
    return 2 * sum(1 for genus, species in pairs if species.startswith(genus)) > len(pairs)


def in_name_order(columns: Sequence[int], headers: Sequence[str]) -> Sequence[int]:
    """Return the positions in the order of the name, if all headers are known; otherwise unchanged."""
    known_parts = find_parts(headers)
    parts = {position: part for position in columns if (part := known_parts[position]) is not None}
    return sorted(columns, key=parts.__getitem__) if len(parts) == len(columns) else columns


def join_names(
    rows: Iterable[Sequence[str | None]], headers: Sequence[str], columns: Sequence[int]
) -> Iterator[str | None]:
    """Yield the name of each row, joined from these columns, or None."""
    known_parts = find_parts(headers)
    parts = [known_parts[position] if position < len(headers) else None for position in columns]
    for row in rows:
        yield join_name([row[position] if position < len(row) else None for position in columns], parts)


def join_name(cells: Sequence[str | None], parts: Sequence[Part | None]) -> str | None:
    """Return the name in the cells of its parts; the cell of an unknown part (None) is written as it is.

    None if the cell of the genus, or all cells, are empty. Other empty cells are skipped. A cell may repeat the
    cells before it, as in `Acer` and `Acer palmatum`: this is skipped, too.
    """
    name = rank = sign = ""
    has_epithet = any(_clean_text(cell) for cell, part in zip(cells, parts, strict=True) if part is Part.EPITHET)
    for cell, part in zip(cells, parts, strict=True):
        text = _without_repeated(name, _clean_text(cell), part)
        if not text and part is Part.GENUS:
            return None
        if not text or (part is Part.RANK and (has_epithet or _normalize_rank(text) in _RANKS_ALONE)):
            rank = text or rank
        elif part is Part.HYBRID:
            sign = "" if text.casefold() in _NOT_HYBRID_WORDS else "× "
        else:
            written = _format_part(text, part, rank, name, is_whole=None in parts[:1])
            if part is Part.SPECIES:
                written = sign + written
            name = f"{name} {written}".strip().replace("× ×", "×")
    return name or None


def _clean_text(cell: str | None) -> str:
    """Return the text of a cell with single blanks; an empty one for a word such as “none”."""
    text = " ".join((cell or "").split())
    return "" if text.casefold() in _EMPTY_WORDS else text


def _without_repeated(name: str, text: str, part: Part | None) -> str:
    """Return the text of a part without the `name` so far, if it begins with that; signs of hybrids do not count.

    A cultivar may begin with the genus, as ‘Rosa Mundi’: it loses the genus only if the rest is in quotes.
    """
    name_words = _split_words(name)
    words = _split_words(text)
    if name_words and words[:1] == [f"{name_words[0][0]}."]:  # A. palmatum, below Acer
        words = [name_words[0], *words[1:]]
        text = " ".join([name_words[0], *text.split()[1:]])
    if not name_words or words[: len(name_words)] != name_words or (words == name_words and text != name):
        return text
    rest = _skip_words(text, len(name_words))
    is_cultivar = part in {Part.CULTIVAR, Part.VARIETY} and len(name_words) == 1 and not _QUOTED.match(rest)
    return text if is_cultivar else rest


def _split_words(text: str) -> list[str]:
    return [word.casefold() for word in text.split() if word not in _HYBRID_SIGNS]


def _skip_words(text: str, count: int) -> str:
    """Return the text after `count` words, not counting signs of hybrids."""
    words = text.split()
    ends = [position for position, word in enumerate(words, 1) if word not in _HYBRID_SIGNS]
    return " ".join(words[ends[count - 1] :])


def _format_part(text: str, part: Part | None, rank: str, name: str, *, is_whole: bool) -> str:
    """Return a part as written after the `name` so far; empty if the name has it already."""
    if part in {None, Part.GENUS, Part.SPECIES, Part.RANK}:
        return text if part in {None, Part.RANK} else _LETTER_X.sub("× ", text)
    first, _, rest = text.partition(" ")
    rank_word = _normalize_rank(rank)
    own_rank = _RANK_WORDS.get(_normalize_rank(first))
    is_cultivar = part is Part.CULTIVAR or rank_word in _CULTIVAR_RANKS
    if is_cultivar or (part is Part.VARIETY and own_rank is None and not text[0].islower()):
        return _format_cultivar(text, name, is_whole=is_whole)
    if own_rank is not None:
        return _format_epithet(rest, own_rank, name)
    return _format_epithet(text, _RANKS.get(part, _RANK_WORDS.get(rank_word, rank)), name)


def _format_epithet(epithet: str, rank: str, name: str) -> str:
    """Return an epithet with its rank; empty if the name has the epithet already."""
    return f"{rank} {epithet}".strip() if epithet and epithet not in name.split()[2:] else ""


def _normalize_rank(rank: str) -> str:
    return rank.casefold().removesuffix(".")


def _format_cultivar(text: str, name: str, *, is_whole: bool) -> str:
    """Return a cultivar in quotes; empty if the name has it already, perhaps without quotes."""
    text = _CV_PREFIX.sub("", text)
    is_quoted = _QUOTED.search(text)
    unquoted = text.strip(_QUOTES) if is_quoted else text
    if any(f"{quote}{unquoted}".casefold() in name.casefold() for quote in _QUOTES):
        return ""
    if is_whole and re.search(rf"\b{re.escape(unquoted)}\b", name, re.IGNORECASE):
        return ""
    is_group = text.endswith((" Group", " Gp", " Grex", "-Gruppe"))  # groups are not in quotes
    return text if is_group or (is_quoted and not _QUOTED.fullmatch(text)) else f"‘{unquoted}’"
