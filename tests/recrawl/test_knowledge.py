"""Audits of 304 replies, versions that are read back, and when what was learned is written."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nacre.annotations import AUDIT, PAIR, UNTRUSTED_VALIDATORS
from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.pagerow import VersionRow
from nacre.core.processor import Visit
from nacre.extract.pageview import page_view
from nacre.history.dedup import Digests, History
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.discovery.hints import ReplyAudit
from nacre.planner.step import Choice
from nacre.recrawl import knowledge
from nacre.recrawl.knowledge import (
    ArchivedVersions,
    Audits,
    Knowledge,
    body_of,
    page_text,
    text_of,
)
from nacre.recrawl.pagestore import PageStore
from nacre.store.store import Store
from tests.archive.captures import make_capture, make_chunked
from tests.cli.site import site
from tests.crawl.again import settings
from tests.store.memory import MemoryEngine

DAY = 86_400.0
PAGES = [f"http://a.test/news/{number}.html" for number in range(1000)]


def share(audits: Audits, urls: list[str], wanted: float = 0.02) -> float:
    return sum(audits.plain(url, 1.0, wanted) == AUDIT for url in urls) / len(urls)


def test_audits_are_many_at_first_and_then_few() -> None:
    audits = Audits({})
    assert 0.2 < share(audits, PAGES) < 0.3
    for url in PAGES[:10]:
        audits.observe(url, 0.0, lied=False)
    assert 0.01 < share(audits, PAGES) < 0.04
    assert share(audits, PAGES, 0.0) == 0.0


def test_no_audits_where_none_are_wanted() -> None:
    assert share(Audits({}), PAGES, 0.0) == 0.0


def test_a_lie_speaks_for_the_host_but_for_what_was_found_clean() -> None:
    audits = Audits({})
    for number in range(10):
        audits.observe(f"http://a.test/clean/{number}.html", 0.0, lied=False)
    audits.observe(PAGES[0], 0.0, lied=True)
    assert audits.plain(PAGES[1], DAY, 0.0) == UNTRUSTED_VALIDATORS
    assert audits.plain("http://a.test/other/1.html", DAY, 0.0) == UNTRUSTED_VALIDATORS
    assert audits.plain("http://a.test/clean/99.html", DAY, 0.0) == ""
    assert audits.plain("http://b.test/news/1.html", DAY, 0.0) == ""
    assert audits.plain(PAGES[1], 91 * DAY, 0.0) == ""


def test_pairs_ask_without_validators_and_first_visits_have_none() -> None:
    audits = Audits({})
    choice = Choice(PAGES[0], 0.0, "pair")
    assert audits.unconditional(choice, 0.0, 0.0) == PAIR
    assert audits.unconditional(choice._replace(reason="new"), 0.0, 1.0) == ""
    assert audits.unconditional(choice._replace(reason="rate"), 0.0, 1.0) == AUDIT


# ---- what audits show


def _audit(
    audits: Audits,
    *,
    changed: bool = True,
    status: int = 200,
    known: HistoryRecord | None = None,
    header: tuple[bytes, bytes] = (b"ETag", b'"1"'),
) -> bool:
    """An audit of a page whose last 200 had the entity tag "1"."""
    capture = make_capture(headers=[header], status=status)
    visit = Visit(CrawlURI(PAGES[0], b"k", "q"), status, capture)
    visit.recall(known or HistoryRecord(PAGES[0], 200, 1, 1, "sha1:OLD", etag=b'"1"'))
    return audits.lied(visit, 0.0, changed=changed)


def test_another_page_under_the_same_validators_is_a_lie() -> None:
    audits = Audits({})
    assert _audit(audits)
    assert audits.plain(PAGES[1], DAY, 0.0) == UNTRUSTED_VALIDATORS


def test_noise_and_the_same_bytes_are_no_lies_and_count_as_clean() -> None:
    rows: dict[str, ReplyAudit] = {}
    audits = Audits(rows)
    assert not _audit(audits, changed=False)
    served = make_capture().payload_digest
    same = HistoryRecord(PAGES[0], 200, 1, 1, served, etag=b'"1"')
    assert not _audit(audits, known=same)
    assert {name: row.clean for name, row in rows.items()} == {
        "a.test *": 2, "a.test http://a.test/news/{int}.html": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    "facts",
    [
        {"status": 304},
        {"header": (b"ETag", b'"2"')},
        {"header": (b"Server", b"x")},
        {"known": HistoryRecord(PAGES[0], 200, 1, 0, etag=b'"1"')},
        {"known": HistoryRecord(PAGES[0], 200, 1, 1, "sha1:OLD")},
    ],
)
def test_replies_without_the_validators_of_the_last_show_nothing(facts: dict[str, Any]) -> None:
    rows: dict[str, ReplyAudit] = {}
    assert not _audit(Audits(rows), **facts)
    assert rows == {}


def test_dates_speak_where_there_is_no_entity_tag() -> None:
    date = b"Wed, 21 Oct 2026 07:28:00 GMT"
    known = HistoryRecord(PAGES[0], 200, 1, 1, "sha1:OLD", last_modified=date)
    assert _audit(Audits({}), known=known, header=(b"Last-Modified", date))


def test_a_visit_without_a_reply_or_a_history_shows_nothing() -> None:
    audits, visit = Audits({}), Visit(CrawlURI(PAGES[0], b"k", "q"), 200)
    assert not audits.lied(visit, 0.0, changed=True)
    visit.received(make_capture())
    assert not audits.lied(visit, 0.0, changed=True)


# ---- versions


class _Archived:
    """Versions of pages of a job that was crawled."""

    def __init__(self, root: Path, store: Store) -> None:
        self.pages, self.digests = PageStore(store), Digests(store)
        self.versions = ArchivedVersions(root, store, self.pages, self.digests)


BODY = "<html><body><h1>Münzen</h1><p>Ein Text über Münzen.</p></body></html>"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("versions") / "job"
    with site({"/": BODY}) as url:
        asyncio.run(Job(root, settings(url)).run())
    return root, url


@pytest.fixture
def archived(crawled: tuple[Path, str]) -> Iterator[_Archived]:
    with Store.open(str(Layout(crawled[0]).store)) as store:
        yield _Archived(crawled[0], store)


def _digest(archived: _Archived, url: str) -> str:
    row = History(archived.pages._store).get(url)
    assert row is not None
    return row.digest


@pytest.mark.parametrize(("charset", "heading"), [("utf-8", "Münzen"), ("cp1252", "Münzen")])
def test_a_version_is_read_back_from_its_warc(
    archived: _Archived, crawled: tuple[Path, str], charset: str, heading: str
) -> None:
    """What was read as windows-1252 by default is looked at once more."""
    url = crawled[1]
    digest = _digest(archived, url)
    archived.pages.put_version(url, VersionRow(digest, "", charset))
    view = archived.versions.last(url)
    assert view is not None
    assert heading in view.text


def test_what_was_kept_in_the_step_is_found_in_memory(
    archived: _Archived, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge, "_RECENT", 2)
    views = {f"http://a.test/{number}": page_view(f"<p>{number}</p>") for number in range(3)}
    for url, view in views.items():
        archived.versions.keep(url, view)
    assert [archived.versions.last(url) for url in views] == [None, *list(views.values())[1:]]


def test_what_cannot_be_read_is_no_version(archived: _Archived, crawled: tuple[Path, str]) -> None:
    url = crawled[1]
    assert archived.versions.last(f"{url}never") is None
    archived.pages.put_version(url, VersionRow("sha1:UNKNOWN"))
    assert archived.versions.last(url) is None
    digest = _digest(archived, url)
    found = archived.digests.get(digest, "")
    assert found is not None
    for wrong in (replace(found, file=999), replace(found, offset=1)):
        archived.digests.put(digest, "", wrong)
        assert archived.versions.capture(digest, "") is None
    archived.digests.put("sha1:OTHER", "", found)
    assert archived.versions.capture("sha1:OTHER", "") is None


def test_what_was_stored_is_the_version_to_compare_with(archived: _Archived) -> None:
    plain, chunked = make_capture(), make_chunked()
    archived.versions.moved_on("http://a.test/p", plain, "utf-8", 5.0)
    assert archived.pages.version("http://a.test/p") == VersionRow(
        plain.payload_digest, "", "utf-8", 5.0
    )
    archived.versions.moved_on("http://a.test/c", chunked, "", 6.0)
    assert archived.pages.version("http://a.test/c") == VersionRow(
        chunked.payload_digest, "chunked", "", 6.0
    )


def test_bodies_are_decoded_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<p>Münzen</p>".encode("iso-8859-1")
    packed = gzip.compress(text)
    headers = [
        (b"Content-Type", b"text/html; charset=ISO-8859-1"), (b"Content-Encoding", b"gzip")
    ]  # fmt: skip
    capture = make_capture(headers=headers, body=packed, payload_length=len(packed))
    assert body_of(capture, "iso-8859-1") == "<p>Münzen</p>".encode()
    assert text_of(make_capture(body="Münze".encode()), "") == "Münze"
    assert page_text(capture) == "<p>Münzen</p>"
    monkeypatch.setattr(knowledge, "LARGEST", 5)
    assert text_of(make_capture(body=b"0123456789"), "utf-8") == "01234"


# ---- all of it


def test_what_is_large_is_written_every_five_seconds_and_at_the_end(tmp_path: Path) -> None:
    now = [0.0]
    store = Store(MemoryEngine())
    known = Knowledge(tmp_path, store, ChangeSettings(), lambda: now[0])
    lessons = known.judge.lessons

    def stored() -> tuple[int, int]:
        again = Knowledge(tmp_path, store, ChangeSettings(), lambda: 0.0).judge.lessons
        return len(again.errors), len(again.templates)

    lessons.error_model("http://a.test/x")
    lessons.template("http://a.test/x")
    known.seal()
    assert stored() == (1, 0)
    now[0] = 5.0
    known.seal()
    assert stored() == (1, 1)
    lessons.template("http://b.test/x")
    known.seal()
    assert stored() == (1, 1)
    known.seal_all()
    assert stored() == (1, 2)
