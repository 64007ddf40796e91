"""The report on pages in a browser: which were run, by which sign, at which cost, and how."""

from collections.abc import Iterator, Mapping

import msgspec

from nacre.core.clock import duration
from nacre.engine.pages.sign_rows import sign_counts
from nacre.extract.repetition import wilson_interval
from nacre.inspect.reports.base import Report, ReportRequest
from nacre.inspect.view import View
from nacre.messages import message, plural
from nacre.report.browser_tally import BrowserTally, browser_tally, by_number
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.report.formatting import size
from nacre.report.statistics import totals
from nacre.store.store import Store

_MEANINGS: Mapping[str, str] = {
    "always": message("report.sign-always", "browser.use is always"),
    "mount": message("report.sign-mount", "an empty element that a framework fills"),
    "noscript": message("report.sign-noscript", "a noscript element asks for JavaScript"),
    "hashRoutes": message("report.sign-hash-routes", "links to #/ routes"),
    "thin": message("report.sign-thin", "hardly any text beside a script"),
    "lazy": message("report.sign-lazy", "pictures that a script loads late"),
    "learned": message("report.sign-learned", "pages of its template gained by a browser"),
    "probe": message("report.sign-probe", "drawn to find out about its template"),
}
"""What signs mean."""


class SignFigures(msgspec.Struct):
    """The pages that showed a sign.

    Attributes:
        sign: The sign; `always`, `learned` and `probe` are reasons without one.
        seen: Pages that showed it; of `always`, those that were run.
        run: Pages that were run.
        gained: Of these, those to which the browser added text, links or requests; None if that
            was not judged.
        vain: Those to which it added nothing.
        examples: The first URLs, three at most.
    """

    sign: str
    seen: int
    run: int
    gained: int | None = None
    vain: int | None = None
    examples: list[str] = []


class BrowserFigures(msgspec.Struct):
    """The figures of the report.

    Attributes:
        use: `browser.use` of the job; sheets may differ. `recording` if a person's own browser, or
            a program, was recorded.
        pages: Pages of the run in all, those without a browser included.
        tally: What pages in the browser did.
        signs: The signs, the most frequent first.
    """

    use: str
    pages: int
    tally: BrowserTally
    signs: list[SignFigures]


def browser_figures(store: Store, use: str) -> BrowserFigures:
    """Return the figures of the last run, as last committed.

    Args:
        store: The store of the job.
        use: `browser.use` of the job.
    """
    tally = browser_tally(store)
    counts = {row.sign: row for row in sign_counts(store) if row.sign}
    signs = [
        SignFigures(row.sign, row.pages, row.run, row.gained, row.vain, row.examples)
        for row in counts.values()
    ]
    signs += [
        SignFigures(sign, number, number, examples=tally.sign_pages.get(sign, []))
        for sign, number in tally.signs.items()
        if sign not in counts
    ]
    signs.sort(key=lambda row: (-row.run, -row.seen, row.sign))
    return BrowserFigures(use, totals(store).html, tally, signs)


class BrowserReport(Report):
    """Pages that were run in a browser."""

    name = "browser"
    summary = "pages that were run in a browser: why, and at which cost"

    def data(self, view: View, request: ReportRequest) -> BrowserFigures:
        """See `Report.data`."""
        is_recording = view.layout.is_recording
        return browser_figures(
            view.store, "recording" if is_recording else view.settings.browser.use
        )

    def document(self, data: BrowserFigures, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        tally = data.tally
        text = tuple(_notes(data))
        all_tables = (_sign_table(data), _end_table(tally), _refused_table(tally))
        tables = tuple(table for table in all_tables if table.rows)
        first = Section("", text, facts=_facts(data), tables=tables)
        return ReportDocument("Pages in a browser", (first,))


def _notes(data: BrowserFigures) -> Iterator[str]:
    tally = data.tally
    if data.use == "never" and not tally.pages:
        yield message(
            "report.browser-never", "`browser.use` is never: no page is run in a browser."
        )
    if data.use == "recording":
        yield message(
            "report.browser-recording",
            "This is a recording of a browser that Nacre did not run: it has requests, and no "
            "pages.",
        )
    if tally.unrun:
        yield plural(
            "report.browser-missing",
            "{pages:,} page looks as if it needed a browser, and none could be started: "
            "{example}. Run `nacre check --browser` to see what to install.",
            "{pages:,} pages look as if they needed a browser, and none could be started, such as "
            "{example}. Run `nacre check --browser` to see what to install.",
            pages=tally.unrun,
            example=tally.unrun_pages[0] if tally.unrun_pages else "",
        )
    if tally.robots_pages:
        yield plural(
            "report.browser-robots",
            "robots.txt refused {refused:,} of {requests:,} requests of one page, which may lack "
            "content. `browser.robots: page` asks robots.txt for pages alone.",
            "robots.txt refused {refused:,} of {requests:,} requests of {pages:,} pages, which may "
            "lack content. `browser.robots: page` asks robots.txt for pages alone.",
            pages=tally.robots_pages,
            refused=tally.refused.get("robots", 0),
            requests=tally.robots_requests,
        )
    if tally.repeated:
        low, high = wilson_interval(tally.foreseen, tally.expected)
        yield message(
            "report.browser-repeated",
            "Of {pages:,} pages the requests were repeated without the browser ({requests:,} "
            "requests). Of {samples:,} such pages, drawn at random and run, {foreseen:,} of "
            "{expected:,} requests for content were foreseen (95 % interval of the share: "
            "{low:.1%} to {high:.1%}).",
            pages=tally.repeated,
            requests=tally.repeated_requests,
            samples=tally.samples,
            foreseen=tally.foreseen,
            expected=tally.expected,
            low=low,
            high=high,
        )


def _facts(data: BrowserFigures) -> tuple[tuple[str, str], ...]:
    tally = data.tally
    counts = (("Pages run", f"{tally.pages:,}"), ("HTML pages in all", f"{data.pages:,}"))
    if not tally.pages:
        return counts
    return (
        *counts,
        ("Time of the browser's processor", _seconds_per_page(tally.cpu, tally.pages)),
        ("Time for which pages were open", _seconds_per_page(tally.seconds, tally.pages)),
        ("Requests sent", f"{tally.requests:,}"),
        ("Bytes received", size(tally.bytes)),
        ("Requests answered from the archive", f"{tally.reused:,}"),
        ("Requests refused", f"{sum(tally.refused.values()):,}"),
        ("Browser", tally.browser),
    )


def _seconds_per_page(seconds: float, pages: int) -> str:
    """A time, and its part for a page."""
    average = f"{seconds / pages:.2f}"
    return message(
        "report.browser-each", "{all}, {each} s a page", all=duration(seconds), each=average
    )


def _sign_table(data: BrowserFigures) -> DataTable:
    columns = (
        Column("sign", Format.NAME),
        Column("meaning"),
        Column("pages", Format.COUNT),
        Column("run", Format.COUNT),
        Column("gained", Format.COUNT),
        Column("gained nothing", Format.COUNT),
        Column("such as", Format.URL),
    )
    rows = tuple(
        (
            *(row.sign, _MEANINGS.get(row.sign, ""), row.seen, row.run, row.gained, row.vain),
            row.examples[0] if row.examples else None,
        )
        for row in data.signs
    )
    return DataTable("Why pages were run", columns, rows)


_ENDS: Mapping[str, str] = {
    "settled": message("report.end-settled", "whole"),
    "loadTime": message("report.end-load-time", "was not loaded in time (browser.load_time)"),
    "pageTime": message("report.end-page-time", "its time was over (browser.time)"),
    "requestLimit": message("report.end-requests", "sent its most requests (browser.max_requests)"),
    "byteLimit": message("report.end-bytes", "received its most bytes (browser.max_bytes)"),
    "serverTime": message(
        "report.end-server-time", "its servers took their most time (browser.server_time)"
    ),
    "crash": message("report.end-crash", "crashed"),
    "hang": message("report.end-hang", "did not answer"),
    "memory": message("report.end-memory", "needed too much memory (browser.memory)"),
    "browserGone": message("report.end-browser-gone", "the browser ended"),
    "notLoaded": message("report.end-not-loaded", "could not be loaded"),
}
"""What the ends of pages mean."""


def end_text(ended: str) -> str:
    """Return how a page ended, in words; see `RenderedPage.ended`."""
    return _ENDS.get(ended, ended)


def _end_table(tally: BrowserTally) -> DataTable:
    columns = _columns(Column("end", Format.NAME), Column("pages", Format.COUNT))
    rows = _rows(tally.ends, _ENDS, tally.end_pages)
    return DataTable("How pages ended", columns, rows)


def _columns(name: Column, number: Column) -> tuple[Column, ...]:
    return (name, Column("meaning"), number, Column("such as", Format.URL))


def _rows(
    numbers: Mapping[str, int], meanings: Mapping[str, str], examples: Mapping[str, list[str]]
) -> tuple[tuple[str | int | None, ...], ...]:
    """Return names with their meanings, numbers and examples, the most frequent first."""
    return tuple(
        (name, meanings.get(name, name), number, next(iter(examples.get(name, ())), None))
        for name, number in by_number(numbers)
    )


_RULES: Mapping[str, str] = {
    "scope": message("report.rule-scope", "the scope refuses it"),
    "robots": message("report.rule-robots", "robots.txt forbids it"),
    "guard": message("report.rule-guard", "its address is private, or cannot be fetched"),
    "block": message("report.rule-block", "browser.block or a processor refuses it"),
    "budget": message("report.rule-budget", "the budget or quota of its host is used up"),
    "limit": message("report.rule-limit", "the page reached a limit"),
    "wait": message("report.rule-wait", "its host asked to wait (Retry-After, 429)"),
    "method": message("report.rule-method", "its method is not sent"),
    "body": message("report.rule-body", "its body is too long"),
}
"""What the rules mean that refuse requests."""


def refusal_text(rule: str) -> str:
    """Return why a request of a page was not sent; see `RefusedRequest.rule`."""
    return _RULES.get(rule, rule)


def _refused_table(tally: BrowserTally) -> DataTable:
    columns = _columns(Column("rule", Format.NAME), Column("requests", Format.COUNT))
    rows = _rows(tally.refused, _RULES, tally.refused_urls)
    return DataTable("Requests refused", columns, rows)
