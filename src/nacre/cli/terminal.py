"""The live view of a crawl on a terminal, drawn by rich."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from nacre.cli.output import count, format_path, safe
from nacre.cli.status_text import Eta, MeasuredRates, RateMeter, number_lines
from nacre.core.clock import Clock, duration
from nacre.job.overview import (
    FetchInProcess,
    JobOverview,
    SlowQueue,
    live_overview,
    longest_fetches,
    slowest_queues,
)

if TYPE_CHECKING:
    from nacre.job.session import Session

_REFRESH = 0.5
_DETAILS_EVERY = 3.0
_SHOWN = 5
_LONG = 2.0
"""Seconds after which a running fetch is shown."""


class LiveView:
    """A table that stays in its place, redrawn twice a second."""

    every = 0.25

    def __init__(self, clock: Clock, console: Console | None = None) -> None:
        self._clock = clock
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._meter = RateMeter()
        self._eta = Eta()
        self._next = 0.0
        self._details_at = 0.0
        self._slowest: list[SlowQueue] = []
        self._fetching: list[FetchInProcess] = []

    def start(self) -> None:
        """See `Display`."""
        self._live.start()

    def tick(self, session: "Session") -> None:
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
            self._slowest = slowest_queues(session.frontier, _SHOWN)
        self._fetching = longest_fetches(session.engine, self._clock, _SHOWN)
        self._live.update(self.view(overview, rates, session.layout.root), refresh=True)

    def view(self, overview: JobOverview, rates: MeasuredRates, root: Path) -> Group:
        """The lines that are shown of a moment.

        Args:
            overview: The numbers.
            rates: The rates.
            root: Directory of the job.
        """
        slowest = self._slowest[0].needs if self._slowest else 0.0
        parts = [numbers_table(overview, rates, self._eta.seconds(slowest), format_path(root))]
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

    def ended(self, session: "Session") -> None:
        """See `Display`."""

    def stop(self) -> None:
        """See `Display`."""
        self._live.stop()


def numbers_table(
    overview: JobOverview, rates: MeasuredRates, eta: float | None, job: str
) -> Table:
    """The numbers, in lines that belong together."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=7)
    table.add_column(overflow="fold")
    for name, text in number_lines(overview, rates, eta, job):
        table.add_row(name, text)
    return table


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
