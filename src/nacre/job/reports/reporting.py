"""The reports of a job: by name, and into the files of its run."""

from pathlib import Path

from nacre.errors import JobError, StorageError
from nacre.job.admission.identity import Identity
from nacre.job.configuration.settings import JobSettings
from nacre.job.intake.entering import SKIPPED
from nacre.job.layout import Layout
from nacre.job.reports.material import JobMaterial, Live
from nacre.job.reports.seedends import SeedEnds, SeedTally, tally_seeds
from nacre.job.runrow import RunRow
from nacre.job.runs.newrun import INCREMENTAL
from nacre.job.runs.runs import read_run
from nacre.job.states import RunCounts, SeedsEnd
from nacre.report.files import write_reports
from nacre.report.material import Data
from nacre.report.report import Report
from nacre.report.reports import REPORTS
from nacre.report.stats import Overall
from nacre.store.seam import Disk
from nacre.store.store import Store

_MEMORY = 32_000_000
_NOT_GOT = 1000
"""Seeds that were not got and are named with the reason."""


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


def run_counts(run: RunRow, seeds: SeedTally, got: Overall) -> RunCounts:
    """What the exit code of a run depends on.

    Args:
        run: The run.
        seeds: Its seeds in numbers.
        got: Its totals; those of the store lack what is not committed yet when a run ends.
    """
    archived = got.novel_urls + got.duplicate_urls + got.not_modified_urls + got.delta_urls
    end = seeds.end if seeds.total or got.urls else SeedsEnd.NO_REPLY
    return RunCounts(end, got.urls, None if run.mode == INCREMENTAL else archived)


def all_seeds(store: Store, identity: Identity) -> SeedTally:
    """The seeds of a run in numbers; with the first of those that were not got."""
    seeds = tally_seeds(SeedEnds(store, identity).all(), _NOT_GOT)
    seeds.skipped = store.counter(SKIPPED)
    return seeds
