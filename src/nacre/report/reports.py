"""All reports by name. Source: Heritrix 3."""

from nacre.report.queues import NONEMPTY, SUMMARY
from nacre.report.readers import Audience
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

SUMMARIES: dict[str, str] = {
    "crawl-summary": "the whole run in numbers",
    "seeds": "each seed, its status, and where it redirects",
    "hosts": "documents and bytes of each host, new or known, and what is left",
    "source": "documents of each seed and host (with `engine.source_tags`)",
    "mimetype": "documents and bytes of each media type",
    "responsecode": "URIs of each status",
    "processors": "what each processor of the chains did",
    "frontier-summary": "queues by state, and the largest",
    "frontier-nonempty": "all queues with URIs left",
    "threads": "the fetches in process",
}
"""What each is about, for people who choose one."""

RUN = "run"
"""Name of the report of a run that is handed on: no table of Heritrix's, but made of several."""

READERS: dict[str, Audience] = dict.fromkeys(
    ("crawl-summary", "seeds", "hosts", "source", "mimetype", "responsecode"), Audience.OPERATOR
) | dict.fromkeys(
    ("processors", "frontier-summary", "frontier-nonempty", "threads"), Audience.DEVELOPER
)
"""Who reads each."""
