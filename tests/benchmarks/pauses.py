"""How long parsers keep other threads waiting, as the GIL is held: `python -m tests.benchmarks.pauses [TEXT]`.

Each parser gets hostile texts of 1 MB, while another thread ticks every millisecond. Prints the longest pause of that
thread for each parser, in milliseconds, and the text that caused it; exit code 1 if one is longer than 50 ms. A pause
counts as the shortest of three runs, since the machine may be busy. TEXT selects parsers by name. As in the programs,
what the start has made is not scanned for garbage.
"""

from __future__ import annotations

import contextlib
import gc
import socket
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plantdesk.api.server import Server
from plantdesk.domain.errors import PlantDeskError
from plantdesk.domain.server_state import On
from plantdesk.domain.strict_json import parse_object
from plantdesk.platform import settings
from plantdesk.store.sqlite.store import Store
from plantdesk.transfer.files import file_source
from plantdesk.transfer.formats import Format
from plantdesk.transfer.inputs import Reading, opened, rows_of
from tests.transfer.test_linear_time import READERS, read

if TYPE_CHECKING:
    from typing import Self

_SIZE = 1_000_000
#: What a QLineEdit holds; commands search in a process of their own.
_SEARCH_SIZE = 32_767
_MOST = 0.05
_TICK = 0.001
_RUNS = 3
#: What a text repeats between a beginning and an end.
_TEXTS = {
    "quotes": ("", '"', ""),
    "open quote": ('name\n"', "a", ""),
    "doubled quotes": ('name\n"', '""', '"\n'),
    "pipes": ("a|b\n-|-\n", "|", "\n"),
    "pipes in the header": ("", "|", "\n-|-\n"),
    "backslashes": ("name\n", "\\", ""),
    "brackets": ("name\n", "[", ""),
    "nested arrays": ("[", "[", ""),
    "objects": ("[", '{"name":"a"},', "{}]"),
    "members": ("[{", '"a":1,', '"name":"b"}]'),
    "array in a member": ('{"id":1,"name":"a","x":[', "1,", "1]}"),
    "objects in a member": ('{"id":1,"name":"a","x":[', '{"a":1},', "1]}"),
    "numbers in a member": ('{"id":1,"name":"a","x":[', "1.5,", "1]}"),
    "arrays in a member": ('{"id":1,"name":"a","x":[', "[1.5],", "1]}"),
    "deep arrays in a member": ('{"id":1,"name":"a","x":[', f"{'[' * 20}{']' * 20},", "1]}"),
    "open arrays in a member": ('{"id":1,"name":"a","x":', "[", ""),
    "objects in an item": ('[{"id":1,"name":"a","x":[', '{"a":{}},', "1]}]"),
    "one long line": ("name\n", "a", "\n"),
    "many lines": ("name\n", "a\n", ""),
    "empty lines": ("name\n", "\n", "a"),
    "commas": ("name\n", ",", "\n"),
    "rows of commas": ("name,b\n", "a,b\n", ""),
    "digits": ('{"id":', "9", "}"),
    "escapes": ('{"name":"', "\\u0041", '"}'),
    "entities": ("#html:true\nname\n", "&amp;", "\n"),
    "CR": ("name\n", "a\rb", "\n"),
    "tabs": ("name\n", "\t", "\n"),
    "tags": ("", "tag:a ", ""),
    "accents": ("name\n", "é", "\n"),
}
_ROW = '<row><c t="inlineStr"><is><t>name</t></is></c></row>'
_SHEETS = {
    "text": (f"{_ROW}<row><c t='inlineStr'><is><t>", "a", "</t></is></c></row>"),
    "entities": (f"{_ROW}<row><c t='inlineStr'><is><t>", "&amp;", "</t></is></c></row>"),
    "runs": (f"{_ROW}<row><c t='inlineStr'><is>", "<t>a</t>", "</is></c></row>"),
    "attributes": (f"{_ROW}<row x='", "a", "'/>"),
    "many attributes": (f"{_ROW}<row>", "<c a='1' b='2'/>", "</row>"),
    "rows": (_ROW, "<row/>", ""),
}


#: Requests, which the server refuses early.
_REQUESTS = {
    "url": ("GET /", "a", " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "escaped url": ("GET /", "%41", " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "query": ("GET /plants?", "a=b&", " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "method": ("", "A", " / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "header line": ("GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "a", "\r\n\r\n"),
    "header name": ("GET / HTTP/1.1\r\nHost: localhost\r\n", "a", ": b\r\n\r\n"),
    "header lines": ("GET / HTTP/1.1\r\nHost: localhost\r\n", "a: b\r\n", "\r\n"),
    "hosts": ("GET / HTTP/1.1\r\n", "Host: localhost\r\n", "\r\n"),
    "blank lines": ("", "\r\n", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "chunks": (
        "POST /plants HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
        "1\r\na\r\n",
        "0\r\n\r\n",
    ),
    "requests": ("", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"),
}
_CONTENTS = {"sheet": _SHEETS, "http": _REQUESTS}


class Ticker:
    """Measures the longest pause of a thread while the block runs."""

    def __enter__(self) -> Self:
        self.longest = 0.0
        self._is_ended = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._is_ended = True
        self._thread.join()

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._is_ended:
            time.sleep(_TICK)
            now = time.perf_counter()
            self.longest = max(self.longest, now - last - _TICK)
            last = now


def _repeated(before: str, unit: str, after: str, size: int) -> str:
    return before + unit * (size // len(unit)) + after


def _sheet(folder: Path, text: str) -> None:
    """Read a sheet with this content."""
    file = folder / "a.xlsx"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{packages}"><Relationship Id="a" Type="{relation}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relation}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="b"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{packages}"><Relationship Id="b" '
        f'Type="{relation}/worksheet" Target="sheet.xml"/></Relationships>',
        "xl/sheet.xml": f'<worksheet xmlns="{main}"><sheetData>{text}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with opened(file_source(file), Reading()) as table:
        for _ in rows_of(table, 1, Reading().columns, lambda _: None)[1]:
            pass


def _settings(folder: Path, text: str) -> None:
    file = folder / "settings.json"
    file.write_text(text, encoding="utf-8")
    gc.disable()  # as the window does before it reads them
    with contextlib.redirect_stderr(None):  # it names what is damaged
        settings.load(file)
    gc.enable()


def _send(server: Server, text: str) -> None:
    """Send a text to the server, and read its answers until it ends the connection."""
    state = server.settled()
    with socket.create_connection(("127.0.0.1", state.port if isinstance(state, On) else 0)) as connection:
        sender = threading.Thread(target=_send_all, args=(connection, text.encode()))
        sender.start()
        with contextlib.suppress(ConnectionError):
            while connection.recv(65_536):
                pass
        sender.join()


def _send_all(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):  # it is refused before its end
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def _longest(parse: Callable[[], object]) -> float:
    def once() -> float:
        with Ticker() as ticker, contextlib.suppress(PlantDeskError, OSError, ValueError, RecursionError):
            parse()
        return ticker.longest

    found = once()
    return found if found <= _MOST / 2 else min(found, *(once() for _ in range(_RUNS - 1)))


def main(selected: str = "") -> int:
    """Measure the parsers with this text in their names."""
    wrong = 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(contextlib.closing(Store(folder / "plants.db")))
        server = Server(store)
        stack.callback(server.stop)
        server.start(0)
        readers: dict[str, Callable[[str], object]] = {
            **READERS,
            "tsv": lambda text: read(text, Format.TSV),
            "api body": lambda text: parse_object(text.encode()),
            "settings": lambda text: _settings(folder, text),
            "sheet": lambda text: _sheet(folder, text),
            "http": lambda text: _send(server, text),
        }
        gc.collect()
        gc.freeze()
        for reader, parse in readers.items():
            if selected not in reader:
                continue
            size = _SEARCH_SIZE if reader == "search" else _SIZE
            texts = {key: _repeated(*text, size) for key, text in _CONTENTS.get(reader, _TEXTS).items()}
            pauses = {key: _longest(partial(parse, text)) for key, text in texts.items()}
            wrong += max(pauses.values()) > _MOST
            worst = sorted(pauses.items(), key=lambda each: -each[1])[:4]
            print(f"{reader:18}", ", ".join(f"{pause * 1000:6.1f} {key}" for key, pause in worst), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
