"""Look-up of captures: by key, by key and time, by the beginning of keys."""

from collections.abc import Iterator
from typing import Protocol

from nacre.catalogue.captures import IndexedCapture, read_capture, read_position
from nacre.catalogue.holdings import Holding


class CaptureIndex(Protocol):
    """Finds the captures of a holding. It blocks, and threads may share it.

    All results are merged over the members, and name the member of each capture. Of a job that runs
    they are those of the moment. Each method raises a StorageError if a file cannot be read.
    """

    def exact(self, key: str, method: str | None = None) -> list[IndexedCapture]:
        """Return the captures of a key in order of time.

        Args:
            key: The index key (`uri.indexkey`).
            method: Only captures of this method, "" for GET; None for all.
        """
        ...

    def closest(self, key: str, timestamp: str, limit: int = 1) -> list[IndexedCapture]:
        """Return captures of a key, the nearest in time first; of two as near, the earlier.

        Args:
            key: The index key.
            timestamp: The time, up to 14 digits; "" for the newest first.
            limit: Number of captures at most.
        """
        ...

    def prefix(self, key_prefix: str, after: str = "", limit: int = 1000) -> list[IndexedCapture]:
        """Return captures whose key begins with a text, by key and time.

        Args:
            key_prefix: The beginning; "" for all captures.
            after: `IndexedCapture.position` of the last capture of the page before; "" for the
                first page.
            limit: Number of captures at most.
        """
        ...


def open_index(holding: Holding) -> CaptureIndex:
    """Return the look-up of a holding."""
    return SortedIndexes(holding)


class SortedIndexes:
    """Look-up in the indexes of WARCs, without a catalogue.

    Args:
        holding: The holding.
    """

    def __init__(self, holding: Holding) -> None:
        self._holding = holding

    def exact(self, key: str, method: str | None = None) -> list[IndexedCapture]:
        """See `CaptureIndex.exact`."""
        captures = (capture for capture in self._captures() if capture.key == key)
        chosen = (each for each in captures if method is None or each.method == method)
        return sorted(chosen, key=lambda capture: capture.order)

    def closest(self, key: str, timestamp: str, limit: int = 1) -> list[IndexedCapture]:
        """See `CaptureIndex.closest`."""
        captures = self.exact(key)
        if not timestamp:
            return captures[::-1][:limit]
        time = int(timestamp.ljust(14, "0"))
        return sorted(captures, key=lambda capture: abs(int(capture.timestamp) - time))[:limit]

    def prefix(self, key_prefix: str, after: str = "", limit: int = 1000) -> list[IndexedCapture]:
        """See `CaptureIndex.prefix`."""
        start = read_position(after)
        captures = sorted(
            (each for each in self._captures() if each.key.startswith(key_prefix)),
            key=lambda capture: capture.order,
        )
        return [each for each in captures if start is None or each.order > start][:limit]

    def _captures(self) -> Iterator[IndexedCapture]:
        for number, member in enumerate(self._holding.members):
            for place in member.warcs():
                if place.index is None:
                    continue
                for line in place.index.read_bytes().splitlines():
                    capture = read_capture(line, number)
                    if capture is not None:
                        yield capture
