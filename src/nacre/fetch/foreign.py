"""Replies that nobody asked for, as one exchange shows them. What follows: `pool`, `core.trust`."""

from typing import NamedTuple

from nacre.fetch.connection import Connection
from nacre.fetch.exchange import Exchange
from nacre.wire.http1 import ReplyReader

UNASKED = "unaskedReply"
"""Annotation of a capture that was fetched again: the first reply was, or may be, another's."""


_COMPARED = 65_536
"""Bytes of two bodies that are compared."""


class Doubted(NamedTuple):
    """A reply with a surplus behind it.

    Attributes:
        connection: The connection, ended.
        reader: What was read of it.
        body: The beginning of its body.
    """

    connection: Connection
    reader: ReplyReader
    body: bytes

    def is_explained_by(self, again: Exchange) -> bool:
        """Alone on a connection the page has the same surplus: it is the page's own."""
        was, now = self.reader, again.reader
        if not (was.excess and now.excess and was.status == now.status):
            return False
        same = was.body_length == now.body_length
        return same and self.body == again.sink.beginning(_COMPARED)


def doubt(connection: Connection, exchange: Exchange) -> Doubted:
    """End a connection on which something came unasked, and drop the reply."""
    connection.abort()
    doubted = Doubted(connection, exchange.reader, exchange.sink.beginning(_COMPARED))
    exchange.give_up()
    return doubted


def is_foreign(exchange: Exchange, *, used: bool) -> bool:
    """Whether what came shows that a reply was sent that nobody asked for.

    Args:
        exchange: Over.
        used: The connection had carried another request before.
    """
    reader, trust = exchange.reader, exchange.trust
    if reader.reply_behind or (trust is not None and trust.suspect):
        return True
    odd = reader.excess or reader.protocol == "http/0.9" or reader.failure == "tlsOnPlainPort"
    return used and bool(odd)
