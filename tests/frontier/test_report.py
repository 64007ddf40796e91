from nacre.frontier.frontier import Attempt
from nacre.frontier.queues import State
from nacre.frontier.report import HEADER, queue_lines, summary
from nacre.frontier.settings import FrontierSettings
from tests.frontier.making import candidate, frontier
from tests.frontier.memory_rows import MemoryRows

NOW = 1_800_000_000.0


def filled() -> MemoryRows:
    rows = MemoryRows()
    front = frontier(rows, now=NOW)
    front.schedule([candidate("big", str(n)) for n in range(5)], NOW)
    front.schedule([candidate("small", "0")], NOW)
    for status in (200, -5):
        uri = front.next(NOW + 60, 60)
        assert uri is not None
        front.finished(uri, Attempt(status, 4.0), 61)
    front.save()
    return rows


def test_queue_line_has_the_columns_of_heritrix() -> None:
    lines = list(queue_lines(filled(), FrontierSettings()))
    assert lines == [
        "big, 3 4 5 2999 1(1.0) 2027-01-15T08:01:00.000Z 2027-01-15T08:01:05.000Z 1/-1 0 "
        "http://big/0 http://big/4"
    ]
    assert len(lines[0].split()) == len(HEADER.split())


def test_an_empty_queue_is_shown_when_wanted() -> None:
    lines = queue_lines(filled(), FrontierSettings(), wanted=lambda row: row.name == "small,")
    assert next(lines).split() == [
        "small,", "3", "0", "1", "2899", "101(101.0)", "2027-01-15T08:01:00.000Z", "-", "101/-1",
        "1", "http://small/0", "http://small/0",
    ]  # fmt: skip


def test_summary() -> None:
    found = summary(filled(), largest=1)
    assert [row.name for row in found.largest] == ["big,"]
    assert found.states[State.SNOOZED] == found.states[State.EXHAUSTED] == 1
    assert (found.totals.discovered, found.totals.queued, found.totals.finished) == (6, 4, 2)
