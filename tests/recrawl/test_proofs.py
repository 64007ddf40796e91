"""Verdicts that the end of a run decides, also after a process was killed."""

import pytest

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow, Piece
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_detection.template import PieceDifference, Template, event_keys
from nacre.planner.slices import at_once
from nacre.planner.visited import VisitFinding
from nacre.recrawl.pagestore import FetchLog, PageStore, fetch_rows
from nacre.recrawl.proofs import Proofs
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

RUN = 1000.0


def _edit(number: int, now: str = "3.2.3") -> PieceDifference:
    return PieceDifference(
        Piece("title", 1, f"Class{number} 3.2.1"), Piece("title", 1, f"Class{number} {now}")
    )


class _Job:
    """The parts of a job that the end of a run works on."""

    def __init__(self) -> None:
        self.store = Store(MemoryEngine())
        self.template = Template()
        self.template.begin_run(RUN)

    def visit(self, number: int, *differences: PieceDifference, time: float = RUN) -> None:
        """A page that counts as changed."""
        url = f"http://a.test/{number}"
        row = FetchRow(url, time + number, 2, 200, "there", "minor", reason="title", evidence="e")
        FetchLog(self.store).add(row)
        PageStore(self.store).put(PageRow(url, visits=2, changes=1))
        self.template.learn_differences(differences)
        keys = tuple(map(event_keys, differences))
        Proofs(self.store).note(row, VisitFinding(Answer.THERE, ChangeClass.MINOR, unproven=keys))

    def settle(self) -> int:
        """End the run in another process."""
        self.store.commit()
        store = Store(self.store.engine)
        log, pages = FetchLog(store), PageStore(store)
        count = at_once(Proofs(store).settle(log, pages, lambda _: self.template))
        store.commit()
        self.store = Store(store.engine)
        return count

    def verdicts(self) -> list[tuple[str, str]]:
        """Kind and evidence of all visits."""
        return [(row.kind, row.evidence) for row in fetch_rows(self.store)]


@pytest.mark.parametrize(("pages", "corrected"), [(4, 0), (5, 5), (12, 12)])
def test_what_enough_pages_have_in_common_is_no_change_of_any(pages: int, corrected: int) -> None:
    job = _Job()
    for number in range(pages):
        job.visit(number, _edit(number))
    assert job.settle() == corrected
    changed, proven = ("minor", "e"), ("template", f"on {pages} URLs of the run: e")
    assert job.verdicts() == [proven if corrected else changed] * pages
    row = PageStore(job.store).get("http://a.test/0")
    assert row is not None
    assert (row.changes, row.noise) == ((0, 1) if corrected else (1, 0))
    assert job.settle() == 0, "a run is decided once"


def test_a_page_with_an_edit_of_its_own_stays_changed() -> None:
    job = _Job()
    for number in range(9):
        job.visit(number, _edit(number))
    job.visit(9, _edit(9), _edit(9, "3.2.1 of the library"))
    assert job.settle() == 9
    assert job.verdicts()[-1] == ("minor", "e")


def test_what_a_run_that_was_cut_off_left_is_not_decided_by_the_next() -> None:
    job = _Job()
    job.visit(0, _edit(0), time=10.0)
    for number in range(1, 9):
        job.visit(number, _edit(number))
    assert job.settle() == 8
    assert job.verdicts()[0] == ("minor", "e")


def test_a_page_that_differs_in_too_many_blocks_is_not_noted() -> None:
    job = _Job()
    for number in range(9):
        job.visit(number, *(_edit(block) for block in range(201)))
    assert job.settle() == 0
