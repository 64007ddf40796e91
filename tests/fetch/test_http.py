"""The fetcher against real sockets, odd and hostile servers included."""

import asyncio
import hashlib
import socket
from base64 import b32encode
from collections.abc import Sequence
from pathlib import Path

import pytest

from nacre.core.status import FetchStatus
from nacre.errors import StorageError
from nacre.fetch.request import FetchResult
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Spool
from tests.fetch.server import (
    HELLO,
    OK,
    QUICK,
    Peer,
    ask,
    capture_of,
    fetch_from,
    fetching,
    no_file_handles,
    polite,
    replies,
    run,
    serving,
    wire_bytes,
)


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def names(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def test_a_capture_holds_what_crossed_the_wire() -> None:
    (result,) = fetch_from(polite)
    capture = capture_of(result)
    assert result.status == capture.status == 200
    assert wire_bytes(capture) == HELLO
    assert capture.request.startswith(b"GET /0 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nConnection: keep-alive\r\n\r\n" in capture.request
    assert capture.block_digest == sha1(HELLO)
    assert capture.payload_digest == sha1(b"hello")
    assert (capture.address, capture.tls, capture.proxied) == ("127.0.0.1", None, False)
    assert capture.began > 1_700_000_000_000_000
    assert 0 <= capture.first_byte <= capture.duration
    capture.body.close()


def test_connections_are_kept_and_said_to_be() -> None:
    connections = 0

    async def handler(peer: Peer) -> None:
        nonlocal connections
        connections += 1
        await polite(peer)

    results = fetch_from(handler, count=3)
    assert connections == 1
    assert [capture_of(result).reused for result in results] == [False, True, True]


def test_payload_digest_has_transfer_coding_removed() -> None:
    body = b"3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: r\r\n\r\n"
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    (result,) = fetch_from(replies(head + body))
    capture = capture_of(result)
    assert wire_bytes(capture) == head + body
    assert capture.payload(100) == b"abcde"
    assert capture.payload_digest == sha1(b"abcde")
    assert capture.block_digest == sha1(head + body)


def test_a_large_body_goes_to_a_file_and_is_digested_all_the_same(tmp_path: Path) -> None:
    body = bytes(range(256)) * 12_000
    reply = OK + b"Content-Length: %d\r\n\r\n" % len(body) + body

    async def main() -> None:
        async with (
            serving(replies(reply)) as server,
            fetching(spool=Spool(tmp_path)) as fetcher,
        ):
            capture = capture_of(await fetcher.fetch(ask(server.url()), QUICK))
            assert capture.body.read(0, len(body)) == body
            assert capture.payload_digest == sha1(body)
            assert capture.block_digest == sha1(reply)
            assert names(tmp_path) == []
            capture.body.close()

    run(main())


def test_a_scratch_folder_that_fails_is_a_storage_error(tmp_path: Path) -> None:
    async def main() -> None:
        spool = Spool(tmp_path / "absent", body_memory=10)
        async with (
            serving(replies(OK + b"Content-Length: 99\r\n\r\n" + b"x" * 99)) as server,
            fetching(spool=spool) as fetcher,
        ):
            with pytest.raises(StorageError, match="absent"):
                await fetcher.fetch(ask(server.url()), QUICK)
            assert spool.used == 0

    run(main())


# H01


def test_a_dripping_head_meets_the_total_limit() -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        for byte in OK * 100:
            await peer.send(bytes([byte]))
            await asyncio.sleep(0.02)

    (result,) = fetch_from(handler, settings=FetchSettings(silence_timeout=1, timeout=0.2))
    assert (result.status, result.capture) == (FetchStatus.TIMEOUT, None)
    assert "0.2 s" in result.error


def test_a_dripping_body_is_kept_up_to_the_total_limit() -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"\r\n")
        for _ in range(100):
            await peer.send(b"x")
            await asyncio.sleep(0.02)

    (result,) = fetch_from(handler, settings=FetchSettings(silence_timeout=1, timeout=0.2))
    capture = capture_of(result)
    assert (result.status, capture.truncated) == (200, "time")
    assert "timeTrunc" in result.annotations
    assert 0 < capture.body.length < 100
    assert capture.payload_digest == sha1(b"x" * capture.body.length)


def test_silence_before_a_reply_is_a_timeout() -> None:
    (result,) = fetch_from(replies(hold=True))
    assert (result.status, result.capture) == (FetchStatus.TIMEOUT, None)


# H02


def endless(head: bytes, piece: bytes) -> object:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(head)
        while True:
            await peer.send(piece)

    return handler


def test_an_endless_body_meets_the_length_limit() -> None:
    handler = replies(OK + b"\r\n", *[b"x" * 50_000] * 40)
    settings = FetchSettings(max_length=100_000, timeout=5)
    (result,) = fetch_from(handler, settings=settings)
    capture = capture_of(result)
    assert (capture.body.length, capture.truncated) == (100_000, "length")
    assert result.annotations == ["lenTrunc"]


# H03


@pytest.mark.parametrize(
    ("piece", "note", "most"),
    [
        (b"1\r\nx\r\n" * 5000, "tooManyChunks", 1_700_000),
        (b"1;" + b"x" * 1_000_000, "badChunk", 1_100_000),
        (b"0\r\n" + b"X: y\r\n" * 20_000, "trailerTrunc", 1_200_000),
        (b"ffffffffffffffff\r\n" + b"x" * 100_000, "badChunk", 1_100_000),
        (b"-1\r\n" + b"x" * 100_000, "badChunk", 1_100_000),
    ],
    ids=["tiny chunks", "extension", "trailers", "overflow", "negative"],
)
def test_endless_chunked_bodies_are_left(piece: bytes, note: str, most: int) -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        while not peer.writer.is_closing():
            await peer.send(piece)

    (result,) = fetch_from(handler, settings=FetchSettings(timeout=20))
    capture = capture_of(result)
    assert note in result.annotations
    assert capture.truncated == "length"
    assert capture.body.length <= most
    capture.body.close()


# H04, H10


@pytest.mark.parametrize(
    "first",
    [
        OK + b"Content-Length: 2\r\n\r\nhello",
        OK + b"Content-Length: 9\r\n\r\nhello",
        OK + b"Content-Length: 5\r\nContent-Length: 4\r\n\r\nhello",
        OK + b"Content-Length: 9223372036854775808\r\n\r\nhello",
        OK + b"Content-Length: -5\r\n\r\nhello",
        OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        HELLO + b"HTTP/1.1 500 Unasked\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\nhello",
    ],
)
def test_no_byte_bleeds_into_the_next_reply(first: bytes) -> None:
    second = OK + b"Content-Length: 4\r\n\r\nnext"

    async def handler(peer: Peer) -> None:
        while request := await peer.request():
            await peer.send(first if b" /0 " in request else second)

    one, two = fetch_from(handler, count=2)
    assert first.startswith(wire_bytes(capture_of(one)))
    assert wire_bytes(capture_of(two)) == second


def test_a_second_unasked_reply_ends_the_idle_connection() -> None:
    async def main() -> list[FetchResult]:
        left = asyncio.Event()

        async def handler(peer: Peer) -> None:
            await peer.request()
            await peer.send(HELLO, OK + b"Content-Length: 4\r\n\r\nevil", pause=0.02)
            await peer.wait_for_end()
            left.set()

        async with serving(handler) as server, fetching() as fetcher:
            first = await fetcher.fetch(ask(server.url("/0")), QUICK)
            await left.wait()
            second = await fetcher.fetch(ask(server.url("/1")), QUICK)
            assert server.connections == 2
            return [first, second]

    assert [wire_bytes(capture_of(result)) for result in run(main())] == [HELLO, HELLO]


def test_a_silent_close_on_the_second_request_is_retried_on_a_fresh_connection() -> None:
    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(HELLO)
        if peer.number == 1:
            await peer.request()
        else:
            await polite(peer)

    one, two = fetch_from(handler, count=2)
    assert wire_bytes(capture_of(two)) == HELLO
    assert (capture_of(one).reused, capture_of(two).reused) == (False, False)


def test_a_post_is_never_sent_twice() -> None:
    posts = 0

    async def handler(peer: Peer) -> None:
        nonlocal posts
        while request := await peer.request():
            posts += request.startswith(b"POST")
            assert await peer.reader.readexactly(3) == b"a=b"
            if peer.number == 1:
                await peer.send(HELLO)
            else:
                return

    one, two = fetch_from(handler, count=2, method="POST", body=b"a=b")
    assert (one.status, two.status, posts) == (200, FetchStatus.CONNECTION_LOST, 2)


# H06


@pytest.mark.parametrize(
    ("header", "note"),
    [
        (b"a:b\r\n" * 100_000, "headerTrunc"),
        (b"X: " + b"x" * 5_000_000, "headerTrunc"),
        (b"X: a\0b\r\n\r\n", "nulInHeader"),
        (b"X: a\r\n b\r\n\r\n", "foldedHeader"),
        (b"no colon\r\n\r\n", "headerWithoutColon"),
        (b"X : y\r\n\r\n", "spaceBeforeColon"),
    ],
    ids=["100,000", "5 MB", "NUL", "folded", "no colon", "space"],
)
def test_odd_heads_are_kept_or_cut(header: bytes, note: str) -> None:
    (result,) = fetch_from(replies(OK + header))
    assert result.status == 200
    assert note in result.annotations
    assert (OK + header).startswith(capture_of(result).head)


def test_many_cookies_are_kept() -> None:
    (result,) = fetch_from(replies(OK + b"Set-Cookie: a=b\r\n" * 10_000 + b"\r\n"))
    assert len(capture_of(result).header_values(b"set-cookie")) == 10_000


# H07


def test_interim_replies_are_kept_apart_and_counted() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    few, many = (fetch_from(replies(early * count + HELLO))[0] for count in (3, 1000))
    assert capture_of(few).interim == early * 3
    assert capture_of(few).block_digest == sha1(HELLO)
    assert (many.status, many.capture) == (FetchStatus.CONNECTION_LOST, None)
    assert many.annotations == ["tooManyInterim"]


def test_101_unasked_is_a_reply_without_a_body() -> None:
    (result,) = fetch_from(replies(b"HTTP/1.1 101 Switching\r\n\r\nbytes", hold=True))
    assert (result.status, capture_of(result).body.length) == (101, 0)
    assert "unasked101" in result.annotations


# H08


@pytest.mark.parametrize(
    ("reply", "status", "note"),
    [
        (b"HTTP/1.1 000 Zero\r\n\r\n", 200, "badStatusLine"),
        (b"HTTP/1.1 99 Low\r\n\r\n", 99, "oddStatus"),
        (b"HTTP/1.1 600 High\r\n\r\n", 600, "oddStatus"),
        (b"HTTP/1.1 200OK\r\n\r\n", 200, "badStatusLine"),
        (b"HTTP/1.1\r\n\r\n", 200, "badStatusLine"),
        (b"plain words", 200, "http09"),
        (b"ICY 200 OK\r\n\r\n", 200, "icy"),
        (b"220 mail.example ESMTP\r\n", 200, "http09"),
        (b"\x15\x03\x03\x00\x02\x02\x46", FetchStatus.CONNECTION_LOST, "tlsOnPlainPort"),
    ],
)
def test_odd_starts_have_a_defined_status(reply: bytes, status: int, note: str) -> None:
    (result,) = fetch_from(replies(reply))
    assert result.status == status
    assert note in result.annotations


# H09


def test_resets_have_a_status_of_their_own() -> None:
    def resetting(*pieces: bytes) -> FetchResult:
        async def handler(peer: Peer) -> None:
            await peer.request()
            await peer.send(*pieces)
            await asyncio.sleep(0.02)
            peer.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
            )
            peer.reset()

        return fetch_from(handler)[0]

    assert resetting().status == FetchStatus.CONNECTION_LOST
    head = OK + b"Server: x\r\n\r\n"
    for at in range(1, len(head), 5):
        in_head = resetting(head[:at])
        assert (in_head.status, in_head.capture) == (FetchStatus.CONNECTION_LOST, None)
        assert "headerCut" in in_head.annotations
    in_body = resetting(OK + b"Content-Length: 9\r\n\r\nabc")
    assert (in_body.status, capture_of(in_body).truncated) == (200, "disconnect")
    assert "Connection reset" in in_body.error
    in_open = resetting(OK + b"\r\nabc")
    assert capture_of(in_open).truncated == "disconnect"


def test_a_close_at_accept_is_a_lost_connection() -> None:
    async def handler(peer: Peer) -> None:
        peer.reset()

    (result,) = fetch_from(handler)
    assert result.status in (FetchStatus.CONNECTION_LOST, FetchStatus.CONNECT_FAILED)
    assert result.error


def test_a_closed_port_names_the_error() -> None:
    async def main() -> FetchResult:
        async with fetching() as fetcher:
            return await fetcher.fetch(ask("http://127.0.0.1:1/"), QUICK)

    result = run(main())
    assert result.status == FetchStatus.CONNECT_FAILED
    assert result.error == "Connection refused (errno 111)"


def test_packets_that_vanish_meet_the_connect_limit() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]

        async def main() -> FetchResult:
            fillers = [socket.socket() for _ in range(4)]
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
            try:
                async with fetching() as fetcher:
                    settings = FetchSettings(connect_timeout=0.2)
                    return await fetcher.fetch(ask(f"http://127.0.0.1:{port}/"), settings)
            finally:
                for filler in fillers:
                    filler.close()

        result = run(main())
    assert (result.status, result.error) == (
        FetchStatus.CONNECT_FAILED,
        "connect: no answer within 0.2 s",
    )


def test_a_server_that_never_reads_does_not_hold_a_large_request() -> None:
    async def handler(peer: Peer) -> None:
        await asyncio.sleep(1)

    (result,) = fetch_from(handler, method="POST", body=b"x" * 20_000_000)
    assert result.status == FetchStatus.TIMEOUT


# What the caller decides


class NoLoopback:
    """Refuses what the test says; counts questions."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.asked: list[str] = []

    def refusal(self, address: str) -> str:
        self.asked.append(address)
        return f"{address} is loopback; --allow-net" if address in self.refused else ""


def test_a_refused_address_is_never_connected_to() -> None:
    async def main() -> None:
        guard = NoLoopback("127.0.0.1")
        async with serving(polite) as server, fetching(guard) as fetcher:
            result = await fetcher.fetch(ask(server.url()), QUICK)
            assert (result.status, server.connections) == (FetchStatus.UNFETCHABLE, 0)
            assert result.error == "127.0.0.1 is loopback; --allow-net"
            assert result.annotations == ["addressRefused"]

    run(main())


def test_the_peer_is_looked_at_again() -> None:
    class Fickle(NoLoopback):
        def refusal(self, address: str) -> str:
            super().refusal(address)
            return "changed" if len(self.asked) > 1 else ""

    async def main() -> None:
        async with serving(polite) as server, fetching(Fickle()) as fetcher:
            result = await fetcher.fetch(ask(server.url()), QUICK)
            assert (result.status, result.error) == (FetchStatus.UNFETCHABLE, "changed")
            assert result.annotations == ["addressRefused"]

    run(main())


def test_the_next_address_is_tried() -> None:
    async def main() -> None:
        async with serving(polite) as server, fetching(NoLoopback("127.0.0.9")) as fetcher:
            request = ask(server.url(), addresses=("127.0.0.9", "127.0.0.2", "127.0.0.1"))
            capture = capture_of(await fetcher.fetch(request, QUICK))
            assert capture.address == "127.0.0.1"

    run(main())


def test_no_file_handle_is_not_the_fault_of_the_site() -> None:
    async def main() -> FetchResult:
        async with serving(polite) as server, fetching() as fetcher:
            with no_file_handles():
                return await fetcher.fetch(ask(server.url()), QUICK)

    result = run(main())
    assert (result.status, result.starved) == (FetchStatus.CONNECT_FAILED, True)
    assert "Too many open files" in result.error


def test_a_rule_may_refuse_the_body() -> None:
    seen: list[tuple[int, Sequence[tuple[bytes, bytes]]]] = []

    def check(status: int, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        seen.append((status, headers))
        return False

    (result,) = fetch_from(replies(HELLO), check=check)
    capture = capture_of(result)
    assert seen == [(200, [(b"Content-Length", b"5")])]
    assert (capture.body.length, capture.truncated) == (0, "unspecified")
    assert result.annotations == ["midFetchAbort"]
    assert capture.payload_length == 0


def test_a_rule_that_accepts_changes_nothing() -> None:
    (result,) = fetch_from(replies(HELLO[:30], HELLO[30:]), check=lambda _status, _headers: True)
    assert wire_bytes(capture_of(result)) == HELLO


def test_the_rate_is_limited() -> None:
    body = b"x" * 600_000
    handler = replies(OK + b"Content-Length: 600000\r\n\r\n" + body)
    (result,) = fetch_from(handler, settings=FetchSettings(max_rate=3000, silence_timeout=0.08))
    capture = capture_of(result)
    assert capture.duration >= 80
    assert capture.body.read(0, 600_000) == body


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "http:///x", "http://a.example:0/", "nonsense"]
)
def test_what_is_no_http_url_is_unfetchable(url: str) -> None:
    async def main() -> FetchResult:
        async with fetching() as fetcher:
            return await fetcher.fetch(ask(url), QUICK)

    assert run(main()).status == FetchStatus.UNFETCHABLE


def test_a_cancelled_fetch_frees_its_connection_and_memory() -> None:
    async def main() -> None:
        spool = Spool()
        async with (
            serving(replies(OK + b"Content-Length: 9\r\n\r\nabc", hold=True)) as server,
            fetching(spool=spool) as fetcher,
        ):
            async with asyncio.TaskGroup() as group:
                task = group.create_task(fetcher.fetch(ask(server.url()), QUICK))
                for _ in range(1000):
                    if spool.used:
                        break
                    await asyncio.sleep(0.005)
                assert spool.used == 3
                task.cancel()
            assert spool.used == 0

    run(main())


def test_many_at_once_do_not_disturb_each_other() -> None:
    async def handler(peer: Peer) -> None:
        while request := await peer.request():
            path = request.split(b" ")[1]
            await peer.send(OK + b"Content-Length: %d\r\n\r\n" % len(path) + path)

    async def main() -> None:
        async with serving(handler) as server, fetching() as fetcher:

            async def one(number: int) -> None:
                result = await fetcher.fetch(ask(server.url(f"/{number}")), FetchSettings())
                assert capture_of(result).payload(99) == f"/{number}".encode()

            async with asyncio.TaskGroup() as group:
                for number in range(200):
                    group.create_task(one(number))

    run(main())


def test_a_bug_in_a_rule_is_raised_not_hidden() -> None:
    def check(_status: int, _headers: Sequence[tuple[bytes, bytes]]) -> bool:
        raise KeyError("bug")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        async with serving(polite) as server, fetching() as fetcher:
            with pytest.raises(KeyError, match="bug"):
                await fetcher.fetch(ask(server.url(), check=check), QUICK)

    run(main())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_open_files_and_memory_stay_flat() -> None:
    odd = [
        b"",
        OK + b"Content-Length: 9\r\n\r\nabc",
        OK + b"\r\nabc",
        HELLO + b"more",
        b"\x15\x03\x03",
        OK + b"Content-Length: 3000000\r\n\r\n" + b"x" * 3_000_000,
        HELLO,
    ]

    async def handler(peer: Peer) -> None:
        request = await peer.request()
        await peer.send(odd[int(request[5:6])])

    async def main() -> None:
        spool = Spool()
        async with serving(handler) as server, fetching(spool=spool) as fetcher:
            counts = []
            for _ in range(4):
                for number in range(len(odd)):
                    url = server.url(f"/{number}")
                    result = await fetcher.fetch(ask(url), QUICK)
                    if result.capture:
                        result.capture.body.close()
                await asyncio.sleep(0.02)
                counts.append(open_files())
            assert max(counts) - min(counts) <= 2
            assert spool.used == 0

    run(main())


# Replies that nobody asked for

LATE = OK + b"Content-Length: 4\r\n\r\nlate"


def own(request: bytes) -> bytes:
    """A reply like no other: the path of the request."""
    path = request.split()[1]
    return OK + b"Content-Length: %d\r\n\r\n" % len(path) + path


def test_a_late_reply_with_the_true_one_behind_it_is_not_taken() -> None:
    async def handler(peer: Peer) -> None:
        count = 0
        while request := await peer.request():
            count += 1
            late = LATE if count == 3 else b""
            await peer.send(late + own(request))

    results = fetch_from(handler, count=4)
    bodies = [capture_of(result).body.read(0, 9) for result in results]
    assert bodies == [b"/0", b"/1", b"/2", b"/3"]
    assert [capture_of(result).reused for result in results] == [False, True, False, False]
    assert results[2].annotations == ["unaskedReply"]
    trusts = [capture_of(result).trust for result in results]
    assert [trust is not None and trust.suspect for trust in trusts] == [True, True, False, False]


def test_a_page_that_is_longer_than_it_says_accuses_no_other() -> None:
    long = OK + b"Content-Length: 2\r\n\r\nlonger"

    async def handler(peer: Peer) -> None:
        while request := await peer.request():
            await peer.send(long if b" /1 " in request else own(request))

    results = fetch_from(handler, count=3)
    assert [capture_of(result).body.read(0, 9) for result in results] == [b"/0", b"lo", b"/2"]
    assert results[1].annotations == ["excessData"]
    trusts = [capture_of(result).trust for result in results]
    assert not any(trust is not None and trust.suspect for trust in trusts)


def test_a_post_is_not_repeated_for_a_reply_behind_its_own() -> None:
    posts = 0

    async def handler(peer: Peer) -> None:
        nonlocal posts
        while await peer.request():
            posts += 1
            assert await peer.reader.readexactly(3) == b"a=b"
            await peer.send(LATE + HELLO)

    (result,) = fetch_from(handler, count=1, method="POST", body=b"a=b")
    assert (result.status, posts) == (200, 1)


def test_the_end_hears_what_is_still_to_come() -> None:
    async def main() -> list[bool]:
        async def handler(peer: Peer) -> None:
            await peer.send(own(await peer.request()))
            true = own(await peer.request())
            await peer.send(LATE)
            assert await peer.reader.read() == b""
            await peer.send(true)

        async with serving(handler) as server, fetching() as fetcher:
            results = [await fetcher.fetch(ask(server.url(f"/{n}")), QUICK) for n in range(2)]
            await fetcher.settle()
            trusts = [capture_of(result).trust for result in results]
            return [trust is not None and trust.suspect for trust in trusts]

    assert run(main()) == [True, True]
