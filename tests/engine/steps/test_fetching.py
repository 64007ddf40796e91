import asyncio
import hashlib
import stat
from base64 import b32encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from msgspec import structs

from nacre.annotations import COOKIE_WALL
from nacre.config.effective import Effective
from nacre.config.secret import Secret
from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.processor import Result, Visit
from nacre.core.rendered import BrowserRequest
from nacre.core.status import FetchStatus
from nacre.engine.limits import Pacer
from nacre.engine.prerequisites import HostAnswer, HostAnswers
from nacre.engine.steps.fetching import (
    FRESH,
    UNCONDITIONAL,
    CookieRows,
    FetchDnsStep,
    FetchHttpStep,
)
from nacre.errors import ConfigError
from nacre.fetch.cookie_jar import CookieJar
from nacre.fetch.dns import DnsAnswer, DnsResolver
from nacre.fetch.exchange import Throttle
from nacre.fetch.http import HttpFetcher
from nacre.fetch.identity import IdentitySettings, RequestSigner, make_signer
from nacre.fetch.request import FetchRequest, FetchResult
from nacre.fetch.settings import FetchSettings
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.history.dedup import History
from nacre.scope.scope import Decision, Gate, Opinion, Scope
from nacre.scope.subject import Subject
from nacre.store.store import Store
from tests.fetch.server import OK, QUICK, Peer, fetching, run, serving
from tests.store.memory import MemoryEngine
from tests.wire.signatures import PEM

FILE = "# Netscape HTTP Cookie File\n.a.test\tTRUE\t/\tFALSE\t4000000000\tid\t7\n"
NOW = 1_790_000_000.0  # 2026-09-21T14:13:20Z
SKIPPING = QUICK.model_copy(update={"skip_types": ("Image/",)})


def test_cookies_survive_in_the_store():
    store = Store(MemoryEngine())
    jar = CookieJar()
    CookieRows(store, jar).keep(jar.store("http://a.test/", [b"id=7; Max-Age=1000"], 100.0))
    again = CookieJar()
    CookieRows(store, again).load(200.0)
    assert again.header("http://a.test/x", 200.0) == "id=7"
    later = CookieJar()
    CookieRows(store, later).load(5000.0)
    assert later.header("http://a.test/x", 5000.0) == ""


def test_a_file_is_loaded_kept_and_saved_for_its_owner_only(tmp_path: Path):
    (tmp_path / "in.txt").write_text(FILE + "nonsense\n")
    store = Store(MemoryEngine())
    jar = CookieJar()
    rows = CookieRows(store, jar)
    problems = rows.load_file(tmp_path / "in.txt", 100.0)
    assert len(problems) == 1
    assert jar.header("http://sub.a.test/", 100.0) == "id=7"
    assert store.get("cookies", b"a.test")
    assert rows.save_file(tmp_path / "out.txt") == ""
    assert "id\t7" in (tmp_path / "out.txt").read_text()
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o600


def test_files_that_cannot_be_used(tmp_path: Path):
    rows = CookieRows(Store(MemoryEngine()), CookieJar())
    with pytest.raises(ConfigError, match="cannot be read"):
        rows.load_file(tmp_path / "none.txt", 0.0)
    assert "cannot be written" in rows.save_file(tmp_path / "none" / "out.txt")


# ---- dns


class Now:
    """A clock that stands still, but for what a test adds."""

    def __init__(self) -> None:
        self.mono = 5.0

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        self.mono += 0.25
        return self.mono

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class FixedResolver:
    """Gives one answer, and notes who asks for it."""

    def __init__(self, answer: DnsAnswer) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def lookup(self, name: str) -> DnsAnswer:
        self.asked.append(name)
        return self._answer


def looked_up(answer: DnsAnswer) -> tuple[Visit, list[str]]:
    visit, resolver = Visit(CrawlURI("dns:a.test", b"k", "q")), FixedResolver(answer)
    step = FetchDnsStep(cast("DnsResolver", resolver), Now())
    assert asyncio.run(step.process(visit)) is Result.FINISH
    return visit, resolver.asked


def test_each_step_takes_its_own_schemes():
    world = World()
    dns = FetchDnsStep(cast("DnsResolver", FixedResolver(DnsAnswer())), Now())
    step = world.step(FixedFetcher(FetchResult(200)))
    urls = ("dns:a.test", "http://a.test/", "https://a.test/", "ftp://a.test/", "data:,x")
    visits = [Visit(CrawlURI(url, b"k", "q")) for url in urls]
    assert [dns.accepts(visit) for visit in visits] == [True, False, False, False, False]
    assert [step.accepts(visit) for visit in visits] == [False, True, True, False, False]


def test_the_answer_of_a_name_server_is_a_capture():
    text = "20260921141320\na.test.\t300\tIN\tA\t10.9.1.1\n"
    answer = DnsAnswer(("10.9.1.1", "10.9.1.2"), 300.0, server="10.9.0.1", text=text)
    visit, asked = looked_up(answer)
    assert asked == ["a.test"]
    assert (visit.status, visit.error) == (FetchStatus.DNS_OK, "")
    assert (visit.addresses, visit.ttl, visit.mime) == (("10.9.1.1", "10.9.1.2"), 300.0, "text/dns")
    capture = visit.capture
    assert capture is not None
    assert (capture.url, capture.protocol, capture.address) == ("dns:a.test", "dns", "10.9.0.1")
    assert (capture.request, capture.head) == (b"", b"")
    assert capture.payload(1000) == text.encode()
    assert (capture.payload_length, capture.body.length) == (len(text), len(text))
    assert (capture.began, capture.duration) == (round(NOW * 1e6), 250)
    digest = "sha1:" + b32encode(hashlib.sha1(text.encode()).digest()).decode()
    assert capture.block_digest == capture.payload_digest == digest


@pytest.mark.parametrize(("certain", "starved"), [(True, False), (False, True), (False, False)])
def test_a_name_without_an_answer_is_a_failure_without_a_capture(certain: bool, starved: bool):
    failure = DnsAnswer(
        status=FetchStatus.DNS_FAILED, error="no such name", certain=certain, starved=starved
    )
    visit, _ = looked_up(failure)
    assert (visit.status, visit.error) == (FetchStatus.DNS_FAILED, "no such name")
    assert (visit.conclusive, visit.starved) == (certain, starved)
    assert (visit.capture, visit.addresses, visit.mime) == (None, (), "")


# ---- http


class FixedFetcher:
    """Gives one result, and notes what it is asked for."""

    def __init__(self, result: FetchResult) -> None:
        self._result = result
        self.requests: list[FetchRequest] = []
        self.settings: list[FetchSettings] = []

    async def fetch(self, request: FetchRequest, settings: FetchSettings) -> FetchResult:
        self.requests.append(request)
        self.settings.append(settings)
        return self._result


class Fetched(NamedTuple):
    """What a step made of a visit, what the server was sent, and the payload."""

    visit: Visit
    result: Result
    heads: list[bytes]
    body: bytes


@dataclass
class World:
    """What the step works with: two combinations of sheets, the second as a test wants it."""

    settings: FetchSettings = QUICK
    gate: Gate | None = None
    cookies: bool = True
    per_host: int = 0
    signer: RequestSigner | None = None
    conditional: bool = True
    store: Store = field(default_factory=lambda: Store(MemoryEngine()))
    jar: CookieJar = field(default_factory=CookieJar)

    def step(self, fetcher: FixedFetcher | HttpFetcher) -> FetchHttpStep:
        self.answers = HostAnswers(self.store)
        return FetchHttpStep(
            cast("HttpFetcher", fetcher),
            Effective((QUICK, self.settings)),
            midfetch=Effective((None, self.gate)),
            keeps_cookies=Effective((True, self.cookies)),
            signers=Effective((None, self.signer)),
            answers=self.answers,
            history=History(self.store),
            conditional=self.conditional,
            cookies=self.jar,
            cookie_rows=CookieRows(self.store, self.jar),
            pacer=Pacer(
                Effective((BandwidthSettings(), BandwidthSettings(per_host=self.per_host))),
                Throttle(),
            ),
            clock=Now(),
        )

    def fetch(self, reply: bytes, path: str = "/x", name: str = "", **uri: Any) -> Fetched:
        """Fetch from a server on loopback that sends a reply, under the second sheets.

        Args:
            reply: What it sends.
            path: Path of the URL.
            name: A name for the server; "" for its address.
            uri: Attributes of the URI.
        """
        heads: list[bytes] = []

        async def handler(peer: Peer) -> None:
            heads.append(await peer.request())
            await peer.send(reply)

        async def main() -> Fetched:
            async with serving(handler) as server, fetching() as fetcher:
                url = server.url(path, host=name or "127.0.0.1")
                step = self.step(fetcher)
                if name:
                    self.answers.put(name, HostAnswer(("127.0.0.1",), NOW - 1))
                visit = Visit(CrawlURI(url, b"k", "q", **uri), overlay=1)
                result = await step.process(visit)
                body = visit.capture.payload(10_000) if visit.capture is not None else b""
                if visit.capture is not None:
                    visit.capture.body.close()
                return Fetched(visit, result, heads, body)

        return run(main())


def requested(world: World, uri: CrawlURI) -> tuple[FetchRequest, Visit]:
    """What the fetcher is asked for."""
    fetcher, visit = FixedFetcher(FetchResult(200)), Visit(uri, overlay=1)
    asyncio.run(world.step(fetcher).process(visit))
    assert fetcher.settings == [world.settings]
    (request,) = fetcher.requests
    return request, visit


URL = "http://a.test/x"
KNOWN = HistoryRecord(URL, 200, 5, 5, "sha1:A", etag=b'"e"', last_modified=b"Mon")


def known(world: World, **changes: Any) -> World:
    History(world.store).put(structs.replace(KNOWN, **changes))
    return world


def test_a_reply_is_fetched_from_the_last_address_of_its_name():
    head = OK + b"Content-Type: Text/HTML; charset=x\r\nContent-Length: 5\r\n\r\n"
    fetched = World().fetch(head + b"hello", name="a.test", via="http://b.test/")
    assert fetched.result is Result.PROCEED
    assert (fetched.visit.status, fetched.visit.mime, fetched.body) == (200, "text/html", b"hello")
    (sent,) = fetched.heads
    assert sent.startswith(b"GET /x HTTP/1.1\r\nHost: a.test:")
    assert b"\r\nReferer: http://b.test/\r\n" in sent
    assert b"If-None-Match" not in sent
    capture = fetched.visit.capture
    assert capture is not None
    assert capture.address == "127.0.0.1"


def test_a_connection_that_fails_is_a_failure_without_a_capture():
    fetched = World().fetch(b"")
    assert fetched.result is Result.FINISH
    assert fetched.visit.status == FetchStatus.CONNECTION_LOST
    assert fetched.visit.error
    assert fetched.visit.capture is None


@pytest.mark.parametrize("starved", [True, False])
def test_a_crawler_without_file_handles_says_so(starved: bool):
    failed = FetchResult(FetchStatus.CONNECT_FAILED, None, ["odd"], "no file handle", starved)
    visit = Visit(CrawlURI(URL, b"k", "q"))
    result = asyncio.run(World().step(FixedFetcher(failed)).process(visit))
    assert result is Result.FINISH
    assert (visit.starved, visit.error, visit.annotations) == (starved, "no file handle", ["odd"])


@pytest.mark.parametrize(
    ("value", "wait"),
    [(b"120", 120.0), (b"Mon, 21 Sep 2026 14:14:20 GMT", 60.0), (b"later", None)],
)
def test_what_a_server_asks_to_wait_is_noted(value: bytes, wait: float | None):
    head = b"HTTP/1.1 503 Busy\r\nRetry-After: " + value + b"\r\nContent-Length: 0\r\n\r\n"
    visit = World().fetch(head).visit
    assert (visit.status, visit.retry_after) == (503, wait)


def test_cookies_are_taken_kept_and_sent():
    world = World()
    reply = OK + b"Set-Cookie: id=7\r\nX-Other: 1\r\nContent-Length: 0\r\n\r\n"
    first = world.fetch(reply, name="a.test")
    assert b"Cookie" not in first.heads[0]
    assert first.visit.sets_cookies
    assert world.store.get("cookies", b"a.test")
    again = world.fetch(reply.replace(b"Set-Cookie: id=7", b"X-None: 1"), name="a.test")
    assert b"\r\nCookie: id=7\r\n" in again.heads[0]
    assert not again.visit.sets_cookies


def test_sheets_without_cookies_neither_take_nor_send_any():
    world = World(cookies=False)
    world.jar.store("http://a.test/", [b"old=1"], NOW)
    fetched = world.fetch(OK + b"Set-Cookie: id=7\r\nContent-Length: 0\r\n\r\n", name="a.test")
    assert b"Cookie" not in fetched.heads[0]
    assert not fetched.visit.sets_cookies
    assert not world.store.get("cookies", b"a.test")


@pytest.mark.parametrize(
    ("kind", "body"),
    [(b"image/png", b""), (b"IMAGE/gif; x", b""), (b"text/html", b"hello"), (b"", b"hello")],
)
def test_bodies_of_types_that_are_not_wanted_are_abandoned(kind: bytes, body: bytes):
    world = World(SKIPPING)
    line = b"Content-Type: " + kind + b"\r\n" if kind else b""
    fetched = world.fetch(OK + b"X: 1\r\n" + line + b"Content-Length: 5\r\n\r\nhello")
    assert fetched.body == body
    assert fetched.visit.annotations == ([] if body else ["midFetchAbort"])


class Large:
    """A test of a gate: large, and with the facts of a head."""

    def __init__(self) -> None:
        self.seen: list[Subject] = []

    def __call__(self, subject: Subject) -> bool:
        self.seen.append(subject)
        return (subject.facts.header_length or 0) > 4


@pytest.mark.parametrize(
    ("kind", "body", "kept", "asked"),
    [
        (b"text/html", b"hello", b"", 1),
        (b"text/html", b"hi", b"hi", 1),
        (b"image/png", b"hi", b"", 0),
    ],
)
def test_a_gate_between_head_and_body(kind: bytes, body: bytes, kept: bytes, asked: int):
    test = Large()
    gate = Gate(Scope([Opinion("large", Decision.REJECT, test)]))
    world = World(SKIPPING, gate)
    head = OK + b"Content-Type: " + kind + f"\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    fetched = world.fetch(head + body)
    assert fetched.body == kept
    assert [(one.facts.address, one.facts.status) for one in test.seen] == [
        ("127.0.0.1", 200)
    ] * asked


def test_a_gate_without_types_to_skip_is_asked_alone_and_may_know_no_address():
    test = Large()
    world = World(gate=Gate(Scope([Opinion("large", Decision.REJECT, test)])))
    request, _ = requested(world, CrawlURI(URL, b"k", "q"))
    assert request.addresses == ()
    assert request.check is not None
    assert request.check(200, [(b"Content-Length", b"4")])
    assert not request.check(200, [(b"Content-Length", b"5")])
    assert test.seen[0].facts.address == ""


def test_a_known_url_is_asked_for_with_its_validators():
    request, visit = requested(known(World(per_host=500)), CrawlURI(URL, b"k", "q", via="http://b"))
    assert (request.etag, request.last_modified) == (b'"e"', b"Mon")
    assert (request.referer, request.host_rate, request.fresh) == ("http://b", 500, False)
    assert request.check is None
    assert visit.history == KNOWN


@pytest.mark.parametrize(
    ("world", "uri"),
    [
        (World(conditional=False), {}),
        (World(), {"heritable": {UNCONDITIONAL: "why"}}),
        (World(), {"annotations": (COOKIE_WALL,)}),
    ],
)
def test_what_is_asked_for_without_validators_is_known_all_the_same(
    world: World, uri: dict[str, Any]
):
    request, visit = requested(known(world), CrawlURI(URL, b"k", "q", **uri))
    assert (request.etag, request.last_modified) == (b"", b"")
    assert visit.history == KNOWN


def test_without_a_capture_there_are_no_validators():
    request, _ = requested(known(World(), date=0), CrawlURI(URL, b"k", "q"))
    assert (request.etag, request.last_modified) == (b"", b"")


def test_a_prerequisite_is_asked_for_as_if_for_the_first_time():
    gate = Gate(Scope([Opinion("all", Decision.REJECT, lambda _: True)]))
    uri = CrawlURI(URL, b"k", "q", path="LP", via="http://b.test/")
    request, visit = requested(known(World(SKIPPING, gate)), uri)
    assert (request.etag, request.referer, request.check) == (b"", "", None)
    assert visit.history is None


def test_the_request_of_a_uri_is_passed_on():
    uri = CrawlURI(
        "http://[::1]:8080/x", b"k", "q", method="POST", body=b"a=1",
        headers=(("X-A", "1"),), heritable={FRESH: "1"},
    )  # fmt: skip
    request, _ = requested(World(), uri)
    assert request.url == "http://[::1]:8080/x"
    assert (request.method, request.body, request.headers) == ("POST", b"a=1", (("X-A", "1"),))
    assert (request.addresses, request.fresh) == (("::1",), True)


@pytest.mark.parametrize(
    ("facts", "is_signed"),
    [
        ({"overlay": 1}, True),
        ({"overlay": 0}, False),
        ({"overlay": 1, "page_id": "a page", "request": BrowserRequest("GET", "")}, True),
        # A recording: a person's own browser asks, not the crawler.
        ({"overlay": 1, "request": BrowserRequest("GET", "")}, False),
    ],
)
def test_requests_of_the_crawler_are_signed(facts: dict[str, Any], is_signed: bool):
    key = Secret(PEM, {"env": "KEY"})
    settings = IdentitySettings(key=key, directory="https://crawler.test")
    world = World(signer=make_signer(settings, lambda: NOW))
    fetcher = FixedFetcher(FetchResult(200))
    visit = Visit(CrawlURI("http://127.0.0.1/robots.txt", b"k", "q"), **facts)
    asyncio.run(world.step(fetcher).process(visit))
    (request,) = fetcher.requests
    assert (request.signer is not None) is is_signed
