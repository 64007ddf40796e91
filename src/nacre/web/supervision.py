"""Work that goes on beside the answers: an error in it ends neither the console nor its crawls.

Work that fails begins again after some seconds, and the terminal has the error. Until it went well
for a while the trouble is among the alerts of administrators.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.errors import NacreError
from nacre.job.task_errors import first_error

AGAIN: Final = 5.0
"""Seconds after which work that failed begins again."""
CALM: Final = 20.0
"""Seconds without an error after which a trouble is over."""
_LOG: Final = logging.getLogger(__name__)

Work = Callable[[], Coroutine[None, None, None]]
"""Starts work that runs until it is cancelled."""


class WorkTrouble(NamedTuple):
    """A problem of continuous work.

    Attributes:
        work: Name of the work, such as `quotas`, or of the item that failed, such as `schedule 3`.
        text: The error.
        since: When it began, seconds since the epoch.
    """

    work: str
    text: str
    since: float


class TroubleBoard:
    """The problems of the continuous work of the console.

    Args:
        tell: Called when the problems change.
    """

    def __init__(self, tell: Callable[[], None] = lambda: None) -> None:
        self._tell = tell
        self._known: dict[str, WorkTrouble] = {}

    def all(self) -> list[WorkTrouble]:
        """Return the present problems, sorted by the names of their work."""
        return [self._known[name] for name in sorted(self._known)]

    def note(self, work: str, text: str, now: float) -> bool:
        """Note a problem; return whether it is new or has another text.

        Args:
            work: Name of the work.
            text: The error.
            now: Seconds since the epoch.
        """
        trouble = self._known.get(work)
        self._known[work] = WorkTrouble(work, text, trouble.since if trouble is not None else now)
        is_new = trouble is None or trouble.text != text
        if is_new:
            self._tell()
        return is_new

    def set(self, kind: str, texts: Mapping[int, str], now: float) -> None:
        """Replace the problems of all items of a kind.

        Args:
            kind: The kind, such as `schedule`.
            texts: The errors, by the numbers of the items.
            now: Seconds since the epoch.
        """
        named = {f"{kind} {number}": text for number, text in texts.items()}
        for name in [
            name_before for name_before in self._known if name_before.startswith(f"{kind} ")
        ]:
            if name not in named:
                self.over(name)
        for name, text in named.items():
            self.note(name, text, now)

    def over(self, work: str) -> None:
        """Forget the problem of a work, if it has one."""
        if self._known.pop(work, None) is not None:
            self._tell()


def words_of(error: BaseException) -> str:
    """Return the text of an error, with its class if it is not one of Nacre's errors (pure).

    Args:
        error: The error; of an exception group, its first error is used.
    """
    first = first_error(error) if isinstance(error, BaseExceptionGroup) else error
    return str(first) if isinstance(first, NacreError) else f"{type(first).__name__}: {first}"


async def keep(name: str, work: Work, board: TroubleBoard, clock: Clock) -> None:
    """Run work, and restart it after an error, until it is cancelled or returns.

    Args:
        name: Name of the work.
        work: The work.
        board: Shows the problem of the work.
        clock: The time.
    """
    loop = asyncio.get_running_loop()
    while True:
        calm = loop.call_later(CALM, board.over, name)
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest goes on
            text = words_of(error)
            if board.note(name, text, clock.now()):
                trace = None if isinstance(error, NacreError) else error
                _LOG.log(logging.ERROR, "%s: %s", name, text, exc_info=trace)
        else:
            board.over(name)
            return
        finally:
            calm.cancel()
        await clock.sleep(AGAIN)
