"""The summary of a run, collected from its reports, its log and the store.

What a run could not get, read from its crawl.log.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.annotations import HTTP_TRIED
from nacre.core.history import FetchRow
from nacre.core.states import CRASHED, ExitStatus
from nacre.engine.counters import TOO_DEEP, NotVisited, not_visited
from nacre.engine.seeding.seedbook import listed_rows
from nacre.errors import JobError
from nacre.frontier.queues import read_totals
from nacre.inspect.analysis.page_history import found_by, outcome_of, stored_noise, visits_of
from nacre.inspect.analysis.recrawl_data import CHANGED, NEW
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.inspect.reports.row_reports import (
    HostsReport,
    MediaTypesReport,
    SeedsReport,
    StatusCodesReport,
)
from nacre.inspect.reports.source import source_of
from nacre.inspect.view import View
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.report.log_fields import GUESSES, crawl_log_lines, is_left_out, number_of
from nacre.report.statistics import totals
from nacre.runs.runs import INCREMENTAL, RunRow, all_runs, read_run
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store

MOST = 200
"""Failures that are named; all are counted."""
_FIELDS = 7


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


class FailureList(NamedTuple):
    """All of a run.

    Attributes:
        counts: By status.
        first: The first of them, in order of time.
    """

    counts: dict[int, int]
    first: list[Failure]


def failures(logs: Path) -> FailureList:
    """The failures in the crawl.log of a run, also where it was rotated.

    Prerequisites of other URLs (robots.txt, names) and guessed URLs are left out.

    Args:
        logs: Directory of the run's logs.
    """
    counts: Counter[int] = Counter()
    first: list[Failure] = []
    for failure in failed_lines(crawl_log_lines(logs)):
        counts[failure.status] += 1
        if len(first) < MOST:
            first.append(failure)
    return FailureList(dict(counts.most_common()), first)


_HTTP_TRIED = HTTP_TRIED.encode()
_ALL_FIELDS = 12
"""Fields of a whole line; the last ones are the annotations."""


def failed_lines(lines: Iterable[bytes]) -> Iterator[Failure]:
    """The failures among the lines of a crawl.log; a line that is none is passed over."""
    for line in lines:
        fields = line.split(maxsplit=_ALL_FIELDS)
        if len(fields) < _FIELDS or 0 < number_of(fields[1]) < _FIRST_ERROR:
            continue
        status, path = number_of(fields[1]), fields[4].decode("latin-1")
        if path.endswith("P") or GUESSES & set(path) or is_left_out(status):
            continue
        if len(fields) >= _ALL_FIELDS and _HTTP_TRIED in fields[_ALL_FIELDS - 1].split(b","):
            continue
        via = fields[5].decode("utf-8", "replace")
        url = fields[3].decode("utf-8", "replace")
        yield Failure(status, url, "" if via == "-" else via)


MOST_ROWS = 40
"""Rows of hosts and media types that are shown; the others are summed up."""
MOST_CHANGES = 60
"""Pages of each kind of change that are named."""
_TABLES = (CrawlSummaryReport, HostsReport, MediaTypesReport, StatusCodesReport, SeedsReport)
"""The reports of a run that its summary is made of."""


class NamedCount(msgspec.Struct, frozen=True):
    """A row of hosts, media types or statuses: its name, URLs and bytes."""

    name: str
    urls: int
    bytes: int = 0


class RunLine(msgspec.Struct, frozen=True):
    """One run of the job.

    Attributes:
        number: From 1.
        name: Of its directory.
        mode: `full` or `incremental`.
        started: Seconds since the epoch.
        ended: The same; 0 while it runs.
        exit: How it ended.
        found: Pages by verdict; empty for the first run, and for a full one that was not compared.
    """

    number: int
    name: str
    mode: str
    started: float
    ended: float
    exit: str
    found: dict[str, int]

    @property
    def is_compared(self) -> bool:
        """Whether its pages were compared with earlier versions."""
        return self.number > 1 and (self.mode == INCREMENTAL or bool(self.found))


class FailedSeed(msgspec.Struct, frozen=True):
    """A seed that could not be got.

    Attributes:
        url: The URL.
        status: Fetch status.
        cause: Why, in words, in English; "" when nothing is known but the status.
    """

    url: str
    status: int
    cause: str


class RunSummary(msgspec.Struct):
    """A run, for people who did not make it.

    Attributes:
        job: Name of the job.
        run: The run.
        running: A process works on it.
        seeds: The first of its seeds, as URLs.
        seed_count: All of them.
        failed_seeds: The first of those that could not be got.
        elapsed: Seconds that it ran, pauses left out.
        keep: What was stored of its visits: `strict`, `lean` or `delta`.
        numbers: Those of the crawl-summary report.
        hosts: Hosts with the most URLs first; the sum of the others has the name "".
        mimes: Media types, the same.
        statuses: Replies and results by status, the most frequent first.
        failed: What could not be fetched: URLs by status.
        failures: The first of these.
        changes: For new, changed and gone: the first of these pages.
        warc_files: WARC files of the run.
        warc_bytes: Their size.
        noise: Share of the stored pages that differ in noise alone.
        runs: All runs of the job up to this one.
        endless: URLs of endless places that wait still; 0 for a run before the last one.
        deleted: URLs that the operator deleted; 0 for a run before the last one.
        too_deep: URLs that only the number of their hops kept out; 0 for a run before the last one.
        left: Due pages that an incremental run did not visit; none for a run before the last one.
    """

    job: str
    run: RunLine
    running: bool
    seeds: list[str]
    seed_count: int
    failed_seeds: list[FailedSeed]
    elapsed: float
    keep: str
    numbers: dict[str, Any]
    hosts: list[NamedCount]
    mimes: list[NamedCount]
    statuses: list[NamedCount]
    failed: dict[int, int]
    failures: list[Failure]
    changes: dict[str, list[str]]
    warc_files: int
    warc_bytes: int
    noise: float
    runs: list[RunLine]
    endless: int = 0
    deleted: int = 0
    too_deep: int = 0
    left: NotVisited = NotVisited()


_SEEDS = 20
_FIRST_ERROR = 400


def summarize_run(view: View, name: str = "") -> RunSummary:
    """Make the summary of a run.

    Args:
        view: The job.
        name: Name or number of the run; "" for the last one.

    Raises:
        JobError: There is no such run, or its reports are gone.
    """
    store, layout = view.store, view.layout
    rows = [row for row in all_runs(store) if not row.fresh]
    row = _chosen(rows, name, layout)
    tables = _tables(view, row)
    result = failures(layout.run(row.name) / "logs")
    is_last = row == read_run(store)
    files, size = _warcs(store, row, is_last=is_last)
    lines = [_line(store, item, is_running=view.running and item is rows[-1]) for item in rows]
    return RunSummary(
        endless=read_totals(store).endless if is_last else 0,
        deleted=totals(store).left_deleted if is_last else 0,
        too_deep=store.counter(TOO_DEEP) if is_last else 0,
        left=not_visited(store, row.number) if is_last else NotVisited(),
        job=view.settings.name or layout.root.name,
        run=lines[rows.index(row)],
        running=view.running and row is rows[-1],
        seeds=[seed.url for seed in islice(listed_rows(store), _SEEDS)],
        seed_count=sum(1 for _ in listed_rows(store)),
        failed_seeds=list(islice(_failed_seeds(tables["seeds"]), _SEEDS)),
        elapsed=row.elapsed,
        keep=row.keep,
        numbers=dict(tables[CrawlSummaryReport.name]),
        hosts=_counted(tables["hosts"], "host"),
        mimes=_counted(tables["mimetype"], "mime"),
        statuses=_counted(tables["responsecode"], "rescode"),
        failed=result.counts,
        failures=result.first,
        changes=_changes(store, row),
        warc_files=files,
        warc_bytes=size,
        noise=stored_noise(store, row) if row.mode == INCREMENTAL else 0.0,
        runs=[line for line in lines if line.number <= row.number],
    )


def _chosen(rows: list[RunRow], name: str, layout: Layout) -> RunRow:
    if not rows:
        raise layout.never_ran()
    if not name:
        return rows[-1]
    for row in rows:
        if name in {row.name, str(row.number)}:
            return row
    raise JobError(
        message(
            "run-report.no-run",
            "there is no run {name!r}; `nacre history {root} runs` lists them: 1 to {number}",
            name=name,
            root=layout.root,
            number=rows[-1].number,
        )
    )


def _line(store: Store, row: RunRow, *, is_running: bool) -> RunLine:
    cut_off = row.exit is ExitStatus.NONE and not is_running
    result = found_by(store, row) if row.number > 1 else {}
    return RunLine(
        row.number, row.name, row.mode, row.started, row.ended,
        CRASHED if cut_off else str(row.exit), result,
    )  # fmt: skip


# ---- numbers


def _tables(view: View, row: RunRow) -> Mapping[str, Any]:
    """The reports that this one is made of; of an earlier run, the files that it left."""
    if row == read_run(view.store):
        source = source_of(view.store, view.layout, view.settings, None)
        return {kind.name: kind().build(source) for kind in _TABLES}
    folder = view.layout.run(row.name) / "reports"
    return {kind.name: _read(folder / kind.file) for kind in _TABLES}


def _read(path: Path) -> Any:  # noqa: ANN401 - a report
    path = path.with_suffix(".json")
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise JobError(
            message(
                "run-report.cannot-be-read",
                "{path} cannot be read ({why}); the numbers of an earlier run are only there: put "
                "the file back, or name another --run",
                path=path,
                why=reason,
            )
        ) from None


def _counted(table: Mapping[str, Any], key: str) -> list[NamedCount]:
    rows = table["rows"]
    results = [_row(row, key) for row in rows[:MOST_ROWS]]
    remaining_rows = rows[MOST_ROWS:]
    if remaining_rows:
        remaining = [_row(row, key) for row in remaining_rows]
        results.append(
            NamedCount("", sum(o.urls for o in remaining), sum(o.bytes for o in remaining))
        )
    return results


def _failed_seeds(table: Mapping[str, Any]) -> Iterator[FailedSeed]:
    for row in table["rows"]:
        status = int(row["code"])
        if status < 0 or status >= _FIRST_ERROR:
            yield FailedSeed(str(row["seed"]), status, str(row.get("cause") or ""))


def _row(row: Mapping[str, Any], key: str) -> NamedCount:
    return NamedCount(str(row[key]), int(row["urls"]), int(row.get("bytes", 0)))


def _warcs(store: Store, row: RunRow, *, is_last: bool) -> tuple[int, int]:
    """Number and size of the WARCs of a run; those outside of the job have the run's name too."""
    files = [
        file
        for _, file in file_rows(store)
        if file.kind is FileKind.WARC
        and file.state is not FileState.LOST
        and row.name in Path(file.final).parts
    ]
    size = sum(file.size for file in files)
    return len(files), store.counter("warc.total") if is_last else size


# ---- changes


def _changes(store: Store, row: RunRow) -> dict[str, list[str]]:
    if row.number == 1:
        return {}
    results: dict[str, list[str]] = {"new": [], "changed": [], "gone": []}
    for visit, kind in _changed(store, row):
        if len(results[kind]) < MOST_CHANGES and visit.url not in results[kind]:
            results[kind].append(visit.url)
    return results


def _changed(store: Store, row: RunRow) -> Iterator[tuple[FetchRow, str]]:
    for visit, outcome in outcome_of(store, row, visits_of(store, row)):
        if outcome in CHANGED:
            yield visit, "changed"
        elif outcome == NEW:
            yield visit, "new"
        elif outcome in {"missing", "gone", "soft-404"}:
            yield visit, "gone"
