"""Answers of a CDX server, from the index of a holding, in bounded memory."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeVar

from nacre.archive.delta import MEDIA
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.lookup import CaptureIndex
from nacre.messages import message
from nacre.replay.cdx_queries import (
    CdxKeys,
    CdxQuery,
    CdxQueryError,
    Collapse,
    Dialect,
    Parameters,
    read_cdx_query,
    read_xml_query,
)
from nacre.replay.cdx_rows import (
    capture_row,
    cdxj_line,
    json_array,
    json_line,
    json_objects,
    text_line,
    xml_capture,
    xml_error,
    xml_results,
    xml_url,
)
from nacre.replay.memento import (
    LINK_FORMAT,
    MementoPlaces,
    TimeMapPath,
    memento_entry,
    timemap_lines,
    timestamp_seconds,
)

T = TypeVar("T")

SCANNED = 1_000_000
"""Captures that a query reads; a query that finds nothing within them is refused."""

_PAGE = 1000
_PAGE_OF_URL = 20_000
"""Captures of one URL that are read at once: an index with differences reads them all for each."""
_ORIGINALS = 100_000
"""Originals that are remembered to resolve revisits."""

_CDXJ, _TEXT, _NDJSON, _JSON = "text/x-cdxj", "text/plain", "text/x-ndjson", "application/json"

_Row = tuple[IndexedCapture, dict[str, str]]


class _Progress:
    """How far a query has read.

    Attributes:
        position: That of the last capture that was read; "" for none.
        is_cut: It stopped at `SCANNED` captures.
    """

    def __init__(self) -> None:
        self.position = ""
        self.is_cut = False


class CdxAnswer(NamedTuple):
    """An answer to a query.

    Attributes:
        media: Its media type.
        lines: Its text, piece by piece; reading it may raise `CdxQueryError` before the first
            piece, and `StorageError` at any time.
    """

    media: str
    lines: Iterator[str]


def answer_cdx(
    index: CaptureIndex,
    parameters: Parameters,
    *,
    dialect: Dialect = "pywb",
    places: MementoPlaces | None = None,
    now: str = "",
) -> CdxAnswer:
    """Answer a query of a CDX server.

    Args:
        index: The index.
        parameters: All values of each parameter.
        dialect: Whose rules apply; `q=type:…` is answered in XML in both.
        places: Makes the URIs of `output=link`; None: those of the originals.
        now: The time, 14 digits, for XML.

    Raises:
        CdxQueryError: The query cannot be used; status 400.
        StorageError: An index cannot be read.
    """
    if "q" in parameters:
        return CdxAnswer("application/xml", iter((_answer_xml(index, parameters, now),)))
    query = read_cdx_query(parameters, dialect)
    progress = _Progress()
    rows = _rows(index, query, progress)
    first = next(rows, None)  # raises an error before the answer begins
    if first is not None:
        rows = _chain(first, rows)
    media, lines = _format(query, rows, places, progress)
    return CdxAnswer(media, lines)


def answer_timemap(
    index: CaptureIndex, path: TimeMapPath, places: MementoPlaces
) -> CdxAnswer | None:
    """Answer a request for a TimeMap; None if nothing of the URL is archived.

    The forms `json` and `cdxj` are those of the CDX server. It has the first `SCANNED` captures.

    Raises:
        CdxQueryError: The URL is none.
        StorageError: An index cannot be read.
    """
    query = read_cdx_query({"url": (path.url,), "matchType": ("exact",)})
    captures: Iterator[IndexedCapture] = islice(_of_key(index, query.keys.exact), SCANNED)
    first = next(captures, None)
    if first is None:
        return None
    captures = _chain(first, captures)
    if path.form == "link":
        stamps = unique_timestamps(captures)
        return CdxAnswer(LINK_FORMAT, timemap_lines(places, path.url, stamps, path.page))
    rows = ((capture, capture_row(capture)) for capture in captures)
    media, lines = _format(query._replace(output=path.form), rows, places, _Progress())
    return CdxAnswer(media, lines)


def unique_timestamps(captures: Iterable[IndexedCapture]) -> list[str]:
    """Return the timestamps of captures, each once, in order."""
    return sorted({capture.timestamp for capture in captures})


def _format(
    query: CdxQuery, rows: Iterator[_Row], places: MementoPlaces | None, progress: _Progress
) -> tuple[str, Iterator[str]]:
    """Return the media type and the text of rows."""
    if query.output == "link":
        return LINK_FORMAT, _links(query, rows, places)
    lines: dict[str, tuple[str, Callable[[_Row], str]]] = {
        "cdxj": (_CDXJ, lambda row: cdxj_line(*row, query.fields)),
        "text": (_TEXT, lambda row: text_line(row[1], query.fields)),
        "cdx": (_TEXT, lambda row: text_line(row[1], query.fields)),
    }
    if query.dialect == "pywb":
        lines["json"] = _NDJSON, lambda row: json_line(row[1], query.fields)
    if query.output in lines:
        media, write = lines[query.output]
        return media, _with_resume(query, rows, write, progress)
    write_all = json_array if query.output == "json" else json_objects
    return _JSON, write_all((row for _, row in rows), query.fields)


def _with_resume(
    query: CdxQuery, rows: Iterator[_Row], write: Callable[[_Row], str], progress: _Progress
) -> Iterator[str]:
    """Write rows; a blank line and the key follow where a limited answer can be resumed."""
    last, count = "", 0
    for row in rows:
        yield write(row)
        last, count = row[0].position, count + 1
    if query.shows_resume and not (query.closest or query.is_reverse):
        last = progress.position if progress.is_cut else last if count == query.limit else ""
        if last:
            yield f"\n{last}\n"


def _links(query: CdxQuery, rows: Iterator[_Row], places: MementoPlaces | None) -> Iterator[str]:
    """Write a TimeMap of one URL; of several URLs, their mementos alone."""
    if query.keys.exact and places is not None:
        stamps = unique_timestamps(capture for capture, _ in rows)
        if stamps:
            yield from timemap_lines(places, query.url, stamps, size=len(stamps))
        return
    separator = ""
    make = places or MementoPlaces("")
    for capture, _ in rows:
        target = make.memento(capture.url, capture.timestamp) if places else capture.url
        yield separator + memento_entry(target, capture.timestamp)
        separator = ",\n"
    yield "\n" if separator else ""


def _rows(index: CaptureIndex, query: CdxQuery, progress: _Progress) -> Iterator[_Row]:
    """Yield the rows of an answer: resolved, filtered, collapsed, sorted, limited, as in pywb."""
    rows: Iterator[_Row] = ((c, capture_row(c)) for c in _captures(index, query, progress))
    if query.resolves:
        rows = _resolve(rows)
    rows = (row for row in rows if query.accepts(*row))
    if query.collapse is not None:
        rows = _collapse(rows, query.collapse)
    if query.closest:
        aim = timestamp_seconds(query.closest)
        nearest = heapq.nsmallest(
            query.limit, rows, key=lambda row: abs(timestamp_seconds(row[0].timestamp) - aim)
        )
        return iter(nearest)
    if query.is_reverse:
        return reversed(deque(rows, maxlen=query.limit))
    return islice(rows, query.limit)


def _captures(
    index: CaptureIndex, query: CdxQuery, progress: _Progress
) -> Iterator[IndexedCapture]:
    """Yield the captures of the keys of a query, in order.

    Raises:
        CdxQueryError: `SCANNED` captures were read, and the query does not ask for a key with
            which it can be resumed.
    """
    exact = query.keys.exact
    captures = (
        _of_key(index, exact, query.resume) if exact else _pages(index, query.keys, query.resume)
    )
    for count, capture in enumerate(captures):
        if count < SCANNED:
            progress.position = capture.position
            yield capture
            continue
        progress.is_cut = True
        if query.shows_resume:
            return
        raise CdxQueryError(
            message(
                "replay.cdx-scanned",
                "the query was stopped after {count} captures. Ask for a longer prefix or a single "
                "host, or add showResumeKey=true.",
                count=SCANNED,
            )
        )


def _of_key(index: CaptureIndex, key: str, resume: str = "") -> Iterator[IndexedCapture]:
    """Yield the captures of a key, some at a time."""
    return _pages(index, CdxKeys(prefixes=(f"{key} ",)), resume, _PAGE_OF_URL)


def _pages(
    index: CaptureIndex, keys: CdxKeys, resume: str, size: int = _PAGE
) -> Iterator[IndexedCapture]:
    for prefix in keys.prefixes:
        after = resume
        while page := index.prefix(prefix, after, size):
            yield from (capture for capture in page if capture.key >= keys.since)
            after = page[-1].position


def _resolve(rows: Iterator[_Row]) -> Iterator[_Row]:
    """Add the place of the original to revisits of the same answer, with its type and status."""
    originals: dict[str, dict[str, str]] = {}
    for capture, row in rows:
        original = originals.get(capture.digest) if capture.digest else None
        if capture.is_revisit and original is not None:
            row |= {name: original[name] for name in ("mime", "status") if name in original}
        elif capture.digest and not capture.is_revisit and len(originals) < _ORIGINALS:
            originals.setdefault(capture.digest, row)
        is_resolved = capture.is_revisit and original is not None
        for name in ("length", "offset", "filename"):
            row[f"orig.{name}"] = (original or {}).get(name, "-") if is_resolved else "-"
        yield capture, row


def _collapse(rows: Iterator[_Row], collapse: Collapse) -> Iterator[_Row]:
    before: _Row | None = None
    for row in rows:
        is_same = before is not None and collapse.mark(before[1]) == collapse.mark(row[1])
        if collapse.is_last and before is not None and not is_same:
            yield before
        if not collapse.is_last and not is_same:
            yield row
        before = row
    if collapse.is_last and before is not None:
        yield before


def _chain(first: T, others: Iterator[T]) -> Iterator[T]:
    yield first
    yield from others


def _answer_xml(index: CaptureIndex, parameters: Parameters, now: str) -> str:
    """Answer a query of OpenWayback's remote collection."""
    query = read_xml_query(parameters)
    start, end = query.offset, query.offset + query.limit
    if query.kind == "urlquery":
        captures = (c for c in islice(_of_key(index, query.key), SCANNED) if c.mime != MEDIA)
        listed: list[IndexedCapture] = []
        nearest, total = _Nearest(query.date), 0
        for total, capture in enumerate(captures, 1):
            nearest.add(capture)
            if start < total <= end:
                listed.append(capture)
        results = [xml_capture(c, is_closest=c is nearest.capture) for c in listed]
        return xml_results(query, results, total, now)
    if query.kind == "prefixquery":
        urls: dict[str, list[IndexedCapture]] = {}
        for capture in islice(_pages(index, CdxKeys(prefixes=(query.key,)), ""), SCANNED):
            urls.setdefault(capture.key, []).append(capture)
            if len(urls) > end:
                break
        results = [xml_url(group) for group in list(urls.values())[start:end]]
        return xml_results(query, results, len(urls), now)
    return xml_error("Unsupported query type", "The requested query type is unknown to the index.")


class _Nearest:
    """The capture nearest to a time, of those that were added.

    Args:
        date: The time, up to 14 digits; "" for none.

    Attributes:
        capture: It; of two as near the first; None without a time.
    """

    def __init__(self, date: str) -> None:
        self.capture: IndexedCapture | None = None
        self._aim = timestamp_seconds(date) if date else None
        self._distance = 0

    def add(self, capture: IndexedCapture) -> None:
        """Look at a capture."""
        if self._aim is None:
            return
        distance = abs(timestamp_seconds(capture.timestamp) - self._aim)
        if self.capture is None or distance < self._distance:
            self.capture, self._distance = capture, distance
