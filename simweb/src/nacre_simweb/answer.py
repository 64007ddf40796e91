"""The server of a world, without sockets: a request in bytes to a reply in bytes.

The real server and the transport inside the process both use it, so that a crawler gets the same
bytes from either.
"""

from collections import Counter, deque
from collections.abc import Callable
from hashlib import sha1
from typing import NamedTuple
from urllib.parse import urlsplit

from nacre.core.base32 import encode_sha1
from nacre_simweb.failures import CHALLENGE
from nacre_simweb.reply import SimulatedReply
from nacre_simweb.servelog import Row
from nacre_simweb.traps import SLOW
from nacre_simweb.validators import Request
from nacre_simweb.world import World

_REASONS = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 404: "Not Found",
    410: "Gone", 429: "Too Many Requests", 503: "Service Unavailable",
}  # fmt: skip
_DRIP = 5.0


class Sending(NamedTuple):
    """A reply as it goes out.

    Attributes:
        pieces: Delays in seconds, and bytes to be sent after each.
        close: The connection ends then.
        row: The row of the log; None if nothing is logged.
    """

    pieces: tuple[tuple[float, bytes], ...]
    close: bool
    row: Row | None = None


class Heading(NamedTuple):
    """The head of a request.

    Attributes:
        method: `GET` and so on.
        target: As sent: a path, or a whole URL for a proxy.
        fields: Header fields, names in lower case.
    """

    method: str
    target: str
    fields: dict[str, str]

    @property
    def url(self) -> str:
        """The URL asked for."""
        if self.target.startswith("http://"):
            return self.target
        return f"http://{self.fields.get('host', '')}{self.target}"


def read_heading(data: bytes) -> Heading | None:
    """Parse the head of a request; None: it is invalid."""
    lines = data.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3:
        return None
    fields = (line.partition(":") for line in lines[1:] if ":" in line)
    return Heading(
        words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in fields}
    )


class WorldServer:
    """A server of a world: it answers requests and keeps their log.

    Args:
        world: The world.
        now: Its time, seconds.
        clock: The time that politeness runs on, seconds; None for the world's own.

    Attributes:
        world: The world.
        rows: The log.
        bare: Pages name no port, whichever the world is served on: for a crawler that adds it by
            itself and is to get the bytes that it would get within the process.
    """

    def __init__(
        self, world: World, now: Callable[[], float], clock: Callable[[], float] | None = None
    ) -> None:
        self.world = world
        self.rows: list[Row] = []
        self.bare = False
        self._now = now
        self._clock = clock or now
        self._asked: Counter[str] = Counter()
        self._recent: dict[str, deque[float]] = {}

    def answer(self, heading: Heading) -> Sending:
        """Return the reply to one request."""
        if heading.method not in {"GET", "HEAD"}:
            return Sending(((0.0, _plain(405, b"")),), close=True)
        url, time = heading.url, self._now()
        fields = heading.fields
        request = Request(
            etag=fields.get("if-none-match", ""), modified=fields.get("if-modified-since", "")
        )
        refusal = self._refusal(urlsplit(url).hostname or "")
        if refusal:
            return self._refused(url, time, refusal)
        reply = self._reply(url, time, request)
        row = self._row(reply, time, conditional=bool(request.etag or request.modified))
        if reply.status == 0:
            return Sending((), close=True, row=row)
        close = fields.get("connection", "").lower() == "close"
        return Sending(tuple(_pieces(reply, heading.method)), close, row)

    def _reply(self, url: str, time: float, request: Request) -> SimulatedReply:
        name = url.partition("#")[0]
        nonce = self._asked[name]
        self._asked[name] += 1
        shown_url = without_port(url) if self.bare else url
        return self.world.respond(shown_url, time, request._replace(nonce=nonce))

    def _row(self, reply: SimulatedReply, time: float, *, conditional: bool) -> Row:
        resource, at = reply.resource, self._clock()
        return Row(
            time,
            reply.url,
            resource.kind,
            reply.status,
            resource.version,
            reply.nonce,
            conditional,
            len(reply.body),
            payload_digest(reply.entity) if reply.status else "",
            at,
        )

    def _refusal(self, host: str) -> int:
        """429 or 403 for a host asked too often within a minute; else 0."""
        failures = self.world.parameters.failures
        if not failures.throttle and not failures.wall:
            return 0
        recent = self._recent.setdefault(host, deque())
        at = self._clock()
        while recent and recent[0] <= at - 60:
            recent.popleft()
        recent.append(at)
        if failures.wall and len(recent) > failures.wall:
            return 403
        return 429 if failures.throttle and len(recent) > failures.throttle else 0

    def _refused(self, url: str, time: float, status: int) -> Sending:
        """Return a challenge that calls itself 200, or a request to come back later."""
        at = self._clock()
        body, kind = (CHALLENGE, "wall") if status == 403 else (b"", "none")
        shown_status = 200 if status == 403 else status
        digest = payload_digest(body)
        row = Row(
            time,
            url,
            kind,
            shown_status,
            -1,
            0,
            conditional=False,
            length=len(body),
            digest=digest,
            at=at,
        )
        return Sending(((0.0, _plain(shown_status, body)),), close=False, row=row)


def without_port(url: str) -> str:
    """Return a URL whose authority names no port."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.hostname or "").geturl() if parts.port else url


def payload_digest(body: bytes) -> str:
    """As WARC records have it."""
    return f"sha1:{encode_sha1(sha1(body, usedforsecurity=False).digest())}"


def _pieces(reply: SimulatedReply, method: str) -> list[tuple[float, bytes]]:
    body = reply.body
    bare = reply.status in {304, 204}
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Unknown')}"]
    lines += (f"{name}: {value}" for name, value in reply.headers)
    if not bare:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    if method == "HEAD" or bare:
        return [(0.0, head)]
    if reply.url.endswith(SLOW):
        drops = [(_DRIP, body[place : place + 1]) for place in range(len(body))]
        return [(0.0, head), *drops]
    return [(0.0, head + body)]


def _plain(status: int, body: bytes) -> bytes:
    after = "Retry-After: 30\r\n" if status == 429 else ""
    return (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}\r\nContent-Type: text/html\r\n"
        f"{after}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
