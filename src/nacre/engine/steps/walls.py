"""Recognises replies that are no page of the site, and holds hosts that send little else."""

from collections.abc import Callable
from typing import Final, Literal, Protocol

from nacre.annotations import wall_met
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.crawluri import Hop
from nacre.core.processor import Result, Visit
from nacre.engine.chain.entry import Entry
from nacre.engine.settings import WallSettings
from nacre.engine.wall_book import HostWalls, WallBook, WallExample
from nacre.uri.parse import host

_NOT_MODIFIED: Final = 304
_LISTED: Final = 20
"""Links from which on a page is no wall by its words."""
_PROCEED = Result.PROCEED  # the way to a member of an enumeration is long


class Walls(Entry):
    """Recognises challenges, logins, paywalls and refusals. Settings: `walls`.

    They are stored like all replies, and annotated `wall:VERDICT`.
    """

    behind = "render extract"
    processor: Literal["walls"] = "walls"


class QueueHolds(Protocol):
    """Holds the queues of hosts."""

    def hold(self, queue: str, wall: str) -> None:
        """Hand out nothing more of a queue until it is woken, because of this kind of wall."""
        ...

    def is_held(self, queue: str) -> bool:
        """Whether nothing of a queue is handed out."""
        ...


class WallStep:
    """The worker of `Walls`.

    Args:
        settings: When a host is held, under each combination of sheets.
        book: Counts.
        holds: Holds queues.
        alert: Sends a message to the operator.
        clock: The time.
    """

    def __init__(
        self,
        settings: Effective[WallSettings],
        book: WallBook,
        holds: QueueHolds,
        alert: Callable[[str], None],
        clock: Clock,
    ) -> None:
        # A reader of a configuration needs no parsers, which are slow to load.
        from nacre.engine.wall_evidence import wall_evidence  # noqa: PLC0415
        from nacre.extract.walls import UNCOUNTED, find_wall  # noqa: PLC0415

        self._evidence, self._find, self._uncounted = wall_evidence, find_wall, UNCOUNTED
        self._settings = settings
        self._book = book
        self._holds = holds
        self._alert = alert
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """Replies to URLs that were queued; robots.txt and requests of pages are none."""
        if visit.capture is None or visit.status <= 0 or not visit.queued:
            return False
        return visit.uri.url.startswith("http") and not visit.uri.is_prerequisite

    async def process(self, visit: Visit) -> Result:
        """Annotate a wall, and hold the queue if there are too many."""
        capture, queue = visit.capture, visit.uri.queue
        if capture is None or visit.status == _NOT_MODIFIED:
            return _PROCEED
        row = self._book.of_queue(queue)
        is_long = len(visit.outlinks) >= _LISTED and _number_of_links(visit) >= _LISTED
        evidence = self._evidence(visit, capture)
        wall = self._find(evidence, is_long=is_long, may_be_paid=row.searches_all)
        if wall:
            visit.meet_wall(wall)
            visit.annotate(wall_met(wall))
        now = self._clock.now()
        example = WallExample(visit.uri.url, visit.status, now)
        if wall:
            row.meet(wall, host(visit.uri.url), example)
        # Replies that were under way when their queue was held say nothing of later ones.
        if wall not in self._uncounted and not self._holds.is_held(queue):
            row.count(is_wall=bool(wall))
        self._book.change(row)
        if wall and row.must_stop(self._settings[visit.overlay].stop_after):
            self._stop(row, wall, now)
        return _PROCEED

    def _stop(self, row: HostWalls, wall: str, now: float) -> None:
        text = f"{row.walls} of the last {row.replies} replies were no page of it"
        self._holds.hold(row.queue, wall)
        self._alert(
            f"{row.host} is held: {text}, the last of them {wall}. See `nacre report JOB walls`; "
            f"`nacre frontier JOB wake --queue {row.queue}` releases it"
        )
        row.hold(now)


def _number_of_links(visit: Visit) -> int:
    return sum(link.hop is Hop.LINK for link in visit.outlinks)
