"""What a person sees while a crawl runs, and what a program reads in its place."""

import sys

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from nacre.cli.eta import Eta
from nacre.cli.meter import Meter, Rates
from nacre.cli.output import count, duration, json_text, safe
from nacre.cli.states import live_words
from nacre.core.clock import Clock
from nacre.job.operator.overview import (
    Fetching,
    Overview,
    SlowQueue,
    live_overview,
    longest_fetches,
    slowest_queues,
)
from nacre.job.session import Session
from nacre.report.crawllog import LogTimes
from nacre.report.forms import to_the_second
from nacre.report.units import size

LINES_EVERY = 5.0
"""Seconds between two JSON lines of progress."""

_REFRESH = 0.5
_DETAILS_EVERY = 3.0
_SHOWN = 5
_LONG = 2.0
"""Seconds after which a running fetch is shown."""


class JsonLines:
    """JSON Lines on stderr: `type`, `time`, then what belongs to the type."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times = LogTimes()
        self._meter = Meter()
        self._next = 0.0

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: Session) -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if mono < self._next:
            return
        self._next = mono + LINES_EVERY
        self._progress(session)

    def _progress(self, session: Session) -> None:
        overview = live_overview(session)
        rates = self._meter.rates(overview)
        shown = {name: round(value, 2) for name, value in rates._asdict().items()}
        self._line("progress", {**msgspec.to_builtins(overview), "rates": shown})

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._line(kind, {"text": text})

    def ended(self, session: Session) -> None:
        """See `Display`."""
        self._progress(session)

    def _line(self, kind: str, rest: dict[str, object]) -> None:
        time = self._times.dashed(self._clock.now())
        print(json_text({"type": kind, "time": time, **rest}), file=sys.stderr, flush=True)

    def stop(self) -> None:
        """See `Display`."""


class LiveView:
    """A table that stays in its place, redrawn twice a second."""

    def __init__(self, clock: Clock, console: Console | None = None) -> None:
        self._clock = clock
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._meter = Meter()
        self._eta = Eta()
        self._next = 0.0
        self._details_at = 0.0
        self._slowest: list[SlowQueue] = []
        self._fetching: list[Fetching] = []

    def start(self) -> None:
        """See `Display`."""
        self._live.start()

    def tick(self, session: Session) -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if mono < self._next:
            return
        self._next = mono + _REFRESH
        overview = live_overview(session)
        rates = self._meter.rates(overview)
        self._eta.note(overview.elapsed, overview.queued)
        if mono >= self._details_at:
            self._details_at = mono + _DETAILS_EVERY
            self._slowest = slowest_queues(session.parts, _SHOWN)
        self._fetching = longest_fetches(session.parts, self._clock, _SHOWN)
        self._live.update(self.view(overview, rates), refresh=True)

    def view(self, overview: Overview, rates: Rates) -> Group:
        """What is shown of a moment."""
        slowest = self._slowest[0].needs if self._slowest else 0.0
        parts = [numbers_table(overview, rates, self._eta.seconds(slowest))]
        long = [fetching for fetching in self._fetching if fetching.seconds >= _LONG]
        if long:
            rows = [(duration(f.seconds), safe(f.url)) for f in long]
            parts.append(_list_table("waits for", rows))
        slow = [queue for queue in self._slowest if queue.needs >= _LONG]
        if slow:
            rows = [(duration(queue.needs), _slow_text(queue)) for queue in slow]
            parts.append(_list_table("slowest", rows))
        return Group(*parts)

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        if kind != "state":
            style = {"alert": "yellow", "signal": "bold"}.get(kind, "")
            self._console.print(Text(safe(text), style=style))

    def ended(self, session: Session) -> None:
        """See `Display`."""

    def stop(self) -> None:
        """See `Display`."""
        self._live.stop()


def numbers_table(overview: Overview, rates: Rates, eta: float | None) -> Table:
    """The numbers, in lines that belong together."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=7)
    table.add_column(overflow="fold")
    for name, text in number_lines(overview, rates, eta):
        table.add_row(name, text)
    return table


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


def _slow_text(queue: SlowQueue) -> str:
    pending = count(queue.pending, "URI")
    return f"{safe(queue.name)}  {pending}, every {duration(queue.delay)}"


def _list_table(name: str, rows: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=7)
    table.add_column(justify="right", no_wrap=True, min_width=max(len(first) for first, _ in rows))
    table.add_column(overflow="ellipsis", no_wrap=True)
    for number, (first, second) in enumerate(rows):
        table.add_row("" if number else name, first, Text(second))
    return table
