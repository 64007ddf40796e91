"""Pass after pass: a crawl that never ends, and how it is ended."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nacre.core.clock import Clock
from nacre.core.states import ExitCode
from nacre.machine.layout import Layout

if TYPE_CHECKING:
    from nacre.runs.passes import NextPass, PassKeeper

_ENDS = frozenset(
    (
        ExitCode.ERROR,
        ExitCode.USAGE,
        ExitCode.INTERRUPTED,
        ExitCode.STOPPED,
        ExitCode.NOTHING_ARCHIVED,
    )
)
"""Exit codes after which no further pass begins: a fault, or a request to stop."""
_NAP = 1.0
"""Seconds between two checks for a stop, as at the control files of a run."""
_SET_BACK = 60.0
"""If a clock is set back by more than this, in seconds, its plans are made again."""


Note = Callable[[str], None]
"""Receives a line for the user."""


class Recurrence(Protocol):
    """The options that make a job run again and again."""

    def make(self) -> int:
        """Make one pass; its exit code."""
        ...

    def first(self) -> "NextPass | None":
        """The start of the first pass; None when there is none."""
        ...

    def expected(self, began: float) -> "NextPass | None":
        """The start of the pass after one that begins now; None when that is not known yet."""
        ...

    def following(self, began: float) -> "NextPass | None":
        """The start of the next pass; None when there is none.

        Args:
            began: When the last one began, seconds since the epoch.
        """
        ...


def pass_after_pass(
    layout: Layout, recurrence: Recurrence, clock: Clock, note: Note, *, rhythm: str, times: int
) -> int:
    """Make passes until a stop; the exit code of the last, or that of the stop.

    Args:
        layout: The job's directories.
        recurrence: The passes.
        clock: The time.
        note: Receives a line for the user.
        rhythm: The options that say when passes begin, for `nacre status`.
        times: End after so many; 0: never.
    """
    from nacre.inspect.stored_job import require_store
    from nacre.runs.passes import lock_passes

    require_store(layout)
    with lock_passes(layout, rhythm) as keeper:
        waiting = Waiting(layout, keeper, clock, note)
        try:
            return _passes(recurrence, waiting, clock, times)
        except _StoppedBetween:
            note("Stopped: no further pass begins.")
            return ExitCode.STOPPED
        except KeyboardInterrupt:  # while a pass was just about to begin, or to end
            return ExitCode.INTERRUPTED


def _passes(recurrence: Recurrence, waiting: "Waiting", clock: Clock, times: int) -> int:
    finished = 0
    if not waiting.wait(recurrence.first, first=True):
        return 0
    while True:
        began = clock.now()
        waiting.keeper.announce(recurrence.expected(began))
        code = recurrence.make()
        finished += 1
        if code in _ENDS or finished == times:
            return code
        if not waiting.wait(lambda began=began: recurrence.following(began)):  # type: ignore[misc]
            return code


class _StoppedBetween(Exception):  # noqa: N818 - a request, no error
    """Somebody ended it between two passes."""


class Waiting:
    """The time between two passes.

    Args:
        layout: The job's directories.
        keeper: Reports to other terminals what the job waits for, and receives requests to end.
        clock: The time.
        note: Receives a line for the user.
        nap: Waits so many seconds.
    """

    def __init__(
        self,
        layout: Layout,
        keeper: "PassKeeper",
        clock: Clock,
        note: Note,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        self.keeper = keeper
        self._layout = layout
        self._clock = clock
        self._nap = nap
        self._note = note

    def wait(self, ask: "Callable[[], NextPass | None]", *, first: bool = False) -> bool:
        """Sleep until a pass begins; False when none does any more, or a signal ends it.

        Args:
            ask: Says when it begins.
            first: No pass was made yet: a wait that is none is not told of.

        Raises:
            _StoppedBetween: Another terminal ended it.
        """
        try:
            with _signals_as_one():
                return self._until(ask, first=first)
        except KeyboardInterrupt:
            return False

    def _until(self, ask: "Callable[[], NextPass | None]", *, first: bool) -> bool:
        clock = self._clock
        self._wait_for_others()
        following = ask()
        self.keeper.announce(following)
        if following is None:
            self._note("No further pass: nothing will be due.")
            return False
        if following.time > clock.now() or not first:
            self._note(_next_text(following, self._layout.root))
        # Short naps: a clock that is set and a machine that sleeps do not matter either.
        while (seconds := following.time - (slept := clock.now())) > 0:
            self._sleep(min(seconds, _NAP))
            if clock.now() < slept - _SET_BACK:
                return self._until(ask, first=False)
        self._sleep(0.0)
        self._wait_for_others()
        return True

    def _wait_for_others(self) -> None:
        """A run that was begun by hand meanwhile comes first."""
        from nacre.job.control import is_running

        if is_running(self._layout.socket):
            self._note("Another command runs the job now; the next pass begins when it is over.")
            while is_running(self._layout.socket):
                self._sleep(_NAP)

    def _sleep(self, seconds: float) -> None:
        if self.keeper.is_stopped():
            raise _StoppedBetween
        if seconds:
            self._nap(seconds)


@contextmanager
def _signals_as_one() -> Iterator[None]:
    """What ends a service, and a terminal that is closed, end the wait as Ctrl-C does."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _next_text(following: "NextPass", job: Path) -> str:
    from nacre.report.formatting import to_the_second

    because = f" ({following.reason})" if following.reason else ""
    return (
        f"Next pass: {to_the_second(following.time)} UTC{because}. Nothing is open until then; "
        f"Ctrl-C here, or `nacre stop {job}` elsewhere, ends it."
    )
