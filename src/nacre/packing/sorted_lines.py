"""Lines sorted in bounded memory, by portions in temporary files that are merged."""

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Self

PORTION: Final = 48 << 20
"""Bytes of lines that are sorted in memory."""


class SortedLines:
    """Lines in the order of their bytes, each once.

    Args:
        folder: A folder for temporary files, which `close` removes.
        name: Beginning of their names.
        portion: Bytes of lines that are sorted in memory.
    """

    def __init__(self, folder: Path, name: str, portion: int = PORTION) -> None:
        self._folder = folder
        self._name = name
        self._portion = portion
        self._lines: list[bytes] = []
        self._size = 0
        self._files: list[BinaryIO] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, line: bytes) -> None:
        """Add a line, without its line feed.

        Raises:
            OSError: A temporary file cannot be written.
        """
        self._lines.append(line)
        self._size += len(line)
        if self._size >= self._portion:
            self._spill()

    def _spill(self) -> None:
        path = self._folder / f"{self._name}-{len(self._files)}"
        file = path.open("w+b")
        self._files.append(file)
        path.unlink()  # it ends with this process
        self._lines.sort()
        file.writelines(line + b"\n" for line in self._lines)
        file.flush()
        self._lines, self._size = [], 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines; may be repeated, but not side by side.

        Raises:
            OSError: A temporary file cannot be read.
        """
        self._lines.sort()
        last: bytes | None = None
        for line in heapq.merge(self._lines, *map(_lines_of, self._files)):
            if line != last:
                yield line
            last = line

    def close(self) -> None:
        """Remove the temporary files."""
        for file in self._files:
            file.close()
        self._files, self._lines = [], []


def _lines_of(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    for line in file:
        yield line[:-1]
