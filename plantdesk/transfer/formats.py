"""The file formats, and the fields of a plant in a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path, PurePath

from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.texts import Text

#: The first characters that make a spreadsheet take a cell for a formula (OWASP, “CSV Injection”).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
#: The fields that an export has; an import reads the first four, the others are the store's own.
EXPORTED_FIELDS = ("id", "name", "tag", "note", "added_at", "source")
#: The file name that stands for standard input and output.
STANDARD_STREAM = "-"
_COMPRESSED = Text("It is compressed: unpack it first.")
_SAVE_AS_WORKBOOK = Text("Save it as an Excel workbook (.xlsx) or as CSV.")
_SAVE_AS_TEXT = Text("Save it as CSV or JSON.")
#: Advice for files of other formats, by their suffixes.
_ADVICE = {
    **dict.fromkeys((".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".rar"), _COMPRESSED),
    **dict.fromkeys((".parquet", ".feather", ".arrow", ".rds", ".rda", ".rdata", ".sav"), _SAVE_AS_TEXT),
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".fods", ".numbers", ".gnumeric", ".md"), _SAVE_AS_WORKBOOK),
}


class Format(StrEnum):
    """A format of a file of plants."""

    CSV = "csv"
    #: CSV for Excel; it differs only on export.
    EXCEL = "excel"
    TSV = "tsv"
    JSON = "json"
    JSON_LINES = "jsonl"
    #: An Excel workbook.
    XLSX = "xlsx"
    #: The file of a PlantDesk store; only for import.
    STORE = "db"


#: The format of each suffix.
SUFFIXES = {
    ".csv": Format.CSV,
    ".txt": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".xlsx": Format.XLSX,
    ".xlsm": Format.XLSX,
    ".db": Format.STORE,
}
#: The formats that an export writes.
EXPORT_FORMATS = tuple(file_format for file_format in Format if file_format is not Format.STORE)


class UnknownFormatError(PlantDeskError):
    """Neither the name of a file nor an option says its format."""

    text = Text("The format of “{name}” is not known by its name. {advice}")

    def __init__(self, name: str, possible: Iterable[Format]) -> None:
        endings = ", ".join(f".{file_format}" for file_format in possible if f".{file_format}" in SUFFIXES)
        choice = Text("Give it a name that ends with {endings}; commands also take --format.", endings=endings)
        super().__init__(name=name, advice=_ADVICE.get(PurePath(name).suffix.lower(), choice))


def find_format(file: Path, requested: Format | None, possible: Collection[Format] = tuple(Format)) -> Format:
    """Return the format `requested`, or the one of the suffix of `file`. Raises UnknownFormatError."""
    file_format = requested or SUFFIXES.get(file.suffix.lower())
    if file_format is None or file_format not in possible:
        raise UnknownFormatError("-" if str(file) == STANDARD_STREAM else file.name, possible)
    return file_format
