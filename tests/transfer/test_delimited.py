"""Rows of CSV files, whatever the pieces in which they are read."""

import io
import tracemalloc
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plantdesk.transfer import text
from plantdesk.transfer.delimited import DelimitedTable
from plantdesk.transfer.text import FileError, TextFile
from tests.support.cases import cases

Rows = list[tuple[int, list[str | None]]]

CELLS = st.sampled_from(
    ["1", "Aster", "bed 4", "", '""', '"a, b"', '"a ""b"""', '"two\nlines"', 'x"y', " ", "Röse", "'"]
)
LINES = st.lists(st.tuples(st.lists(CELLS, max_size=4).map(",".join), st.sampled_from(["\n", "\r\n"])), max_size=30)


def rows_of(content: str, piece: int) -> Rows | str:
    """Read a file in pieces of so many bytes; return its rows with their lines, or the message why it is refused."""
    rows: Rows = []
    with mock.patch.object(text, "_READ_SIZE", piece):
        try:
            table = DelimitedTable(
                TextFile(io.BytesIO(content.encode()), "a.csv", lambda _size: None, "utf-8"), ",", '"'
            )
            for batch in table.read_batches():
                assert all(row.error is None or "is not doubled" in str(row.error) for row in batch.rows)
                rows += ((row.line, _without_blanks([*row.cells])) for row in batch.rows)
        except FileError as error:
            return str(error)
    return rows


def read_all(stream: io.BytesIO) -> list[list[str | None]]:
    table = DelimitedTable(TextFile(stream, "a.csv", lambda _size: None, "utf-8"), ",", '"')
    return [list(row.cells) for batch in table.read_batches() for row in batch.rows]


def _without_blanks(row: list[str | None]) -> list[str | None]:
    """Return an empty list for a blank row, however its line was read."""
    return row if any(cell is not None for cell in row) else []


@cases(200)
@given(lines=LINES, piece=st.integers(5, 60))
def test_pieces_of_any_size_give_the_same_rows(lines: list[tuple[str, str]], piece: int) -> None:
    content = "id,name,tag\n" + "".join(line + end for line, end in lines)
    assert rows_of(content, piece) == rows_of(content, 1_000_000)


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ("3,c,", [3, "3", "c", None]),
        ("3,c", [3, "3", "c"]),
        ("3,c,d,e", [3, "3", "c", "d", "e"]),
        ("3,c\r", [3, "3", "c"]),
        ('3,"c" ,d', [3, "3", "c", "d"]),
        ('3,"c ""x"" "  ,"" ', [3, "3", 'c "x" ', ""]),
        ('3,"c"d,e', [3]),
        ('3,"c \\"x\\" d",e', [3]),
        ("3,c\0,d", "line 3: It has a NUL character"),
        ('3,"c,d', "line 3: In column 2 a quote is opened and not closed"),
        ('3,"c",""', [3, "3", "c", ""]),
    ],
)
def test_odd_lines_are_read_or_reported(lines: str, last: list[object] | str) -> None:
    rows = rows_of(f"id,name,tag\n2,b,x\n{lines}\n4,d,y\n", 18)
    if isinstance(last, str):
        assert isinstance(rows, str)
        assert last in rows
    else:
        assert rows[2] == (last[0], last[1:])
        assert rows[3] == (4, ["4", "d", "y"])


def test_a_quote_that_is_not_closed_is_found_without_reading_all() -> None:
    stream = io.BytesIO(b'id,name\n1,a\n2,"b' + (b"x" * 999 + b"\n") * 8000)
    with pytest.raises(FileError, match="line 3: In column 2 a quote is opened and not closed"):
        read_all(stream)
    assert stream.tell() < 5_000_000


def test_a_text_of_very_many_lines_is_read_in_the_memory_of_its_characters() -> None:
    count = 200_000
    content = 'id,name,tag\n2,"b ""\n' + "é\n" * count + '","",\n4,d,y\n'
    tracemalloc.start()
    try:
        rows = read_all(io.BytesIO(content.encode()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows == [["id", "name", "tag"], ["2", 'b "\n' + "é\n" * count, "", None], ["4", "d", "y"]]
    assert peak < 12_000_000
