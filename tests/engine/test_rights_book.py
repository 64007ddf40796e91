"""Versions of preferences in a store: when one is written, and which holds at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.config.effective import Effective
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.processor import Visit
from nacre.engine import rights_book
from nacre.engine.prerequisites import ROBOTS_FOR
from nacre.engine.rights_book import MOST_VERSIONS, RightsBook, RightsPlan, own_key, site_key
from nacre.rights.reply_signals import reply_signals
from nacre.rights.signals import ROBOTS, RSL
from nacre.rights.vocabulary import UNKNOWN, Preference
from nacre.store.store import Store

SITE, URL = "http://h.test", "http://h.test/p"
TAG = (b"X-Robots-Tag", b"noarchive")


def plan(**values) -> Effective[RightsPlan]:
    return Effective([RightsPlan(**values)])


@pytest.fixture
def book(tmp_path: Path) -> Iterator[RightsBook]:
    with Store.open(str(tmp_path / "store")) as store:
        yield RightsBook(store, plan(), 10)


def visit(
    time: int, *headers, status: int = 200, url: str = URL, body: bytes = b"", **more
) -> Visit:
    capture = Capture(
        url, b"", b"", BytesBody(body), status, headers=headers, began=time,
        payload_length=len(body), framing="length",
    )  # fmt: skip
    uri = CrawlURI(url, b"k", "q", heritable=more.pop("heritable", {}))
    return Visit(uri, status, capture, record_id=f"urn:{time}", **more)


KNOWN = HistoryRecord(URL, 200, visits=1)


def versions(book: RightsBook, key: bytes) -> list[tuple[int, int, str]]:
    return [
        (v.since, v.until, ", ".join(p[0] for s in v.signals for p in s.preferences))
        for v in book.rows.versions(key)
    ]


def test_a_version_is_written_only_if_it_differs(book):
    for time, headers in ((20, [TAG]), (30, [TAG]), (40, []), (50, []), (60, [TAG])):
        book.learn(visit(time, *headers, history=KNOWN))
    assert versions(book, own_key(URL)) == [
        (20, 40, "noarchive"), (40, 60, ""), (60, 0, "noarchive")
    ]  # fmt: skip
    assert [bool(book.rows.at(own_key(URL), t).signals) for t in (20, 39, 40, 59, 60)] == [
        True, True, False, False, True
    ]  # fmt: skip
    assert book.rows.at(own_key(URL), 19) is None


@pytest.mark.parametrize(
    ("history", "is_change"),
    [
        (None, False),
        (HistoryRecord(URL, 200, 15, visits=1), True),
        (HistoryRecord(URL, 304, 15, visits=1), True),
        (HistoryRecord(URL, 404, 15, visits=1), False),
        (HistoryRecord(URL, 200, 9, visits=1), False),
    ],
)
def test_a_first_version_is_a_change_only_after_a_recorded_reply(book, history, is_change):
    book.learn(visit(20, TAG, history=history))
    found = list(book.rows.changes(20, 21))
    assert [(source, before) for source, before, _ in found] == [("reply", None)] * is_change


def test_the_changes_of_an_interval(book):
    for time, headers in ((20, [TAG]), (30, [TAG]), (40, []), (50, [TAG])):
        book.learn(visit(time, *headers, history=KNOWN))
    found = [(before.since, after.since) for _, before, after in book.rows.changes(0, 50)]
    assert found == [(20, 40)]
    assert [after.since for *_, after in book.rows.changes(50, 99)] == [50]


def test_a_first_visit_without_signals_has_no_row(book):
    book.learn(visit(20))
    assert versions(book, own_key(URL)) == []
    held = book.rows.holding(URL, 20)
    assert "reply" not in held.missing
    assert "reply" in book.rows.holding(URL, 9).missing, "before the ledger began"


def test_a_reply_304_keeps_the_signals_of_the_page(book):
    book.learn(visit(20, TAG, metas=[("robots", "noimageai")]))
    book.learn(visit(30, status=304, history=KNOWN))
    assert len(versions(book, own_key(URL))) == 1
    book.learn(visit(40, (b"X-Robots-Tag", b"noindex"), status=304, history=KNOWN))
    assert versions(book, own_key(URL))[-1] == (40, 0, "noindex, noimageai")


@pytest.mark.parametrize("status", [404, 503, 301])
def test_an_error_without_signals_changes_nothing(book, status):
    book.learn(visit(20, TAG))
    book.learn(visit(30, status=status, history=KNOWN))
    assert versions(book, own_key(URL)) == [(20, 0, "noarchive")]


def test_robots_txt_has_versions_and_may_be_absent(book):
    def learn(time: int, status: int, body: bytes = b"") -> None:
        of_site = {ROBOTS_FOR: SITE}
        book.learn(
            visit(time, status=status, body=body, url=f"{SITE}/robots.txt", heritable=of_site)
        )

    learn(20, 200, b"User-agent: *\nContent-Usage: train-ai=n\n")
    learn(30, 503)
    learn(40, 200, b"# other words\nUser-agent: *\nContent-Usage: train-ai=n\n")
    learn(50, 404)
    key = site_key(SITE, ROBOTS)
    assert versions(book, key) == [(20, 50, "train-ai"), (50, 0, "")]
    assert book.rows.holding(URL, 45).value("train-ai") == "n"
    assert book.rows.holding(URL, 55).value("train-ai") == "none"
    assert book.rows.holding(URL, 15).value("train-ai") == "unknown"


def test_enforced_preferences_name_what_withholds(tmp_path):
    with Store.open(str(tmp_path / "store")) as store:
        enforced = (Preference("noarchive"), Preference("tdm", "n"))
        book = RightsBook(store, plan(enforced=enforced), 10)
        assert book.withheld(visit(20, TAG)) == "noarchive"
        assert book.withheld(visit(20, (b"tdm-reservation", b"1"))) == "tdm=n"
        assert book.withheld(visit(20)) == ""
        assert book.withheld(visit(20, TAG, url=f"{SITE}/ai.txt")) == ""


def test_without_recording_nothing_is_known(tmp_path):
    with Store.open(str(tmp_path / "store")) as store:
        RightsBook(store, plan(), 10)
        book = RightsBook(store, plan(records=False), 20)
        book.learn(visit(30, TAG))
        assert versions(book, own_key(URL)) == []
        assert book.rows.since is None
        assert RightsBook(store, plan(), 40).rows.since == 40


def test_a_place_that_changes_with_each_request_has_a_bounded_number_of_rows(book):
    for time in range(MOST_VERSIONS + 3):
        book.learn(visit(20 + time, (b"X-Robots-Tag", b"max-snippet:%d" % time), history=KNOWN))
    found = list(book.rows.versions(own_key(URL)))
    assert (len(found), found[-1].state) == (MOST_VERSIONS + 1, UNKNOWN)
    assert (found[-2].until, found[-1].until) == (found[-1].since, 0)
    held = [book.rows.holding(URL, time) for time in (19 + MOST_VERSIONS, 20 + MOST_VERSIONS, 5000)]
    assert ["reply" in each.missing for each in held] == [False, True, True]
    assert len(list(book.rows.changes(0, 9999))) == MOST_VERSIONS - 1, "the first is no change"


def test_what_is_salvaged_ends_the_versions_of_its_places(book):
    of_site = {ROBOTS_FOR: SITE}
    text = b"User-agent: *\nContent-Usage: train-ai=n\n"
    book.learn(visit(20, body=text, url=f"{SITE}/robots.txt", heritable=of_site))
    book.learn(visit(25, TAG, history=KNOWN))
    for url, time in ((f"{SITE}/robots.txt", 30), (f"{SITE}/robots.txt", 31), (URL, 35)):
        book.rows.end_versions(url, "text/html", time)
    book.learn(visit(40, status=304, history=KNOWN))
    values = {
        29: ("n", []),
        30: ("unknown", ["robots.txt"]),
        41: ("unknown", ["robots.txt", "reply"]),
    }
    for time, (value, missing) in values.items():
        held = book.rows.holding(URL, time)
        assert held.value("train-ai") == value
        assert [each for each in held.missing if each in ("robots.txt", "reply")] == missing
    book.learn(visit(50, TAG, history=KNOWN))
    assert "reply" not in book.rows.holding(URL, 50).missing
    assert list(book.rows.changes(0, 60)) == []


def test_a_reply_is_read_once_for_all_steps(book, monkeypatch):
    reads = []

    def read(*facts):
        reads.append(facts)
        return reply_signals(*facts)

    monkeypatch.setattr(rights_book, "reply_signals", read)
    for number in (1, 2):
        page = visit(20 * number, (b"X-Robots-Tag", b"noarchive, %d" % number), history=KNOWN)
        assert book.news(page, page.capture)
        book.learn(page)
        assert len(reads) == number


RSL_HEAD = b'<rsl xmlns="https://rslstandard.org/rsl">'
RULE = b"<content url='/'><license><prohibits>ai-train</prohibits></license></content>"


@pytest.mark.parametrize(
    ("mime", "body", "stated"),
    [
        ("application/rsl+xml", RSL_HEAD + RULE + b"</rsl>", [(20, 0, "train-ai")]),
        ("text/xml", RSL_HEAD + RULE + b"</rsl>", [(20, 0, "train-ai")]),
        ("text/xml", b"<rss/>", []),
        ("text/html", RSL_HEAD + RULE + b"</rsl>", []),
    ],
)
def test_a_license_file_is_known_by_its_type_or_its_namespace(book, mime, body, stated):
    book.learn(visit(20, url=f"{SITE}/l.xml", body=body, mime=mime))
    assert versions(book, site_key(f"{SITE}/l.xml", RSL)) == stated


def test_a_file_that_is_not_read_wholly_is_unknown(book):
    robots = b"User-agent: *\nContent-Usage: search=n\n" + b"Content-Usage: search=y\n" * 2_000
    book.learn(visit(20, body=robots, url=f"{SITE}/robots.txt", heritable={ROBOTS_FOR: SITE}))
    book.learn(visit(20, url=f"{SITE}/.well-known/tdmrep.json", body=b" " * 1_000_001))
    held = book.rows.holding(URL, 30)
    assert (held.value("search"), held.value("train-ai"), held.value("tdm")) == (
        "n", "unknown", "unknown"
    )  # fmt: skip
