"""Progress as lines of text, for a crawl without a terminal: a log file, a service, a pipe."""

import sys

from nacre.cli.display import Display, Silent, Unread
from nacre.cli.json_lines import JsonLines
from nacre.cli.meter import Meter
from nacre.cli.numbers_text import done_text, end_text, got_text
from nacre.cli.output import safe
from nacre.cli.states import live_words
from nacre.core.clock import Clock
from nacre.core.stamp import iso
from nacre.job.operator.overview import live_overview
from nacre.job.session import Session

_PATIENCE = 5.0
"""Seconds before it is told that nothing but further tries is left: mostly that is soon over."""
LINES_EVERY = 60.0
"""Seconds between two lines of progress."""


def display_for(clock: Clock, *, quiet: bool, as_json: bool = False) -> Display:
    """The display that suits stderr: a live view on a terminal, else lines of text or of JSON."""
    if quiet:
        return Unread(Silent())
    if sys.stderr.isatty():
        from nacre.cli.terminal import LiveView  # rich, for those who watch

        return Unread(LiveView(clock))
    return Unread(JsonLines(clock) if as_json else PlainLines(clock))


class PlainLines:
    """One line a minute, and one for each change of state, alert and the like; on stderr."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._meter = Meter()
        self._next: float | None = None
        self._waits_since: float | None = None
        self._told_since: float | None = None

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: Session) -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if self._next is None:  # the first minute is told at its end
            self._next = mono + LINES_EVERY
            self._meter.rates(live_overview(session))
        elif mono >= self._next or self._only_waits(session, mono):
            self._next = mono + LINES_EVERY
            self._progress(session)

    def _only_waits(self, session: Session, mono: float) -> bool:
        """Whether nothing but further tries is left since some seconds, which was not told yet."""
        if not only_waits(session):
            self._waits_since = None
            return False
        if self._waits_since is None:
            self._waits_since = mono
        told = self._told_since == self._waits_since
        if told or mono - self._waits_since < _PATIENCE:
            return False
        self._told_since = self._waits_since
        return True

    def _progress(self, session: Session, *, ended: bool = False) -> None:
        overview = live_overview(session)
        rates = self._meter.rates(overview)
        parts = [
            f"{live_words(overview)}: done {done_text(overview)}",
            f"{got_text(overview)}; {overview.failed_pages:,} failed",
            f"{rates.uris_average:.1f} URIs/s",
        ]
        if overview.trouble and not ended:
            parts.append(f"waits for {overview.trouble}")
        if overview.gives_up and not ended:
            parts.append(f"ends by itself {end_text(overview.gives_up)}")
        self._line("; ".join(parts))

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._line(f"{kind}: {text}" if kind == "alert" else text)

    def ended(self, session: Session) -> None:
        """See `Display`."""
        self._progress(session, ended=True)

    def stop(self) -> None:
        """See `Display`."""

    def _line(self, text: str) -> None:
        print(f"{iso(self._clock.now())} {safe(text)}", file=sys.stderr, flush=True)


def only_waits(session: Session) -> bool:
    """Whether nothing but further tries is left."""
    return session.parts.frontier.only_retries_remain
