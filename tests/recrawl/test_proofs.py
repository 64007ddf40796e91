"""A change that the end of a run proves to be an event of the site leaves the change feed."""

from nacre.core.changes import ChangeRow
from nacre.core.history import FetchRow
from nacre.core.pagerow import Piece
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_detection.template import PieceDifference, Template, event_keys
from nacre.planner.visited import MemoryRows, VisitFinding
from nacre.recrawl.change_log import ChangeLog, change_rows
from nacre.recrawl.pagestore import FetchLog, fetch_rows
from nacre.recrawl.proofs import Proofs
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

TIME = 1_700_000_000.0
URLS = [f"http://a.test/{n}" for n in range(9)]
FOOTER = PieceDifference(Piece("text", 1, "Version 3.2.1"), Piece("text", 1, "Version 3.2.3"))
OWN = PieceDifference(None, Piece("text", 2, "本馆周六开放。"))


def noted(store: Store, url: str, difference: PieceDifference) -> None:
    visit = FetchRow(url, TIME + 1, 2, 200, "there", "minor")
    FetchLog(store).add(visit)
    ChangeLog(store).add(ChangeRow(url, visit.time, 2, "changed"))
    keys = event_keys(difference)
    finding = VisitFinding(Answer.THERE, ChangeClass.MINOR, unproven=(keys,))
    Proofs(store).note(visit, finding)


def test_only_changes_of_the_page_itself_stay():
    store, template = Store(MemoryEngine()), Template()
    template.begin_run(TIME)
    for _ in URLS:
        template.learn_differences([FOOTER])
    template.learn_differences([OWN])
    noted(store, URLS[0], FOOTER)
    noted(store, URLS[1], OWN)
    settling = Proofs(store).settle(FetchLog(store), MemoryRows(), lambda _: template)
    for _ in settling:
        pass
    assert {row.url: row.kind for row in fetch_rows(store)} == {
        URLS[0]: "template", URLS[1]: "minor",
    }  # fmt: skip
    assert [row.url for row in change_rows(store)] == [URLS[1]]
