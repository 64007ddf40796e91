"""The interface of a phase, and what phases know of the rows: one look at all of them (pure)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.discovery.traps import Traps
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.slices import Slices
from nacre.planner.step import Choice
from nacre.planner.tuning import guess
from nacre.planner.visited import Rows

MOST_ERRORS = guess(
    "phase.most_errors",
    5,
    "Number of steps in which a page of a list that never answered is tried.",
)
_WAIT = guess(
    "phase.wait",
    7 * 86_400.0,
    "Age at which a page that failed twice is tried again, in seconds; then again"
    " at each doubling.",
)


class ValueOutcome(NamedTuple):
    """The outcome of the choice by value.

    Attributes:
        expected: Changes expected of all pages, and of those that were chosen.
        least: Value of the last visit that was chosen for its value; 0 when none was.
        tight: There was no room for all visits that were worth it.
    """

    expected: tuple[float, float] = (0.0, 0.0)
    least: float = 0.0
    tight: bool = False


class PhaseResult(NamedTuple):
    """The pages that a phase chose; the planner notes them in the step.

    Attributes:
        visits: What to visit, the most important first.
        left_out: URLs that need not be visited in this step.
        again: URLs that may be chosen a second time in this step.
        repeat: The phase wants to choose again when these visits were made.
        value: What a choice by value came to; None of all other phases.
    """

    visits: list[Choice]
    left_out: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    repeat: bool = False
    value: ValueOutcome | None = None


class Phase(Protocol):
    """A phase of a step: it chooses visits of one kind. Each step has new phases."""

    def choose(self, room: int) -> Slices[PhaseResult]:
        """Choose visits, in slices.

        Args:
            room: Visits left in the step; more that are chosen are dropped.
        """
        ...


class ScheduledPages:
    """The pages under a schedule, and those of them that are due in a step.

    Args:
        timetable: Pages under a schedule; None for no such.
        time: Of the step, seconds since the epoch.

    Attributes:
        due: What is due, with its time.
    """

    def __init__(self, timetable: Timetable | None, time: float) -> None:
        self._table = timetable
        self._time = time
        self.due: list[tuple[float, str]] = []

    def governs(self, url: str) -> bool:
        """Whether a page is under a schedule."""
        return self._table is not None and self._table.governs(url)

    def take(self, row: PageRow) -> bool:
        """Look at a row; True when it has its time, False when the planner may choose it now."""
        due = None if self._table is None else self._table.due(row, self._time)
        if due is None:
            return False
        if due.now and row.kind is not PageKind.EMBED:
            self.due.append((due.time, row.url))
        return True

    def rests(self, row: PageRow | None) -> bool:
        """Whether a page waits for its time; a new one does not."""
        table = self._table
        return table is not None and row is not None and table.due(row, self._time) is not None


class Pages:
    """The rows as phases read them: those under a schedule are left out.

    Args:
        rows: All rows.
        scheduled: Pages under a schedule.
        size: How many rows there are that are under none.
    """

    def __init__(self, rows: Rows, scheduled: ScheduledPages, size: int) -> None:
        self._rows = rows
        self.size = size
        self._scheduled = scheduled

    def rests(self, url: str) -> bool:
        """Whether a page waits for its time by a schedule; a new one does not."""
        return self._scheduled.rests(self._rows.get(url))

    def get(self, url: str) -> PageRow | None:
        """The row of a URL, under a schedule or not; None when it is unknown."""
        return self._rows.get(url)

    def rows_of(self, urls: Iterable[str]) -> Iterator[PageRow]:
        """The rows of those URLs that have one, under a schedule or not."""
        return (row for url in urls if (row := self._rows.get(url)) is not None)

    def planned(self, urls: Iterable[str]) -> Iterator[PageRow]:
        """The same without those under a schedule."""
        return self._open(self.rows_of(urls))

    def scan(self) -> Iterator[PageRow]:
        """All rows that are under no schedule."""
        return self._open(self._rows.scan())

    def _open(self, rows: Iterable[PageRow]) -> Iterator[PageRow]:
        governs = self._scheduled.governs
        return (row for row in rows if not governs(row.url))


class Survey:
    """The sums over all rows that the phases of a step need; collected row by row.

    Args:
        time: Of the step, seconds since the epoch.
        traps: Takes in each page that was never visited; None for none.

    Attributes:
        size: Rows.
        sources: Sitemaps and feeds, each with its kind.
        lists: Index pages.
        told: Pages that a source announced since their last visit.
        unvisited: Known pages that were never visited: URL to depth.
    """

    def __init__(self, time: float, traps: Traps | None = None) -> None:
        self._time = time
        self._traps = Traps() if traps is None else traps
        self.size = 0
        self.sources: list[tuple[str, str]] = []
        self.lists: list[str] = []
        self.told: dict[str, None] = {}
        self.unvisited: dict[str, int] = {}

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        self.size += 1
        if not row.visits:
            if tried_again(row) <= self._time:
                self.unvisited[row.url] = row.depth
                self._traps.meet(row.template, row.url, row.first_seen)
            return
        if row.kind in {PageKind.SITEMAP, PageKind.FEED}:
            self.sources.append((row.url, str(row.kind)))
        elif row.index >= INDEX:
            self.lists.append(row.url)
        if row.told:
            self.told[row.url] = None


def tried_again(row: PageRow) -> float:
    """The time of the next try of a page that never answered, epoch seconds; 0: at once."""
    return row.first_seen + _WAIT * 2.0 ** min(row.errors - 2, 20) if row.errors > 1 else 0.0
