"""The report of a run as a document, for people who did not make it (pure)."""

from datetime import UTC
from zoneinfo import ZoneInfo

from nacre.core.states import ExitStatus
from nacre.engine.counters import NotVisited
from nacre.errors import ConfigError
from nacre.inspect.reports.base import Audience, Report, ReportRequest
from nacre.inspect.summary.run_sections import (
    ReportLocale,
    changes_section,
    failures_section,
    fetched_section,
    mode_text,
    runs_section,
    storage_section,
    summary_section,
)
from nacre.inspect.summary.run_summary import (
    MOST,
    RunSummary,
    summarize_run,
)
from nacre.inspect.summary.run_texts import ENDS, LIMIT
from nacre.inspect.view import View
from nacre.messages import COMMA, Message, join, message
from nacre.report.document import (
    ReportDocument,
)
from nacre.wire.urltext import readable_url

_SEEDS = 5


def run_document(result: RunSummary, reader: ReportLocale, now: float) -> ReportDocument:
    """Return the report of a run.

    Args:
        result: The summary of the run.
        reader: The time zone.
        now: Time of the report, seconds since the epoch.
    """
    sections = (
        summary_section(result),
        fetched_section(result),
        changes_section(result),
        failures_section(result),
        storage_section(result),
        runs_section(result, reader),
    )
    return ReportDocument(
        message("run-report.title", "Crawl report: {job}", job=result.job),
        tuple(section for section in sections if section is not None),
        about=_about(result, reader, now),
        footer=message(
            "run-report.footer", "Made by Nacre. Time zone: {zone}.", zone=reader.zone_name
        ),
        none=message("run-report.none", "none"),
    )


def _about(summary: RunSummary, reader: ReportLocale, now: float) -> tuple[tuple[str, str], ...]:
    run = summary.run
    named = [readable_url(url) for url in summary.seeds[:_SEEDS]]
    more_sites = summary.seed_count - len(named)
    sites: str = ", ".join(named)
    if more_sites > 0:
        sites = message(
            "run-report.more-sites", "{sites} and {number:,} more", sites=sites, number=more_sites
        )
    period = message(
        "run-report.period-since",
        "since {start} ({zone})",
        start=reader.moment(run.started),
        zone=reader.zone_name,
    )
    if run.ended:
        period = message(
            "run-report.period",
            "{start} to {end} ({zone})",
            start=reader.moment(run.started),
            end=reader.moment(run.ended),
            zone=reader.zone_name,
        )
    site = (
        message("run-report.site", "Site")
        if summary.seed_count == 1
        else message("run-report.sites", "Sites")
    )
    number = message(
        "run-report.run-number",
        "No. {number} ({name}), {mode}",
        number=run.number,
        name=run.name,
        mode=mode_text(run),
    )
    exit_ = "RUNNING" if summary.running else run.exit
    return (
        (message("run-report.job", "Job"), summary.job),
        (site, sites),
        (message("run-report.period-label", "Period"), period),
        (message("run-report.run-label", "Run"), number),
        (message("run-report.ended", "Ended"), _end(summary, exit_)),
        (message("run-report.report-time", "Report made"), reader.moment(now)),
    )


def _end(summary: RunSummary, exit_: str) -> str:
    parts = [text for text, number in _left_out(summary) if number]
    if exit_ != ExitStatus.FINISHED or not parts:
        return ENDS.get(exit_, LIMIT)
    return message(
        "run-report.end-left-out", "finished; left out: {parts}", parts=join(parts, *COMMA)
    )


def _left_out(summary: RunSummary) -> tuple[tuple[Message, int], ...]:
    """Return the kinds of URIs that a finished run left out, with their numbers."""
    return (*_left_in_any_run(summary), *_left_in_a_recrawl(summary.left))


def _left_in_any_run(summary: RunSummary) -> tuple[tuple[Message, int], ...]:
    withheld = int(summary.numbers.get("withheld_replies", 0))
    return (
        (
            message(
                "run-report.left-withheld",
                "{number:,} whose replies are not stored for a preference of their sites "
                "(rights.enforce)",
                number=withheld,
            ),
            withheld,
        ),
        (
            message(
                "run-report.left-endless",
                "{number:,} of endless places (traps.budget)",
                number=summary.endless,
            ),
            summary.endless,
        ),
        (
            message(
                "run-report.left-deleted",
                "{number:,} deleted by the operator",
                number=summary.deleted,
            ),
            summary.deleted,
        ),
        (
            message(
                "run-report.left-deep",
                "{number:,} too many hops from their seeds, and their links",
                number=summary.too_deep,
            ),
            summary.too_deep,
        ),
    )


def _left_in_a_recrawl(unvisited: NotVisited) -> tuple[tuple[Message, int], ...]:
    return (
        (
            message(
                "run-report.left-unvisited",
                "{number:,} due pages, because the budget is spent",
                number=unvisited.unvisited,
            ),
            unvisited.unvisited,
        ),
        (
            message(
                "run-report.left-held",
                "{number:,} that lead into what looks like a trap (recrawl.trap_share), and "
                "their links",
                number=unvisited.held,
            ),
            unvisited.held,
        ),
        (
            message(
                "run-report.left-repeated",
                "{number:,} that differ from known pages in idle parameters alone "
                "(recrawl.idle_parameters)",
                number=unvisited.repeated,
            ),
            unvisited.repeated,
        ),
    )


class RunSummaryReport(Report):
    """One page on a run, for people who did not make it."""

    name = "run"
    summary = "one page about a run, to pass on"
    audience = Audience.CURATOR
    printed_rows = MOST

    def data(self, view: View, request: ReportRequest) -> RunSummary:
        """See `Report.data`."""
        return summarize_run(view, request.run)

    def document(self, data: RunSummary, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return run_document(data, report_locale(request), request.now)

    def check(self, request: ReportRequest) -> None:
        """Refuse a URL, another language and a time zone that is none.

        Raises:
            JobError: It is asked of a page.
            ConfigError: There is no such time zone.
        """
        report_locale(request)
        super().check(request._replace(run="", language="en", time_zone="UTC"))


def report_locale(request: ReportRequest) -> ReportLocale:
    """Return the time zone of a request.

    Raises:
        ConfigError: There is no such time zone.
    """
    zone = request.time_zone
    try:
        return ReportLocale(UTC if zone == "UTC" else ZoneInfo(zone), zone)
    except (KeyError, ValueError, OSError):
        raise ConfigError(
            message(
                "run-report.time-zone",
                "--time-zone: {zone!r} is not a time zone; for example Asia/Shanghai",
                zone=zone,
            )
        ) from None
