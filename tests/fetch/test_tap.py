"""Replies that are passed on to a browser while they are received."""

import asyncio
from collections.abc import Callable

import pytest

from nacre.config.secret import Secret
from nacre.core.rendered import ServerEnd
from nacre.core.status import FetchStatus
from nacre.fetch.request import FetchRequest, FetchResult, request_bytes, split_url
from nacre.fetch.settings import Credential, FetchSettings
from tests.fetch.server import (
    HELLO,
    OK,
    QUICK,
    Peer,
    ask,
    capture_of,
    fetch_from,
    fetching,
    replies,
    run,
    serving,
    wire_bytes,
)


class Browser:
    """Takes a reply.

    Attributes:
        got: Its bytes.
        heads: Number of heads.
        ended: `end` or `refused`; "" while it goes on.
        full: Whether it takes no more, until it is set to False.
    """

    def __init__(self, *, full: bool = False) -> None:
        self._parts: list[bytes] = []
        self.heads = 0
        self.ended = ""
        self.full = full
        self.framing = ""
        self.server: ServerEnd | None = None
        self.room, self.began, self.over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.leave: Callable[[], None] = lambda: None

    @property
    def got(self) -> bytes:
        return b"".join(self._parts)

    @property
    def has_begun(self) -> bool:
        return self.heads > 0

    @property
    def is_full(self) -> bool:
        return self.full

    def begin(self, status: int, head: bytes, framing: str) -> None:
        self.heads += 1
        self.framing = framing
        self._parts.append(head)
        self.began.set()

    def write(self, data: bytes) -> None:
        self._parts.append(data)

    async def drain(self) -> None:
        await self.room.wait()

    def end(self) -> None:
        self.ended += "end"
        self.over.set()

    def refuse(self) -> None:
        self.ended += "refused"

    def when_closed(self, listener: Callable[[], None]) -> None:
        self.leave = listener

    def switch(self, server: ServerEnd) -> None:
        self.server = server


def tapped(
    handler: Callable[[Peer], object], count: int = 1, settings: FetchSettings = QUICK
) -> list[tuple[FetchResult, Browser]]:
    """Fetch with a browser at each reply."""

    async def main() -> list[tuple[FetchResult, Browser]]:
        results = []
        async with serving(handler) as server, fetching() as fetcher:  # type: ignore[arg-type]
            for number in range(count):
                browser = Browser()
                request = ask(server.url(f"/{number}"), tap=browser)
                results.append((await fetcher.fetch(request, settings), browser))
        return results

    return run(main())


@pytest.mark.parametrize(
    ("reply", "ended", "framing"),
    [
        (HELLO, "end", "length"),
        (OK + b"\r\nhello", "end", "close"),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n2;x\r\nhi\r\n0\r\nT: x\r\n\r\n",
            "end",
            "chunked",
        ),
        (b"HTTP/1.1 204 No\r\n\r\n", "end", "none"),
        (OK + b"Content-Length: 9\r\n\r\nhello", "refused", "length"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nhi", "refused", "chunked"),
        (b"HTTP/1.0 404 No\nX: y\n\nhello", "end", "close"),
        (b"<p>old", "end", "close"),
    ],
)
@pytest.mark.parametrize("split", [False, True])
def test_a_reply_is_passed_on_byte_for_byte(
    reply: bytes, ended: str, framing: str, split: bool
) -> None:
    pieces = [bytes([byte]) for byte in reply] if split else [reply]
    ((result, browser),) = tapped(replies(*pieces))
    assert browser.got == wire_bytes(capture_of(result)) == reply
    assert (browser.ended, browser.framing, browser.heads) == (ended, framing, 1)


def test_interim_replies_are_not_passed_on() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    ((result, browser),) = tapped(replies(interim + HELLO))
    assert (capture_of(result).interim, browser.got) == (interim, HELLO)


@pytest.mark.parametrize("reply", [b"", OK, b"\x15\x03\x01\x00\x02\x02\x46"])
def test_without_a_reply_nothing_is_passed_on(reply: bytes) -> None:
    ((result, browser),) = tapped(replies(reply))
    assert result.status == FetchStatus.CONNECTION_LOST
    assert (browser.got, browser.heads, browser.ended) == (b"", 0, "")


def test_a_body_that_is_cut_is_cut_for_the_browser() -> None:
    settings = FetchSettings(max_length=3, timeout=5)
    ((result, browser),) = tapped(replies(HELLO), settings=settings)
    assert capture_of(result).truncated == "length"
    assert (browser.got, browser.ended) == (HELLO[:-2], "refused")


def test_a_body_that_the_crawl_does_not_want_is_not_passed_on() -> None:
    browsers: list[Browser] = []

    async def main() -> None:
        async with serving(replies(HELLO)) as server, fetching() as fetcher:
            browsers.append(Browser())
            request = ask(server.url(), tap=browsers[0], check=lambda _status, _headers: False)
            await fetcher.fetch(request, QUICK)

    run(main())
    assert (browsers[0].heads, browsers[0].ended) == (0, "")


def test_a_challenge_that_is_answered_is_not_passed_on() -> None:
    challenge = (
        b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="r"\r\nContent-Length: 2\r\n\r\nno'
    )

    async def handler(peer: Peer) -> None:
        while request := await peer.request():
            await peer.send(HELLO if b"Authorization: Basic" in request else challenge)

    async def main(password: bool) -> Browser:
        browser = Browser()
        async with serving(handler) as server, fetching() as fetcher:
            logins = (
                Credential(origin=server.url(""), username="u", password=Secret("p")),
            ) if password else ()  # fmt: skip
            settings = FetchSettings(timeout=5, credentials=logins)
            await fetcher.fetch(ask(server.url(), tap=browser), settings)
        return browser

    assert run(main(True)).got == HELLO
    assert run(main(False)).got == challenge


def test_a_challenge_without_a_fitting_password_is_passed_on_once() -> None:
    challenge = b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno"

    async def main() -> Browser:
        browser = Browser()
        async with serving(replies(challenge)) as server, fetching() as fetcher:
            logins = (Credential(origin="http://h.test", username="u", password=Secret("p")),)
            settings = FetchSettings(timeout=5, credentials=logins)
            await fetcher.fetch(ask(server.url(), tap=browser), settings)
        return browser

    browser = run(main())
    assert (browser.got, browser.ended, browser.heads) == (challenge, "end", 1)


def test_a_doubted_reply_is_passed_on_once() -> None:
    requests = 0

    async def handler(peer: Peer) -> None:
        nonlocal requests
        while await peer.request():
            requests += 1
            await peer.send(HELLO + HELLO if requests == 1 else HELLO)

    results = tapped(handler, count=3)
    assert [browser.got for _, browser in results] == [HELLO] * 3
    assert [browser.ended for _, browser in results] == ["end"] * 3
    assert requests == 3


def test_without_a_browser_a_doubted_reply_is_requested_again() -> None:
    requests = 0

    async def handler(peer: Peer) -> None:
        nonlocal requests
        while await peer.request():
            requests += 1
            await peer.send(HELLO + HELLO if requests == 1 else HELLO)

    fetch_from(handler, count=1)
    assert requests == 2


def test_a_browser_that_is_slow_pauses_the_server() -> None:
    sent = 0

    async def handler(peer: Peer) -> None:
        nonlocal sent
        await peer.request()
        peer.writer.write(OK + b"Content-Length: 50000000\r\n\r\n")
        for _ in range(500):
            peer.writer.write(b"x" * 100_000)
            await peer.writer.drain()
            sent += 100_000

    async def main() -> None:
        browser = Browser(full=True)
        async with serving(handler) as server, fetching() as fetcher:
            settings = FetchSettings(silence_timeout=0.1, timeout=20)
            request = ask(server.url(), tap=browser)
            task = asyncio.create_task(fetcher.fetch(request, settings))
            await asyncio.sleep(0.3)  # longer than the server may be silent
            assert sent < 20_000_000
            assert not task.done()
            browser.full = False
            browser.room.set()
            capture = capture_of(await task)
            assert (capture.body.length, browser.ended) == (50_000_000, "end")
            capture.body.close()

    run(main())


def test_a_browser_that_left_ends_an_endless_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.fetch.exchange._GRACE", 0.05)

    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        await peer.wait_for_end()

    async def main() -> None:
        browser = Browser()
        async with serving(handler) as server, fetching() as fetcher:
            settings = FetchSettings(silence_timeout=30, timeout=60)
            request = ask(server.url(), tap=browser)
            task = asyncio.create_task(fetcher.fetch(request, settings))
            await browser.began.wait()
            browser.leave()
            capture = capture_of(await asyncio.wait_for(task, 5))
            assert (capture.truncated, browser.ended) == ("time", "refused")
            assert capture.body.read(0, 99) == b"data: 1\n\n"

    run(main())


def test_a_reply_that_the_browser_cut_ends_at_once() -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Content-Length: 9999\r\n\r\nhello")
        await peer.wait_for_end()

    class Cutting(Browser):
        def write(self, data: bytes) -> None:
            super().write(data)
            self.full = True
            self.leave()

    async def main() -> None:
        browser = Cutting()
        async with serving(handler) as server, fetching() as fetcher:
            settings = FetchSettings(silence_timeout=30, timeout=60)
            result = await asyncio.wait_for(
                fetcher.fetch(ask(server.url(), tap=browser), settings), 20
            )
            capture = capture_of(result)
            assert (capture.truncated, browser.ended) == ("length", "refused")
            assert "lenTrunc" in result.annotations
            assert capture.body.read(0, 99) == b"hello"

    run(main())


def test_a_websocket_is_handed_over() -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
    heads = []

    async def handler(peer: Peer) -> None:
        heads.append(await peer.request())
        await peer.send(switching + b"first")
        data = await peer.reader.read(100)
        await peer.send(data.upper())

    async def main() -> None:
        browser = Browser()
        async with serving(handler) as server, fetching() as fetcher:
            request = ask(server.url(), tap=browser, upgrade="websocket")
            capture = capture_of(await fetcher.fetch(request, QUICK))
            assert (capture.status, capture.head, capture.body.length) == (101, switching, 0)
            assert capture.annotations == []
            assert browser.server is not None
            browser.server.send(b"abc")
            await browser.over.wait()
            assert browser.got == switching + b"firstABC"

    run(main())
    assert b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" in heads[0]


def test_a_websocket_that_the_server_refuses_is_a_reply() -> None:
    async def main() -> None:
        browser = Browser()
        async with serving(replies(HELLO)) as server, fetching() as fetcher:
            request = ask(server.url(), tap=browser, upgrade="websocket")
            await fetcher.fetch(request, QUICK)
            assert (browser.got, browser.ended, browser.server) == (HELLO, "end", None)

    run(main())


def sent(**request: object) -> bytes:
    whole = FetchRequest("http://h.test/p", only_headers=True, **request)  # type: ignore[arg-type]
    origin, target = split_url(whole.url)
    return request_bytes(whole, FetchSettings(send_range=True, max_length=9), origin, target)


def test_the_header_lines_of_a_browser_alone() -> None:
    headers = (
        ("accept", "*/*"),
        ("HOST", "h.test"),
        ("X-a", "1"),
        ("x-A", "2"),
        ("Connection", "x"),
    )
    assert sent(headers=headers, etag=b"x", cookie="no=1", referer="http://h.test/") == (
        b"GET /p HTTP/1.1\r\nHOST: h.test\r\naccept: */*\r\nX-a: 1\r\nx-A: 2\r\n"
        b"Connection: keep-alive\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("headers", "body", "lines"),
    [
        ((("content-length", "3"), ("X", "y")), b"abc", b"content-length: 3\r\nX: y\r\n"),
        ((("X", "y"),), b"abc", b"X: y\r\nContent-Length: 3\r\n"),
        ((("X", "y"),), b"", b"X: y\r\nContent-Length: 0\r\n"),
        ((("Content-Length", "9"), ("X", "y")), None, b"X: y\r\n"),
    ],
)
def test_the_length_of_a_body_is_ours(
    headers: tuple[tuple[str, str], ...], body: bytes | None, lines: bytes
) -> None:
    expected = b"POST /p HTTP/1.1\r\nHost: h.test\r\n" + lines + b"Connection: keep-alive\r\n\r\n"
    assert sent(headers=headers, body=body, method="POST") == expected + (body or b"")


def test_header_lines_cannot_smuggle_others() -> None:
    with pytest.raises(ValueError, match="CR, LF"):
        sent(headers=(("X", "y\r\nZ: z"),))
