"""The reports of a job: by name, and into the files of its run."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nacre.errors import JobError, StorageError
from nacre.job.admission.identity import Identity
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.reports.material import JobMaterial, Live
from nacre.job.runrow import RunRow
from nacre.job.runs.newrun import INCREMENTAL
from nacre.job.runs.runs import read_run
from nacre.job.seeding.seedbook import seed_rows
from nacre.job.states import RunCounts, SeedsEnd
from nacre.job.visit.outcomes import Outcomes
from nacre.report.files import write_reports
from nacre.report.material import Data
from nacre.report.report import Report
from nacre.report.reports import REPORTS
from nacre.report.stats import Overall
from nacre.store.seam import Disk
from nacre.store.store import Store

_MEMORY = 32_000_000
_NOT_MODIFIED = 304


def report_named(name: str) -> Report:
    """One of the reports.

    Raises:
        JobError: There is none of that name; the message names them all.
    """
    try:
        return REPORTS[name]
    except KeyError:
        raise JobError(f"there is no report {name!r}; there are: {', '.join(REPORTS)}") from None


def make_report(
    name: str, store: Store, layout: Layout, settings: JobSettings, live: Live | None
) -> Data:
    """The data of a report, as last committed.

    Args:
        name: Its name.
        store: The job's store.
        layout: The job's directories.
        settings: The job's settings.
        live: What the running job is at; None when it does not run.

    Raises:
        JobError: There is none of that name, or the job never ran.
    """
    report = report_named(name)
    return report.build(material_of(store, layout, settings, live))


def material_of(
    store: Store, layout: Layout, settings: JobSettings, live: Live | None = None
) -> JobMaterial:
    """What the reports of a job are made of.

    Raises:
        JobError: It never ran.
    """
    run = read_run(store)
    if run is None:
        raise JobError(f"{layout.root} has not run yet")
    # Only a running job has its scratch directory for sure, and the right to write there.
    return JobMaterial(store, settings, run, live=live, scratch=layout.scratch if live else None)


def write_run_reports(disk: Disk, layout: Layout, material: JobMaterial) -> str:
    """Write the reports into the run's directory.

    Returns:
        What went wrong; "" when nothing did. Nothing is lost by it: reports can be built anew.
    """
    directory = layout.run(material.facts().run) / "reports"
    try:
        write_reports(disk, str(directory), material)
    except (StorageError, OSError) as error:
        return f"reports were not written ({error}); `nacre report` shows them"
    return ""


def write_checkpoint_reports(
    disk: Disk, layout: Layout, settings: JobSettings, checkpoint: Path, live: Live
) -> str:
    """Write the reports as of a checkpoint; may run in a thread while the crawl goes on.

    Returns:
        What went wrong; "" when nothing did.
    """
    try:
        with Store.open(str(checkpoint), memory=_MEMORY, read_only=True) as store:
            return write_run_reports(disk, layout, material_of(store, layout, settings, live))
    except StorageError as error:
        return f"reports were not written ({error}); `nacre report` shows them"


class Unfetched(NamedTuple):
    """A seed that had no reply.

    Attributes:
        url: The seed.
        status: Its fetch status.
        error: What was in the way; "" when the status says it all.
    """

    url: str
    status: int
    error: str


def seeds_without_reply(store: Store, identity: Identity) -> Iterator[Unfetched]:
    """The seeds that were tried in vain, or not allowed to be."""
    outcomes = Outcomes(store)
    for row in seed_rows(store):
        outcome = outcomes.get(identity.key(row.url))
        if outcome is not None and outcome.status <= 0:
            yield Unfetched(row.url, outcome.status, outcome.error)


def run_counts(store: Store, identity: Identity, run: RunRow, got: Overall) -> RunCounts:
    """What the exit code of a run depends on.

    Args:
        store: The job's store.
        identity: How the job names URLs.
        run: The run.
        got: Its totals; those of the store lack what is not committed yet when a run ends.
    """
    archived = got.novel_urls + got.duplicate_urls + got.not_modified_urls + got.delta_urls
    may_leave_out = run.mode == INCREMENTAL
    return RunCounts(seeds_end(store, identity, got), got.urls, None if may_leave_out else archived)


def seeds_end(store: Store, identity: Identity, got: Overall) -> SeedsEnd:
    """What came of the seeds together; without seeds, whether anything had a reply.

    A run that tried none, because they were not due, is no failure.
    """
    outcomes = Outcomes(store)
    redirecting: set[str] = set()
    in_vain: set[str] = set()
    known = tried = erroneous = False
    for row in seed_rows(store):
        known = True
        outcome = outcomes.get(identity.key(row.url))
        if outcome is None:
            continue
        tried = True
        if 200 <= outcome.status < 300 or outcome.status == _NOT_MODIFIED:
            return SeedsEnd.GOT
        if outcome.status >= 400:
            erroneous = True
        elif outcome.status > 0:
            redirecting.add(row.url)
        else:
            in_vain.add(row.redirect_from)
    if erroneous:
        return SeedsEnd.ERRONEOUS
    if not known:
        return SeedsEnd.GOT if got.urls else SeedsEnd.NO_REPLY
    return SeedsEnd.NO_REPLY if tried and redirecting <= in_vain else SeedsEnd.GOT
