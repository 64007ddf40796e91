"""The lines of crawl.log, read back, also from rotated and packed files, and their fields."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from nacre.core.status import CountedAs, FetchStatus, cause, counted

_FIELDS: Final = 12
"""Fields of a line of crawl.log; fields of `logExtraInfo` follow."""
GUESSES = frozenset("XI")
"""Hops that no page contains: speculative links, and inferred URLs, such as an icon."""


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


def has_crawl_log(logs: Path) -> bool:
    """Whether a run left a crawl.log, or a part of it.

    Args:
        logs: Directory of the run's logs.
    """
    return next(logs.glob("crawl.log*"), None) is not None


def crawl_log_lines(logs: Path) -> Iterator[bytes]:
    """The lines in order of their files, as far as the files can be read.

    Args:
        logs: Directory of the run's logs.
    """
    # Rotated parts have ascending numbers; the part that is being written comes last.
    parts = sorted(logs.glob("crawl.log*"), key=lambda path: (path.name == "crawl.log", path.name))
    for path in parts:
        yield from _lines(path)


def _lines(path: Path) -> Iterator[bytes]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield from file
    except (OSError, EOFError):
        return  # moved away at this moment, or cut off


def line_fields(line: bytes) -> list[bytes] | None:
    """Split a line into its twelve fields; None if it is not a complete line of crawl.log."""
    fields = line.split(None, _FIELDS)
    return fields if len(fields) >= _FIELDS and line.endswith(b"\n") else None


def number_of(field: bytes) -> int:
    """Convert a field to a whole number; 0 if it is not a number."""
    try:
        return int(field)
    except ValueError:
        return 0


def is_left_out(status: int) -> bool:
    """It was not wanted: the operator's rules left it out. robots.txt is the site's."""
    if status == 0:
        return True
    disregarded = counted(status) is CountedAs.DISREGARDED
    return disregarded and status != FetchStatus.ROBOTS_PRECLUDED
