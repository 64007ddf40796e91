"""The sections of the report of a run (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from nacre.core.clock import duration
from nacre.inspect.analysis.wording import FOUND
from nacre.inspect.summary.run_summary import (
    FailedSeed,
    NamedCount,
    RunLine,
    RunSummary,
)
from nacre.inspect.summary.run_texts import STORAGE_MODES, kind_of, reason_of
from nacre.messages import SENTENCES, join, message, plural
from nacre.report.document import (
    Bars,
    Cell,
    Column,
    DataTable,
    Format,
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
_NEW = message("run-report.new", "New")
_CHANGED_PAGES = message("run-report.changed", "Changed")
_GONE_PAGES = message("run-report.gone", "Gone")
_MODES = {
    "full": message("run-report.mode-full", "full"),
    "incremental": message("run-report.mode-incremental", "incremental"),
}


class ReportLocale(NamedTuple):
    """The time zone of the reader, and its name."""

    zone: tzinfo = UTC
    zone_name: str = "UTC"

    def moment(self, seconds: float) -> str:
        """A time in seconds since the epoch: `2026-11-20 10:00`."""
        moment = datetime.fromtimestamp(seconds, self.zone)
        return f"{moment:%Y-%m-%d %H:%M}"


def mode_text(run: RunLine) -> str:
    """Return the mode of a run."""
    if run.number == 1:
        return message("run-report.first-full", "first, full")
    return _MODES.get(run.mode, run.mode)


def summary_section(summary: RunSummary) -> Section:
    """Return the section with the summary."""
    numbers = summary.numbers
    received = message(
        "run-report.received",
        "The run received {documents} ({size}) from {hosts}; web pages among them: {pages:,}.",
        documents=plural(
            "run-report.documents-number",
            "{number:,} document",
            "{number:,} documents",
            number=numbers["documents"],
        ),
        size=size(numbers["total_crawled_bytes"]),
        hosts=plural(
            "run-report.hosts-number",
            "{number:,} host",
            "{number:,} hosts",
            number=numbers["hosts_visited"],
        ),
        pages=numbers["html_documents"],
    )
    seeds = (
        message(
            "run-report.failed-seed",
            "The seed {url} could not be fetched: {reason}.",
            url=readable_url(seed.url),
            reason=_reason(seed),
        )
        for seed in summary.failed_seeds[:_SEEDS]
    )
    text = join((received, _compared(summary), *_missing_pages(summary)), *SENTENCES)
    return Section(message("run-report.summary", "Summary"), (text, *seeds))


def _compared(summary: RunSummary) -> str:
    """Return the sentence on changes since earlier runs; "" for a first run."""
    numbers, run = summary.numbers, summary.run
    if run.number == 1:
        return ""
    if not run.is_compared:
        return message(
            "run-report.not-compared",
            "Not compared with earlier runs: replies stored as new: {new:,}, with known "
            "content: {known:,}.",
            new=numbers["novel_uris"],
            known=numbers["duplicate_by_hash_uris"] + numbers["not_modified_uris"],
        )
    return message(
        "run-report.compared",
        "By comparison with earlier runs, pages that changed: {changed:,}, unchanged: "
        "{unchanged:,}, gone: {gone:,}, new: {new:,}.",
        changed=_sum(run.found, _CHANGED),
        unchanged=_sum(run.found, _UNCHANGED),
        gone=_sum(run.found, _GONE),
        new=run.found.get("new", 0),
    )


def _reason(seed: FailedSeed) -> str:
    if not seed.cause:
        return reason_of(seed.status)
    return message(
        "run-report.reason-and-cause",
        "{reason} ({cause})",
        reason=reason_of(seed.status),
        cause=seed.cause,
    )


def _missing_pages(summary: RunSummary) -> Iterator[str]:
    """The sentences on missing pages."""
    failed, waiting = sum(summary.failed.values()), summary.numbers["uris_queued"]
    if failed:
        yield message(
            "run-report.failed-addresses",
            "Addresses that could not be fetched: {number:,}; they are listed below with the "
            "reason.",
            number=failed,
        )
    if waiting:
        yield message(
            "run-report.waiting-addresses", "Addresses still waiting: {number:,}.", number=waiting
        )
    if not failed and not waiting:
        yield message("run-report.all-received", "Everything that was requested was received.")


def _sum(counts: Mapping[str, int], kinds: Sequence[str]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def fetched_section(summary: RunSummary) -> Section:
    """Return the section on fetched documents."""
    numbers = summary.numbers
    unchanged = numbers["not_modified_uris"]
    facts = [
        (message("run-report.documents", "Documents"), f"{numbers['documents']:,}"),
        (
            message("run-report.html-documents", "Of these, web pages (HTML)"),
            f"{numbers['html_documents']:,}",
        ),
        (message("run-report.redirects", "Redirects"), f"{numbers['redirects']:,}"),
        (message("run-report.error-pages", "Error pages"), f"{numbers['error_replies']:,}"),
        (
            message(
                "run-report.all-replies",
                "All replies, with robots.txt and guesses such as the icon",
            ),
            f"{_replies(summary):,}",
        ),
        (
            message("run-report.data-received", "Data received"),
            size(numbers["total_crawled_bytes"]),
        ),
        (
            message("run-report.duration", "Time taken, without preparation and pauses"),
            duration(max(1, round(summary.elapsed))),
        ),
    ]
    if trapped := numbers.get("trap_documents", 0):
        facts.insert(
            2,
            (
                message("run-report.trap-documents", "Of these, of what looks like traps"),
                f"{trapped:,}",
            ),
        )
    if unchanged:
        facts.insert(
            2,
            (
                message("run-report.not-modified", "Not modified since the last visit"),
                f"{unchanged:,}",
            ),
        )
    return Section(
        message("run-report.fetched", "What was fetched"),
        (message("run-report.all-replies-counted", "The tables count all replies."),),
        facts=tuple(facts),
        tables=_fetched_tables(summary),
    )


def _fetched_tables(summary: RunSummary) -> tuple[DataTable, ...]:
    """Return the tables of hosts and media types, without those of DNS."""
    hosts = [row for row in summary.hosts if row.name != "dns:"]
    counts = (
        Column(message("run-report.replies", "Replies"), Format.COUNT),
        Column(message("run-report.data", "Data"), Format.BYTES),
    )
    mimes = [row for row in summary.mimes if row.name != "text/dns"]
    return (
        DataTable(
            message("run-report.hosts", "Hosts"),
            (Column(message("run-report.host", "Host"), Format.NAME), *counts),
            tuple((_host(row), row.urls, row.bytes) for row in hosts),
        ),
        DataTable(
            message("run-report.media-types", "Media types"),
            (
                Column(message("run-report.type", "Type"), Format.NAME),
                Column(message("run-report.kind", "Kind")),
                *counts,
            ),
            tuple(_mime(row) for row in mimes),
        ),
    )


def _replies(summary: RunSummary) -> int:
    """Count the replies of the run, name lookups excluded; without a report, those of its hosts."""
    hosts = sum(row.urls for row in summary.hosts if row.name != "dns:")
    return int(summary.numbers.get("replies", hosts))


def _host(row: NamedCount) -> str:
    return (
        readable_url(f"http://{row.name}")[7:]
        if row.name
        else message("run-report.all-others", "all others")
    )


def _mime(row: NamedCount) -> tuple[Cell, ...]:
    if not row.name:
        return message("run-report.all-others", "all others"), "", row.urls, row.bytes
    return row.name, kind_of(row.name), row.urls, row.bytes


def changes_section(summary: RunSummary) -> Section | None:
    """Return the section on changes; None if the run was not compared."""
    if summary.run.number == 1 or not summary.run.is_compared:
        return None
    columns = (
        Column(message("run-report.results", "Found")),
        Column(message("run-report.pages", "Pages"), Format.COUNT),
    )
    of = summary.run.found
    rows = tuple((FOUND[kind], number) for kind, number in of.items())
    named = (
        (message("run-report.new-pages", "New pages"), "new", ("new",)),
        (message("run-report.changed-pages", "Changed pages"), "changed", _CHANGED),
        (message("run-report.gone-pages", "Pages that are gone"), "gone", _GONE),
    )
    lists = tuple(
        _pages(title, summary.changes.get(name, []), _sum(of, kinds))
        for title, name, kinds in named
        if summary.changes.get(name)
    )
    text = (
        message(
            "run-report.compared-with-last",
            "By comparison with the last version of each page that was visited again.",
        ),
    )
    first = DataTable(message("run-report.changes", "What changed"), columns, rows)
    return Section(message("run-report.changes", "What changed"), text, tables=(first, *lists))


def _pages(title: str, urls: Sequence[str], number: int) -> DataTable:
    columns = (Column(message("run-report.address", "Address"), Format.URL),)
    return DataTable(_caption(title, len(urls), number), columns, tuple((url,) for url in urls))


def _caption(title: str, listed: int, number: int) -> str:
    """Return the caption of a table that lists some of a number of URLs."""
    if number <= listed:
        return title
    return message(
        "run-report.caption",
        "{title} ({listed:,} of {number:,} are named)",
        title=title,
        listed=listed,
        number=number,
    )


def failures_section(summary: RunSummary) -> Section:
    """Return the section on failed URLs."""
    numbers = summary.numbers
    robots = next((row.urls for row in summary.statuses if row.name == "-9998"), 0)
    facts = [(message("run-report.refused-by-robots-txt", "Refused by robots.txt"), f"{robots:,}")]
    if numbers["uris_queued"]:
        facts.append(
            (message("run-report.still-waiting", "Still waiting"), f"{numbers['uris_queued']:,}")
        )
    text = (
        message(
            "run-report.excluded-not-counted",
            "URLs that the rules of the crawl exclude, and guessed URLs, are not counted here.",
        ),
    )
    reasons = DataTable(
        message("run-report.by-reason", "By reason"),
        (
            Column(message("run-report.reason", "Reason")),
            Column(message("run-report.code", "Code")),
            Column(message("run-report.addresses", "Addresses"), Format.COUNT),
        ),
        tuple((reason_of(code), str(code), n) for code, n in summary.failed.items()),
    )
    named, number = len(summary.failures), sum(summary.failed.values())
    caption = _caption(message("run-report.address-list", "The addresses"), named, number)
    addresses = DataTable(
        caption,
        (
            Column(message("run-report.address", "Address"), Format.URL),
            Column(message("run-report.code", "Code")),
            Column(message("run-report.linked-from", "Linked from"), Format.URL),
        ),
        tuple(
            (failure.url, str(failure.status), failure.via or message("run-report.seed", "seed"))
            for failure in summary.failures
        ),
    )
    tables = (reasons, addresses) if summary.failed else ()
    return Section(
        message("run-report.failures", "What could not be fetched"),
        text,
        tuple(facts),
        tables=tables,
    )


def storage_section(summary: RunSummary) -> Section:
    """Return the section on the archive."""
    numbers = summary.numbers
    references = numbers["duplicate_by_hash_uris"] + numbers["not_modified_uris"]
    spared = numbers["duplicate_by_hash_bytes"] + numbers["not_modified_bytes"]
    facts = [
        (message("run-report.warc-files", "WARC files"), f"{summary.warc_files:,}"),
        (message("run-report.size-archive", "Size of the archive"), size(summary.warc_bytes)),
        (
            message("run-report.stored-as-new", "Stored as new"),
            size(numbers["novel_crawled_bytes"]),
        ),
        (
            message(
                "run-report.references", "Known content, stored as references (revisit records)"
            ),
            f"{references:,}",
        ),
        (message("run-report.data-not-stored", "Data that was not stored again"), size(spared)),
    ]
    if summary.run.number > 1:
        facts.append(
            (message("run-report.storage-mode", "Storage mode"), STORAGE_MODES[summary.keep])
        )
    text: tuple[str, ...] = ()
    if summary.noise > _MOSTLY and summary.keep == "strict":
        text = (
            message(
                "run-report.noise",
                "{share} of the data stored differs in counters, dates or advertisements alone; "
                "with --keep lean a note is kept of such visits.",
                share=share(summary.noise),
            ),
        )
    return Section(message("run-report.stored", "What was stored"), text, tuple(facts))


def runs_section(summary: RunSummary, reader: ReportLocale) -> Section | None:
    """Return the section on all runs; None if there is one run."""
    if len(summary.runs) == 1:
        return None
    columns = (
        Column(message("run-report.no", "No."), Format.COUNT),
        Column(message("run-report.began", "Began")),
        Column(message("run-report.run-label", "Run")),
        *(
            Column(name, Format.COUNT)
            for name in (
                _NEW,
                _CHANGED_PAGES,
                _GONE_PAGES,
                message("run-report.unchanged", "Unchanged"),
            )
        ),
    )
    rows = tuple(_run(run, reader) for run in summary.runs)
    compared = [run for run in summary.runs if run.is_compared]
    series = tuple(
        Series(name, tuple(float(_sum(run.found, kinds)) for run in compared))
        for name, kinds in ((_NEW, ("new",)), (_CHANGED_PAGES, _CHANGED), (_GONE_PAGES, _GONE))
    )
    title = message("run-report.pages-by-run", "New, changed and gone pages by run")
    labels = tuple(reader.moment(run.started)[:10] for run in compared)
    plots = (
        (Bars(title, labels, series, message("run-report.pages-unit", "pages")),)
        if compared
        else ()
    )
    table = DataTable(message("run-report.all-runs", "All runs of this job"), columns, rows)
    text: tuple[str, ...] = ()
    if len(compared) < len(summary.runs):
        text = (
            message(
                "run-report.full-run-compared-later",
                "A full run is compared when the next incremental run reads its archive.",
            ),
        )
    return Section(
        message("run-report.all-runs", "All runs of this job"),
        text,
        plots=plots,
        tables=(table,),
    )


def _run(run: RunLine, reader: ReportLocale) -> tuple[Cell, ...]:
    mode = mode_text(run)
    if not run.is_compared:
        return run.number, reader.moment(run.started), mode, None, None, None, None
    counts = (_sum(run.found, kinds) for kinds in (("new",), _CHANGED, _GONE, _UNCHANGED))
    return run.number, reader.moment(run.started), mode, *counts
