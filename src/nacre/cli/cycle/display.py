"""The display of rounds: one line a step on stderr; JSON Lines with `--json`.

inject              1 seed, 1 new
round 1/3 generate  1 known, 1 due, 1 in 1 unit
fetch     1 page, 24 kB, 1 host                                      1.2 s
"""

import shutil
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from nacre.cli.output import json_text, safe
from nacre.core.clock import Clock, duration

_TEXT = 58
_BAR = 10
_EVERY = 0.5
"""Seconds between two updates of the line of a running step on a terminal."""
_LATE = 60.0
"""Seconds between two lines of a running step elsewhere."""


class StepDisplay(Protocol):
    """Shows steps."""

    def step(self, place: str, name: str) -> None:
        """A step begins; `place`: `round 1/3`, or "" for a separate step."""
        ...

    def progress(self, numbers: Mapping[str, Any], text: str) -> None:
        """The progress of the step."""
        ...

    def finish(self, numbers: Mapping[str, Any], text: str) -> None:
        """It is over."""
        ...

    def leave(self) -> None:
        """It is over, and its result is said elsewhere."""
        ...

    def note(self, text: str) -> None:
        """Something else to tell."""
        ...


class StepLines:
    """Lines of text; on a terminal the last one changes while its step runs."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._head = ""
        self._place = ""
        self._began = 0.0
        self._next = 0.0
        self._open = False

    def step(self, place: str, name: str) -> None:
        """See `StepDisplay`."""
        label = "" if place == self._place else place
        self._place = place
        head = f"{label:<10}{name:<9}" if place else f"{name:<19}"
        self._head = f"{head:<19} "
        self._began = time.monotonic()
        self._next = self._began + (_EVERY if self._live else _LATE)

    def progress(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_EVERY if self._live else _LATE)
        self._write(self._head + text, last=not self._live)

    def finish(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""
        took = time.monotonic() - self._began
        line = self._head + text
        if took >= 1:
            line = f"{line:<{20 + _TEXT}} {duration(took):>8}"
        self._write(line, last=True)

    def leave(self) -> None:
        """See `StepDisplay`; the line that changed goes."""
        if self._open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._open = False

    def note(self, text: str) -> None:
        """See `StepDisplay`."""
        self._write(text, last=True)

    def _write(self, line: str, *, last: bool) -> None:
        begin = "\r\x1b[K" if self._open else ""
        text = safe(line)
        if not last:  # a longer one would leave its first rows behind
            text = fitted(text, shutil.get_terminal_size().columns)
        print(begin + text, end="\n" if last else "", file=sys.stderr, flush=True)
        self._open = not last


class StepJson:
    """JSON Lines: `type`, `time`, `round`, `step`, then the numbers of the step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._place = ""
        self._name = ""
        self._began = 0.0
        self._next = 0.0

    def step(self, place: str, name: str) -> None:
        """See `StepDisplay`."""
        self._place, self._name = place, name
        self._began = self._next = time.monotonic()
        self._line("begin", {})

    def progress(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 5.0
            self._line("progress", {**numbers, "text": text})

    def finish(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""
        seconds = round(time.monotonic() - self._began, 3)
        self._line("done", {**numbers, "text": text, "seconds": seconds})

    def leave(self) -> None:
        """See `StepDisplay`."""

    def note(self, text: str) -> None:
        """See `StepDisplay`."""
        self._line("note", {"text": text})

    def _line(self, kind: str, fields: Mapping[str, Any]) -> None:
        moment = datetime.fromtimestamp(self._clock.now(), UTC)
        now = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"type": kind, "time": now, "round": self._place, "step": self._name}
        print(json_text({**head, **fields}), file=sys.stderr, flush=True)


class StepSilence:
    """Shows nothing."""

    def step(self, place: str, name: str) -> None:
        """See `StepDisplay`."""

    def progress(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""

    def finish(self, numbers: Mapping[str, Any], text: str) -> None:
        """See `StepDisplay`."""

    def leave(self) -> None:
        """See `StepDisplay`."""

    def note(self, text: str) -> None:
        """See `StepDisplay`."""


def display_of(*, quiet: bool, as_json: bool) -> StepDisplay:
    """The display that options ask for."""
    if as_json:
        from nacre.machine.clock import SystemClock

        return StepJson(SystemClock())
    return StepSilence() if quiet else StepLines()


def fitted(text: str, columns: int) -> str:
    """A text that fits into one row of a terminal, cut where it is too long: `fetch  61/12…`."""
    return text if len(text) < columns else f"{text[: max(columns - 2, 0)]}…"


def bar(finished: int, total: int) -> str:
    """`[#####-----]`, as far as it is."""
    full = min(_BAR * finished // total, _BAR) if total else _BAR
    return f"[{'#' * full}{'-' * (_BAR - full)}]"
