"""Convert CrawlDatums of Nutch to rows of our tables.

`fetch_time`, `interval`, `retries`, `modified`, `signature` and the codes of a status mean the same
in both. Some metadata have a column here; the others are stored as texts under their names.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nacre.crawldb.row import Status
from nacre.rounds.moving.nutch import CrawlDatum, ProtocolStatus, UnknownWritable
from nacre.rounds.tables.readers import RowFilter, TableView, dump_rows

STATUS_KEY = "_pst_"
FIXED = "fixedInterval"
DEPTH = "_depth_"
ORPHAN = "_orphan_"
MEDIA_TYPE = "Content-Type"
CODE = "nutch.protocol.code"
GENERATED = "_ngt_"
"""When a URL was listed: a lease of the other crawl, which is not imported."""

_UNFETCHED = int(Status.UNFETCHED)
_BY_STATUS = {
    int(Status.FETCHED): 200,
    int(Status.NOT_MODIFIED): 304,
    int(Status.GONE): 404,
    int(Status.REDIR_TEMP): 302,
    int(Status.REDIR_PERM): 301,
}
_BY_PROTOCOL = {
    1: 200, 2: -2, 10: -7, 11: 410, 12: 301, 13: 302, 14: 404, 15: 503, 16: -2, 17: 403,
    18: -9998, 21: 304,
}  # fmt: skip
"""The fetch status of each code of ProtocolStatus; other codes mean no visit."""
_MOST_SCORE = 1e27
_MOST_MS = 1 << 53


class NutchRow(NamedTuple):
    """A CrawlDatum in our columns; see `crawldb.row.COLUMNS`.

    Attributes:
        score: Its score as a number.
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
        unknown: Counts unknown classes of metadata.

    Raises:
        ValueError: Its status does not occur in a CrawlDb.
    """
    status, fetch_time, _, interval, _, modified, _, md = datum
    if not 1 <= status <= 9:
        raise ValueError(f"status {status:#x} is none of a CrawlDb")
    fetch_time = fetch_time if 0 <= fetch_time <= _MOST_MS else min(max(fetch_time, 0), _MOST_MS)
    interval = max(interval, 0)
    if not md:
        return _plain_row(datum, fetch_time, interval)
    last_status = _last_status(status, md.get(CODE), md.get(STATUS_KEY))
    visited = status != _UNFETCHED
    get = md.get
    fixed, mime, depth, orphan = get(FIXED), get(MEDIA_TYPE), get(DEPTH), get(ORPHAN)
    return NutchRow(
        status,
        fetch_time,
        interval,
        fixed if isinstance(fixed, float) and 0 < fixed < math.inf else None,
        datum.retries & 0xFF,
        min(max(modified, 0), _MOST_MS),
        datum.signature or None,
        last_status,
        max(fetch_time - interval * 1000, 0) * 1000 if visited else None,
        mime if isinstance(mime, str) else None,
        _texts(md, unknown),
        _score(datum.score),
        depth if isinstance(depth, int) and 0 < depth < 65_536 else None,
        orphan * 1000 if isinstance(orphan, int) and orphan > 0 else None,
    )


def _plain_row(datum: CrawlDatum, fetch_time: int, interval: int) -> NutchRow:
    """The row of a CrawlDatum without metadata, as most of a large CrawlDb are."""
    status = datum.status
    return NutchRow(
        status, fetch_time, interval, None, datum.retries & 0xFF,
        min(max(datum.modified, 0), _MOST_MS), datum.signature or None, _BY_STATUS.get(status),
        max(fetch_time - interval * 1000, 0) * 1000 if status != _UNFETCHED else None,
        None, None, _score(datum.score), None, None,
    )  # fmt: skip


def _last_status(status: int, code: object, protocol: object) -> int | None:
    if (
        isinstance(code, str | int)
        and str(code).isdecimal()
        and 100 <= (status_code := int(code)) <= 999
    ):
        return status_code
    if isinstance(protocol, ProtocolStatus) and protocol.code != 1:
        mapped = _BY_PROTOCOL.get(protocol.code)
        if mapped is not None:
            return mapped
    return _BY_STATUS.get(status)


def _score(value: float) -> float:
    if math.isnan(value):
        return 0.0
    return max(-_MOST_SCORE, min(value, _MOST_SCORE))


_TAKEN = frozenset({STATUS_KEY, FIXED, MEDIA_TYPE, DEPTH, ORPHAN, CODE, GENERATED})


def _texts(md: Any, unknown: Counter[str]) -> list[tuple[str, str]] | None:  # noqa: ANN401 - of any class
    texts = []
    for name, value in md.items():
        if value.__class__ is UnknownWritable:
            unknown[value.name] += 1
        elif name in _TAKEN:
            continue
        texts.append((name, value if value.__class__ is str else as_text(value)))
    return texts or None


def as_text(value: object) -> str:
    """Return a value of metadata as text: bytes in hexadecimal after their class, maps as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UnknownWritable):
        return f"{value.name}:{value.data.hex()}"
    if isinstance(value, dict):
        return json.dumps({name: as_text(item) for name, item in value.items()}, ensure_ascii=False)
    return "" if value is None else str(value)


_LEFT_OUT = frozenset(status.label for status in (Status.GONE, Status.DUPLICATE, Status.ORPHAN))
_RESERVED = "nutch."


def nutch_seed(row: Mapping[str, Any]) -> str:
    """The line of a row, without a line feed; "" for a URL that Nutch would not fetch.

    Args:
        row: The row of a reader: `key`, `url`, `status`, `score`, `interval`, `seed_md`.
    """
    if row["status"] in _LEFT_OUT:
        return ""
    parts = [row.get("url") or row["key"]]
    score = float(row.get("score") or 0) or float(row.get("cash") or 0)
    if score > 0:
        parts.append(f"nutch.score={score:.9g}")
    if row.get("fixed_interval"):
        parts.append(f"nutch.fetchInterval.fixed={round(row['fixed_interval'])}")
    elif row.get("interval"):
        parts.append(f"nutch.fetchInterval={row['interval']}")
    for name, value in dict(row.get("seed_md") or ()).items():
        plain = "=" not in name and name.isprintable() and value.isprintable()
        if plain and not name.startswith(_RESERVED):
            parts.append(f"{name}={value}")
    return "\t".join(parts)


def nutch_seeds(view: TableView) -> Iterator[str]:
    """Yield the lines of all URLs except gone pages and duplicates."""
    for batch in dump_rows(view, RowFilter()):
        for row in batch.to_pylist():
            line = nutch_seed(row)
            if line:
                yield line
