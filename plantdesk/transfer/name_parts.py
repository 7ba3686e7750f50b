"""Joins a name from columns such as Genus, Species and Cultivar, as in lists of botanical gardens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from enum import IntEnum, auto

#: The most characters of a header that are compared.
_LONGEST = 100
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
_CULTIVARS = frozenset(("cultivar", "cv", "sorte", "kultivar"))
#: Words in a column of ranks that mean nothing without an epithet; others, such as “agg.”, belong to the name.
_RANKS_ALONE = _RANK_WORDS.keys() | _CULTIVARS
#: Texts of cells that mean an empty cell.
_NOTHING = frozenset(("-", "--", "–", "—", "?", "n/a", "#n/a", "na", "none", "null", "nil", "unknown", "unbekannt"))
#: Texts of cells that mean no hybrid.
_NO = _NOTHING | {"no", "n", "false", "0", "nein", "non", "falsch", "faux", "falso"}
_SIGNS = frozenset("x×")
#: The letter x before a name, instead of the sign of a hybrid.
_LETTER_X = re.compile("^[xX] ")
_CV = re.compile(r"^cv\.? ", re.IGNORECASE)
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


def normalized_header(header: str) -> str:
    """Return a header without case, accents, punctuation, spare blanks, and a leading # or dwc: (Darwin Core)."""
    letters = unicodedata.normalize("NFKD", header[:_LONGEST]).casefold()
    base = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(base.replace("_", " ").replace("-", " ").replace(".", " ").strip("# ").removeprefix("dwc:").split())


def _joined(headers: str) -> list[str]:
    return headers.replace(" ", "").split("|")


_PART_OF = {header: part for part, headers in _HEADERS.items() for header in _joined(headers)}
_NO_WHOLE_NAME = {*_PART_OF, *_joined(_VERNACULAR)}


def header_key(header: str) -> str:
    """Return the normalized header as one word: “Scientific name” becomes “scientificname”."""
    return normalized_header(header).replace(" ", "")


def parts_of(headers: Sequence[str]) -> list[Part | None]:
    """Return the part of a name, or None, for each of these headers."""
    words = [*map(header_key, headers)]
    parts = [*map(_PART_OF.get, words)]
    if any(part is Part.SPECIES and word not in _EPITHETS for part, word in zip(parts, words, strict=True)):
        parts = [Part.EPITHET if word in _EPITHETS else part for part, word in zip(parts, words, strict=True)]
    if Part.SUBSPECIES in parts:  # elsewhere, a form may be a growth form: tree, shrub
        parts = [Part.FORM if word == "form" else part for part, word in zip(parts, words, strict=True)]
    return parts


def is_whole_name(header: str) -> bool:
    """Return whether a header of a name means the whole botanical name."""
    return header_key(header) not in _NO_WHOLE_NAME


def find_name_columns(headers: Sequence[str], taken: Container[int] = ()) -> tuple[int, ...]:
    """Return the positions of a genus and at least one other part, in the order of the name, or none."""
    positions: dict[Part, int] = {}
    for at, part in enumerate(parts_of(headers)):
        if part is not None and at not in taken:
            positions.setdefault(part, at)
    has_name = Part.GENUS in positions and len(positions) > 1
    return tuple(positions[part] for part in sorted(positions)) if has_name else ()


def find_cultivar_column(headers: Sequence[str], taken: Container[int]) -> int | None:
    """Return the position of the cultivars, or varieties, that follow the names in another column, or None."""
    parts = [None if at in taken else part for at, part in enumerate(parts_of(headers))]
    return next((parts.index(part) for part in (Part.CULTIVAR, Part.VARIETY) if part in parts), None)


def repeats_genus(rows: Sequence[Sequence[str | None]], columns: Sequence[int]) -> bool:
    """Return whether most species begin with the genus; they are in the first two columns of the name."""
    cells = ([row[at] if at < len(row) else None for at in columns[:2]] for row in rows)
    pairs = [(genus.casefold(), species.casefold()) for genus, species in cells if genus and species]
    return 2 * sum(1 for genus, species in pairs if species.startswith(genus)) > len(pairs)


def in_name_order(columns: Sequence[int], headers: Sequence[str]) -> Sequence[int]:
    """Return the positions in the order of the name, if all headers are known; otherwise unchanged."""
    meant = parts_of(headers)
    parts = {at: part for at in columns if (part := meant[at]) is not None}
    return sorted(columns, key=parts.__getitem__) if len(parts) == len(columns) else columns


def joined_names(
    rows: Iterable[Sequence[str | None]], headers: Sequence[str], columns: Sequence[int]
) -> Iterator[str | None]:
    """Yield the name of each row, joined from these columns, or None."""
    meant = parts_of(headers)
    parts = [meant[at] if at < len(headers) else None for at in columns]
    for row in rows:
        yield joined_name([row[at] if at < len(row) else None for at in columns], parts)


def joined_name(cells: Sequence[str | None], parts: Sequence[Part | None]) -> str | None:
    """Return the name in the cells of its parts; the cell of an unknown part (None) is written as it is.

    None if the cell of the genus, or all cells, are empty. Other empty cells are skipped. A cell may repeat the
    cells before it, as in `Acer` and `Acer palmatum`: this is skipped, too.
    """
    name = rank = sign = ""
    has_epithet = any(_text(cell) for cell, part in zip(cells, parts, strict=True) if part is Part.EPITHET)
    for cell, part in zip(cells, parts, strict=True):
        text = _without_repeated(name, _text(cell), part)
        if not text and part is Part.GENUS:
            return None
        if not text or (part is Part.RANK and (has_epithet or _plain_rank(text) in _RANKS_ALONE)):
            rank = text or rank
        elif part is Part.HYBRID:
            sign = "" if text.casefold() in _NO else "× "
        else:
            written = _written_part(text, part, rank, name, is_whole=None in parts[:1])
            if part is Part.SPECIES:
                written = sign + written
            name = f"{name} {written}".strip().replace("× ×", "×")
    return name or None


def _text(cell: str | None) -> str:
    """Return the text of a cell with single blanks; an empty one for a word such as “none”."""
    text = " ".join((cell or "").split())
    return "" if text.casefold() in _NOTHING else text


def _without_repeated(name: str, text: str, part: Part | None) -> str:
    """Return a text without the name so far if it begins with that, whatever signs of hybrids are in either.

    A cultivar may begin with the genus, as ‘Rosa Mundi’; then only a quoted rest is without it.
    """
    begun = _words(name)
    words = _words(text)
    if begun and words[:1] == [f"{begun[0][0]}."]:  # A. palmatum, below Acer
        words = [begun[0], *words[1:]]
        text = " ".join([begun[0], *text.split()[1:]])
    if not begun or words[: len(begun)] != begun or (words == begun and text != name):
        return text
    rest = _words_after(text, len(begun))
    is_cultivar = part in {Part.CULTIVAR, Part.VARIETY} and len(begun) == 1 and not _QUOTED.match(rest)
    return text if is_cultivar else rest


def _words(text: str) -> list[str]:
    return [word.casefold() for word in text.split() if word not in _SIGNS]


def _words_after(text: str, count: int) -> str:
    """Return the text after `count` words, not counting signs of hybrids."""
    words = text.split()
    ends = [at for at, word in enumerate(words, 1) if word not in _SIGNS]
    return " ".join(words[ends[count - 1] :])


def _written_part(text: str, part: Part | None, rank: str, name: str, *, is_whole: bool) -> str:
    """Return a part as written after the `name` so far; empty if the name has it already."""
    if part in {None, Part.GENUS, Part.SPECIES, Part.RANK}:
        return text if part in {None, Part.RANK} else _LETTER_X.sub("× ", text)
    first, _, rest = text.partition(" ")
    rank_word = _plain_rank(rank)
    own_rank = _RANK_WORDS.get(_plain_rank(first))
    is_cultivar = part is Part.CULTIVAR or rank_word in _CULTIVARS
    if is_cultivar or (part is Part.VARIETY and own_rank is None and not text[0].islower()):
        return _cultivar(text, name, is_whole=is_whole)
    if own_rank is not None:
        return _below_species(rest, own_rank, name)
    return _below_species(text, _RANKS.get(part, _RANK_WORDS.get(rank_word, rank)), name)


def _below_species(epithet: str, rank: str, name: str) -> str:
    """Return an epithet with its rank; empty if the name has the epithet already."""
    return f"{rank} {epithet}".strip() if epithet and epithet not in name.split()[2:] else ""


def _plain_rank(rank: str) -> str:
    return rank.casefold().removesuffix(".")


def _cultivar(text: str, name: str, *, is_whole: bool) -> str:
    """Return a cultivar in quotes; empty if the name has it already, perhaps without quotes."""
    text = _CV.sub("", text)
    is_quoted = _QUOTED.search(text)
    bare = text.strip(_QUOTES) if is_quoted else text
    if any(f"{quote}{bare}".casefold() in name.casefold() for quote in _QUOTES):
        return ""
    if is_whole and re.search(rf"\b{re.escape(bare)}\b", name, re.IGNORECASE):
        return ""
    is_group = text.endswith((" Group", " Gp", " Grex", "-Gruppe"))  # groups are not in quotes
    return text if is_group or (is_quoted and not _QUOTED.fullmatch(text)) else f"‘{bare}’"
