"""A small site with one of everything that a crawl must survive a crash with."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.fetch.server import Peer, serving

PAGES = 14


def _filler(name: str, size: int) -> bytes:
    """Text that does not compress well, and is the same each time."""
    return random.Random(name).randbytes(size // 2).hex().encode()


def _page(name: str, *links: str, size: int = 2500) -> bytes:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<html><body>{anchors}<p>{name}</p><!--".encode() + _filler(name, size) + b"-->"


def _pages() -> dict[str, bytes]:
    names = [f"/p{number}.html" for number in range(PAGES)]
    pages = {name: _page(name, names[(n * 2 + 1) % PAGES]) for n, name in enumerate(names)}
    same = _page("same", "/p1.html")
    pages |= {f"/same{number}.html": same for number in range(4)}
    pages["/chunked1.html"] = pages["/chunked2.html"] = _page("chunked", "/p2.html")
    pages["/only-by-redirect.html"] = _page("moved", "/p3.html")
    pages["/image.png"] = _filler("image", 3000)
    pages["/large.bin"] = _filler("large", 200_000)
    pages["/large-too.bin"] = pages["/large.bin"]
    links = [*names[:5], "/same0.html", "/missing.html", "/to-p4", "/to-moved", "/private/x.html"]
    links += ["/broken.html", "/large.bin", "/same1.html", "/image.png", "/chunked1.html"]
    links += ["/same2.html", "/large-too.bin", "/chunked2.html", "/same3.html", "/empty.html"]
    pages["/empty.html"] = b""
    pages["/"] = _page("home", *links, *names[5:])
    pages["/robots.txt"] = b"User-agent: *\nDisallow: /private/\n"
    return pages


def states_preference(path: str) -> bool:
    """Whether the page of a path, or robots.txt, states a preference on its use."""
    return path == "/robots.txt" or _has_header(path)


def _has_header(path: str) -> bool:
    return path.startswith("/p") and path.endswith(".html")


class Site:
    """The site.

    Attributes:
        asked: Requests by path.
        on_request: Called with each path before it is answered.
        pages: Body of each path that answers 200.
        moved: Target of each path that redirects.
        port: Where it listens.
        pause: Seconds before each reply.
        status: How it answers for a path that it does not have.
    """

    def __init__(self, pages: dict[str, bytes] | None = None) -> None:
        self.pages = _pages() if pages is None else pages
        self.moved = {"/to-p4": "/p4.html", "/to-moved": "/only-by-redirect.html"}
        self.asked: Counter[str] = Counter()
        self.on_request: Callable[[str], None] = lambda path: None
        self.port = 0
        self.pause = 0.0
        self.status = b"404 Not Found"

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Site"]:
        async with serving(self._serve) as server:
            self.port = server.port
            yield self

    async def _serve(self, peer: Peer) -> None:
        while request := await peer.request():
            path = request.split(b" ", 2)[1].decode()
            self.asked[path] += 1
            self.on_request(path)
            if path == "/broken.html":
                return peer.reset()
            await asyncio.sleep(self.pause)
            await peer.send(self._reply(path))
        return None

    def _reply(self, path: str) -> bytes:
        if path in self.moved:
            return b"HTTP/1.1 302 Found\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (
                self.moved[path].encode()
            )
        body = self.pages.get(path)
        status = self.status if body is None else b"200 OK"
        body = body if body is not None else b"nothing here"
        kind = b"text/html" if path == "/" or path.endswith(".html") else b"image/png"
        head = b"HTTP/1.1 %b\r\nContent-Type: %b\r\n" % (status, kind)
        if path in self.pages and _has_header(path):
            head += b"X-Robots-Tag: noarchive\r\n"
        if path.startswith("/chunked"):
            half = len(body) // 2
            chunks = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in (body[:half], body[half:]))
            return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
