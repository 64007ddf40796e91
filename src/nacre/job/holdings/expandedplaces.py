"""Where the differences lie that were rebuilt: 16 bytes for each, however many there are."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """Where a record may lie.

    Attributes:
        path: The WARC.
        offset: Where it begins there, bytes.
    """

    path: Path
    offset: int


class _File(NamedTuple):
    """The differences of one WARC, in the order of their names."""

    path: Path
    names: "array[int]"
    offsets: "array[int]"


class Places:
    """Differences by their record ids. They are told apart by 64 bits: who looks compares ids."""

    def __init__(self) -> None:
        self._files: list[_File] = []
        self._path: Path | None = None
        self._current: dict[int, int] = {}

    def begin(self, path: Path) -> None:
        """What is added from now on lies in this WARC."""
        if self._path is not None and self._current:
            rows = sorted(self._current.items())
            names, offsets = (array("Q", column) for column in zip(*rows, strict=True))
            self._files.append(_File(self._path, names, offsets))
        self._path, self._current = path, {}

    def add(self, record_id: str, offset: int) -> None:
        """One difference of the current WARC."""
        self._current[_name(record_id)] = offset

    def find(self, record_id: str) -> Iterator[Place]:
        """Where it may lie, the latest WARC first."""
        name = _name(record_id)
        if self._path is not None and name in self._current:
            yield Place(self._path, self._current[name])
        for path, names, offsets in reversed(self._files):
            at = bisect_left(names, name)
            if at < len(names) and names[at] == name:
                yield Place(path, offsets[at])


def _name(record_id: str) -> int:
    digest = blake2b(record_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
