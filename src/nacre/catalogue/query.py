"""Searches in the catalogues of a holding, and counts.

A search reads the rows of an index in order, and tests each. It stops after its page is full, or
after its budget of rows and time: then the page has the place that it reached, and its cursor
continues there. A cursor is a place in the order (time or key, then member and id), so that rows
that are added or removed meanwhile are neither repeated nor lost. Catalogues of several members
are merged.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

from nacre.catalogue.filters import (
    CaptureFilter,
    CatalogueQuery,
    compile_query,
    read_cursor,
    write_cursor,
)
from nacre.catalogue.holdings import Holding, catalogue_folder
from nacre.catalogue.rows import (
    VERDICTS,
    CatalogueItem,
    host_of_capture,
    media_family,
    place_of_row,
    timestamp_of,
)
from nacre.catalogue.scans import Place, ScannedRow, StoredCatalogue, merge_rows, scan_rows
from nacre.catalogue.schema import reading_database
from nacre.machine.clock import SystemClock

__all__ = (
    "CapturePage",
    "CatalogueQuery",
    "FacetCounts",
    "FacetValue",
    "RowBudget",
    "count_facets",
    "iterate_items",
    "open_catalogues",
    "search_captures",
)

ROWS: Final = 10_000
"""Rows that are read for a page."""
SECONDS: Final = 0.02
"""Seconds of the reads for a page."""
LEAST_ROWS: Final = 50
"""Rows that are read however long it takes, so that a busy machine does not cut short lists."""
FACET_ROWS: Final = 20_000
"""Rows that are read for the counts of a query."""
FACET_SECONDS: Final = 0.1
"""Seconds of the reads for the counts of a query."""
FACET_VALUES: Final = 20
"""Values of a facet, the most frequent."""
FACETS: Final = ("host", "family", "mime", "status", "verdict", "run", "day")
"""The facets."""
_DAYS: Final = 62
"""Days after which the counts of days become counts of months."""


class CapturePage(NamedTuple):
    """A page of captures.

    Attributes:
        items: The captures.
        next: The cursor of the next page; "" if there is none.
        as_of: Time of the oldest catalogue, seconds since the epoch; 0 if a member has none.
        is_complete: The catalogues have all captures that there were at `as_of`.
        looked: Rows that were read.
        reached: The time (14 digits) or the URL up to which was searched, if the budget was spent;
            "" if not.
    """

    items: tuple[CatalogueItem, ...]
    next: str
    as_of: float
    is_complete: bool
    looked: int
    reached: str = ""


class FacetValue(NamedTuple):
    """A value of a facet, as a query takes it, and the number of captures that have it."""

    value: str
    number: int


class FacetCounts(NamedTuple):
    """The counts of a query.

    Attributes:
        facets: By facet its values, the most frequent first; days and months in order.
        total: Number of captures.
        is_exact: All captures of the query were counted; else the first `total`.
    """

    facets: Mapping[str, tuple[FacetValue, ...]]
    total: int
    is_exact: bool


class RowBudget:
    """The budget of a search.

    Args:
        rows: Rows at most.
        seconds: Seconds at most, if `LEAST_ROWS` are read.

    Attributes:
        looked: Rows that were read.
    """

    def __init__(self, rows: float = ROWS, seconds: float = SECONDS) -> None:
        self._clock = SystemClock()
        self._until = self._clock.monotonic() + seconds
        self._rows = rows
        self.looked = 0

    def is_spent(self) -> bool:
        """Count a row; return whether the budget is spent."""
        self.looked += 1
        if self.looked >= self._rows:
            return True
        # A row on a slow disk takes milliseconds, so the time counts at each.
        return self.looked >= LEAST_ROWS and self._clock.monotonic() > self._until


class OpenCatalogues(NamedTuple):
    """The open catalogues of a holding.

    Attributes:
        catalogues: The catalogues, in order of the members; a member without one is left out.
        as_of: Time of the oldest, seconds since the epoch; 0 if a member has none.
        is_complete: Each member that is present has a complete catalogue.
    """

    catalogues: tuple[StoredCatalogue, ...]
    as_of: float
    is_complete: bool


@contextmanager
def open_catalogues(holding: Holding) -> Iterator[OpenCatalogues]:
    """Open the catalogues of the members; the block sees one state of each.

    Raises:
        StorageError: The folder of a catalogue cannot be used.
    """
    with ExitStack() as stack:
        catalogues = []
        present = [item for item in enumerate(holding.members) if not item[1].is_missing]
        for number, member in present:
            database = stack.enter_context(reading_database(catalogue_folder(member)))
            if database is not None:
                catalogues.append(StoredCatalogue(database, number))
        is_whole = len(catalogues) == len(present)
        as_of = min((catalogue.as_of for catalogue in catalogues), default=0.0)
        is_complete = is_whole and all(catalogue.is_complete for catalogue in catalogues)
        yield OpenCatalogues(tuple(catalogues), as_of if is_whole else 0.0, is_complete)


def search_captures(
    holding: Holding, query: CatalogueQuery, budget: RowBudget | None = None
) -> CapturePage:
    """Return a page of the captures that a query selects.

    Args:
        holding: The job, collection or files; their catalogues may still be built.
        query: The query; its words are not used (`word_search`).
        budget: The budget; None for the usual one.

    Raises:
        ConfigError: A part of the query has no meaning.
        StorageError: The folder of a catalogue cannot be used.
    """
    chosen = compile_query(query)
    after = _read_place(query.cursor, chosen)
    budget = budget or RowBudget()
    with open_catalogues(holding) as opened:
        items: list[CatalogueItem] = []
        last: ScannedRow | None = None
        following, reached = "", ""
        for candidate, passes in _candidates(opened, chosen, after):
            if passes and len(items) == query.limit:
                following = write_cursor(last.place) if last is not None else ""
                break
            if passes:
                items.append(candidate.catalogue.item(candidate.row, candidate.key))
            if passes or len(items) < query.limit:
                last = candidate
            if budget.is_spent():
                following = write_cursor(candidate.place)
                reached = _reached(candidate, chosen) if len(items) < query.limit else ""
                break
        return CapturePage(
            tuple(items), following, opened.as_of, opened.is_complete, budget.looked, reached
        )


def iterate_items(holding: Holding, query: CatalogueQuery) -> Iterator[CatalogueItem]:
    """Yield all captures that a query selects, in its order, from one state of each catalogue.

    Args:
        holding: The job, collection or files.
        query: The query; its limit and its words are not used.

    Raises:
        ConfigError: A part of the query has no meaning.
        StorageError: The folder of a catalogue cannot be used.
    """
    chosen = compile_query(query)
    after = _read_place(query.cursor, chosen)
    with open_catalogues(holding) as opened:
        for candidate, passes in _candidates(opened, chosen, after, whole=True):
            if passes:
                yield candidate.catalogue.item(candidate.row, candidate.key)


def _candidates(
    opened: OpenCatalogues, chosen: CaptureFilter, after: Place | None, *, whole: bool = False
) -> Iterator[tuple[ScannedRow, bool]]:
    """Yield the rows of all catalogues in order, each with whether the query selects it."""
    scans = [scan_rows(catalogue, chosen, after, whole=whole) for catalogue in opened.catalogues]
    tests = {
        catalogue.member: catalogue.test_of(chosen, has_keys=scan.has_keys)
        for catalogue, scan in zip(opened.catalogues, scans, strict=True)
    }
    for candidate in merge_rows(scan.rows for scan in scans):
        yield candidate, tests[candidate.catalogue.member](candidate.row)


def _read_place(cursor: str, chosen: CaptureFilter) -> Place | None:
    kind = tuple[str, int, int, int] if chosen.is_by_url else tuple[int, int, int]
    place: Place | None = read_cursor(cursor, kind)
    return place


def _reached(candidate: ScannedRow, chosen: CaptureFilter) -> str:
    row = candidate.row
    return row[1] if chosen.is_by_url else timestamp_of(row[2])


# ---- facets


def count_facets(holding: Holding, query: CatalogueQuery) -> FacetCounts:
    """Count the captures that a query selects, by the values of each facet.

    Those of a holding are stored; those of a query are counted, as far as a budget reaches.

    Args:
        holding: The job, collection or files.
        query: The query; its words are not used.

    Raises:
        ConfigError: A part of the query has no meaning.
        StorageError: The folder of a catalogue cannot be used.
    """
    chosen = compile_query(query)
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    with open_catalogues(holding) as opened:
        if chosen.is_narrow:
            is_exact = _count_rows(opened, chosen, counts)
        else:
            is_exact = opened.is_complete
            for catalogue in opened.catalogues:
                _add_stored(catalogue, counts)
    total = counts["status"].total()
    return FacetCounts(
        {name: _top(name, values) for name, values in counts.items()}, total, is_exact
    )


def _count_rows(
    opened: OpenCatalogues, chosen: CaptureFilter, counts: Mapping[str, "Counter[str]"]
) -> bool:
    """Count the rows of a query; return whether these are all."""
    budget = RowBudget(FACET_ROWS, FACET_SECONDS)
    for candidate, passes in _candidates(opened, chosen, None):
        if passes:
            _count_row(candidate, counts)
        if budget.is_spent():
            return False
    return opened.is_complete


def _count_row(candidate: ScannedRow, counts: Mapping[str, "Counter[str]"]) -> None:
    number, url, time, _, status, mime, verdict, _, _ = candidate.row
    catalogue = candidate.catalogue
    media = catalogue.media_name(mime)
    values = {
        "host": host_of_capture(url), "mime": media, "family": media_family(media),
        "status": str(status), "verdict": VERDICTS[verdict], "day": _day(time // 86_400),
        "run": catalogue.warc_and_run(place_of_row(number)[0])[1],
    }  # fmt: skip
    for name, value in values.items():
        counts[name][value] += 1


def _add_stored(catalogue: StoredCatalogue, counts: Mapping[str, "Counter[str]"]) -> None:
    """Add the stored counts of a catalogue."""
    database = catalogue.database
    top = "SELECT value, number FROM facet WHERE kind = ? ORDER BY number DESC LIMIT 1000"
    counts["host"].update(dict(database.execute(top, ("host",))))
    every = "SELECT value, number FROM facet WHERE kind = ? AND number > 0"
    for mime, number in database.execute(top, ("media",)):
        name = catalogue.media_name(mime)
        counts["mime"][name] += number
        counts["family"][media_family(name)] += number
    for value, number in database.execute(every, ("status",)):
        counts["status"][str(value)] += number
    for value, number in database.execute(every, ("verdict",)):
        counts["verdict"][VERDICTS[value]] += number
    for value, number in database.execute(every, ("day",)):
        counts["day"][_day(value)] += number
    runs = (
        "SELECT warc.run, sum(facet.number) FROM facet JOIN warc ON warc.number = value"
        " WHERE kind = 'warc' GROUP BY warc.run"
    )
    for run, number in database.execute(runs):
        counts["run"][run] += number


def _day(number: int) -> str:
    digits = timestamp_of(number * 86_400)
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"


def _top(name: str, values: "Counter[str]") -> tuple[FacetValue, ...]:
    """Return the most frequent values of a facet; of `day` all days, or months, in order."""
    if name != "day":
        ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
        return tuple(FacetValue(*item) for item in ranked[:FACET_VALUES] if item[1] > 0)
    if len(values) > _DAYS:
        months: Counter[str] = Counter()
        for day, number in values.items():
            months[day[:7]] += number
        values = months
    return tuple(FacetValue(*item) for item in sorted(values.items()))
