from datetime import UTC, datetime

import pytest

from nacre.core.history import FetchRow
from nacre.errors import JobError
from nacre.extract.pageview import page_view
from nacre.inspect.analysis.difference import document, page_difference
from nacre.planner.change_detection.pairing import differences
from nacre.planner.change_detection.template import Template
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import SITE, Given
from tests.report.pages import harmless, look

URL = f"{SITE}/a"


def text(body: str, views: int = 1) -> str:
    return (
        "<html><head><title>通知</title></head><body><h1>关于征集意见的通知</h1>"
        f"<p>{body}</p><p>征集截止日期不变,请各单位按时报送材料。</p>"
        f"<span>浏览 {views} 次</span></body></html>"
    )


@pytest.fixture
def known() -> Given:
    given = Given()
    given.capture("/a", "2026-11-20T10:00:00Z", text("截止日期为2026年12月1日"))
    given.capture("/a", "2026-11-21T10:00:00Z", mime="warc/revisit")
    given.capture("/a", "2026-11-22T10:00:00Z", text("截止日期为2026年12月15日", 77))
    given.capture("/a", "2026-11-23T10:00:00Z", text("本通知已作废", 80))
    given.capture("/a", "2026-11-24T10:00:00Z", status="404")
    return given


def test_the_last_two_versions_are_compared(known: Given):
    found = page_difference(known, URL)
    assert (found.old, found.new) == ("2026-11-22T10:00:00Z", "2026-11-23T10:00:00Z")
    assert found.kind in {"minor", "major"}
    assert len(found.versions) == 3


def test_versions_by_their_dates(known: Given):
    found = page_difference(known, URL, ("2026-11-20", "2026-11-22"))
    assert [(p.was, p.now, p.noise) for p in found.pieces] == [
        ("截止日期为2026年12月1日", "截止日期为2026年12月15日", ""),
        ("浏览 1 次", "浏览 77 次", "masked"),
    ]
    assert found.same == 3


def test_pieces_stand_in_the_order_of_the_document(known: Given):
    paragraphs = [f"Paragraph number {n} of this page." for n in range(6)]
    known.capture("/b", "2026-01-01T00:00:00Z", "".join(f"<p>{p}</p>" for p in paragraphs))
    changed = [paragraphs[0], "Fresh.", *paragraphs[2:5], "Last."]
    known.capture("/b", "2026-02-01T00:00:00Z", "".join(f"<p>{p}</p>" for p in changed))
    pieces = page_difference(known, f"{SITE}/b").pieces
    assert [piece.now for piece in pieces] == ["Fresh.", "Last."]


def test_what_is_gone_stands_where_it_stood(known: Given):
    known.capture("/b", "2026-01-01T00:00:00Z", "<h1>First</h1><p>One</p><h2>Last</h2>")
    known.capture("/b", "2026-02-01T00:00:00Z", "<p>One</p>")
    pieces = page_difference(known, f"{SITE}/b").pieces
    assert [(piece.was, piece.now) for piece in pieces] == [("First", None), ("Last", None)]


def test_an_event_of_the_site_is_marked(known: Given):
    template = known.templates.setdefault("a.test", Template())
    template.begin_run(1.0)
    old, new = (page_view(page(f"{word} footer of everything")) for word in ("Old", "New"))
    for _ in range(5):
        template.learn_differences(differences(old.pieces, new.pieces))
    known.capture("/b", "2026-01-01T00:00:00Z", page("Old footer of everything"))
    known.capture("/b", "2026-02-01T00:00:00Z", page("New footer of everything"))
    (piece,) = page_difference(known, f"{SITE}/b").pieces
    assert piece.noise == "event"


def page(footer: str) -> str:
    return f"<h1>A</h1><p>What this page says.</p><div class=foot>{footer}</div>"


def test_two_columns_with_the_noise_in_grey(known: Given):
    shown = html_page(document(page_difference(known, URL, ("2026-11-20", "2026-11-22"))))
    harmless(shown)
    rows = look(shown).rows
    assert rows[0][1:3] == ["2026-11-20T10:00:00Z", "2026-11-22T10:00:00Z"]
    assert ["text", "浏览 1 次", "浏览 77 次", "a clock or a counter"] in rows
    assert ["heading", "关于征集意见的通知", "关于征集意见的通知", ""] in rows
    assert '<tr class="noise">' in shown


def test_one_version_is_not_enough(known: Given):
    known.capture("/b", "2026-01-01T00:00:00Z", "<p>One</p>")
    with pytest.raises(JobError, match="no two versions in the archive; stored in full are: 2026-"):
        page_difference(known, f"{SITE}/b")


def test_dates_without_a_version(known: Given):
    with pytest.raises(JobError, match="no two versions of the dates"):
        page_difference(known, URL, ("2025", ""))


def test_what_is_no_page_is_not_compared(known: Given):
    for date in ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"):
        known.capture("/b", date, "x", mime="image/png")
    with pytest.raises(JobError, match="image/png: only HTML is compared"):
        page_difference(known, f"{SITE}/b")


def test_a_version_that_cannot_be_read(known: Given):
    known.capture("/b", "2026-01-01T00:00:00Z", "x")
    known.capture("/b", "2026-02-01T00:00:00Z", "y")
    del known.texts["2026-01-01T00:00:00Z"]
    with pytest.raises(JobError, match=r"cannot be read from a\.warc\.gz"):
        page_difference(known, f"{SITE}/b")


def test_differences_have_the_pieces_around_them(known: Given):
    paragraphs = [f"Paragraph number {n} of this page." for n in range(12)]
    known.capture("/b", "2026-01-01T00:00:00Z", "".join(f"<p>{p}</p>" for p in paragraphs))
    changed = [*paragraphs[:4], "Fresh.", *paragraphs[5:11], "Last."]
    known.capture("/b", "2026-02-01T00:00:00Z", "".join(f"<p>{p}</p>" for p in changed))
    found = page_difference(known, f"{SITE}/b")
    shown = [piece.now or "" for piece in found.shown]
    around = [*paragraphs[2:4], "Fresh.", *paragraphs[5:7], "…", *paragraphs[9:11], "Last."]
    assert [text for text in shown if text] == ["…", *around]
    text = plain_text(document(found))
    assert f"  [text] {paragraphs[3]}\n" in text
    assert "\n+ [text] Fresh." in text
    assert "\n  …\n" in text


def test_the_verdict_of_the_visit_has_its_evidence(known: Given):
    time = datetime(2026, 11, 23, 10, tzinfo=UTC).timestamp()
    known.given_visits = [
        FetchRow(URL, time - 86_400.0, 2, 200, "there", "none"),
        FetchRow(URL, time, 3, 200, "there", "template", reason="event",
                 evidence="on 9 URLs of the run: 3.2.1 → 3.2.3"),
    ]  # fmt: skip
    found = page_difference(known, URL)
    assert "on 9 URLs of the run: 3.2.1 → 3.2.3" in found.judged
    assert "Verdict of the visit" in plain_text(document(found))
    known.given_visits = []
    assert page_difference(known, URL).judged == ""
