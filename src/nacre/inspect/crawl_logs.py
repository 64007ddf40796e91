"""The lines of the crawl.log of a run, also where it was rotated and packed."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from nacre.core.status import CountedAs, FetchStatus, counted

_FIELDS = 12
"""Fields of a line; those that `logExtraInfo` adds follow."""
GUESSES = frozenset("XI")
"""Hops that no page contains: speculative links, and inferred URLs, such as an icon."""


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
