"""The reports that a run leaves as files, text and JSON; `nacre report` builds them again.

`write_results` writes them and the manifest of the run, beside its archive.
"""

from contextlib import suppress
from pathlib import Path, PurePosixPath

from nacre.errors import JobError, StorageError
from nacre.inspect.reports.base import ReportRequest, RunReport
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.inspect.reports.crawler_reports import (
    FrontierSummaryReport,
    NonemptyQueuesReport,
    ProcessorsReport,
    ThreadsReport,
)
from nacre.inspect.reports.row_reports import (
    HostsReport,
    MediaTypesReport,
    SeedsReport,
    SourcesReport,
    StatusCodesReport,
)
from nacre.inspect.reports.source import Data, JobReportSource, ReportSource, source_of
from nacre.inspect.view import LiveFigures, View
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.runs.manifest import write_manifest
from nacre.runs.runs import RunRow
from nacre.settings.settings import JobSettings
from nacre.store.seam import Disk
from nacre.store.store import Store

RUN_REPORTS: tuple[type[RunReport], ...] = (
    CrawlSummaryReport,
    SeedsReport,
    HostsReport,
    SourcesReport,
    MediaTypesReport,
    StatusCodesReport,
    ProcessorsReport,
    FrontierSummaryReport,
    NonemptyQueuesReport,
    ThreadsReport,
)
"""Heritrix's reports; those that are `default` are written at the end of each run."""

_CHUNK = 1 << 16


def run_report_data(view: View, name: str) -> Data:
    """The data of a report of a run.

    Raises:
        JobError: There is none of that name, or the job never ran.
    """
    for kind in RUN_REPORTS:
        if kind.name == name:
            return kind().data(view, ReportRequest())
    names = ", ".join(kind.name for kind in RUN_REPORTS)
    raise JobError(
        message(
            "report.no-run-report",
            "there is no report of a run {name!r}; there are: {names}",
            name=name,
            names=names,
        )
    )


def write_reports(disk: Disk, directory: str, source: ReportSource) -> None:
    """Write the files of all default reports, as text and as JSON, each in one step.

    Args:
        disk: Where.
        directory: Absolute; made when it is not there.
        source: What they are made of.

    Raises:
        StorageError: A file cannot be written, or the store cannot be read.
        OSError: A temporary file cannot be written.
    """
    disk.makedirs(directory)
    for kind in RUN_REPORTS:
        if kind.default:
            report = kind()
            path = PurePosixPath(directory, report.file)
            _write(disk, path, report, source)


def _write(disk: Disk, path: PurePosixPath, report: RunReport, source: ReportSource) -> None:
    text = _Fresh(disk, str(path))
    data = _Fresh(disk, str(path.with_suffix(".json")))
    try:
        for line, piece in report.parts(source):
            text.add(line)
            data.add(piece)
        text.replace()
        data.replace()
    finally:
        text.close()
        data.close()


class _Fresh:
    """A file that takes the place of the former one when it is complete."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        disk.unlink(f"{path}.new")
        self._handle: int | None = disk.create(f"{path}.new")
        self._size = 0
        self._held: list[str] = []
        self._characters = 0

    def add(self, text: str) -> None:
        """Add to its end."""
        self._held.append(text)
        self._characters += len(text)
        if self._characters >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        data = "".join(self._held).encode("utf-8", "backslashreplace")
        self._held.clear()
        self._characters = 0
        if self._handle is not None:
            self._disk.pwrite(self._handle, data, self._size)
            self._size += len(data)

    def replace(self) -> None:
        """It is complete."""
        self._flush()
        if self._handle is not None:
            self._disk.fdatasync(self._handle)
        self._disk.rename(f"{self._path}.new", self._path)

    def close(self) -> None:
        """Close the handle, and remove incomplete files. It can be called twice."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(StorageError):
                self._disk.close(handle)
            with suppress(StorageError):
                self._disk.unlink(f"{self._path}.new")


_MEMORY = 32_000_000


def write_run_reports(disk: Disk, layout: Layout, source: JobReportSource) -> str:
    """Write the reports into the run's directory.

    Returns:
        The errors; "" for none. Nothing is lost by them: reports can be built again.
    """
    directory = layout.run(source.facts().run) / "reports"
    try:
        write_reports(disk, str(directory), source)
    except (StorageError, OSError) as error:
        return f"reports were not written ({error}); `nacre report JOB` shows them"
    return ""


def write_checkpoint_reports(
    disk: Disk, layout: Layout, settings: JobSettings, checkpoint: Path, live: LiveFigures
) -> str:
    """Write the reports as of a checkpoint; may run in a thread while the crawl goes on.

    Returns:
        What went wrong; "" when nothing did.
    """
    try:
        with Store.open(str(checkpoint), memory=_MEMORY, read_only=True) as store:
            return write_run_reports(disk, layout, source_of(store, layout, settings, live))
    except StorageError as error:
        return f"reports were not written ({error}); `nacre report JOB` shows them"


def write_results(
    disk: Disk, store: Store, layout: Layout, settings: JobSettings, run: RunRow, live: LiveFigures
) -> str:  # fmt: skip
    """Write the manifest and the reports of a run, from the store, after its last commit.

    Returns:
        What went wrong; "" when nothing did.
    """
    write_manifest(layout.run(run.name), run, store)
    return write_run_reports(disk, layout, source_of(store, layout, settings, live))
