"""Lines sorted by their bytes in bounded memory, and the check that an index is sorted."""

import heapq
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Final

from nacre.catalogue.captures import own_key, read_capture
from nacre.catalogue.index_files import ZIPNUM, IndexPlace, ZipNumFile, sample_lines

_MEMORY: Final = 32 << 20
_SAMPLES: Final = 64


class LineSorter:
    """Sorts lines into a file; each line is there once.

    Args:
        folder: A folder for its temporary files.
        require_space: Receives the bytes that the next temporary file and the result need; raises
            an error if the disk does not have them.
    """

    def __init__(self, folder: Path, require_space: Callable[[int], None]) -> None:
        self._folder = folder
        self._require_space = require_space
        self._saved = 0
        self._lines: set[bytes] = set()
        self._size = 0
        self._files: list[Path] = []

    def add(self, line: bytes) -> None:
        """Take a line without its end.

        Raises:
            OSError: A temporary file cannot be written.
        """
        self._lines.add(line)
        self._size += len(line) + 100
        if self._size > _MEMORY:
            self._saved += self._size
            self._require_space(self._size + self._saved)
            path = self._folder / f"lines-{len(self._files)}"
            self._write(path)
            self._files.append(path)

    def save(self, path: Path) -> None:
        """Write all lines, sorted, and remove the temporary files.

        Raises:
            OSError: The file cannot be written.
        """
        if not self._files:
            self._write(path)
            return
        with ExitStack() as stack, path.open("wb") as file:
            sources = [stack.enter_context(path.open("rb")) for path in self._files]
            own = sorted(line + b"\n" for line in self._lines)
            last = b""
            for line in heapq.merge(own, *sources):
                if line != last:
                    file.write(line)
                last = line
        for temporary in self._files:
            temporary.unlink()

    def _write(self, path: Path) -> None:
        with path.open("wb") as file:
            file.writelines(line + b"\n" for line in sorted(self._lines))
        self._lines, self._size = set(), 0


class IndexSample:
    """A sample of the lines of an index: all of a small index, many parts of a large one.

    Args:
        place: The index.

    Attributes:
        warcs: Names of the WARCs in its captures.
        has_captures: It has some.
        is_usable: Its lines are sorted, and have the keys of Nacre.

    Raises:
        OSError: It cannot be read, or is damaged.
    """

    def __init__(self, place: IndexPlace) -> None:
        self.warcs: set[str] = set()
        self.is_usable = True
        last = b""
        for lines in _samples(place):
            if lines and lines[0] < last:
                self.is_usable = False
            for line, follower in pairwise(lines):
                self.is_usable = self.is_usable and line <= follower
            for line in lines:
                self._take(line)
            last = lines[-1] if lines else last
        self.has_captures = bool(self.warcs)

    def _take(self, line: bytes) -> None:
        capture = read_capture(line)
        if capture is None:
            self.is_usable = self.is_usable and line.startswith((b"!", b" "))
            return
        self.warcs.add(capture.warc)
        key = line.partition(b" ")[0]
        if not capture.is_delta and key != own_key(capture).encode():
            self.is_usable = False


def _samples(place: IndexPlace) -> Iterator[list[bytes]]:
    """Return neighbouring lines from places spread over an index, in its order."""
    if place.kind == ZIPNUM:
        return ZipNumFile(place).samples(_SAMPLES)
    return sample_lines(place.part, _SAMPLES)
