"""A site on loopback whose replies are bytes as they are, and that notes what it is asked for."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def reply(body: bytes | str = b"", mime: str | None = "text/html", *fields: bytes) -> bytes:
    """A reply with status 200; without a Content-Type if `mime` is None."""
    body = body.encode() if isinstance(body, str) else body
    head = [b"HTTP/1.1 200 OK", *fields, b"Content-Length: %d" % len(body), b"Connection: close"]
    if mime is not None:
        head.insert(1, b"Content-Type: " + mime.encode())
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def redirect(*fields: bytes) -> bytes:
    """A reply with status 302 and the fields given."""
    head = [b"HTTP/1.1 302 Found", *fields, b"Content-Length: 0", b"Connection: close"]
    return b"\r\n".join(head) + b"\r\n\r\n"


class RawSite:
    """The site.

    Attributes:
        origin: Its origin.
        replies: Replies by target.
        answers: Targets whose reply depends on the head of the request.
        asked: The targets of all requests, in order.
        heads: The heads of all requests, in order, as sent.
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.replies: dict[str, bytes] = {}
        self.answers: dict[str, Callable[[bytes], bytes]] = {}
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self._noting = threading.Lock()

    def note(self, target: str, head: bytes) -> None:
        """Note a request; each connection has a thread, and both lists have the same order."""
        with self._noting:
            self.asked.append(target)
            self.heads.append(head)

    def serve(self, replies: Mapping[str, bytes], links: Sequence[str] = ()) -> None:
        """Add replies; the home page links to `links`."""
        self.replies |= replies
        if links:
            self.replies["/"] = reply("".join(f"<a href='{link}'>x</a>" for link in links))


class _Server(ThreadingTCPServer):
    daemon_threads = True
    site: RawSite


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        head = self.rfile.readline()
        target = head.decode("latin-1").split(" ")[1]
        while (line := self.rfile.readline()).strip():
            head += line
        server.site.note(target, head)
        answer = server.site.answers.get(target)
        made = answer(head) if answer is not None else server.site.replies.get(target, MISSING)
        self.wfile.write(made)


@contextmanager
def raw_site(address: str = "127.0.0.1") -> Iterator[RawSite]:
    """A site with a port of its own."""
    with _Server((address, 0), _Handler) as server:
        server.site = RawSite(f"http://{address}:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.site
        finally:
            server.shutdown()
            thread.join()
