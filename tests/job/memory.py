"""A store in memory, for what only gets and puts, and visits to learn from."""

from typing import cast

from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.store.store import Store


class MemoryStore:
    """`get` and `put` of a store."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], bytes] = {}

    def get(self, family: str, key: bytes) -> bytes | None:
        return self.rows.get((family, key))

    def put(self, family: str, key: bytes, value: bytes) -> None:
        self.rows[family, key] = value


def memory_store() -> Store:
    """A store that keeps nothing on disk."""
    return cast("Store", MemoryStore())


def visit_of(url: str, status: int = 0, **heritable: str) -> Visit:
    """A visit before its fetch, or one that got no reply."""
    return Visit(CrawlURI(url, b"k", "q", heritable=heritable), status)


def answered(
    url: str,
    status: int,
    body: bytes = b"",
    headers: tuple[tuple[bytes, bytes], ...] = (),
    **heritable: str,
) -> Visit:
    """A visit with its reply."""
    visit = visit_of(url, status, **heritable)
    visit.capture = Capture(
        url, b"", b"", BytesBody(body), status, headers=headers, payload_length=len(body)
    )
    return visit
