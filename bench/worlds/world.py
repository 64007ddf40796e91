"""A world: an application that answers requests, and the truth of what distinct pages it has."""

import random
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import NamedTuple, Protocol


class Reply(NamedTuple):
    """What the application answers."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class World(Protocol):
    """One application.

    Attributes:
        name: For tables and plots.
        start: Path of its home page.
        truth: Its distinct pages, by whatever tells them apart.
    """

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> str: ...
    @property
    def truth(self) -> frozenset[str]:
        """See above."""
        ...

    def reply(self, path: str) -> Reply:
        """What it answers to a request of a path with its query; always the same."""
        ...

    def page(self, path: str) -> str:
        """Which page of the truth a path shows; "" for none."""
        ...


class Served:
    """A world on a separate port; the same request is computed once.

    Attributes:
        world: What is served.
        log: Paths of all requests but robots.txt, in their order.
        origin: Scheme, host and port.
        url: Its home page.
    """

    def __init__(self, world: World, reply: Callable[[str], Reply] | None = None) -> None:
        self.world = world
        self.log: list[str] = []
        self._reply = reply or world.reply
        self._known: dict[str, Reply] = {}
        self.origin = ""
        self._lock = Lock()

    @property
    def url(self) -> str:
        return self.origin + self.world.start

    def answer(self, path: str) -> Reply:
        """Answer a request."""
        if path == "/robots.txt":
            return Reply(404, (), b"")
        with self._lock:
            self.log.append(path)
        reply = self._known.get(path)
        if reply is None:
            reply = self._known[path] = self._reply(path)
        return reply

    def curve(self) -> list[int]:
        """How many distinct pages were shown after each request."""
        return curve_of(self.world, self.log)


def curve_of(world: World, paths: Iterable[str]) -> list[int]:
    """How many distinct pages of a world were shown after each request."""
    pages_seen: set[str] = set()
    counts = []
    for path in paths:
        page = world.page(path)
        if page in world.truth:
            pages_seen.add(page)
        counts.append(len(pages_seen))
    return counts


@contextmanager
def served(
    world: World,
    reply: Callable[[str], Reply] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Served]:
    """Serve a world on loopback.

    Args:
        world: The application.
        reply: Answers in its place, such as `Kept.get`; None: the application does.
        tls: Its certificate, for https; None: http.
    """
    state = Served(world, reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def setup(self) -> None:
            if tls is not None:  # in the thread of the connection
                self.request = tls.wrap_socket(self.request, server_side=True)
            super().setup()

        def do_GET(self) -> None:
            reply = state.answer(self.path)
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value.replace("{origin}", state.origin))
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scheme = "http" if tls is None else "https"
    state.origin = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def html(body: str) -> Reply:
    """Return a page of HTML."""
    return Reply(200, (("Content-Type", "text/html; charset=utf-8"),), body.encode())


_SYLLABLES = (
    *("ka", "lo", "mi", "ren", "tas", "vol", "ber", "dun", "fen", "gor", "hal"),
    *("jin", "kel", "mor", "nal", "pir", "ros", "sul", "tem", "wan"),
)


def words(chance: random.Random, count: int) -> str:
    """Return a text of made-up words."""
    return " ".join(
        "".join(chance.choice(_SYLLABLES) for _ in range(chance.randint(2, 4)))
        for _ in range(count)
    )
