"""Where the captures lie that later ones are differences from: found by the store."""

from pathlib import Path

from nacre.archive.delta import Delta, DeltaError
from nacre.archive.restoring import response_at
from nacre.core.history import Original
from nacre.history.dedup import Digests
from nacre.store.files import FileState
from nacre.store.store import Store
from nacre.store.table import get_row


class Bases:
    """Finds captures and reads their blocks.

    Args:
        root: Directory of the job.
        store: Its store.
        digests: Where each payload lies.
    """

    def __init__(self, root: Path, store: Store, digests: Digests) -> None:
        self._root = root
        self._store = store
        self._digests = digests

    def original(self, record_id: str, digest: str, framing: str) -> Original | None:
        """A capture stored in full; None when another one, or a difference, has that payload."""
        found = self._digests.get(digest, framing)
        whole = found is not None and found.record_id == record_id and not found.base
        return found if whole else None

    def path(self, original: Original, *, closed: bool = False) -> Path | None:
        """The WARC that holds a capture; None when it is lost, or not yet as it has to be.

        Args:
            original: The capture.
            closed: The WARC has to be finished.
        """
        row = get_row(self._store, original.file) if original.file else None
        if row is None or row.state is FileState.LOST:
            return None
        if row.state is FileState.OPEN:
            return None if closed else self._root / row.path
        return self._root / row.final

    def block(self, delta: Delta) -> bytes:
        """The base of a difference; see `archive.restoring.FindBase`."""
        found = self.original(delta.base_id, delta.base_payload, delta.base_framing)
        path = None if found is None else self.path(found)
        if found is None or path is None:
            raise DeltaError("delta-unresolved", f"the store does not know <{delta.base_id}>")
        return response_at(path, found.offset, delta.base_id)
