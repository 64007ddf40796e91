"""The odd servers of a crawler's life in one program: a path for each case.

Source: webs/README.md, H01 to H11 and H18, shortened. Each case says which statuses are right for
it and what crawl.log must tell.
"""

import asyncio
import gzip
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]  # ships no types
import zstandard

from tests.fetch.server import Peer, Server, serving

OK = b"HTTP/1.1 200 OK\r\n"
HTML = OK + b"Content-Type: text/html\r\n"
LOST, TIMEOUT, UNFETCHABLE, ROBOTS_FAILED = -3, -4, -7, -61
Act = Callable[[Peer, str], Awaitable[None]]


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        act: What the server does with a request; it closes the connection then.
        statuses: Final statuses that are right.
        note: Annotation that must be in the log; "" for none.
        never_ends: Only a time-out ends it.
    """

    act: Act
    statuses: frozenset[int]
    note: str = ""
    never_ends: bool = False


def _says(*pieces: bytes, hold: bool = False) -> Act:
    """Sends the pieces; then closes, or waits for the client to do so."""

    async def act(peer: Peer, _path: str) -> None:
        await peer.send(*pieces)
        if hold:
            await peer.wait_for_end()

    return act


def _endless(head: bytes, piece: bytes, pause: float = 0.0) -> Act:
    async def act(peer: Peer, _path: str) -> None:
        await peer.send(head)
        while not peer.writer.is_closing():
            await peer.send(piece)
            await asyncio.sleep(pause)

    return act


def _resets(*pieces: bytes) -> Act:
    async def act(peer: Peer, _path: str) -> None:
        await peer.send(*pieces)
        await asyncio.sleep(0.01)
        peer.reset()

    return act


async def _drips(peer: Peer, _path: str) -> None:
    for byte in OK * 100:
        await peer.send(bytes([byte]))
        await asyncio.sleep(0.05)


async def _moves_on(peer: Peer, path: str) -> None:
    """Redirects that grow, without an end."""
    await peer.send(_moved(f"{path}x".encode()))


async def _circles(peer: Peer, path: str) -> None:
    await peer.send(_moved(path.encode()))


def _moved(*targets: bytes) -> bytes:
    lines = b"".join(b"Location: %b\r\n" % target for target in targets)
    return b"HTTP/1.1 302 Found\r\n%bContent-Length: 0\r\n\r\n" % lines


def _whole(body: bytes, *fields: bytes, kind: bytes = b"text/html") -> bytes:
    extra = b"".join(field + b"\r\n" for field in fields)
    head = b"%bContent-Type: %b\r\n%bContent-Length: %d\r\n\r\n"
    return head % (OK, kind, extra, len(body)) + body


def _chunked(*pieces: bytes) -> bytes:
    return HTML + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(pieces)


def _case(act: Act, *statuses: int, note: str = "", never_ends: bool = False) -> Case:
    return Case(act, frozenset(statuses or (200,)), note, never_ends)


_TOLD = (
    b"Set-Cookie: a=b; path",
    b"ETag",
    b"Last-Modified",
    b"Link",
    b"Content-Language",
    b"Server",
)
_NUMBERED = (
    b"Age: %b", b"Cache-Control: max-age=%b", b"Date: %b", b"Expires: %b", b"Last-Modified: %b",
    b"Content-Range: bytes %b-%b/%b", b"Keep-Alive: timeout=%b", b"Set-Cookie: a=b; Max-Age=%b",
    b"Set-Cookie: c=d; Expires=%b", b"X-Robots-Tag: unavailable_after: %b", b"Refresh: %b",
)  # fmt: skip


def _numbers() -> Iterator[bytes]:
    """Numbers that are none, or too large, wherever a reply has one."""
    values = [
        b"9223372036854775808",
        b"-1",
        b"1e999",
        b"nan",
        b"inf",
        "\u0663".encode(),
        b"9" * 5000,
    ]
    return (field.replace(b"%b", value) for field in _NUMBERED for value in values)


_BOMB = gzip.compress(bytes(30_000_000), 9)
_DEEP = gzip.compress(gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"deep")))))
_EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </odd>\r\n\r\n"
_HELLO = _whole(b"hello")
_SMUGGLED = re.compile(rb"\0|\r(?!\n)|(?<!\r)\n|\nEvil")
_LINKS = b"".join(b'<a href="http://elsewhere.test/%d">x</a>' % n for n in range(20_000))

CASES: dict[str, Case] = {
    # H01, H02, slow and endless
    "h01-drips": _case(_drips, TIMEOUT, never_ends=True),
    "h01-silent": _case(_says(hold=True), TIMEOUT, never_ends=True),
    "h02-endless": _case(_endless(HTML + b"\r\n", b"x" * 60_000), note="lenTrunc"),
    "h02-drips": _case(_endless(HTML + b"\r\n", b"x", 0.05), note="timeTrunc", never_ends=True),
    # H03, chunks
    "h03-tiny": _case(_says(_chunked(b"1\r\nx\r\n" * 120_000)), note="tooManyChunks"),
    "h03-huge": _case(_says(_chunked(b"ffffffffffffffff\r\nxx")), note="badChunk"),
    "h03-negative": _case(_says(_chunked(b"-1\r\nxx")), note="badChunk"),
    "h03-extension": _case(_says(_chunked(b"1;" + b"x" * 300_000)), note="badChunk"),
    "h03-trailers": _case(_says(_chunked(b"0\r\n" + b"X: y\r\n" * 20_000)), note="trailerTrunc"),
    # H04, lengths
    "h04-large": _case(_says(OK + b"Content-Length: 99\r\n\r\nhello")),
    "h04-small": _case(_says(OK + b"Content-Length: 2\r\n\r\nhello", hold=True)),
    "h04-two": _case(_says(OK + b"Content-Length: 5\r\nContent-Length: 4\r\n\r\nhello")),
    "h04-2-63": _case(_says(OK + b"Content-Length: 9223372036854775808\r\n\r\nhello")),
    "h04-negative": _case(_says(OK + b"Content-Length: -5\r\n\r\nhello")),
    "h04-both": _case(
        _says(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
        note="lengthAndChunked",
    ),
    # H05, codings
    "h05-gzip-bomb": _case(_says(_whole(_BOMB, b"Content-Encoding: gzip"))),
    "h05-brotli-bomb": _case(
        _says(_whole(brotli.compress(bytes(9_000_000)), b"Content-Encoding: br"))
    ),
    "h05-zstd-bomb": _case(
        _says(_whole(zstandard.compress(bytes(9_000_000)), b"Content-Encoding: zstd"))
    ),
    "h05-five-deep": _case(_says(_whole(_DEEP, b"Content-Encoding: " + b"gzip, " * 4 + b"gzip"))),
    "h05-bad-crc": _case(
        _says(_whole(gzip.compress(b"<p>x")[:-8] + bytes(8), b"Content-Encoding: gzip"))
    ),
    "h05-junk": _case(_says(_whole(gzip.compress(b"<p>x") + b"junk", b"Content-Encoding: gzip"))),
    "h05-plain": _case(_says(_whole(b"plain", b"Content-Encoding: gzip"))),
    "h05-raw-deflate": _case(
        _says(_whole(zlib.compress(b"<p>x")[2:-4], b"Content-Encoding: deflate"))
    ),
    # H06, heads
    "h06-many": _case(_says(OK + b"a:b\r\n" * 100_000), note="headerTrunc"),
    "h06-long": _case(_says(OK + b"X: " + b"x" * 2_000_000), note="headerTrunc"),
    "h06-cookies": _case(_says(OK + b"Set-Cookie: a=b\r\n" * 5_000 + b"\r\n")),
    "h06-nul": _case(_says(OK + b"X: a\0b\r\n\r\n"), note="nulInHeader"),
    "h06-cr": _case(_says(OK + b"X: a\rb\r\nContent-Length: 0\r\n\r\n")),
    "h06-ff": _case(_says(OK + b"X: \xff\xfe\r\nContent-Length: 0\r\n\r\n")),
    "h06-folded": _case(_says(OK + b"X: a\r\n b\r\n\r\n"), note="foldedHeader"),
    "h06-no-colon": _case(_says(OK + b"none\r\n\r\n"), note="headerWithoutColon"),
    "h06-space": _case(_says(OK + b"X : y\r\n\r\n"), note="spaceBeforeColon"),
    "h06-blank": _case(_endless(b"", b"\r\n" * 9_000), note="headerTrunc"),
    "h06-blank-first": _case(_says(b"\r\n" * 5, b"\r\n" * 5, _HELLO), note="leadingBlankLine"),
    # What must not get into a request of ours, a header of a record or a line of a log
    "h06-smuggled": _case(
        _says(
            _whole(
                b"<a href='/smuggled/%0d%0aEvil:1'>x</a>",
                *(name + b": a" + end + b"Evil: 1" for name in _TOLD for end in (b"\r", b"\0")),
                kind=b"text/html\rEvil: 1",
            )
        ),
        note="nulInHeader",
    ),
    "h06-smuggled-on": _case(_says(_moved(b"/smuggled\rEvil: 1")), 302),
    "h06-numbers": _case(_says(_whole(_HELLO, *_numbers()))),
    # H07, replies that nobody asked for
    "h07-few": _case(_says(_EARLY * 3 + _HELLO)),
    "h07-thousand": _case(_says(_EARLY * 1_000 + _HELLO), LOST, note="tooManyInterim"),
    "h07-101": _case(_says(b"HTTP/1.1 101 Switching\r\n\r\nx", hold=True), 101, note="unasked101"),
    # H08, no status
    "h08-000": _case(_says(b"HTTP/1.1 000 Zero\r\n\r\n"), note="badStatusLine"),
    "h08-99": _case(_says(b"HTTP/1.1 99 Low\r\n\r\n"), 99, note="oddStatus"),
    "h08-600": _case(_says(b"HTTP/1.1 600 High\r\n\r\n"), 600, note="oddStatus"),
    "h08-999": _case(_says(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"), 999),
    "h08-200OK": _case(_says(b"HTTP/1.1 200OK\r\n\r\n"), note="badStatusLine"),
    "h08-none": _case(_says(b"HTTP/1.1\r\n\r\n"), note="badStatusLine"),
    "h08-http09": _case(_says(b"<p>plain words"), note="http09"),
    "h08-icy": _case(_says(b"ICY 200 OK\r\n\r\n"), note="icy"),
    "h08-smtp": _case(_says(b"220 mail.example ESMTP\r\n"), note="http09"),
    "h08-tls": _case(_says(b"\x15\x03\x03\x00\x02\x02\x46"), LOST, note="tlsOnPlainPort"),
    # H09, ends
    "h09-reset": _case(_resets(), LOST),
    "h09-reset-in-head": _case(_resets(OK + b"Server: x\r\n"), LOST),
    "h09-reset-in-body": _case(_resets(OK + b"Content-Length: 9\r\n\r\nabc")),
    "h09-closed": _case(_says(), LOST),
    # H10, too much
    "h10-extra": _case(_says(_HELLO + b"more", hold=True)),
    "h10-second": _case(_says(_HELLO + _whole(b"evil"), hold=True)),
    # H11, redirects
    "h11-self": _case(_circles, 302),
    "h11-growing": _case(_moves_on, 302),
    "h11-file": _case(_says(_moved(b"file:///etc/passwd")), 302),
    "h11-javascript": _case(_says(_moved(b"javascript:alert(1)")), 302),
    "h11-data": _case(_says(_moved(b"data:text/html,x")), 302),
    "h11-metadata": _case(_says(_moved(b"http://169.254.169.254/latest/")), 302),
    "h11-private": _case(_says(_moved(b"http://10.1.2.3:9/")), 302),
    "h11-empty": _case(_says(_moved(b"")), 302),
    "h11-five": _case(_says(_moved(b"/a1", b"/a2", b"/a3", b"/a4", b"/a5")), 302),
    "h11-raw": _case(_says(_moved("/\u4e2d\u6587".encode())), 302),
    "h11-gbk": _case(_says(_moved("/\u4e2d\u6587".encode("gbk"))), 302),
    "h11-slashes": _case(_says(_moved(b"//elsewhere.test/x")), 302),
    # H18, documents
    "h18-links": _case(_says(_whole(_LINKS)), note="dol:14001"),
    "h18-attribute": _case(_says(_whole(b'<a href="' + b"x" * 3_000_000 + b'">x</a>'))),
    "h18-deep": _case(_says(_whole(b"<div>" * 20_000))),
    "h18-line": _case(_says(_whole(b"x" * 1_900_000))),
    "h18-script": _case(_says(_whole(b"<script>" + b"var a = '/b/c';" * 50_000))),
    "h18-math": _case(_says(_whole(b"<math>" + b"<script>'/a.html'" * 20_000))),
    "h18-entities": _case(_says(_whole(b"&amp;" * 400_000))),
    "h18-zip": _case(_says(_whole(b"PK\3\4" + bytes(range(256)) * 2_000))),
    "h18-xml-bomb": _case(
        _says(
            _whole(
                b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
                b'<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">'
                b'<!ENTITY d SYSTEM "file:///etc/passwd">]><a>&c;&d;</a>',
                kind=b"application/xml",
            )
        )
    ),
}


@asynccontextmanager
async def odd_site(copies: int) -> AsyncIterator[Server]:
    """Serves a home page that links to so many copies of each case."""
    links = "".join(f'<a href="/{name}/{n}">x</a>' for n in range(copies) for name in CASES)
    home = _whole(f"<html><body>{links}".encode())

    async def handle(peer: Peer) -> None:
        while request := await peer.request():
            assert not _SMUGGLED.search(request), request
            path = request.split(b" ", 2)[1].decode("latin-1")
            case = CASES.get(path.split("/")[1])
            if case is not None:
                await case.act(peer, path)
                return
            missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            await peer.send(home if path == "/" else missing)

    async with serving(handle) as server:
        yield server
