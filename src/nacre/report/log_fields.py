"""The fields of a line of crawl.log, read back (pure)."""

from typing import Final

import msgspec

from nacre.core.status import cause, counted

_FIELDS: Final = 12
"""Fields of a line of crawl.log; fields of `logExtraInfo` follow."""


class CrawlLogFields(msgspec.Struct, frozen=True):
    """The fields of a line of crawl.log; "" if it has `-`.

    Attributes:
        time: When it was logged.
        status: Fetch status.
        size: Bytes of the body; "" for none.
        url: The URL.
        path: Hop path from the seed.
        via: Where it was found.
        mime: Media type.
        toe: The worker.
        fetched: When the fetch began, 17 digits, and how many ms it took.
        digest: Digest of the payload.
        source: The seed.
        annotations: Annotations with commas between.
        words: Meaning of the status.
        kind: `2` to `5` for HTTP, `0` for a failure, `r` for disregarded URIs: selects a colour.
    """

    time: str
    status: int
    size: str
    url: str
    path: str
    via: str
    mime: str
    toe: str
    fetched: str
    digest: str
    source: str
    annotations: str
    words: str
    kind: str


def crawl_log_fields(text: str) -> CrawlLogFields | None:
    """Return the fields of a line; None for a line that is none of crawl.log."""
    parts = text.split(None, _FIELDS)
    if len(parts) < _FIELDS:
        return None
    try:
        status = int(parts[1])
    except ValueError:
        return None
    values = ["" if part == "-" else part for part in parts[2:_FIELDS]]
    return CrawlLogFields(parts[0], status, *values, cause(status), kind_of(status))  # type: ignore[call-arg]


def kind_of(status: int) -> str:
    """Return the first digit of an HTTP status; `r` for a disregarded URI, `0` for a failure."""
    if status >= 100:
        return str(status)[0]
    if status > 0:
        return "2"
    return "r" if counted(status).value == "disregarded" else "0"
