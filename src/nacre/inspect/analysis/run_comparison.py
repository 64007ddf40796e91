"""Two runs compared, any two: which pages are new, changed or gone between their ends.

The archive decides: a page is as its last reply until the end of a run says. So full and
incremental runs can be compared alike, and pages that a run did not visit are as they were.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.errors import JobError
from nacre.inspect.archived_replies import ArchivedReplies, ArchivedReply
from nacre.inspect.reports.base import MOST_ROWS, Audience, Report, ReportRequest
from nacre.inspect.reports.disk_sort import IN_MEMORY, sort_rows
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.runs.runs import RunRow, all_runs

_GONE = frozenset(("404", "410"))
_NO_PAGE = re.compile(r"(?!https?:)|https?://[^/]*/robots\.txt(?:\?|\Z)")
KINDS = ("new", "changed", "gone", "moved", "failed")
"""Kinds of differences, as `RunComparison` lists their pages."""

_CAPTIONS = {
    "new": "New pages",
    "changed": "Changed pages",
    "gone": "Pages that are gone",
    "moved": "Pages that redirect now",
    "failed": "Pages that cannot be fetched now",
}


class ComparedRun(msgspec.Struct, frozen=True):
    """One of two runs.

    Attributes:
        number: From 1.
        name: Of its directory.
        until: Time of its end, seconds since the epoch; the present while it runs.
    """

    number: int
    name: str
    until: float


class RunComparison(msgspec.Struct):
    """The pages of two runs.

    Attributes:
        old: The older run.
        new: The newer run.
        counts: Pages by kind: those of `KINDS`, and `unchanged`.
        pages: URLs by kind, sorted, at most 100,000 of each; `unchanged` is not listed.
    """

    old: ComparedRun
    new: ComparedRun
    counts: dict[str, int]
    pages: dict[str, list[str]]


class _PageState(NamedTuple):
    """A page as a reply says.

    Attributes:
        url: Its URL.
        date: When the reply came, `2026-11-20T10:00:00Z`.
        status: HTTP status.
        digest: Payload digest.
    """

    url: str = ""
    date: str = ""
    status: str = ""
    digest: str = ""

    @property
    def is_there(self) -> bool:
        return self.status.startswith("2")


_UNKNOWN = _PageState()


def compare_replies(
    replies: Iterable[ArchivedReply],
    old: ComparedRun,
    new: ComparedRun,
    scratch: Path | None = None,
    in_memory: int = IN_MEMORY,
) -> RunComparison:
    """Compare the pages of two runs, in bounded memory: the replies are sorted on disk.

    Args:
        replies: All replies in the archive, in any order.
        old: The older run.
        new: The newer run.
        scratch: Directory of temporary files; None for the system's.
        in_memory: Replies that are held in memory.

    Raises:
        OSError: A temporary file cannot be written.
    """
    first, last = _end(old.until), _end(new.until)
    states = sort_rows(_states(replies, last), _PageState, itemgetter(0, 1), scratch, in_memory)
    counts: Counter[str] = Counter()
    pages: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for url, of_page in groupby(states, itemgetter(0)):
        before, after = _UNKNOWN, _UNKNOWN
        for after in of_page:
            before = after if after.date < first else before
        kind = _kind(before, after)
        counts[kind] += bool(kind)
        if kind in pages and len(pages[kind]) < MOST_ROWS:
            pages[kind].append(url)
    return RunComparison(old, new, {kind: counts[kind] for kind in (*KINDS, "unchanged")}, pages)


def _states(replies: Iterable[ArchivedReply], end: str) -> Iterator[_PageState]:
    """The states of pages before a time."""
    for reply in replies:
        # A 304 means that the page is the same as in the previous reply.
        if not reply.status.isdigit() or reply.status == "304" or _NO_PAGE.match(reply.url):
            continue
        if reply.date < end:
            yield _PageState(reply.url, reply.date, reply.status, reply.digest)


def _kind(before: _PageState, after: _PageState) -> str:
    """Return the kind of a difference; "" if neither side is a page."""
    if not before.is_there:
        return "new" if after.is_there else ""
    if after.is_there:
        return "unchanged" if before.digest == after.digest else "changed"
    if after.status in _GONE:
        return "gone"
    return "moved" if after.status.startswith("3") else "failed"


def _end(time: float) -> str:
    """Return the second after a time, `2026-11-20T10:00:01Z`; earlier dates are not after it."""
    return datetime.fromtimestamp(time + 1, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def choose_runs(runs: Sequence[RunRow], old: str, new: str, now: float) -> tuple[ComparedRun, ...]:
    """The two runs that are meant, the older first.

    Args:
        runs: All runs, in order.
        old: Name or number of the older one; "" for the one before the newer.
        new: The same of the newer one; "" for the last.
        now: The present, seconds since the epoch: the end of a run that has none.

    Raises:
        JobError: There are no such two.
    """
    have = ", ".join(f"{run.number} ({run.name})" for run in runs) or "none"

    def place(text: str) -> int:
        for at, run in enumerate(runs):
            if text in {str(run.number), run.name}:
                return at
        raise JobError(
            message(
                "study.no-run-of-name",
                "there is no run {text}; the runs are: {have}",
                text=text,
                have=have,
            )
        )

    newer = place(new) if new else len(runs) - 1
    older = place(old) if old else newer - 1
    if not 0 <= older < newer:
        raise JobError(
            message(
                "study.no-two-runs",
                "there are no two runs to compare, the older one first: `nacre report JOB compare "
                "--old 1 --new 2`; the runs are: {have}",
                have=have,
            )
        )
    return tuple(
        ComparedRun(run.number, run.name, run.ended or now) for run in (runs[older], runs[newer])
    )


def document(result: RunComparison) -> ReportDocument:
    """The comparison for people."""
    runs = tuple(
        (name, f"No. {run.number} ({run.name})")
        for name, run in (("Older run", result.old), ("Newer run", result.new))
    )
    new, changed, gone, moved, failed, same = (f"{n:,}" for n in result.counts.values())
    tables = tuple(
        DataTable(
            _CAPTIONS[kind],
            (Column("page", Format.URL),),
            tuple((url,) for url in result.pages[kind]),
        )
        for kind in KINDS
        if result.pages[kind]
    )
    text = (
        message(
            "study.run-difference",
            "{new} new, {changed} changed, {gone} gone, {moved} moved, {failed} failed, {same} "
            "unchanged.",
            new=new,
            changed=changed,
            gone=gone,
            moved=moved,
            failed=failed,
            same=same,
        ),
        message(
            "study.comparison-explained",
            "A page is as its last reply until the end of a run says; moved: a redirect now, "
            "failed: refused, or an error of the server.",
        ),
    )
    return ReportDocument("Two runs compared", (Section("", text, runs, tables=tables),))


class CompareReport(Report):
    """Any two runs, compared page by page."""

    name = "compare"
    summary = "any two runs compared: new, changed and gone pages"
    audience = Audience.CURATOR

    def data(self, view: View, request: ReportRequest) -> RunComparison:
        """See `Report.data`."""
        runs = [run for run in all_runs(view.store) if not run.fresh]
        old, new = choose_runs(runs, request.old, request.new, view.clock.now())
        archive = ArchivedReplies(view.layout.root, view.store)
        replies = (reply for index in archive.indexes() for reply in archive.replies(index))
        # Only a running job has its scratch directory for sure, and the right to write there.
        scratch = view.layout.scratch if view.running else None
        return compare_replies(replies, old, new, scratch)

    def document(self, data: RunComparison, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
