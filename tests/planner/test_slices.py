"""Work in slices: what the planner does between two stops is bounded."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from nacre.core.pagerow import PageRow
from nacre.planner.planner import Planner
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import Sites
from nacre.planner.slices import ROWS, Slices, at_once
from nacre.planner.step import Choice
from nacre.planner.visited import DigestJudge, MemoryRows, SeenLink

DAY = 86_400.0


class _Counted(MemoryRows):
    """Counts the rows that were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    def scan(self) -> Iterator[PageRow]:
        for row in super().scan():
            self.read += 1
            yield row


class _Visit(NamedTuple):
    """A visit that brought a page."""

    url: str
    time: float
    status: int = 200
    digest: str = "sha1:A"
    mime: str = "text/html"
    length: int = 3
    links: tuple[SeenLink, ...] = ()
    body: Callable[[], bytes] = bytes
    rendered: bool = False
    wall: str = ""


def drained(work: Slices[list[Choice]], between: Callable[[], None]) -> list[Choice]:
    """Do all of it, and something else at each stop."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return cast("list[Choice]", end.value)
        between()


def _planner(pages: int) -> tuple[Planner, _Counted]:
    rows = _Counted()
    for number in range(pages):
        rows.put(PageRow(f"http://a.test/{number}", visits=1, last_visit=DAY, template="t"))
    return Planner(rows, Sites(), DigestJudge(), RecrawlSettings()), rows


def _counting() -> Slices[str]:
    yield
    yield
    return "end"


def test_work_can_be_done_at_once() -> None:
    assert at_once(_counting()) == "end"


def test_no_more_rows_are_read_between_two_stops_than_make_a_slice() -> None:
    planner, rows = _planner(5 * ROWS)
    before, most, chosen = 0, 0, []
    for _ in planner.choosing(30 * DAY, 10**6):
        most, before = max(most, rows.read - before), rows.read
    assert 0 < most <= ROWS
    while wave := planner.choose(30 * DAY, 10**6):
        chosen += wave
    assert chosen


def test_visits_may_end_while_the_planner_chooses() -> None:
    planner, rows = _planner(2 * ROWS)
    chosen: list[Choice] = []
    visited = 0

    def visit() -> None:
        nonlocal visited
        visited += 1
        planner.learn(_Visit(f"http://a.test/other/{visited}", 30 * DAY))

    while wave := drained(planner.choosing(30 * DAY, 10**6), visit):
        chosen += wave
    assert chosen
    assert visited > 3
    assert all(rows.get(f"http://a.test/other/{one + 1}") for one in range(visited))


def test_a_step_reads_all_rows_four_times_at_most() -> None:
    planner, rows = _planner(600)
    while planner.choose(30 * DAY, 100):
        pass
    assert rows.read <= 4 * 600
