"""What must never be given twice: serial numbers of files, and record ids."""

from collections.abc import Callable

from nacre.archive.ids import RandomIds
from nacre.store.store import Store


class Numbers:
    """Serials survive restarts in the store; ids are random.

    Attributes:
        record_id: Gives 16 fresh bytes; may be replaced before the first record.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.record_id: Callable[[], bytes] = RandomIds()

    def serial(self) -> int:
        """Serial number of the next WARC of the job."""
        serial = self._store.counter("warc.serial")
        self._store.set_counter("warc.serial", serial + 1)
        return serial
