"""Displays of a running crawl: the protocol `Display`, lines of text, lines of JSON, none.

The live view on a terminal is in `terminal.py`, which needs rich.
"""

import sys
from collections.abc import Callable
from typing import Final, Protocol

from nacre.cli.output import format_path, json_text, safe, tell, to_copy
from nacre.cli.status_text import RateMeter, done_text, end_text, got_text, live_words
from nacre.core.clock import Clock, iso
from nacre.core.message_data import to_plain
from nacre.job.overview import live_overview
from nacre.job.session import Session
from nacre.report.crawllog import LogTimes

JSON_EVERY = 5.0
"""Seconds between two JSON lines of progress."""
_PATIENCE = 5.0
"""Seconds before the display reports that only retries are left; most end sooner."""
LINES_EVERY = 60.0
"""Seconds between two lines of progress."""
EVERY: Final = 1.0
"""Seconds between two ticks of a display that is no live view."""


class JsonProgress:
    """JSON Lines on stderr: `type`, `time`, then what belongs to the type."""

    every = EVERY

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times = LogTimes()
        self._meter = RateMeter()
        self._next = 0.0

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: Session) -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if mono < self._next:
            return
        self._next = mono + JSON_EVERY
        self._progress(session)

    def _progress(self, session: Session) -> None:
        overview = live_overview(session)
        rates = self._meter.rates(overview)
        rounded = {name: round(value, 2) for name, value in rates._asdict().items()}
        self._line("progress", {**to_plain(overview), "rates": rounded})

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._line(kind, {"text": text})

    def ended(self, session: Session) -> None:
        """See `Display`."""
        self._progress(session)

    def _line(self, kind: str, fields: dict[str, object]) -> None:
        time = self._times.dashed(self._clock.now())
        print(json_text({"type": kind, "time": time, **fields}), file=sys.stderr, flush=True)

    def stop(self) -> None:
        """See `Display`."""


class Display(Protocol):
    """Shows a crawl."""

    @property
    def every(self) -> float:
        """Seconds between two ticks."""
        ...

    def start(self) -> None:
        """The crawl begins."""
        ...

    def tick(self, session: Session) -> None:
        """Show the numbers of now; called about each `every` seconds."""
        ...

    def message(self, kind: str, text: str) -> None:
        """Something happened: `start`, `state`, `alert`, `signal`."""
        ...

    def ended(self, session: Session) -> None:
        """The numbers will not change any more."""
        ...

    def stop(self) -> None:
        """The crawl ended."""
        ...


class NoDisplay:
    """Nothing at all."""

    every = EVERY

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: Session) -> None:
        """See `Display`."""

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""

    def ended(self, session: Session) -> None:
        """See `Display`."""

    def stop(self) -> None:
        """See `Display`."""


class QuietDisplay(NoDisplay):
    """Nothing but alerts and what a signal did, as plain lines."""

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        if kind in {"alert", "signal"}:
            tell(text)


class TolerantDisplay:
    """A display whose terminal or pipe may be closed: from then on it is silent.

    In `nacre crawl URL 2>&1 | head`, the output ends and the crawl continues.
    """

    def __init__(self, display: Display) -> None:
        self._display = display

    @property
    def every(self) -> float:
        """See `Display`."""
        return self._display.every

    def start(self) -> None:
        """See `Display`."""
        self._show(self._display.start)

    def tick(self, session: Session) -> None:
        """See `Display`."""
        self._show(lambda: self._display.tick(session))

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._show(lambda: self._display.message(kind, text))

    def ended(self, session: Session) -> None:
        """See `Display`."""
        self._show(lambda: self._display.ended(session))

    def stop(self) -> None:
        """See `Display`."""
        self._show(self._display.stop)

    def _show(self, step: Callable[[], None]) -> None:
        try:
            step()
        except OSError:
            self._display = NoDisplay()


def display_for(clock: Clock, *, quiet: bool, as_json: bool = False) -> Display:
    """The display that suits stderr: a live view on a terminal, else lines of text or of JSON."""
    if quiet:
        return TolerantDisplay(QuietDisplay())
    if sys.stderr.isatty():
        from nacre.cli.terminal import LiveView  # needs rich, which is slow to import

        return TolerantDisplay(LiveView(clock))
    return TolerantDisplay(JsonProgress(clock) if as_json else PlainProgress(clock))


class PlainProgress:
    """One line a minute, and one for each change of state, alert and the like; on stderr."""

    every = EVERY

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._meter = RateMeter()
        self._next: float | None = None
        self._waits_since: float | None = None
        self._told_since: float | None = None

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: Session) -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if self._next is None:  # the first minute is reported at its end
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
        is_told = self._told_since == self._waits_since
        if is_told or mono - self._waits_since < _PATIENCE:
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
            text = end_text(overview.gives_up, format_path(session.layout.root))
            parts.append(f"ends by itself {to_copy(text)}")
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
    return session.frontier.only_retries_remain
