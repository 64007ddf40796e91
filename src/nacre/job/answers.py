"""What a finished prerequisite taught: addresses of a host, rules of an origin."""

from nacre.core.capture import Capture
from nacre.core.processor import Visit
from nacre.job.names import HostAnswer, HostAnswers
from nacre.job.preconditions import ROBOTS_FOR, ROBOTS_REDIRECTS
from nacre.job.robots_cache import RobotsCache, RobotsRow, RobotsState
from nacre.scope.robots import RobotsSettings
from nacre.uri.parse import Resolver
from nacre.wire.coding import decode_content

FAILED_TTL = 600.0
"""How long a name that could not be resolved is taken as such, seconds."""


class Answers:
    """Keeps the results of `dns:` and robots.txt visits, in the group of their own capture."""

    def __init__(self, hosts: HostAnswers, robots: RobotsCache, settings: RobotsSettings) -> None:
        self._hosts = hosts
        self._robots = robots
        self._settings = settings

    def learn(self, visit: Visit, now: float) -> None:
        """Take what a final visit says, if it was such a prerequisite."""
        uri = visit.uri
        if uri.url.startswith("dns:"):
            ttl = visit.ttl if visit.addresses else FAILED_TTL
            self._hosts.put(uri.url[4:], HostAnswer(visit.addresses, now + ttl))
        elif ROBOTS_FOR in uri.heritable:
            self._robots.put(uri.heritable[ROBOTS_FOR], self._row(visit, now))

    def _row(self, visit: Visit, now: float) -> RobotsRow:
        """RFC 9309 2.3.1: 2xx is parsed, 3xx followed, 4xx allows all, the rest disallows."""
        status, capture, expires = visit.status, visit.capture, now + self._settings.ttl
        if 200 <= status < 300 and capture is not None:
            return RobotsRow(RobotsState.RULES, expires, self._text(capture), status)
        if 300 <= status < 400 and capture is not None:
            return self._redirect(visit, capture, expires)
        if 400 <= status < 500:
            return RobotsRow(RobotsState.ALLOW, expires, status=status)
        return RobotsRow(RobotsState.UNREACHABLE, expires, status=status)

    def _redirect(self, visit: Visit, capture: Capture, expires: float) -> RobotsRow:
        followed = int(visit.uri.heritable.get(ROBOTS_REDIRECTS, "0")) + 1
        location = (capture.header(b"location") or b"").decode("utf-8", "replace")
        target = Resolver(visit.uri.url).resolve(location) if location else None
        fetchable = target is not None and target.startswith(("http:", "https:"))
        if not fetchable or target == visit.uri.url or followed > self._settings.max_redirects:
            # More redirects than are followed count as "unavailable": everything is allowed.
            return RobotsRow(RobotsState.ALLOW, expires, status=visit.status)
        return RobotsRow(RobotsState.REDIRECT, expires, b"", visit.status, target or "", followed)

    def _text(self, capture: Capture) -> bytes:
        limit = self._settings.max_bytes
        body = capture.payload(limit)
        encodings = capture.header_values(b"content-encoding")
        if encodings:
            body = decode_content(body, encodings, limit).data
        return body
