"""What must never be given twice: serial numbers of files, and record ids."""

import secrets

from nacre.store.store import Store

_POOL = 4096


class Numbers:
    """Serials survive restarts in the store; ids are random."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool = b""
        self._at = 0

    def serial(self) -> int:
        """Serial number of the next WARC of the job."""
        serial = self._store.counter("warc.serial")
        self._store.set_counter("warc.serial", serial + 1)
        return serial

    def record_id(self) -> bytes:
        """16 fresh bytes."""
        at = self._at
        if at + 16 > len(self._pool):
            self._pool = secrets.token_bytes(_POOL)
            at = 0
        self._at = at + 16
        return self._pool[at : at + 16]
