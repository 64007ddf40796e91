"""What a finished prerequisite taught: addresses of a host, rules of an origin."""

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.processor import Visit
from nacre.job.visit.names import HostAnswer, HostAnswers
from nacre.job.visit.preconditions import ROBOTS_FOR, ROBOTS_REDIRECTS
from nacre.job.visit.robots_cache import RobotsCache, RobotsRow
from nacre.scope.robots import RobotsSettings, RobotsState, outcome_of
from nacre.uri.parse import Resolver
from nacre.wire.coding import decode_content

FAILED_TTL = 600.0
"""How long a name that could not be resolved is taken as such, seconds."""

STALE = 30 * 86400.0
"""How long an old robots.txt may stand in for one that cannot be reached, seconds (RFC 9309 2.4
lets a crawler use it, 2.3.1.4 names the 30 days)."""

_CODING = 1024
"""Bytes that a coded file may be larger than its content."""

_LONGEST_ERROR = 500
"""Characters that are kept of why a robots.txt could not be had."""

_ANSWERED = frozenset((RobotsState.RULES, RobotsState.ALLOW))


class Answers:
    """Keeps the results of `dns:` and robots.txt visits, in the group of their own capture."""

    def __init__(
        self, hosts: HostAnswers, robots: RobotsCache, settings: Effective[RobotsSettings]
    ) -> None:
        self._hosts = hosts
        self._robots = robots
        self._settings = settings

    def learn(self, visit: Visit, now: float) -> None:
        """Take what a final visit says, if it was such a prerequisite."""
        uri = visit.uri
        if uri.url.startswith("dns:"):
            ttl = visit.ttl if visit.addresses else FAILED_TTL
            self._hosts.put(uri.url[4:], HostAnswer(visit.addresses, now + ttl, now))
        elif ROBOTS_FOR in uri.heritable:
            self._learn_robots(uri.heritable[ROBOTS_FOR], self._row(visit, now), now)

    def _learn_robots(self, origin: str, row: RobotsRow, now: float) -> None:
        if row.state is RobotsState.UNREACHABLE:
            old = self._robots.last(origin)
            if old is not None and old.state in _ANSWERED and now - old.fetched < STALE:
                row = structs.replace(old, expires=row.expires, learned=row.learned)
        self._robots.put(origin, row)

    def _row(self, visit: Visit, now: float) -> RobotsRow:
        capture, expires = visit.capture, now + self._settings[visit.overlay].ttl
        outcome = outcome_of(visit.status) if capture is not None else RobotsState.UNREACHABLE
        error = visit.error[:_LONGEST_ERROR] if outcome is RobotsState.UNREACHABLE else ""
        row = RobotsRow(
            outcome, expires, status=visit.status, fetched=now, error=error, learned=now
        )
        if capture is not None and outcome is RobotsState.RULES:
            return structs.replace(row, text=self._text(visit, capture))
        if capture is not None and outcome is RobotsState.REDIRECT:
            return self._redirected(row, visit, capture)
        return row

    def _redirected(self, row: RobotsRow, visit: Visit, capture: Capture) -> RobotsRow:
        """Where the rules are; more redirects than are followed count as 4xx (2.3.1.2)."""
        followed = int(visit.uri.heritable.get(ROBOTS_REDIRECTS, "0")) + 1
        most = self._settings[visit.overlay].max_redirects
        location = (capture.header(b"location") or b"").decode("utf-8", "replace")
        target = Resolver(visit.uri.url).resolve(location) if location else None
        fetchable = target is not None and target.startswith(("http:", "https:"))
        if not fetchable or target == visit.uri.url or followed > most:
            return structs.replace(row, state=RobotsState.ALLOW)
        return structs.replace(row, next_url=target or "", redirects=followed)

    def _text(self, visit: Visit, capture: Capture) -> bytes:
        limit = self._settings[visit.overlay].max_bytes
        encodings = capture.header_values(b"content-encoding")
        if not encodings:
            return capture.payload(limit)
        return decode_content(capture.payload(limit + _CODING), encodings, limit).data
