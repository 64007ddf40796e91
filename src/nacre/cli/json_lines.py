"""What a program reads while a crawl runs."""

import sys
from typing import TYPE_CHECKING

import msgspec

from nacre.cli.meter import Meter
from nacre.cli.output import json_text
from nacre.core.clock import Clock
from nacre.job.operator.overview import live_overview
from nacre.report.crawllog import LogTimes

if TYPE_CHECKING:
    from nacre.job.session import Session

LINES_EVERY = 5.0
"""Seconds between two JSON lines of progress."""


class JsonLines:
    """JSON Lines on stderr: `type`, `time`, then what belongs to the type."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._times = LogTimes()
        self._meter = Meter()
        self._next = 0.0

    def start(self) -> None:
        """See `Display`."""

    def tick(self, session: "Session") -> None:
        """See `Display`."""
        mono = self._clock.monotonic()
        if mono < self._next:
            return
        self._next = mono + LINES_EVERY
        self._progress(session)

    def _progress(self, session: "Session") -> None:
        overview = live_overview(session)
        rates = self._meter.rates(overview)
        shown = {name: round(value, 2) for name, value in rates._asdict().items()}
        self._line("progress", {**msgspec.to_builtins(overview), "rates": shown})

    def message(self, kind: str, text: str) -> None:
        """See `Display`."""
        self._line(kind, {"text": text})

    def ended(self, session: "Session") -> None:
        """See `Display`."""
        self._progress(session)

    def _line(self, kind: str, rest: dict[str, object]) -> None:
        time = self._times.dashed(self._clock.now())
        print(json_text({"type": kind, "time": time, **rest}), file=sys.stderr, flush=True)

    def stop(self) -> None:
        """See `Display`."""
