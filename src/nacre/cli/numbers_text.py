"""The numbers of a job in words: for the live view, for `nacre status`, for the summary."""

from nacre.cli.meter import Rates
from nacre.cli.output import count, duration, safe
from nacre.cli.states import live_words
from nacre.job.operator.overview import Overview
from nacre.report.forms import to_the_second
from nacre.report.units import size


def number_lines(overview: Overview, rates: Rates, eta: float | None) -> list[tuple[str, str]]:
    """The numbers as names and texts."""
    state = safe(live_words(overview))
    left = f", about {duration(eta)} to go" if eta is not None else ""
    if left and overview.retrying:
        left += " and then what is tried again"
    saved = f"{size(overview.saved_bytes)} in {overview.saved_documents:,}"
    lines = [
        ("state", f"{state}, {duration(overview.elapsed)} of crawling{left}"),
        ("done", done_text(overview)),
        (
            "got",
            f"{got_text(overview)}; saved by dedup {saved}",
        ),
        (
            "speed",
            f"{rates.uris:.1f} URIs/s, {rates.kilobytes:,.0f} KB/s "
            f"(average {rates.uris_average:.1f}, {rates.kilobytes_average:,.0f})",
        ),
        (
            "work",
            f"{overview.busy} of {overview.parallel} fetches, "
            f"{count(overview.active_hosts, 'host')} active, "
            f"{count(overview.queues.get('inactive', 0), 'host')} in waiting",
        ),
        (
            "trouble",
            f"{overview.failed_pages:,} failed, {overview.refused:,} disregarded, "
            + (f"{overview.deleted:,} deleted, " if overview.deleted else "")
            + count(overview.alerts, "alert"),
        ),
    ]
    if overview.timeouts:
        lines.append(("regexes", timeouts_text(overview.timeouts)))
    if overview.trouble:
        lines.append(("waits", safe(overview.trouble)))
    if overview.gives_up:
        lines.append(("ends", end_text(overview.gives_up)))
    return lines


def end_text(until: float) -> str:
    """When nothing but further tries is left: how long they may take, and how not to wait."""
    return (
        f"at {to_the_second(until)} UTC at the latest: nothing but further tries is left; "
        "`nacre stop JOB`, or Ctrl-C, ends now and keeps them for later; "
        "`nacre frontier JOB delete --all` gives them up"
    )


def done_text(overview: Overview) -> str:
    """What is done of what. URIs that come again (forced ones) are more visits than URIs."""
    done, visits = overview.finished, overview.finished + overview.queued
    of = f"{overview.discovered:,} found"
    if visits > overview.discovered:
        of = f"{visits:,} visits ({overview.discovered:,} URIs found)"
    text = f"{done:,} of {of}, {overview.queued:,} waiting"
    retrying = overview.retrying
    return f"{text} ({retrying:,} for another try)" if retrying else text


def got_text(overview: Overview) -> str:
    """What came of the replies: `9 documents (4 HTML), 2 redirects, 1 error, 1.2 MB`."""
    parts = [f"{count(overview.documents, 'document')} ({overview.html:,} HTML)"]
    if overview.unchanged:
        parts.append(f"{overview.unchanged:,} not modified")
    if overview.redirects:
        parts.append(count(overview.redirects, "redirect"))
    if overview.errors:
        parts.append(count(overview.errors, "error"))
    return ", ".join([*parts, size(overview.bytes)])


def timeouts_text(number: int) -> str:
    """What `nacre status` and the summary say of expressions that took too long."""
    return f"{count(number, 'match', 'matches')} took too long and counted as none"
