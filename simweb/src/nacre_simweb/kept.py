"""The captures of an archive, each with its row of the server's log."""

from typing import NamedTuple

from nacre_simweb.servelog import Row


class KeptCapture(NamedTuple):
    """A capture that a crawler kept.

    Attributes:
        row: The reply that it holds.
        full: Stored whole; else a revisit record.
        size: Bytes of payload stored.
    """

    row: Row
    full: bool
    size: int


class KeptCaptures(NamedTuple):
    """The captures of a crawl, as the scorer sees them.

    Attributes:
        rows: The server's log, in the order of the replies.
        kept: The captures, likewise.
        problems: Records that are not captures of this world, revisits that refer to nothing, and
            whatever else is wrong with the WARCs.
        warc_bytes: Size of the WARCs; None if none were written.
    """

    rows: list[Row]
    kept: list[KeptCapture]
    problems: list[str]
    warc_bytes: int | None = None
