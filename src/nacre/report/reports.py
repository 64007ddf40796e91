"""All reports by name. Source: reference/heritrix.md 1.13."""

from nacre.report.queues import NONEMPTY, SUMMARY
from nacre.report.report import Report
from nacre.report.steps import PROCESSORS
from nacre.report.summary import CRAWL_SUMMARY
from nacre.report.tables import HOSTS, MIMETYPE, RESPONSECODE, SEEDS, SOURCE
from nacre.report.threads import THREADS

_ALL: tuple[Report, ...] = (
    CRAWL_SUMMARY,
    SEEDS,
    HOSTS,
    SOURCE,
    MIMETYPE,
    RESPONSECODE,
    PROCESSORS,
    SUMMARY,
    NONEMPTY,
    THREADS,
)

REPORTS: dict[str, Report] = {report.name: report for report in _ALL}
"""All reports by name."""
