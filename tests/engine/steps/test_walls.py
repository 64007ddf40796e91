"""Walls in a crawl: annotated, stored and counted; a host that sends little else is held."""

import asyncio
import gzip
from pathlib import Path

import pytest

from nacre.config.effective import fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.engine.settings import WallSettings
from nacre.engine.steps.walls import WallStep
from nacre.engine.wall_book import WallBook, scan_walls, walls_of
from nacre.frontier.operator import why_it_waits
from nacre.frontier.queues import QueueState
from nacre.store.store import Store
from tests.engine.visiting import ManualClock, OpenJob, visiting
from tests.store.memory import MemoryEngine

SITE = "http://a.test/"
LOGIN = "<form><input type=password></form>"
PAID = '<script type="application/ld+json">{"isAccessibleForFree": false}</script>'


class Host:
    """A host whose replies go through the step."""

    def __init__(self, stop_after: int = 20, store: Store | None = None) -> None:
        self.store = store or Store(MemoryEngine())
        self.book = WallBook(self.store)
        self.held: list[tuple[str, str]] = []
        self.alerts: list[str] = []
        settings = fixed(WallSettings(stop_after=stop_after))
        self.has_stopped = False
        self.step = WallStep(settings, self.book, self, self.alerts.append, ManualClock())

    def hold(self, queue: str, wall: str) -> None:
        self.held.append((queue, wall))

    def is_held(self, queue: str) -> bool:
        return self.has_stopped

    def reply(self, status: int = 200, html: str = "<p>A page</p>", **facts: object) -> Visit:
        encoding = str(facts.pop("encoding", ""))
        body = gzip.compress(html.encode()) if encoding else html.encode()
        headers = ((b"Content-Encoding", encoding.encode()),) if encoding else ()
        links = facts.pop("outlinks", [])
        url = str(facts.pop("url", SITE + "page"))
        capture = Capture(
            url, b"", b"", BytesBody(body), status, headers=headers, payload_length=len(body)
        )
        uri = CrawlURI(url, b"", "test,a,", path=str(facts.pop("path", "L")))
        visit = Visit(uri, status, capture, mime="text/html", outlinks=links, **facts)  # type: ignore[arg-type]
        if self.step.accepts(visit):
            asyncio.run(self.step.process(visit))
        return visit


@pytest.fixture
def host() -> Host:
    return Host()


def test_a_wall_is_annotated(host: Host) -> None:
    visit = host.reply(429)
    assert (visit.wall, visit.annotations) == ("rateLimited", ["wall:rateLimited"])
    assert host.reply().annotations == []
    assert host.reply(html=LOGIN, encoding="gzip").wall == "signedOut"
    assert host.reply(html=LOGIN, charset="gbk").wall == "signedOut"


def test_a_redirect_to_a_login_is_seen_by_its_outlink(host: Host) -> None:
    links = [Outlink(SITE + "login?next=/page", Hop.REDIRECT, "location:")]
    assert host.reply(302, "", outlinks=links).wall == "signedOut"


@pytest.mark.parametrize(
    "facts", [{"queued": False}, {"url": "ftp://a.test/"}, {"path": "LP"}, {"status": 304}]
)
def test_other_replies_are_not_judged(host: Host, facts: dict[str, object]) -> None:
    assert host.reply(**({"status": 429} | facts)).wall == ""  # type: ignore[arg-type]


def test_a_host_is_held_after_walls_in_a_row(host: Host) -> None:
    for _ in range(19):
        host.reply(403, "<title>Just a moment...</title>")
    host.reply()
    for _ in range(19):
        host.reply(429)
    assert host.held == []
    host.reply(429)
    assert host.held == [("test,a,", "rateLimited")]
    assert "a.test is held: 39 of the last 40 replies" in host.alerts[0]
    host.has_stopped = True
    for _ in range(19):
        host.reply(429)
    host.has_stopped = False
    for _ in range(19):
        host.reply(429)
    assert len(host.held) == 1, "replies that were under way are not counted"
    host.reply(429)
    assert len(host.held) == 2, "after its release, so many again"


def test_a_host_is_held_if_most_replies_are_walls(host: Host) -> None:
    for number in range(49):
        host.reply(200 if number % 6 == 0 else 429)
    assert host.held == []
    host.reply(429)
    assert host.held == [("test,a,", "rateLimited")]


def test_four_of_five_are_not_most(host: Host) -> None:
    for number in range(200):
        host.reply(200 if number % 5 == 0 else 429)
    assert host.held == []


def test_paywalls_and_empty_pages_hold_no_host(host: Host) -> None:
    for _ in range(60):
        assert host.reply(html=PAID).wall == "paywall"
    assert host.held == []
    for _ in range(20):
        host.reply(429)
        host.reply(html=PAID)
    assert len(host.held) == 1, "they do not end a row either"


def test_with_0_no_host_is_held() -> None:
    host = Host(stop_after=0)
    for _ in range(90):
        host.reply(429)
    assert host.held == []


def test_the_counts_are_stored_with_examples(host: Host) -> None:
    for number in range(5):
        host.reply(429, url=f"{SITE}{number}")
    host.reply(451, url=SITE + "law")
    host.book.seal()
    (row,) = scan_walls(host.store)
    assert (row.host, row.totals) == ("a.test", {"rateLimited": 5, "geoBlocked": 1})
    assert [example.url for example in row.examples["rateLimited"]] == [
        f"{SITE}{number}" for number in range(3)
    ]
    later = Host(store=host.store)
    for _ in range(14):
        later.reply(429)
    assert len(later.held) == 1, "the row goes on in the next session"


def test_hosts_without_walls_have_no_row(host: Host) -> None:
    for _ in range(30):
        host.reply()
    host.book.seal()
    assert list(scan_walls(host.store)) == []
    assert walls_of(host.store, "test,a,") is None


def test_pages_of_a_site_with_a_paywall_are_all_searched(host: Host) -> None:
    links = [Outlink(f"{SITE}{at}", Hop.LINK, "a/@href") for at in range(30)]
    for _ in range(25):
        host.reply(outlinks=links)
    found = [host.reply(html=PAID, outlinks=links).wall for _ in range(30)]
    first = found.index("paywall")
    assert first < 10
    assert set(found[first:]) == {"paywall"}


def test_a_held_queue_stays_until_it_is_woken(tmp_path: Path) -> None:
    def act(job: OpenJob) -> None:
        frontier, queue = job.session.frontier, "test,a,"
        visit = job.visit(SITE + "1")
        assert frontier.retire(queue, "wall:challenge")
        visit.answered(-5, conclusive=True)
        job.end(visit)
        row = frontier.queue_states.find(queue).row
        assert row.state is QueueState.RETIRED
        assert "it is held" in why_it_waits(row, frontier.settings_of(0))
        frontier.operator.unretire(all_of_them=False)
        frontier.operator.apply_settings(job.clock.monotonic())
        assert frontier.queue_states.find(queue).row.state is QueueState.RETIRED
        assert frontier.operator.wake(lambda name: name == "other,", job.clock.monotonic()) == 0
        assert frontier.operator.wake(lambda name: name == queue, job.clock.monotonic()) == 1
        assert frontier.queue_states.find(queue).row.state is not QueueState.RETIRED

    visiting(tmp_path, act)


def test_the_metadata_record_has_the_verdict(tmp_path: Path) -> None:
    def act(job: OpenJob) -> None:
        visit = job.reply(403, SITE + "1", body=b"<title>Just a moment...</title>")
        visit.meet_wall("challenge")
        job.end(visit)

    job = visiting(tmp_path, act)
    (block,) = [block for fields, block in job.records if fields["WARC-Type"] == "metadata"]
    assert b"\r\nwall: challenge\r\n" in block
    assert "response" in job.types
