"""What became of a run, gathered from its reports, its log and the store."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.errors import JobError
from nacre.job.handout.failures import Failure, failures
from nacre.job.layout import Layout
from nacre.job.offline import View
from nacre.job.reports.reporting import material_of
from nacre.job.runrow import RunRow
from nacre.job.runs.newrun import INCREMENTAL, runs
from nacre.job.runs.runs import read_run
from nacre.job.seeding.seedbook import seed_rows
from nacre.job.states import CRASHED, ExitStatus
from nacre.job.studies.known import CHANGED, NEW
from nacre.job.studies.lookback import found_by, outcome_of, stored_noise, visits_of
from nacre.report.reports import REPORTS
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store
from nacre.store.table import file_rows

MOST_ROWS = 40
"""Rows of hosts and media types that are shown; the others are summed up."""
MOST_CHANGES = 60
"""Pages of each kind of change that are named."""
_TABLES = ("hosts", "mimetype", "responsecode", "seeds")
_SUMMARY = "crawl-summary"


class Counted(msgspec.Struct, frozen=True):
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
        found: Pages by verdict; empty for the first run.
    """

    number: int
    name: str
    mode: str
    started: float
    ended: float
    exit: str
    found: dict[str, int]


class FailedSeed(msgspec.Struct, frozen=True):
    """A seed that could not be got.

    Attributes:
        url: It.
        status: Fetch status.
        cause: Why, in words, in English; "" when nothing is known but the status.
    """

    url: str
    status: int
    cause: str


class RunReport(msgspec.Struct):
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
        hosts: Hosts with the most URLs first; what is over has the name "".
        mimes: Media types, the same.
        statuses: Replies and results by status, the most frequent first.
        failed: What could not be got: URLs by status.
        failures: The first of these.
        changes: For new, changed and gone: the first of these pages.
        warc_files: WARC files of the run.
        warc_bytes: Their size.
        noise: Share of what was stored that differs in noise alone.
        runs: All runs of the job up to this one.
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
    hosts: list[Counted]
    mimes: list[Counted]
    statuses: list[Counted]
    failed: dict[int, int]
    failures: list[Failure]
    changes: dict[str, list[str]]
    warc_files: int
    warc_bytes: int
    noise: float
    runs: list[RunLine]


_SEEDS = 20
_FIRST_ERROR = 400


def run_report(view: View, name: str = "", *, running: bool = False) -> RunReport:
    """What became of a run.

    Args:
        view: The job.
        name: Name or number of the run; "" for the last one.
        running: A process works on the last one.

    Raises:
        JobError: There is no such run, or its reports are gone.
    """
    store, layout = view.store, view.layout
    rows = [row for row in runs(store) if not row.fresh]
    row = _chosen(rows, name, layout)
    tables = _tables(view, row)
    found = failures(layout.run(row.name) / "logs")
    files, size = _warcs(store, row, is_last=row == read_run(store))
    lines = [_line(store, one, is_running=running and one is rows[-1]) for one in rows]
    return RunReport(
        job=view.settings.name or layout.root.name,
        run=lines[rows.index(row)],
        running=running and row is rows[-1],
        seeds=[seed.url for seed in islice(seed_rows(store), _SEEDS)],
        seed_count=sum(not seed.redirect_from for seed in seed_rows(store)),
        failed_seeds=list(islice(_failed_seeds(tables["seeds"]), _SEEDS)),
        elapsed=row.elapsed,
        keep=row.keep,
        numbers=dict(tables[_SUMMARY]),
        hosts=_counted(tables["hosts"], "host"),
        mimes=_counted(tables["mimetype"], "mime"),
        statuses=_counted(tables["responsecode"], "rescode"),
        failed=found.counts,
        failures=found.first,
        changes=_changes(store, row),
        warc_files=files,
        warc_bytes=size,
        noise=stored_noise(store, row) if row.mode == INCREMENTAL else 0.0,
        runs=[line for line in lines if line.number <= row.number],
    )


def _chosen(rows: list[RunRow], name: str, layout: Layout) -> RunRow:
    if not rows:
        raise JobError(f"{layout.root} has not run yet; start it by `nacre run {layout.root}`")
    if not name:
        return rows[-1]
    for row in rows:
        if name in {row.name, str(row.number)}:
            return row
    raise JobError(
        f"there is no run {name!r}; `nacre history {layout.root} runs` lists them: "
        f"1 to {rows[-1].number}"
    )


def _line(store: Store, row: RunRow, *, is_running: bool) -> RunLine:
    cut_off = row.exit is ExitStatus.NONE and not is_running
    found = found_by(store, row) if row.number > 1 else {}
    return RunLine(
        row.number, row.name, row.mode, row.started, row.ended,
        CRASHED if cut_off else str(row.exit), found,
    )  # fmt: skip


# ---- numbers


def _tables(view: View, row: RunRow) -> Mapping[str, Any]:
    """The reports that this one is made of; of an earlier run, the files that it left."""
    names = (_SUMMARY, *_TABLES)
    if row == read_run(view.store):
        material = material_of(view.store, view.layout, view.settings)
        return {name: REPORTS[name].build(material) for name in names}
    folder = view.layout.run(row.name) / "reports"
    return {name: _read(folder / REPORTS[name].file) for name in names}


def _read(path: Path) -> Any:  # noqa: ANN401 - a report
    path = path.with_suffix(".json")
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise JobError(
            f"{path} cannot be read ({why}); the numbers of an earlier run are only there: put the "
            "file back, or name another --run"
        ) from None


def _counted(table: Mapping[str, Any], key: str) -> list[Counted]:
    rows = table["rows"]
    found = [_row(row, key) for row in rows[:MOST_ROWS]]
    rest = rows[MOST_ROWS:]
    if rest:
        others = [_row(row, key) for row in rest]
        found.append(Counted("", sum(o.urls for o in others), sum(o.bytes for o in others)))
    return found


def _failed_seeds(table: Mapping[str, Any]) -> Iterator[FailedSeed]:
    for row in table["rows"]:
        status = int(row["code"])
        if status < 0 or status >= _FIRST_ERROR:
            yield FailedSeed(str(row["seed"]), status, str(row.get("cause") or ""))


def _row(row: Mapping[str, Any], key: str) -> Counted:
    return Counted(str(row[key]), int(row["urls"]), int(row.get("bytes", 0)))


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
    found: dict[str, list[str]] = {"new": [], "changed": [], "gone": []}
    for visit, kind in _changed(store, row):
        if len(found[kind]) < MOST_CHANGES and visit.url not in found[kind]:
            found[kind].append(visit.url)
    return found


def _changed(store: Store, row: RunRow) -> Iterator[tuple[FetchRow, str]]:
    for visit, outcome in outcome_of(store, row, visits_of(store, row)):
        if outcome in CHANGED:
            yield visit, "changed"
        elif outcome == NEW:
            yield visit, "new"
        elif outcome in {"missing", "gone", "soft-404"}:
            yield visit, "gone"
