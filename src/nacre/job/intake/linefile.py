"""A file of lines, plain or gzip, read a portion at a time from any place on."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from nacre.job.intake.intake import LONGEST, Line
from nacre.job.seeding.seedfile import open_bytes


class DamagedError(Exception):
    """The compressed file is damaged from here on."""


class LineFile:
    """Reads a file in order.

    Args:
        path: The file; `.gz`: compressed.
        position: Where to begin: bytes of its (uncompressed) content.
        number: Lines before that.

    Attributes:
        position: Where the next line begins.
        number: Lines read or passed so far.
    """

    def __init__(self, path: Path, position: int = 0, number: int = 0) -> None:
        self._file = open_bytes(path)
        self.position = position
        self.number = number

    def go(self) -> None:
        """Go to the place to begin at; of a compressed file, all before it is read.

        Raises:
            OSError: It cannot be read.
            DamagedError: It is damaged before that place.
        """
        try:
            self._file.seek(self.position)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DamagedError(str(error)) from error

    def portion(self, most: int) -> list[Line]:
        """The next lines, at most so many; none at the end.

        Raises:
            OSError: It cannot be read.
            DamagedError: Nothing more can be read of it.
        """
        found: list[Line] = []
        try:
            found.extend(self._lines(most))
        except (EOFError, zlib.error, gzip.BadGzipFile, DamagedError) as error:
            if not found:
                raise DamagedError(str(error)) from error
        return found

    def _lines(self, most: int) -> Iterator[Line]:
        for _ in range(most):
            data = self._file.readline(LONGEST)
            if not data:
                return
            long = len(data) == LONGEST and not data.endswith(b"\n")
            if long and b"\0" in data:
                raise DamagedError("it is no text: there are NUL bytes in it")
            size = len(data) + (self._rest() if long else 0)
            self.position += size
            self.number += 1
            yield Line(self.number, None if long else _text(data))

    def _rest(self) -> int:
        """Pass over what is left of a line that is too long; its size."""
        size = 0
        while data := self._file.readline(LONGEST):
            size += len(data)
            if data.endswith(b"\n"):
                break
        return size

    def close(self) -> None:
        """Give the handle back."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
