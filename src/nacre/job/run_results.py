"""Results of a run that ended, beside its archive: the manifest and the reports."""

from nacre.inspect.reports.run_reports import write_run_reports
from nacre.inspect.reports.source import source_of
from nacre.inspect.view import LiveFigures
from nacre.machine.layout import Layout
from nacre.runs.manifest import write_manifest
from nacre.runs.runs import RunRow
from nacre.settings.settings import JobSettings
from nacre.store.seam import Disk
from nacre.store.store import Store


def write_results(
    disk: Disk, store: Store, layout: Layout, settings: JobSettings, run: RunRow, live: LiveFigures
) -> str:  # fmt: skip
    """Write the manifest and the reports of a run, from the store, after its last commit.

    Returns:
        What went wrong; "" when nothing did.
    """
    write_manifest(layout.run(run.name), run, store)
    return write_run_reports(disk, layout, source_of(store, layout, settings, live))
