"""Rows of our tables, made of what Nutch keeps of a URL.

`fetch_time`, `interval`, `retries`, `modified`, `signature` and the codes of a status mean the same
in both. Of metadata some have a column here; the rest are kept as texts under their names.
"""

import json
import math
from collections import Counter
from typing import Any, NamedTuple

from nacre.crawldb.row import Status
from nacre.cycle.moving.nutch import CrawlDatum, ProtocolStatus, UnknownWritable

STATUS_KEY = "_pst_"
FIXED = "fixedInterval"
DEPTH = "_depth_"
ORPHAN = "_orphan_"
MEDIA_TYPE = "Content-Type"
CODE = "nutch.protocol.code"
GENERATED = "_ngt_"
"""When a URL was listed: a lease of the other crawl, which is not taken."""

_BY_STATUS = {
    Status.FETCHED: 200,
    Status.NOT_MODIFIED: 304,
    Status.GONE: 404,
    Status.REDIR_TEMP: 302,
    Status.REDIR_PERM: 301,
}
_BY_PROTOCOL = {
    1: 200, 2: -2, 10: -7, 11: 410, 12: 301, 13: 302, 14: 404, 15: 503, 16: -2, 17: 403,
    18: -9998, 21: 304,
}  # fmt: skip
"""Of a code of ProtocolStatus the fetch status; others say nothing of a visit."""
_MOST_SCORE = 1e27
_MOST_MS = 1 << 53


class NutchRow(NamedTuple):
    """A CrawlDatum in our columns; see `crawldb.row.COLUMNS`.

    Attributes:
        score: Its score as a number.
        others: As they are there.
    """

    status: int
    fetch_time: int
    interval: int
    fixed_interval: float | None
    retries: int
    modified: int
    signature: bytes | None
    last_status: int | None
    last_time: int | None
    mime: str | None
    md: list[tuple[str, str]] | None
    score: float
    depth: int | None
    last_inlink: int | None


def row_of(datum: CrawlDatum, unknown: Counter[str]) -> NutchRow:
    """The row of a CrawlDatum of a CrawlDb.

    Args:
        datum: The datum.
        unknown: Counts classes of metadata that are not known.

    Raises:
        ValueError: Its status is none of a CrawlDb.
    """
    if not 1 <= datum.status <= 9:
        raise ValueError(f"status {datum.status:#x} is none of a CrawlDb")
    md = datum.md
    protocol = md.get(STATUS_KEY)
    last_status = _last_status(datum.status, md.get(CODE), protocol)
    fetch_time = min(max(datum.fetch_time, 0), _MOST_MS)
    interval = max(datum.interval, 0)
    visited = datum.status != Status.UNFETCHED
    fixed, mime, depth, orphan = (md.get(one) for one in (FIXED, MEDIA_TYPE, DEPTH, ORPHAN))
    return NutchRow(
        datum.status,
        fetch_time,
        interval,
        fixed if isinstance(fixed, float) and 0 < fixed < math.inf else None,
        datum.retries & 0xFF,
        min(max(datum.modified, 0), _MOST_MS),
        datum.signature or None,
        last_status,
        max(fetch_time - interval * 1000, 0) * 1000 if visited else None,
        mime if isinstance(mime, str) else None,
        _texts(md, unknown) if md else None,
        _score(datum.score),
        depth if isinstance(depth, int) and 0 < depth < 65_536 else None,
        orphan * 1000 if isinstance(orphan, int) and orphan > 0 else None,
    )


def _last_status(status: int, code: object, protocol: object) -> int | None:
    if isinstance(code, str | int) and str(code).isdecimal() and 100 <= int(code) <= 999:
        return int(code)
    if isinstance(protocol, ProtocolStatus) and protocol.code != 1:
        found = _BY_PROTOCOL.get(protocol.code)
        if found is not None:
            return found
    return _BY_STATUS.get(Status(status))


def _score(value: float) -> float:
    if math.isnan(value):
        return 0.0
    return max(-_MOST_SCORE, min(value, _MOST_SCORE))


_TAKEN = frozenset({STATUS_KEY, FIXED, MEDIA_TYPE, DEPTH, ORPHAN, CODE, GENERATED})


def _texts(md: Any, unknown: Counter[str]) -> list[tuple[str, str]] | None:  # noqa: ANN401 - of any class
    found = []
    for name, value in md.items():
        if isinstance(value, UnknownWritable):
            unknown[value.name] += 1
        elif name in _TAKEN:
            continue
        found.append((name, as_text(value)))
    return found or None


def as_text(value: object) -> str:
    """A value of metadata as text: bytes in hexadecimal behind their class, maps as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UnknownWritable):
        return f"{value.name}:{value.data.hex()}"
    if isinstance(value, dict):
        return json.dumps({name: as_text(one) for name, one in value.items()}, ensure_ascii=False)
    return "" if value is None else str(value)
