import pytest

from nacre.frontier.queues import QueueRow
from nacre.machine.clock import SystemClock
from nacre.ops.queues import NAME, QueueTable

SIZES = {"b,": 3, "a,": 1, "d,": 3, "c,": 0, "e,": 1}


@pytest.fixture
def table() -> QueueTable:
    rows = [QueueRow(name=name, size=size) for name, size in SIZES.items()]
    return QueueTable(rows, lambda _: None, SystemClock())


@pytest.mark.parametrize("column", [NAME, "waiting"])
@pytest.mark.parametrize("falling", [False, True])
def test_the_way_back_from_each_place_is_the_way_there(
    table: QueueTable, column: str, falling: bool
):
    forward = list(table.walk(column, None, falling=falling))
    assert len(forward) == len(SIZES)
    assert list(table.walk(column, None, falling=falling, back=True)) == forward[::-1]
    for number, (_, place) in enumerate(forward):
        behind = list(table.walk(column, place, falling=falling))
        before = list(table.walk(column, place, falling=falling, back=True))
        assert behind == forward[number + 1 :]
        assert before == forward[: number + 1][::-1]


@pytest.mark.parametrize(
    ("name", "falling", "first"),
    [
        ("", False, "a,"), ("b,", False, "b,"), ("bb", False, "c,"), ("z", False, None),
        ("z", True, "e,"), ("b,", True, "b,"), ("bb", True, "b,"), ("", True, None),
    ],
)  # fmt: skip
def test_a_key_or_the_next_one_comes_first(
    table: QueueTable, name: str, falling: bool, first: str | None
):
    place = table.before_name(name, falling=falling)
    walked = [table.names[at] for at, _ in table.walk(NAME, place, falling=falling)]
    assert (walked[0] if walked else None) == first
