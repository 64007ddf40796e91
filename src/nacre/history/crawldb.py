"""What was known of a URL last time; the rows survive runs."""

import msgspec

from nacre.core.history import HistoryRecord
from nacre.store.store import Store
from nacre.uri.surt import history_key

_FAMILY = "history"


class History:
    """Rows by case-preserving SURT, never by the seen key: two pages never share a history."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoder = msgspec.msgpack.Decoder(HistoryRecord)
        self._encoder = msgspec.msgpack.Encoder()
        # A first crawl asks for each URL once and finds nothing: it need not look.
        self._any = any(True for _ in store.scan(_FAMILY, b"", limit=1))

    def get(self, url: str) -> HistoryRecord | None:
        """The row of a URL from an earlier run; None on its first visit."""
        if not self._any:
            return None
        row = self._store.get(_FAMILY, history_key(url).encode())
        return None if row is None else self._decoder.decode(row)

    def put(self, record: HistoryRecord) -> None:
        """Keep a row; joins the open commit group."""
        self._store.put(_FAMILY, history_key(record.url).encode(), self._encoder.encode(record))
