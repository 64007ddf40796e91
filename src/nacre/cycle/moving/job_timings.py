"""The timings that a continuous crawl has learned of its pages, as those of rows, and back.

Under `recrawl.schedule.kind: worth` it is the evidence of the change rate of a page; under another
kind its interval and when it is due. What another kind of schedule wrote is left: that begins anew.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from nacre.core.pagerow import TimingRow
from nacre.crawldb.revisits import ChangeRateRevisits, RowTiming, revisits_of
from nacre.recrawl.session.pagestore import TIMINGS, PageStore, scan
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

WORTH = "worth"
_MOST_MS = 1 << 53


class RevisitTimings(NamedTuple):
    """Reads what was learned out of a store.

    Attributes:
        kind: The schedule that the rows are for.
        worth: Makes a timing of evidence; None for another kind.
    """

    kind: str
    worth: ChangeRateRevisits | None

    def of(self, store: Store) -> Iterator[tuple[str, RowTiming]]:
        """URLs with their timing.

        Args:
            store: The store.
        """
        if self.worth is not None:
            for page in PageStore(store).scan():
                last = round(page.last_visit * 1000)
                if page.evidence and last > 0:
                    changed = round(page.last_change * 1000)
                    timed = RowTiming(self.worth.interval, modified=changed or last, last_time=last)
                    yield page.url, self.worth.learned(timed, page.evidence)
            return
        decode = msgspec.msgpack.Decoder(TimingRow).decode
        for _, value in scan(store, TIMINGS):
            row = decode(value)
            if row.kind == self.kind and row.interval > 0:
                due = row.due * 1000
                yield (
                    row.url,
                    RowTiming(
                        min(round(row.interval), 2**31 - 1),
                        round(due) if math.isfinite(due) and 0 < due < _MOST_MS else _MOST_MS,
                        round(row.modified * 1000),
                        min(row.retries, 255),
                    ),
                )


def revisit_timings(settings: JobSettings) -> RevisitTimings:
    """The reader of timings under the schedule of a job."""
    schedule = revisits_of(settings.recrawl.schedule, {})
    worth = schedule if isinstance(schedule, ChangeRateRevisits) else None
    return RevisitTimings(settings.recrawl.schedule.kind, worth)


def timing_row(row: Mapping[str, Any], url: str, kind: str) -> TimingRow | None:
    """The timing of a row for a continuous crawl; None for a row that was not visited.

    Args:
        row: Its row: `last_time`, `interval`, `fetch_time`, `modified`, `retries`, `mime`.
        url: Its URL.
        kind: The schedule; `worth` has none.
    """
    if kind == WORTH or not row["last_time"]:
        return None
    return TimingRow(
        url,
        kind,
        visited=row["last_time"] / 1e6,
        interval=float(row["interval"]),
        due=row["fetch_time"] / 1000,
        modified=row["modified"] / 1000,
        retries=row["retries"],
        mime=row["mime"] or "",
    )
