"""URIs that wait, found in the store: in their queue, or until their time comes."""

from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.frontier.rows import LAST_SUFFIX, queue_id, time_of, unpack, unpack_future
from nacre.store.store import Store

_MOST_ROWS = 100_000


class Waiting(NamedTuple):
    """A URI that waits.

    Attributes:
        where: The family: `queue`, or `future` for one that waits for its time.
        uri: The URI.
        ahead: URIs before it in its queue; None in `future`.
        due: When its time comes, seconds since the epoch; None in `queue`.
    """

    where: str
    uri: CrawlURI
    ahead: int | None = None
    due: float | None = None


def find_waiting(store: Store, queue: str, key: bytes) -> Waiting | None:
    """The URI with a seen key; None when it does not wait, or too far behind.

    Args:
        store: The store.
        queue: Key of its queue.
        key: Its seen key.
    """
    identity = queue_id(queue)
    rows = store.scan("queue", identity, identity + LAST_SUFFIX, _MOST_ROWS)
    for ahead, (row_key, value) in enumerate(rows):
        uri = unpack(row_key, value, queue)
        if uri.key == key:
            return Waiting("queue", uri, ahead)
    for row_key, value in store.scan("future", b"", None, _MOST_ROWS):
        uri = unpack_future(row_key, value)[0]
        if uri.key == key:
            return Waiting("future", uri, due=time_of(row_key))
    return None
