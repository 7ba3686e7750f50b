"""A file with the ids of all plants in an order, read in slices."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, overload

from plantdesk.domain.overrides import override

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

_SIZE = array("q").itemsize


class OrderFile(Sequence[int]):
    """A sequence of ids in one direction. For one thread. Reading raises OSError."""

    def __init__(self, file: BinaryIO, count: int, split: int | None) -> None:
        self._file = file
        self._count = count
        self._split = split

    @override
    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> array[int]: ...
    @override
    def __getitem__(self, row: int | slice) -> int | array[int]:
        if isinstance(row, int):
            return self[row : row + 1][0]
        start, end, _ = row.indices(self._count)
        if self._split is None or start >= end:
            return self._read(start, end)
        part = array("q")
        for low, high in ((0, self._split), (self._split, self._count)):
            first, last = max(start, low), min(end, high)
            if first < last:
                ids = self._read(low + high - last, low + high - first)
                ids.reverse()
                part += ids
        return part

    def _read(self, start: int, end: int) -> array[int]:
        ids = array("q")
        self._file.seek(start * _SIZE)
        ids.frombytes(content := self._file.read(max(end - start, 0) * _SIZE))
        if len(content) < (end - start) * _SIZE:
            message = "the file of an order was cut"
            raise OSError(message)
        return ids


@contextmanager
def opened(path: Path, count: int, split: int | None = None) -> Iterator[OrderFile]:
    """Open the file of an order of `count` plants.

    `split` is given for the descending order: the rows before it and those from it on are reversed each for themselves.
    Raises OSError.
    """
    with path.open("rb", buffering=0) as file:
        yield OrderFile(file, count, split)
