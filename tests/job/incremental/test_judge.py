"""Which differences a judge suspects of being noise, and what a second visit shows of them."""

from nacre.core.pagerow import PageRow
from nacre.core.pageview import PageView
from nacre.history.verdict.change import ChangeSettings
from nacre.history.visited import Finding
from nacre.job.incremental.judge import Lessons, PageJudge
from tests.history.visits import Visit

TEXT = "The library opens at nine and closes at five on every day of the week but Sunday. "


class _Last:
    """Keeps the last version of each page."""

    def __init__(self) -> None:
        self._views: dict[str, PageView] = {}

    def last(self, url: str) -> PageView | None:
        return self._views.get(url)

    def keep(self, url: str, view: PageView) -> None:
        self._views[url] = view


def _visit(number: int, time: float, clock: str, text: str = TEXT) -> Visit:
    first = f"<p>{text} {number}</p>"
    body = f"<html><body>{first}<p>{TEXT}</p><div>at {clock}</div></body></html>".encode()
    url = f"http://a.test/{number}.html"
    return Visit(url, time, 200, f"sha1:{hash(body)}", "text/html", len(body), (), lambda: body)


def _judged(judge: PageJudge, visit: Visit) -> Finding:
    row = PageRow(visit.url, digest="sha1:before" if visit.time > 1.0 else "")
    return judge.judge(row, visit)


def _taught() -> PageJudge:
    judge = PageJudge(_Last(), Lessons.none(), ChangeSettings())
    for number in range(9):
        _judged(judge, _visit(number, 1.0, f"2026-11-21 9.1{number}"))
    return judge


def test_a_place_that_changes_each_time_is_suspected() -> None:
    judge = _taught()
    first = _judged(judge, _visit(0, 2.0, "2026-11-22 9.31"))
    assert first.kind.is_change
    assert first.suspect


def test_a_text_that_changed_beside_it_is_not() -> None:
    judge = _taught()
    assert _judged(judge, _visit(0, 2.0, "2026-11-22 9.31")).suspect
    edited = _judged(judge, _visit(1, 2.0, "2026-11-22 9.31", "Closed until further notice."))
    assert edited.kind.is_change
    assert not edited.suspect


def test_one_second_visit_proves_what_changed_each_time() -> None:
    judge = _taught()
    for number in range(5):
        _judged(judge, _visit(number, 2.0, f"2026-11-22 9.3{number}"))
    assert judge.pair(PageRow("http://a.test/4.html"), _visit(4, 2.0, "2026-11-22 9.59"))
    after = _judged(judge, _visit(5, 2.0, "2026-11-22 9.37"))
    assert not after.kind.is_change
    assert not after.suspect


def test_a_second_visit_tells_also_of_what_is_known_to_be_noise() -> None:
    judge = _taught()
    for number in range(5):
        found = _judged(judge, _visit(number, 2.0, f"2026-11-22 9.3{number}"))
        again = _visit(number, 2.0, f"2026-11-22 9.5{number}")
        differing = judge.pair(PageRow(again.url), again)
        assert not found.suspect or found.suspect in differing
        assert differing


def test_the_visit_that_proves_noise_is_in_doubt_itself() -> None:
    judge = _taught()
    changed = []
    for number in range(6):
        found = _judged(judge, _visit(number, 2.0, f"2026-11-22 9.3{number}"))
        assert found.suspect or not found.kind.is_change, number
        changed.append(found.kind.is_change)
        if number == 0:
            judge.pair(PageRow("http://a.test/0.html"), _visit(0, 2.0, "2026-11-22 9.50"))
    assert changed[0]
    assert not changed[-1]


def test_second_visits_that_show_the_same_end_the_suspicion() -> None:
    judge = _taught()
    for number in range(3):
        assert _judged(judge, _visit(number, 2.0, f"2026-11-22 9.3{number}")).suspect
        again = _visit(number, 2.0, f"2026-11-22 9.3{number}")
        assert not judge.pair(PageRow(again.url), again)
    found = _judged(judge, _visit(5, 2.0, "2026-11-22 9.37"))
    assert found.kind.is_change
    assert not found.suspect
