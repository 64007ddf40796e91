"""Captures of a job, a collection or files: the query, the search, and its results as text.

The catalogue is brought up to date first: for a moment in this process, then by a process with the
lowest priority. Meanwhile, a search uses the files that are indexed.
"""

import csv
import io
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from nacre.archive.delta import TARGET
from nacre.archive.index import format_line
from nacre.archive.index_facts import PostQuery
from nacre.catalogue.build import CatalogueState, read_state, spawn_builder, update_catalogue
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.filters import CatalogueQuery, Order
from nacre.catalogue.holdings import Holding, catalogue_folder
from nacre.catalogue.query import CapturePage, iterate_items, open_catalogues, search_captures
from nacre.catalogue.rows import CatalogueItem
from nacre.catalogue.words import search_by_words
from nacre.core.message_data import to_json
from nacre.ops.fields import Cursor, LineText, RowCount, ShortText, ShortTexts, Typed
from nacre.uri.typed import is_host_text, is_whole

MOMENT: Final = 0.3
"""Seconds that a page may spend on the update of a catalogue."""
_NAP: Final = 0.1
"""Seconds between two looks at the progress of a builder."""
_TRIES: Final = 20
"""Updates until a catalogue that never gets complete is used as it is: its indexes change."""

Format = Literal["table", "csv", "json", "cdxj"]
Report = Callable[[int, int], None]
"""Receives the bytes of the indexes that are read, and all of them."""


class CapturesQuery(msgspec.Struct, frozen=True):
    """A search for captures. Filters are combined.

    Attributes:
        q: A URL, a host, a URL with `*` at its end for all that begins so, or words of pages where
            an index of words exists.
        prefix: Only URLs that begin with this text.
        host: Only this host.
        domain: Only this host and hosts below it.
        mime: Only these media types or families of them: page, image, video, audio, style, script,
            font, document, data, text, archive, revisit.
        status: Only these statuses or classes of them, such as 404,5xx.
        verdict: Only these verdicts: changed, unchanged, new, major, minor, template, noise,
            markup, unknown.
        start: Not before this time; its end may be left out, such as 2026-11.
        end: Not after this time.
        run: Only captures of this run.
        method: Only requests of this method, such as POST.
        id: Only these captures, WARC:OFFSET each.
        order: The order of the results.
        after: `next` of the page before; "" for the first.
        limit: Captures of a page.
    """

    q: Annotated[LineText, Typed("QUERY", is_argument=True, label="URL, host or words")] = ""
    prefix: Annotated[LineText, Typed("URL")] = ""
    host: Annotated[ShortText, Typed("HOST")] = ""
    domain: Annotated[ShortText, Typed("HOST")] = ""
    mime: Annotated[ShortText, Typed("TYPE,…")] = ""
    status: Annotated[ShortText, Typed("STATUS,…")] = ""
    verdict: Annotated[ShortText, Typed("VERDICT,…")] = ""
    start: Annotated[ShortText, Typed("TIME", option="--from")] = ""
    end: Annotated[ShortText, Typed("TIME", option="--to")] = ""
    run: Annotated[ShortText, Typed("RUN")] = ""
    method: Annotated[ShortText, Typed("METHOD")] = ""
    id: Annotated[ShortTexts, Typed("WARC:OFFSET")] = ()
    order: Order = ""
    after: Cursor = ""
    limit: RowCount = 50


FILTERS: Final = (
    "q", "prefix", "host", "domain", "mime", "status", "verdict", "start", "end", "run", "method",
    "order", "id",
)  # fmt: skip
"""The fields of a query that say which captures are meant, and their order."""


class ListedCapture(msgspec.Struct, frozen=True):
    """A capture, as lists and exports have it.

    Attributes:
        id: Its name in its job: `WARC:OFFSET`.
        time: When it was captured, RFC 3339.
        url: Its URL.
        status: HTTP status; 0 if it has none.
        mime: Media type; `warc/revisit` for a reference to an earlier capture.
        size: Bytes of its record in the WARC.
        digest: Digest of its payload; "" if unknown.
        verdict: Result of the comparison with earlier captures; "" if unknown.
        run: Name of its run.
        method: Method of the request.
        member: Name of its job in a collection.
        warc: Name of its WARC.
        offset: Offset of its record there, bytes.
    """

    id: str
    time: str
    url: str
    status: int
    mime: str
    size: int
    digest: str
    verdict: str
    run: str
    method: str
    member: str
    warc: str
    offset: int


class BuildProgress(NamedTuple):
    """The progress of the catalogues of a holding.

    Attributes:
        is_complete: They have all captures.
        done: Bytes of the indexes that are read.
        total: Bytes of all indexes; 0 if unknown.
    """

    is_complete: bool
    done: int
    total: int


def read_query(query: CapturesQuery) -> CatalogueQuery:
    """Return the query of a catalogue, with the meaning of the text in the search box (pure)."""
    fields = {name: getattr(query, name) for name in FILTERS if name not in {"q", "id"}}
    fields |= place_of_text(query.q) if query.q.strip() else {}
    return CatalogueQuery(**fields, ids=query.id, cursor=query.after, limit=query.limit)


def place_of_text(text: str) -> dict[str, str]:
    """Return the fields of a query that a text of a search box means (pure).

    A URL is itself, with `*` at its end all that begins so; a host is its domain; all else is
    words.
    """
    plain = text.strip()
    if plain.startswith("*."):
        return {"domain": plain[2:]}
    is_place = " " not in plain and (is_whole(plain) or is_host_text(plain))
    if plain.endswith("*") and is_place:
        return {"prefix": plain[:-1]}
    if not is_place:
        return {"words": plain}
    if not is_whole(plain) and "/" not in plain and "?" not in plain:
        return {"domain": plain.partition(":")[0]}
    return {"url": plain}


def find_captures(holding: Holding, query: CatalogueQuery) -> CapturePage:
    """Return a page of the captures that a query selects, by words if it has some.

    Raises:
        ConfigError: A part of the query has no meaning.
        JobError: It has words, and there is no index of words.
    """
    return (search_by_words if query.words else search_captures)(holding, query)


def iterate_captures(holding: Holding, query: CatalogueQuery) -> Iterator[CatalogueItem]:
    """Yield all captures that a query selects, in its order; see `find_captures`."""
    if not query.words:
        yield from iterate_items(holding, query)
        return
    cursor = ""
    while True:
        page = search_by_words(holding, msgspec.structs.replace(query, cursor=cursor, limit=500))
        yield from page.items
        cursor = page.next
        if not cursor:
            return


def selected_captures(holding: Holding, query: CatalogueQuery) -> Iterator[IndexedCapture]:
    """Yield the captures that a query selects, in its order.

    They are those of the catalogues as they are: call `build_catalogues` before.

    Raises:
        ConfigError: A part of the query has no meaning.
        JobError: It has words, and there is no index of words.
    """
    for item in iterate_captures(holding, query):
        yield item.capture


def originals_of(holding: Holding, items: Sequence[CatalogueItem]) -> dict[str, str]:
    """Return the ids of the captures that revisits refer to, by the ids of the revisits.

    An original is the last earlier capture of the same URL with the same digest; one of another
    URL is not searched.

    Args:
        holding: The holding.
        items: Captures of it, revisits among them.
    """
    originals = {}
    with open_catalogues(holding) as opened:
        catalogues = {catalogue.member: catalogue for catalogue in opened.catalogues}
        for item in items:
            capture = item.capture
            if capture.is_revisit and capture.member in catalogues:
                original = catalogues[capture.member].original_of(capture)
                if original is not None:
                    originals[capture.id] = original.capture.id
    return originals


# ---- the catalogues of a holding


def refresh_catalogues(holding: Holding, seconds: float = MOMENT) -> BuildProgress:
    """Bring the catalogues of a holding up to date for a moment; a process does the rest.

    Args:
        holding: The job, collection or files.
        seconds: Seconds of this process, for each member.

    Raises:
        StorageError: A catalogue cannot be written.
    """
    states: list[CatalogueState] = []
    late = []
    for member in holding.members:
        if member.is_missing:
            continue
        state = update_catalogue(member, seconds=seconds)
        states.append(state)
        if not state.is_complete and not state.is_building:
            late.append(member.root)
    if late:
        BUILDERS.start(late)
    return _progress(states)


def build_catalogues(holding: Holding, report: Report | None = None) -> None:
    """Bring the catalogues of a holding up to date, and wait until they are.

    Args:
        holding: The job, collection or files.
        report: Receives the progress; None for no reports.

    Raises:
        StorageError: A catalogue cannot be written.
    """
    folders = [catalogue_folder(member) for member in holding.members if not member.is_missing]
    for _ in range(_TRIES):
        if refresh_catalogues(holding, 1.0).is_complete:
            return
        while BUILDERS.wait(_NAP) or any(read_state(folder).is_building for folder in folders):
            progress = _progress([read_state(folder) for folder in folders])
            if report is not None:
                report(progress.done, progress.total)
            time.sleep(_NAP)  # the builder may be a process of another command


def _progress(states: Iterable[CatalogueState]) -> BuildProgress:
    listed = list(states)
    return BuildProgress(
        all(state.is_complete for state in listed),
        sum(state.done for state in listed),
        sum(state.total for state in listed),
    )


class BuilderProcesses:
    """The building processes that this process began."""

    def __init__(self) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, roots: "list[Any]") -> None:
        """Start a process that builds the catalogues of some jobs and files."""
        self.wait(0)
        self._processes.append(spawn_builder(roots))

    def wait(self, seconds: float) -> bool:
        """Wait for the end of a process; return whether processes still run.

        Args:
            seconds: Timeout.
        """
        for process in self._processes[:]:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
            self._processes.remove(process)
        return bool(self._processes)


BUILDERS: Final = BuilderProcesses()
"""The building processes of this process."""


# ---- results as text


def listed_capture(item: CatalogueItem, holding: Holding) -> ListedCapture:
    """Return a capture as lists and exports have it."""
    capture = item.capture
    digits = capture.timestamp
    day, clock = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}", digits[8:]
    return ListedCapture(
        capture.id, f"{day}T{clock[:2]}:{clock[2:4]}:{clock[4:]}Z", capture.url, capture.status,
        capture.mime, capture.length, capture.digest, item.verdict, item.run,
        capture.method or "GET", holding.members[capture.member].name, capture.warc,
        capture.offset,
    )  # fmt: skip


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_cell(value: object) -> object:
    """Return a value as a cell; a text that a spreadsheet would compute gets an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def csv_lines(holding: Holding, items: Iterable[CatalogueItem]) -> Iterator[str]:
    """Yield captures as CSV, with a head; the last column has the preferences that held."""
    from nacre.packing.capture_rights import CaptureRights

    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerow([*(field.name for field in msgspec.structs.fields(ListedCapture)), "rights"])
    with CaptureRights(holding) as rights:
        for item in items:
            facts = msgspec.structs.astuple(listed_capture(item, holding))
            row = (*facts, rights.of(item.capture).text())
            writer.writerow(map(spreadsheet_cell, row))
            yield target.getvalue()
            target.seek(0)
            target.truncate()
    yield target.getvalue()


def json_lines(holding: Holding, items: Iterable[CatalogueItem]) -> Iterator[str]:
    """Yield captures as a JSON array, one capture a line."""
    before = "[\n"
    for item in items:
        yield before + to_json(listed_capture(item, holding)).decode()
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def cdxj_lines(_: Holding, items: Iterable[CatalogueItem]) -> Iterator[str]:
    """Yield captures as an index (CDXJ), as it was read; sorted if they are in the order `url`."""
    for item in items:
        capture = item.capture
        values = (capture.mime or None, str(capture.status or "") or None, capture.digest or None)
        url = TARGET + capture.url if capture.is_delta else capture.url
        post = PostQuery(capture.method, capture.query) if capture.method else None
        where = (capture.length, capture.offset, capture.warc)
        line = format_line(url, capture.timestamp, values, where, post).decode()
        yield f"{capture.key} {line.partition(' ')[2]}"


WRITERS: Final[Mapping[str, Callable[[Holding, Iterable[CatalogueItem]], Iterator[str]]]] = {
    "csv": csv_lines,
    "json": json_lines,
    "cdxj": cdxj_lines,
}
"""The formats of an export by name."""


def export_captures(holding: Holding, query: CatalogueQuery, form: str) -> Iterator[str]:
    """Yield all captures that a query selects as text, in bounded memory.

    Args:
        holding: The job, collection or files.
        query: The query; an index is always in its order.
        form: `csv`, `json` or `cdxj`.

    Raises:
        ConfigError: A part of the query has no meaning.
        JobError: It has words, and there is no index of words.
    """
    if form == "cdxj" and not query.words:
        query = msgspec.structs.replace(query, order="url")
    return WRITERS[form](holding, iterate_captures(holding, query))
