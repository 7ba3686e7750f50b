"""Fuzzes the readers of files, or of a body of the API, with Atheris, guided by the coverage of their code.

    python3 packaging/dev.py fuzz files|json [SECONDS]

Begins with the small texts of the corpus and with what earlier runs found, in .dev/fuzz. Whatever a file holds, reading
it may raise nothing but PlantDeskError; a body is accepted if, and only if, Python's `json` reads it as an object whose
members are named once. An input that breaks this is written to .dev/fuzz and becomes a test.
"""

import io
import json
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["plantdesk"]):
    from plantdesk.domain.errors import PlantDeskError
    from plantdesk.domain.strict_json import parse_object
    from plantdesk.transfer.formats import SUFFIXES, Format
    from plantdesk.transfer.inputs import ReadOptions, open_text
    from plantdesk.transfer.reading import RowReader
    from plantdesk.transfer.text import TextFile

from tests.corpus.__main__ import entries
from tests.corpus.packages import UnreachableError, unpacked
from tests.support.pasting import pasted_plants

_FOLDER = Path(__file__).parents[1] / ".dev" / "fuzz"
_LONGEST = 4096
#: The first byte of an input names one of them; behind them, a text is pasted.
_FORMS = (Format.CSV, Format.TSV, Format.JSON, Format.JSON_LINES)


def read_file(data: bytes) -> None:
    """Read a file of any text format, or a pasted text."""
    form, content, reading = data[0] % (len(_FORMS) + 1) if data else 0, data[1:], ReadOptions()
    with suppress(PlantDeskError):
        if form == len(_FORMS):
            pasted_plants(content.decode(errors="replace"), 100)
            return
        file = open_text(_FORMS[form], TextFile(io.BytesIO(content), "file", lambda _size: None), reading)
        deque(RowReader(file, 1, reading.columns, lambda _row: None).read_plants(), maxlen=0)


def read_json(data: bytes) -> None:
    """Compare the reader of bodies with Python's."""
    objects: list[list[tuple[str, object]]] = []
    is_object = is_accepted = False
    with suppress(ValueError, RecursionError):
        json.loads(data.decode(), object_pairs_hook=objects.append, parse_constant=int, parse_int=str, parse_float=str)
        is_object = data.lstrip()[:1] == b"{" and len(dict(objects[-1])) == len(objects[-1])
    with suppress(PlantDeskError):
        parse_object(data)
        is_accepted = True
    assert is_accepted is is_object


def seeds(target: str) -> Iterator[bytes]:
    """Yield the first inputs."""
    for entry in entries():
        form = SUFFIXES.get(Path(entry.path).suffix.lower())
        if form in _FORMS and (target == "files" or form is Format.JSON_LINES):
            try:
                content = (unpacked(entry.package) / entry.path).read_bytes()[:_LONGEST]
            except UnreachableError:
                continue
            yield bytes([_FORMS.index(form)]) + content if target == "files" else content.partition(b"\n")[0]


def main(target: str, seconds: str = "60") -> None:
    """Fuzz until the time is over; exits with another code than 0 where it finds something."""
    folder = _FOLDER / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(target)):
        (folder / f"seed-{number}").write_bytes(seed)
    options = [f"-max_total_time={seconds}", f"-max_len={_LONGEST}", f"-artifact_prefix={folder}-", str(folder)]
    atheris.Setup([sys.argv[0], *options], {"files": read_file, "json": read_json}[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
