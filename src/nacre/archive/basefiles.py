"""Bases of differences, found in files alone: where a difference says, or wherever they are."""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from nacre.archive.delta import Delta, DeltaError
from nacre.archive.fieldrules import unbracketed
from nacre.archive.reader import WarcReader
from nacre.archive.restoring import response_at
from nacre.config.ordinary import open_ordinary


class _Place(NamedTuple):
    path: Path
    offset: int


class BaseFiles:
    """The WARCs that bases may lie in.

    Args:
        paths: The files; others may follow by `add`.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._paths = {path.name.removesuffix(".open"): path for path in paths}
        self._places: dict[bytes, _Place] | None = None
        self._last: tuple[str, bytes] = ("", b"")

    def add(self, path: Path) -> None:
        """One file more."""
        self._paths[path.name.removesuffix(".open")] = path
        self._places = None

    def block(self, delta: Delta) -> bytes:
        """See `restoring.FindBase`."""
        if self._last[0] == delta.base_id:
            return self._last[1]
        block = self._told(delta)
        if block is None:
            place = self._place(delta.base_id)
            if place is None:
                raise DeltaError("delta-unresolved", f"<{delta.base_id}> is in none of the files")
            block = response_at(place.path, place.offset, delta.base_id)
        self._last = delta.base_id, block
        return block

    def _told(self, delta: Delta) -> bytes | None:
        """The base where the difference says that it is; None when it is not there."""
        path = self._paths.get(delta.base_file)
        if path is None:
            return None
        try:
            return response_at(path, delta.base_offset, delta.base_id)
        except DeltaError as error:
            if error.code == "delta-unresolved":
                return None
            raise

    def _place(self, record_id: str) -> _Place | None:
        """Files were moved or packed anew: all are read once, 100 bytes of memory a response."""
        if self._places is None:
            self._places = {}
            for path in self._paths.values():
                self._read(path, self._places)
        return self._places.get(_mark(record_id))

    def _read(self, path: Path, places: dict[bytes, _Place]) -> None:
        try:
            with open_ordinary(path) as file:
                for entry in WarcReader(file):
                    if entry.get("WARC-Type") == "response":
                        own = unbracketed(entry.get("WARC-Record-ID") or "")
                        places[_mark(own)] = _Place(path, entry.offset)
        except OSError:
            return


def _mark(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
