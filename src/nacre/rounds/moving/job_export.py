"""Export batch rounds to the store of a continuous crawl.

A new directory gets the configuration. Visited URLs keep their outcome and their capture; other
URLs wait in their queue, ordered by score, then by the time of discovery. References to lists of
batch rounds, signatures and sums of scores have no use in a continuous crawl and are not exported.
"""

import math
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nacre.core.history import HistoryRecord
from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import GIVEN_UP, ONE, Status
from nacre.engine.outcomes import Outcome
from nacre.errors import JobError
from nacre.job.next_run import end_run
from nacre.job.receiving import MovedUrl, ReceivedUrls
from nacre.job.stopped_job import open_stopped
from nacre.machine.layout import Layout
from nacre.rounds.moving.job_timings import page_row, timing_row
from nacre.rounds.tables.readers import TableView, join_buckets
from nacre.rounds.tables.tables import CRAWLDB, buckets_of, in_tasks
from nacre.settings.settings import JobSettings

_COLUMNS = (
    "key", "url", "status", "fetch_time", "retries", "last_status", "last_time", "digest",
    "framing", "record_id", "warc_date", "etag", "last_modified", "length", "via", "path",
    "source", "score", "cash", "interval", "modified", "mime", "evidence", "last_reason",
    "first_seen",
)  # fmt: skip
_OF_STATUS = {
    Status.FETCHED: 200, Status.NOT_MODIFIED: 304, Status.GONE: 404, Status.REDIR_TEMP: 302,
    Status.REDIR_PERM: 301, Status.DUPLICATE: 200, Status.ORPHAN: 404, Status.PARSE_FAILED: 200,
}  # fmt: skip
_LAST = 127
_BATCH = 10_000


async def export_job(
    view: TableView, settings: JobSettings, source: Layout, target: Layout, clock: int
) -> ReceivedUrls:
    """Make a continuous crawl from batch rounds; if no URL waits, its run is over.

    Args:
        view: The tables.
        settings: The settings of the job.
        source: The directory of the rounds.
        target: The new directory, which this function makes.
        clock: Now, ms since the epoch.

    Raises:
        JobError: The new directory is not empty, or there is nothing to export.
        StorageError: It cannot be written.
    """
    if CRAWLDB not in view.version.tables:
        raise JobError(f"{source.root} knows no URLs yet: there is nothing to export")
    if target.root.exists() and any(target.root.iterdir()):
        raise JobError(f"{target.root} is not empty; name a new directory")
    copy_configuration(source.root, target.root)
    # Its seeds are among the URLs, with their outcomes.
    without = settings.model_copy(update={"seeds": []})
    async with open_stopped(target, without, new=True) as editor:
        received = await editor.receive(moved_urls(view, clock, settings.recrawl.schedule.kind))
    if received.visited and not received.waiting:
        # A run without URLs to fetch would only delay the next run.
        end_run(target, without, clock / 1000)
    return received


def copy_configuration(source: Path, target: Path) -> None:
    """Copy the files beside `crawl.yaml`, without folders, which contain results of the crawl."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_file():
            shutil.copy2(path, target / path.name)


def moved_urls(view: TableView, clock: int, schedule: str) -> Iterator[MovedUrl]:
    """Yield all URLs; in each part of the table by score, then by the time of discovery.

    Args:
        view: The tables.
        clock: Now, ms since the epoch.
        schedule: The kind of schedule.
    """
    for group in in_tasks(buckets_of(view.cycle, view.version, CRAWLDB)):
        with view.place.open() as work:
            local = join_buckets(work, group)
            rows = fold_query(*local, interval=view.interval, columns=_COLUMNS, order=False)
            query = f"select * from ({rows}) order by score + cash desc, first_seen, key"
            for batch in work.kernel.batches(query, size=_BATCH):
                for row in batch.to_pylist():
                    yield moved_url(row, clock, schedule)


def moved_url(row: Mapping[str, Any], clock: int, schedule: str) -> MovedUrl:
    """Convert a row to a URL of a continuous crawl.

    Args:
        row: Its row, with `_COLUMNS`.
        clock: Now, ms since the epoch.
        schedule: The kind of schedule; visited URLs get its timing.
    """
    url = row["url"] or row["key"]
    status, due = row["status"], row["fetch_time"]
    via, path, visited = row["via"] or "", row["path"] or "", row["last_time"] or 0
    outcome = None
    if status != Status.UNFETCHED or row["last_reason"] == GIVEN_UP:
        code = row["last_status"] or _OF_STATUS.get(Status(status), 0)
        outcome = Outcome(url, code, via, path, finished=visited)
    return MovedUrl(
        url=url,
        outcome=outcome,
        record=_record(url, row) if row["record_id"] else None,
        via=via,
        path=path,
        source=row["source"] or "",
        attempts=row["retries"],
        last_status=row["last_status"] or 0,
        not_before=due / 1000 if due > clock else 0.0,
        precedence=precedence_of(int(row["score"]) or int(row["cash"])),
        timing=timing_row(row, url, schedule),
        page=page_row(row, url),
    )


def _record(url: str, row: Mapping[str, Any]) -> HistoryRecord:
    return HistoryRecord(
        url=url,
        status=row["last_status"] or 0,
        visited=row["last_time"] or 0,
        date=row["warc_date"] or 0,
        digest=row["digest"] or "",
        framing=row["framing"] or "",
        record_id=row["record_id"],
        etag=row["etag"] or b"",
        last_modified=row["last_modified"] or b"",
        length=row["length"] or 0,
        visits=1,
    )


def precedence_of(score: int) -> int:
    """Return the precedence of a score in 2^-32: 0 for 1.0 and more, plus 1 for each halving."""
    return _LAST if score <= 0 else min(max(round(-math.log2(score / ONE)), 0), _LAST)
