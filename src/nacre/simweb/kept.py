"""What an archive holds: the captures, each with the row of the server's log that it is of."""

from typing import NamedTuple

from nacre.simweb.servelog import Row


class Kept(NamedTuple):
    """One capture.

    Attributes:
        row: The reply that it holds.
        full: Stored whole; else a revisit record.
        size: Bytes of payload stored.
    """

    row: Row
    full: bool
    size: int


class Archive(NamedTuple):
    """What a crawl left, as the scorer sees it.

    Attributes:
        rows: The server's log, in the order of the replies.
        kept: The captures, likewise.
        problems: Records that are no capture of this world, revisits that refer to nothing, and
            whatever else is wrong with the WARCs.
        warc_bytes: Size of the WARCs; None where none were written.
    """

    rows: list[Row]
    kept: list[Kept]
    problems: list[str]
    warc_bytes: int | None = None
