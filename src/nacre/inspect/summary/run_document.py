"""The report of a run as a document, for people who did not make it (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from nacre.core.states import ExitStatus
from nacre.errors import ConfigError
from nacre.inspect.analysis.wording import FOUND
from nacre.inspect.reports.base import Audience, Report, ReportRequest
from nacre.inspect.summary.run_summary import MOST, NamedCount, RunLine, RunSummary, summarize_run
from nacre.inspect.summary.translation import (
    ENDS,
    KEEPS,
    LIMIT,
    Translator,
    kind_of,
    reason_of,
)
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import (
    Bars,
    Cell,
    Column,
    DataTable,
    Format,
    ReportDocument,
    Section,
    Series,
)
from nacre.report.formatting import share, size
from nacre.wire.urltext import readable_url

_SEEDS = 5
_MOSTLY = 0.5
_CHANGED = ("minor", "major")
_GONE = ("missing", "gone", "soft-404")
_UNCHANGED = ("none", "noise", "markup", "template")
_UNITS = ((86_400, "{} d"), (3_600, "{} h"), (60, "{} min"), (1, "{} s"))


class ReportLocale(NamedTuple):
    """For whom it is: the language, and the time zone with its name."""

    words: Translator
    zone: tzinfo = UTC
    zone_name: str = "UTC"

    def moment(self, seconds: float) -> str:
        """A time in seconds since the epoch: `2026-11-20 10:00`."""
        moment = datetime.fromtimestamp(seconds, self.zone)
        return f"{moment:%Y-%m-%d %H:%M}"

    def span(self, seconds: float) -> str:
        """A length of time, in its two largest units."""
        whole, parts = max(1, round(seconds)), []
        for length, unit in _UNITS:
            if whole >= length:
                parts.append(self.words(unit, whole // length))
                whole %= length
        return " ".join(parts[:2])


def run_document(found: RunSummary, reader: ReportLocale, now: float) -> ReportDocument:
    """The report.

    Args:
        found: The summary of the run.
        reader: For whom it is.
        now: When it is made, seconds since the epoch.
    """
    words = reader.words
    sections = (
        _short(found, reader),
        _got(found, reader),
        _changed(found, words),
        _failed(found, words),
        _saved(found, words),
        _runs(found, reader),
    )
    return ReportDocument(
        words("Crawl report: {}", found.job),
        tuple(section for section in sections if section is not None),
        about=_about(found, reader, now),
        language=words.tag,
        footer=words("Made by Nacre. Time zone: {}.", reader.zone_name),
        none=words("none"),
    )


def _about(summary: RunSummary, reader: ReportLocale, now: float) -> tuple[tuple[str, str], ...]:
    words, run = reader.words, summary.run
    named = [readable_url(url) for url in summary.seeds[:_SEEDS]]
    left = summary.seed_count - len(named)
    sites = ", ".join(named) + (" " + words("and {} more", f"{left:,}") if left > 0 else "")
    period = words("since {}", reader.moment(run.started))
    if run.ended:
        period = words("{} to {}", reader.moment(run.started), reader.moment(run.ended))
    exit_ = "RUNNING" if summary.running else run.exit
    return (
        (words("Job"), summary.job),
        (words("Site" if summary.seed_count == 1 else "Sites"), sites),
        (words("Period"), f"{period} ({reader.zone_name})"),
        (words("Run"), words("No. {} ({}), {}", run.number, run.name, _mode(run, words))),
        (words("Ended"), _end(summary, exit_, words)),
        (words("Report made"), reader.moment(now)),
    )


def _end(summary: RunSummary, exit_: str, words: Translator) -> str:
    left = [
        words(text, f"{number:,}")
        for text, number in (
            ("{} of endless places (traps.budget)", summary.endless),
            ("{} deleted by the operator", summary.deleted),
            ("{} too many hops from their seeds, and what lies behind them", summary.too_deep),
            ("{} due pages, because the budget is spent", summary.left.unvisited),
            (
                "{} that lead into what looks like a trap (recrawl.trap_share), and what lies "
                "behind them",
                summary.left.held,
            ),
            (
                "{} that differ from known pages in idle parameters alone "
                "(recrawl.idle_parameters)",
                summary.left.repeated,
            ),
        )
        if number
    ]
    if exit_ != ExitStatus.FINISHED or not left:
        return words(ENDS.get(exit_, LIMIT))
    return words("finished; left out: {}", words(", ").join(left))


def _mode(run: RunLine, words: Translator) -> str:
    return words("first, full" if run.number == 1 else run.mode)


# ---- in short


def _short(summary: RunSummary, reader: ReportLocale) -> Section:
    words, numbers = reader.words, summary.numbers
    got = words(
        "The run received {} ({}) from {}; web pages among them: {}.",
        words.count(numbers["documents"], "document"),
        size(numbers["total_crawled_bytes"]),
        words.count(numbers["hosts_visited"], "host"),
        f"{numbers['html_documents']:,}",
    )
    compared = ""
    if not summary.run.is_compared and summary.run.number > 1:
        text = "Not compared with earlier runs: replies stored as new: {}, with known content: {}."
        known = numbers["duplicate_by_hash_uris"] + numbers["not_modified_uris"]
        compared = words(text, f"{numbers['novel_uris']:,}", f"{known:,}")
    elif summary.run.number > 1:
        text = (
            "By comparison with earlier runs, pages that changed: {}, unchanged: {}, gone: {}, "
            "new: {}."
        )
        of = summary.run.found
        groups = (_CHANGED, _UNCHANGED, _GONE, ("new",))
        compared = words(text, *(f"{_sum(of, kinds):,}" for kinds in groups))
    seeds = (
        words(
            "The seed {} could not be fetched: {}.",
            readable_url(seed.url),
            words.why(seed.status, seed.cause),
        )
        for seed in summary.failed_seeds[:_SEEDS]
    )
    return Section(words("Summary"), (words.stop(got, compared, *_rest(summary, words)), *seeds))


def _rest(summary: RunSummary, words: Translator) -> Iterator[str]:
    """What is missing."""
    failed, waiting = sum(summary.failed.values()), summary.numbers["uris_queued"]
    if failed:
        text = "Addresses that could not be fetched: {}; they are listed below with the reason."
        yield words(text, f"{failed:,}")
    if waiting:
        yield words("Addresses still waiting: {}.", f"{waiting:,}")
    if not failed and not waiting:
        yield words("Everything that was requested was received.")


def _sum(counts: Mapping[str, int], kinds: Sequence[str]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


# ---- got


def _got(summary: RunSummary, reader: ReportLocale) -> Section:
    words, numbers = reader.words, summary.numbers
    unchanged = numbers["not_modified_uris"]
    facts = [
        (words("Documents"), f"{numbers['documents']:,}"),
        (words("Of these, web pages (HTML)"), f"{numbers['html_documents']:,}"),
        (words("Redirects"), f"{numbers['redirects']:,}"),
        (words("Error pages"), f"{numbers['error_replies']:,}"),
        (
            words("All replies, with robots.txt and guesses such as the icon"),
            f"{_replies(summary):,}",
        ),
        (words("Data received"), size(numbers["total_crawled_bytes"])),
        (words("Time taken, without preparation and pauses"), reader.span(summary.elapsed)),
    ]
    if trapped := numbers.get("trap_documents", 0):
        facts.insert(2, (words("Of these, of what looks like traps"), f"{trapped:,}"))
    if unchanged:
        facts.insert(2, (words("Not modified since the last visit"), f"{unchanged:,}"))
    hosts = [row for row in summary.hosts if row.name != "dns:"]
    counts = (
        Column(words("Replies"), Format.COUNT),
        Column(words("Data"), Format.BYTES),
    )
    mimes = [row for row in summary.mimes if row.name != "text/dns"]
    tables = (
        DataTable(
            words("Hosts"),
            (Column(words("Host")), *counts),
            tuple((_host(row, words), row.urls, row.bytes) for row in hosts),
        ),
        DataTable(
            words("Media types"),
            (Column(words("Type")), Column(words("Kind")), *counts),
            tuple(_mime(row, words) for row in mimes),
        ),
    )
    said = (words("The tables count all replies."),)
    return Section(words("What was fetched"), said, facts=tuple(facts), tables=tables)


def _replies(summary: RunSummary) -> int:
    """All replies of the run, lookups of names left out; where no report says it, of its hosts."""
    hosts = sum(row.urls for row in summary.hosts if row.name != "dns:")
    return int(summary.numbers.get("replies", hosts))


def _host(row: NamedCount, words: Translator) -> str:
    return readable_url(f"http://{row.name}")[7:] if row.name else words("all others")


def _mime(row: NamedCount, words: Translator) -> tuple[Cell, ...]:
    if not row.name:
        return words("all others"), "", row.urls, row.bytes
    return row.name, words(kind_of(row.name)), row.urls, row.bytes


# ---- changed


def _changed(summary: RunSummary, words: Translator) -> Section | None:
    if summary.run.number == 1 or not summary.run.is_compared:
        return None
    columns = (Column(words("Found")), Column(words("Pages"), Format.COUNT))
    of = summary.run.found
    rows = tuple((words(FOUND[kind]), number) for kind, number in of.items())
    named = (
        ("New pages", "new", ("new",)),
        ("Changed pages", "changed", _CHANGED),
        ("Pages that are gone", "gone", _GONE),
    )
    lists = tuple(
        _pages(words, title, summary.changes.get(name, []), _sum(of, kinds))
        for title, name, kinds in named
        if summary.changes.get(name)
    )
    text = (words("By comparison with the last version of each page that was visited again."),)
    first = DataTable(words("What changed"), columns, rows)
    return Section(words("What changed"), text, tables=(first, *lists))


def _pages(words: Translator, title: str, urls: Sequence[str], number: int) -> DataTable:
    caption = words(title)
    if number > len(urls):
        caption += f" ({words('{} of {} are named', len(urls), f'{number:,}')})"
    columns = (Column(words("Address"), Format.URL),)
    return DataTable(caption, columns, tuple((url,) for url in urls))


# ---- failed


def _failed(summary: RunSummary, words: Translator) -> Section:
    numbers = summary.numbers
    robots = next((row.urls for row in summary.statuses if row.name == "-9998"), 0)
    facts = [(words("Refused by robots.txt"), f"{robots:,}")]
    if numbers["uris_queued"]:
        facts.append((words("Still waiting"), f"{numbers['uris_queued']:,}"))
    text = (
        words("URLs that the rules of the crawl exclude, and guessed URLs, are not counted here."),
    )
    reasons = DataTable(
        words("By reason"),
        (
            Column(words("Reason")),
            Column(words("Code")),
            Column(words("Addresses"), Format.COUNT),
        ),
        tuple((words(reason_of(code)), str(code), n) for code, n in summary.failed.items()),
    )
    named, number = len(summary.failures), sum(summary.failed.values())
    caption = words("The addresses")
    if number > named:
        caption += f" ({words('{} of {} are named', named, f'{number:,}')})"
    addresses = DataTable(
        caption,
        (
            Column(words("Address"), Format.URL),
            Column(words("Code")),
            Column(words("Linked from"), Format.URL),
        ),
        tuple(
            (failure.url, str(failure.status), failure.via or words("seed"))
            for failure in summary.failures
        ),
    )
    tables = (reasons, addresses) if summary.failed else ()
    return Section(words("What could not be fetched"), text, tuple(facts), tables=tables)


# ---- saved


def _saved(summary: RunSummary, words: Translator) -> Section:
    numbers = summary.numbers
    references = numbers["duplicate_by_hash_uris"] + numbers["not_modified_uris"]
    spared = numbers["duplicate_by_hash_bytes"] + numbers["not_modified_bytes"]
    facts = [
        (words("WARC files"), f"{summary.warc_files:,}"),
        (words("Size of the archive"), size(summary.warc_bytes)),
        (words("Stored as new"), size(numbers["novel_crawled_bytes"])),
        (words("Known content, stored as references (revisit records)"), f"{references:,}"),
        (words("Data that was not stored again"), size(spared)),
    ]
    if summary.run.number > 1:
        facts.append((words("Storage mode"), words(KEEPS[summary.keep])))
    text: tuple[str, ...] = ()
    if summary.noise > _MOSTLY and summary.keep == "strict":
        told = (
            "{} of the data stored differs in counters, dates or advertisements alone; with "
            "--keep lean a note is kept of such visits."
        )
        text = (words(told, share(summary.noise)),)
    return Section(words("What was stored"), text, tuple(facts))


# ---- all runs


def _runs(summary: RunSummary, reader: ReportLocale) -> Section | None:
    words = reader.words
    if len(summary.runs) == 1:
        return None
    columns = (
        Column(words("No."), Format.COUNT),
        Column(words("Began")),
        Column(words("Run")),
        *(Column(words(name), Format.COUNT) for name in ("New", "Changed", "Gone", "Unchanged")),
    )
    rows = tuple(_run(run, reader) for run in summary.runs)
    compared = [run for run in summary.runs if run.is_compared]
    series = tuple(
        Series(words(name), tuple(float(_sum(run.found, kinds)) for run in compared))
        for name, kinds in (("New", ("new",)), ("Changed", _CHANGED), ("Gone", _GONE))
    )
    title = words("New, changed and gone pages by run")
    labels = tuple(reader.moment(run.started)[:10] for run in compared)
    plots = (Bars(title, labels, series, words("pages")),) if compared else ()
    table = DataTable(words("All runs of this job"), columns, rows)
    text: tuple[str, ...] = ()
    if len(compared) < len(summary.runs):
        text = (words("A full run is compared when the next incremental run reads its archive."),)
    return Section(words("All runs of this job"), text, plots=plots, tables=(table,))


def _run(run: RunLine, reader: ReportLocale) -> tuple[Cell, ...]:
    mode = _mode(run, reader.words)
    if not run.is_compared:
        return run.number, reader.moment(run.started), mode, None, None, None, None
    counts = (_sum(run.found, kinds) for kinds in (("new",), _CHANGED, _GONE, _UNCHANGED))
    return run.number, reader.moment(run.started), mode, *counts


class RunSummaryReport(Report):
    """One page on a run, for people who did not make it."""

    name = "run"
    summary = "one page about a run, to pass on (--html FILE, --lang zh)"
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
    """The language and the time zone that are asked for.

    Raises:
        ConfigError: There is no such time zone.
    """
    zone, language = request.time_zone, request.language
    translator = Translator("zh" if language == "zh" else "en")
    try:
        return ReportLocale(translator, UTC if zone == "UTC" else ZoneInfo(zone), zone)
    except (KeyError, ValueError, OSError):
        raise ConfigError(
            message(
                "run-report.time-zone",
                "--time-zone: {zone!r} is not a time zone; for example Asia/Shanghai",
                zone=zone,
            )
        ) from None
