"""All reports by name: of a run, on incremental crawling, and those of plug-ins.

A new report is a class in a new module, and a name in `REPORTS.add` here.
"""

from nacre.config.registry import REPORTS as GROUP
from nacre.config.registry import Registry
from nacre.errors import JobError
from nacre.inspect.analysis.budget import BudgetReport
from nacre.inspect.analysis.decisions import DecisionsReport
from nacre.inspect.analysis.deletions import DeletionsReport
from nacre.inspect.analysis.difference import DifferenceReport
from nacre.inspect.analysis.frequency import ChangeFrequencyReport
from nacre.inspect.analysis.run_comparison import CompareReport
from nacre.inspect.analysis.savings import SavingsReport
from nacre.inspect.analysis.sequences import CoverageReport
from nacre.inspect.analysis.site_events import EventsReport
from nacre.inspect.analysis.templates import TemplatesReport, TrapsReport
from nacre.inspect.analysis.timeline import TimelineReport
from nacre.inspect.analysis.trust import HintsReport
from nacre.inspect.reports.base import Report
from nacre.inspect.reports.browser_report import BrowserReport
from nacre.inspect.reports.rights_report import RightsReport
from nacre.inspect.reports.run_reports import RUN_REPORTS
from nacre.inspect.reports.sections import SectionsReport
from nacre.inspect.reports.walls_report import WallsReport
from nacre.inspect.summary.run_document import RunSummaryReport


def _is_report(part: object) -> bool:
    return isinstance(part, type) and issubclass(part, Report)


REPORTS: Registry[type[Report]] = Registry("report", _is_report, group=GROUP)
"""All reports; see `Registry`."""

REPORTS.add(
    RunSummaryReport,
    SectionsReport,
    *RUN_REPORTS,
    BrowserReport,
    WallsReport,
    RightsReport,
    ChangeFrequencyReport,
    TimelineReport,
    DifferenceReport,
    CompareReport,
    SavingsReport,
    BudgetReport,
    DeletionsReport,
    EventsReport,
    HintsReport,
    TemplatesReport,
    TrapsReport,
    CoverageReport,
    DecisionsReport,
)


def report_named(name: str) -> Report:
    """A report.

    Raises:
        JobError: There is none of that name; the message suggests one.
    """
    try:
        return REPORTS.get(name)()
    except ValueError as error:
        raise JobError(str(error)) from None


def all_reports() -> list[Report]:
    """All reports, those of plug-ins last."""
    REPORTS.load_plugins()
    return [kind() for kind in REPORTS]
