"""What a run could not get, read from its crawl.log."""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.core.status import Counted, FetchStatus, counted

MOST = 200
"""Failures that are named; all are counted."""
_FIELDS = 7
_FIRST_ERROR = 400
_GUESSES = frozenset("XI")
"""Hops that no page asked for: speculative links, and what is inferred, such as an icon."""


class Failure(msgspec.Struct, frozen=True):
    """A URL that could not be got.

    Attributes:
        status: Fetch status.
        url: It, as in the log.
        via: The page that named it; "" for a seed.
    """

    status: int
    url: str
    via: str


class Failures(NamedTuple):
    """All of a run.

    Attributes:
        counts: By status.
        first: The first of them, in order of time.
    """

    counts: dict[int, int]
    first: list[Failure]


def failures(logs: Path) -> Failures:
    """What the crawl.log of a run tells, also where it was rotated.

    What only another URL needed (robots.txt, names), and what was only guessed at, is left out.

    Args:
        logs: Directory of the run's logs.
    """
    counts: Counter[int] = Counter()
    first: list[Failure] = []
    for failure in chain.from_iterable(_failed(path) for path in sorted(logs.glob("crawl.log*"))):
        counts[failure.status] += 1
        if len(first) < MOST:
            first.append(failure)
    return Failures(dict(counts.most_common()), first)


def _failed(path: Path) -> Iterator[Failure]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield from failed_lines(file)
    except (OSError, EOFError):
        return  # moved away at this moment, or cut off


def failed_lines(lines: Iterable[bytes]) -> Iterator[Failure]:
    """The failures among the lines of a crawl.log; a line that is none is passed over."""
    for line in lines:
        fields = line.split(maxsplit=_FIELDS)
        if len(fields) < _FIELDS or 0 < _number(fields[1]) < _FIRST_ERROR:
            continue
        status, path = _number(fields[1]), fields[4].decode("latin-1")
        if path.endswith("P") or _GUESSES & set(path) or _is_left_out(status):
            continue
        via = fields[5].decode("utf-8", "replace")
        url = fields[3].decode("utf-8", "replace")
        yield Failure(status, url, "" if via == "-" else via)


def _is_left_out(status: int) -> bool:
    """It was not wanted: the operator's rules left it out. robots.txt is the site's."""
    if status == 0:
        return True
    disregarded = counted(status) is Counted.DISREGARDED
    return disregarded and status != FetchStatus.ROBOTS_PRECLUDED


def _number(text: bytes) -> int:
    try:
        return int(text)
    except ValueError:
        return 0
