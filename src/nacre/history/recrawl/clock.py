"""Pages that a schedule keeps from the planner, and which of them are due in a step (pure)."""

from collections.abc import Iterable, Iterator

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.schedule.timetable import Timetable


class Clocked:
    """Collects, row by row, what is due by its schedule.

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

    def at(self, time: float) -> "Clocked":
        """The same for another step."""
        return Clocked(self._table, time)

    def governs(self, url: str) -> bool:
        """Whether a page is under a schedule."""
        return self._table is not None and self._table.governs(url)

    def others(self, rows: Iterable[PageRow]) -> Iterator[PageRow]:
        """The rows that are under none."""
        table = self._table
        return iter(rows) if table is None else (row for row in rows if not table.governs(row.url))

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
