"""What was learned of the requests of a site, in the store."""

import pytest

from nacre.engine.pages.repetition_rows import HeaderLines, RepetitionRow, RepetitionRows
from nacre.extract.repetition import RepetitionMemory
from nacre.extract.request_template import Hole, PagePattern, RequestTemplate
from nacre.store.store import Store
from tests.engine.visiting import ManualClock
from tests.store.memory import MemoryEngine

SITE = "https://h.test"
DAY = 86_400.0
TEMPLATE = RequestTemplate(
    "GET", (f"{SITE}/api/", Hole("url.path[1]")), PagePattern(SITE, ("p",), (2,)), support=3
)
LINES: dict[str, HeaderLines] = {"fetch": ((b"Accept", b"application/json"), (b"Referer", b""))}


def _memory(*constants: str) -> RepetitionMemory:
    return RepetitionMemory((TEMPLATE,), ((TEMPLATE.name,),), constants)


def test_a_row_is_read_before_and_after_its_group() -> None:
    store, clock = Store(MemoryEngine()), ManualClock()
    rows = RepetitionRows(store, clock)
    assert rows.read(SITE) is None
    rows.change(SITE, _memory(), LINES)
    row = RepetitionRow(SITE, clock.now(), _memory(), LINES)
    assert rows.read(SITE) == row
    assert RepetitionRows(store, clock).read(SITE) is None
    rows.seal()
    assert RepetitionRows(store, clock).read(SITE) == row


@pytest.mark.parametrize(("days", "is_known"), [(0, True), (29, True), (30, False), (-1, False)])
def test_old_rows_and_rows_of_the_future_are_forgotten(days: float, is_known: bool) -> None:
    clock = ManualClock()
    rows = RepetitionRows(Store(MemoryEngine()), clock)
    rows.change(SITE, _memory(), LINES)
    clock.passed += days * DAY
    assert (rows.read(SITE) is not None) is is_known


def test_a_row_that_is_too_long_is_not_written() -> None:
    rows = RepetitionRows(Store(MemoryEngine()), ManualClock())
    rows.change(SITE, _memory(*(f"{SITE}/{number}/{'x' * 1000}" for number in range(500))), LINES)
    assert rows.read(SITE) is None
