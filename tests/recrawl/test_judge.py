"""Which differences a judge suspects of being noise, and what a second visit shows of them."""

import pytest

from nacre.core.pagerow import PageRow, PageView
from nacre.planner.change_detection.change import ChangeClass, ChangeSettings
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.discovery.traps import print_of
from nacre.planner.visited import VisitFinding
from nacre.recrawl.judge import Lessons, PageJudge, view_of
from tests.history.visits import Link, Visit

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


def _judged(judge: PageJudge, visit: Visit) -> VisitFinding:
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


# ---- what is no page to compare


def _reply(
    status: int = 200, body: str = "", target: str = "", digest: str = "sha1:new", path: str = "x"
) -> Visit:
    links = (Link(target, "R"),) if target else ()
    url, data = f"http://a.test/{path}", body.encode()
    return Visit(url, 2.0, status, digest, "text/html", len(data), links, lambda: data)


def _judge(signature: str = "blocks") -> PageJudge:
    settings = ChangeSettings.model_validate({"signature": signature})
    return PageJudge(_Last(), Lessons.none(), settings)


KNOWN = PageRow("http://a.test/x", digest="sha1:before")


@pytest.mark.parametrize(
    ("target", "answer", "reason"),
    [
        ("http://a.test/y", Answer.MOVED, "redirect"),
        ("http://a.test/", Answer.SOFT, "redirect"),
        ("http://b.test/", Answer.SOFT, "redirect"),
        ("http://a.test/login?next=/x", Answer.SILENT, "blocked"),
    ],
)
def test_where_a_redirect_leads_says_whether_a_page_moved(
    target: str, answer: Answer, reason: str
) -> None:
    found = _judge().judge(KNOWN, _reply(302, target=target))
    assert (found.answer, found.reason) == (answer, reason)


def test_a_target_to_which_many_pages_lead_says_that_they_are_gone() -> None:
    judge = _judge()
    answers = [
        judge.judge(KNOWN, _reply(302, target="http://a.test/moved", path=f"{number}")).answer
        for number in range(30)
    ]
    assert answers[0] is Answer.MOVED
    assert answers[-1] is Answer.SOFT
    elsewhere = _judge()
    for number in range(30):
        found = elsewhere.judge(KNOWN, _reply(302, target="http://b.test/m", path=f"{number}"))
        assert found.answer is Answer.MOVED


def test_the_start_page_may_redirect_to_itself() -> None:
    row = PageRow("http://a.test/", digest="sha1:before")
    found = _judge().judge(row, _reply(301, target="http://a.test/", path=""))
    assert found.answer is Answer.MOVED


def test_the_same_bytes_and_other_types_are_judged_by_their_digest() -> None:
    judge = _judge()
    assert judge.judge(KNOWN, _reply(digest="sha1:before")).kind is ChangeClass.NONE
    image = _reply()._replace(mime="image/png")
    assert judge.judge(KNOWN, image).kind is ChangeClass.MAJOR
    long = _reply()._replace(length=2_000_001)
    assert judge.judge(KNOWN, long).reason == "payload"
    assert judge.judge(KNOWN, _reply(404)).answer is Answer.MISSING
    assert judge.judge(KNOWN, _reply(503)).answer is Answer.SILENT


def test_a_page_that_says_what_made_up_names_are_answered_is_gone() -> None:
    judge = _judge()
    text = "<h1>Not here</h1><p>The page that you asked for could not be found on this site.</p>"
    view = view_of(_reply(body=text))
    judge.lessons.error_model("http://a.test/x").learn_probe(200, "", view, 1.0)
    found = judge.judge(KNOWN, _reply(body=text))
    assert (found.answer, found.reason) == (Answer.SOFT, "soft-404")


def test_a_signature_of_the_whole_page_learns_no_noise() -> None:
    judge = _judge("md5")
    assert judge.pairs_wanted("http://a.test/x") == 0
    assert _judge().pairs_wanted("http://a.test/x") == 10
    first = judge.judge(
        PageRow("http://a.test/x"), _reply(body="<p>One text.</p>", digest="sha1:1")
    )
    assert (first.kind, first.is_version) == (ChangeClass.NONE, True)
    again = judge.judge(KNOWN, _reply(body="<p>Another text.</p>", digest="sha1:2"))
    assert again.kind.is_change
    assert (again.noise, again.suspect) == (0.0, 0)


@pytest.mark.parametrize("again", [_reply(404), _reply()._replace(mime="image/png")])
def test_a_second_fetch_that_cannot_be_compared_teaches_nothing(again: Visit) -> None:
    judge = _judge()
    assert judge.pair(KNOWN, _reply(body="<p>text</p>")) == frozenset(), "there is no first"
    judge.judge(PageRow("http://a.test/x"), _reply(body="<p>text</p>"))
    assert judge.pair(KNOWN, again) == frozenset()
    assert judge.lessons.template("http://a.test/x").pairs == 0


def test_what_a_page_says_is_its_text_without_its_own_url() -> None:
    judge = _judge()
    said = []
    for number in range(2):
        visit = _reply(body=f"<p>Month 2026-0{number + 1}</p>", path=f"cal/2026-0{number + 1}",
                       digest=f"sha1:{number}")  # fmt: skip
        judge.judge(PageRow(visit.url), visit)
        said.append(judge.says(visit))
    assert said[0] == said[1]
    other = _reply(digest="sha1:unread")
    assert judge.says(other) == print_of("sha1:unread")


def _linking(time: float, *targets: str) -> Visit:
    links = "".join(f'<p>See <a href="{one}">this page</a> on it.</p>' for one in targets)
    body = f"<html><body><p>{TEXT}</p>{links}</body></html>".encode()
    url = "http://a.test/dir/page.html"
    return Visit(url, time, 200, f"sha1:{hash(body)}", "text/html", len(body), (), lambda: body)


def test_links_that_a_page_dropped_are_named_by_their_urls() -> None:
    judge = PageJudge(_Last(), Lessons.none(), ChangeSettings())
    first = _linking(1.0, "a.html", "/b.html", "http://other.test/c", "报告.pdf")
    _judged(judge, first)
    assert not judge.dropped(first), "there was no version before"
    later = _linking(2.0, "/b.html")
    _judged(judge, later)
    assert judge.dropped(later) == [
        "http://a.test/dir/a.html",
        "http://other.test/c",
        "http://a.test/dir/%E6%8A%A5%E5%91%8A.pdf",
    ]
    assert not judge.dropped(first), "it was not judged last"


def _said(text: str, digest: str) -> Visit:
    return _reply(body=f"<title>Terms</title><p>{text}</p>", digest=digest)


def test_a_page_that_comes_without_its_text_counts_at_the_third_visit() -> None:
    judge = PageJudge(_Last(), Lessons.none(), ChangeSettings())
    row = PageRow("http://a.test/x")
    judge.judge(row, _said(TEXT * 9, "sha1:1"))
    row.answered(1.0, changed=False)
    row.digest = "sha1:1"
    failed = [judge.judge(row, _said("", f"sha1:blank{n}")) for n in range(3)]
    assert [each.answer for each in failed] == [Answer.SILENT, Answer.SILENT, Answer.THERE]
    assert [each.reason for each in failed[:2]] == ["failed"] * 2
    assert failed[2].kind is ChangeClass.MAJOR
    assert not any(each.proven for each in failed), "all are stored"


def test_failures_between_visits_with_the_text_are_counted_anew() -> None:
    judge = PageJudge(_Last(), Lessons.none(), ChangeSettings())
    row = PageRow("http://a.test/x")
    judge.judge(row, _said(TEXT * 9, "sha1:0"))
    for number in range(4):
        row.answered(1.0, changed=False)
        row.digest = f"sha1:{number}"
        found = judge.judge(row, _said("", f"sha1:blank{number}"))
        assert found.answer is Answer.SILENT
        back = judge.judge(row, _said(TEXT * 9, f"sha1:{number + 1}"))
        assert (back.kind, back.proven) == (ChangeClass.MARKUP, True)


def _asked(number: int, *, with_banner: bool) -> Visit:
    banner = "<div><p>We store files on your device.</p><p>Refuse</p></div>" if with_banner else ""
    body = f"<main><p>{TEXT * 20}</p></main>{banner}<!-- {number} -->"
    return _reply(body=body, digest=f"sha1:{number}")._replace(time=float(number))


def _verdicts(banners: str, *, is_strict: bool = False) -> list[tuple[str, bool]]:
    """The verdicts on a page that has a banner at visits with `+`, and none at those with `.`.

    With `is_strict` each version is stored, as by `--keep strict`.
    """
    last = _Last()
    judge = PageJudge(last, Lessons.none(), ChangeSettings())
    row, found = PageRow("http://a.test/x"), []
    for number, banner in enumerate(banners):
        visit = _asked(number, with_banner=banner == "+")
        finding = judge.judge(row, visit)
        if is_strict:
            last.keep(visit.url, view_of(visit))
        row.answered(1.0, changed=finding.kind.is_change)
        row.digest = f"sha1:{number}"
        found.append((str(finding.kind), finding.proven))
    return found


def test_a_version_that_stays_after_it_was_left_out_is_no_change() -> None:
    verdicts = _verdicts("+.+.+.+.++..+")
    assert [kind for kind, _ in verdicts[1:5]] == ["minor"] * 4
    assert {kind for kind, _ in verdicts[5:]} == {"noise", "markup"}
    assert all(proven for _, proven in verdicts[5:]), "the archive has both versions"


def test_where_each_version_is_stored_none_is_left_out() -> None:
    verdicts = _verdicts("+.+.+.+.++.." + "+" * 4, is_strict=True)
    assert [kind for kind, _ in verdicts[9:12]] == ["markup", "noise", "markup"]
    assert [kind for kind, _ in verdicts[13:]] == ["markup"] * 3


@pytest.mark.parametrize("before", ["+.+.+.+.", "+.+.+.+"])
def test_a_version_that_returns_after_long_is_a_change_again(before: str) -> None:
    stays, returns = before[-1], before[-2]
    verdicts = _verdicts(before + stays * 12 + returns)
    assert {kind for kind, _ in verdicts[5:-1]} == {"noise", "markup"}
    assert verdicts[-1] == ("minor", False)


def test_what_other_pages_prove_is_no_version_that_was_left_out() -> None:
    judge = PageJudge(_Last(), Lessons.none(), ChangeSettings())
    row, kinds = PageRow("http://a.test/x"), []
    for number, year in enumerate((2023, 2023, 2024, 2024, 2025, 2025, 2025)):
        banner = f"<p>Menu of {number}</p>" * (number < 2)
        body = f"<main><p>{TEXT * 20}</p></main>{banner}<p>© {year} A</p><!-- {number} -->"
        finding = judge.judge(row, _reply(body=body, digest=f"sha1:{number}"))
        row.answered(1.0, changed=finding.kind.is_change)
        row.digest = f"sha1:{number}"
        kinds.append(str(finding.kind))
    assert kinds == ["none", "minor", "minor", "markup", "noise", "noise", "noise"]


# ---- pages that were run in a browser


def _rendered(text: str, number: int = 1) -> Visit:
    body = f"<html><body><div id=app><p>{text}</p><p>{TEXT}</p></div></body></html>".encode()
    url = f"http://a.test/{number}.html"
    digest = f"dom:{hash(body)}"
    return Visit(*(url, 2.0, 200, digest, "text/html", len(body), (), lambda: body), rendered=True)


def test_the_first_run_in_a_browser_is_no_change_of_the_page() -> None:
    judge = _judge()
    shell = _reply(body="<div id=app></div>", path="1.html")
    judge.judge(PageRow(shell.url), shell)
    row = PageRow(shell.url, visits=1, digest="sha1:shell")
    first = judge.judge(row, _rendered("The exhibition opens in May."))
    assert (first.kind, first.reason, first.is_version) == (ChangeClass.NONE, "rendered", True)
    row = PageRow(shell.url, visits=2, digest="dom:before")
    assert not judge.judge(row, _rendered("The exhibition opens in May.")).kind.is_change
    later = judge.judge(row, _rendered("The exhibition was cancelled. \u5c55\u89c8\u53d6\u6d88"))
    assert later.kind.is_change


def test_a_version_of_a_browser_that_cannot_be_read_is_no_change() -> None:
    judge = _judge()
    finding = judge.judge(PageRow("http://a.test/1.html", visits=1, digest="dom:x"), _rendered("a"))
    assert (finding.kind, finding.reason) == (ChangeClass.NONE, "rendered")
    new = judge.judge(PageRow("http://a.test/2.html"), _rendered("a", 2))
    assert (new.kind, new.reason) == (ChangeClass.NONE, "payload")


def _walled(wall: str, text: str = "Sign in") -> Visit:
    return _visit(0, 2.0, "", text)._replace(wall=wall)


@pytest.mark.parametrize(
    "wall", ["challenge", "signedOut", "consentWall", "rateLimited", "emptyShell", "geoBlocked"]
)
def test_a_wall_is_neither_a_version_nor_the_end_of_a_page(wall: str) -> None:
    judge = _taught()
    assert _judged(judge, _walled(wall)).answer is Answer.SILENT
    later = _judged(judge, _visit(0, 3.0, "2026-11-21 9.10"))
    assert not later.kind.is_change


@pytest.mark.parametrize(
    ("wall", "answer"), [("signedOut", Answer.THERE), ("challenge", Answer.SILENT)]
)
def test_a_login_that_was_never_another_page_is_a_page(wall: str, answer: Answer) -> None:
    judge, visit = _taught(), _walled(wall)
    assert judge.judge(PageRow(visit.url), visit).answer is answer


def test_a_paywall_is_no_version_if_it_cuts_the_text() -> None:
    judge = _taught()
    url = "http://a.test/long.html"
    row = PageRow(url, digest="sha1:before")

    def page(text: str, time: float, wall: str = "") -> Visit:
        body = f"<p>{text}</p>".encode()
        digest = f"sha1:{hash(body)}"
        return Visit(*(url, time, 200, digest, "text/html", len(body), (), lambda: body), wall=wall)

    judge.judge(PageRow(url), page("Whole sentences of an article. " * 40, 1.0))
    assert (
        judge.judge(row, page("Whole sentences. Subscribe!", 2.0, "paywall")).answer
        is Answer.SILENT
    )
    whole = page("Other sentences of an article. " * 40, 3.0, "paywall")
    assert judge.judge(row, whole).kind.is_change
