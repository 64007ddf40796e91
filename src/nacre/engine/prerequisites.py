"""robots.txt of each origin: raw in the store, parsed in memory for recent origins.

What is known of each host's addresses: answers of `dns:` visits, kept until they expire.

What a finished prerequisite taught: addresses of a host, rules of an origin.
"""

from collections import OrderedDict
from math import inf
from typing import NamedTuple

import msgspec
from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.processor import Visit
from nacre.extract.headers import redirect_location
from nacre.scope.robots_txt import (
    AgentRules,
    RobotsPolicy,
    RobotsSettings,
    RobotsState,
    outcome_of,
    parse_robots,
)
from nacre.store.store import Store
from nacre.uri.parse import Resolver, is_ip
from nacre.uri.parse import host as host_of
from nacre.wire.coding import decode_content

ROBOTS_FOR = "_robots-for"
"""Key of a robots.txt URI: the origin whose rules it holds."""

ROBOTS_REDIRECTS = "_robots-redirects"
"""Key of the same: redirects followed to get there, in decimal."""

ROBOTS_OPTIONAL = "_robots-optional"
"""Key of the same: its rules do not count, so that it is tried once."""


_FAMILY = "robots"
_PREFIX = b"r:"

# The way to a member of an enumeration is long.
_OBEY, _RULES, _UNREACHABLE = RobotsPolicy.OBEY, RobotsState.RULES, RobotsState.UNREACHABLE

_SET_BACK = 3600.0
"""A row that seems to hold longer than any can, by this, was made before the clock was set back."""

MEMORY = 8_000_000
"""Bytes of robots.txt whose parsed rules are kept in memory; rules take some ten times as much."""


class RobotsRow(msgspec.Struct, frozen=True, array_like=True):
    """One origin.

    Attributes:
        state: What is known.
        expires: Epoch seconds; after it robots.txt is fetched again.
        text: The file's bytes, at most `RobotsSettings.max_bytes`; b"" without rules.
        status: Fetch status that led to this, for `explain`.
        next_url: For REDIRECT: its target.
        redirects: Redirects followed so far.
        fetched: Epoch seconds of the reply.
        error: Why there was none, in one line, for `explain`; "" when that is not known.
        learned: Epoch seconds since which this holds; 0 in rows of older versions.
        once: It was tried once, because its rules did not count; a policy that obeys it fetches it
            again.
    """

    state: RobotsState
    expires: float
    text: bytes = b""
    status: int = 0
    next_url: str = ""
    redirects: int = 0
    fetched: float = 0.0
    error: str = ""
    learned: float = 0.0
    once: bool = False


class _Reading(NamedTuple):
    """What rules depend on beside their text: for whom, and how much of it is read."""

    agent: str
    max_bytes: int


class _Entry(NamedTuple):
    """A row without its text, the rules in it by how they are read, and the length of the text."""

    row: RobotsRow
    rules: dict[_Reading, AgentRules]
    size: int


class RobotsCache:
    """Rows by origin (`http://example.com:8080`), and their rules for the crawler's agents.

    With the policy `custom` every origin has the operator's rules, with `ignore` none has any:
    a fetched robots.txt is archived, and its sitemaps are followed.
    """

    def __init__(
        self, store: Store, settings: Effective[RobotsSettings], capacity: int = 2_000
    ) -> None:
        self._store = store
        self._settings = settings
        self._capacity = capacity
        self._recent: OrderedDict[str, _Entry] = OrderedDict()
        self._size = 0
        self._decoder = msgspec.msgpack.Decoder(RobotsRow)
        self._custom = settings.then(_custom_rules)
        self._readings = settings.then(_reading)

    def get(
        self, origin: str, now: float, overlay: int = 0, since: float = inf
    ) -> tuple[RobotsRow, AgentRules | None] | None:
        """Return the valid row of an origin without its text, and its rules; None: fetch it first.

        Args:
            origin: Scheme, host and port.
            now: Seconds since the epoch.
            overlay: Number of the combination of sheets of the request.
            since: The start of the wait for it, in the same time: a row that was learned
                after it is valid for them, however short its time to live.
        """
        settings = self._settings[overlay]
        if settings.policy is not _OBEY:
            return self._custom[overlay] if settings.policy is RobotsPolicy.CUSTOM else None
        entry = self._valid(origin, now, settings, since)
        if entry is None or (entry.row.once and entry.row.state is _UNREACHABLE):
            return None
        if entry.row.state is not _RULES:
            return entry.row, None
        return entry.row, self._rules(origin, entry, self._readings[overlay])

    def obeys(self, overlay: int) -> bool:
        """Return whether the rules that are fetched count under a combination of sheets."""
        return self._settings[overlay].policy is _OBEY

    def row(
        self, origin: str, now: float, overlay: int = 0, since: float = inf
    ) -> RobotsRow | None:
        """Return the valid row of an origin without its text, whatever the policy.

        Args:
            origin: See `get`, also for the others.
            now: Seconds since the epoch.
            overlay: Number of the combination of sheets.
            since: The start of the wait for it.

        Returns:
            None if robots.txt is to be fetched first.
        """
        entry = self._valid(origin, now, self._settings[overlay], since)
        return None if entry is None else entry.row

    def _valid(
        self, origin: str, now: float, settings: RobotsSettings, since: float
    ) -> _Entry | None:
        entry = self._recent.get(origin)
        if entry is None:
            row = self.last(origin)
            if row is None:
                return None
            entry = self._remember(origin, row, settings)
        remaining = entry.row.expires - now
        is_valid = 0 < remaining <= settings.ttl + _SET_BACK or entry.row.learned >= since
        return entry if is_valid else None

    def _rules(self, origin: str, entry: _Entry, reading: _Reading) -> AgentRules:
        rules = entry.rules.get(reading)
        if rules is None:
            row = self.last(origin)
            rules = entry.rules[reading] = _parse_cached(row.text if row else b"", reading)
        return rules

    def last(self, origin: str) -> RobotsRow | None:
        """Return the rules that were last kept for an origin, expired or not."""
        row = self._store.get(_FAMILY, _PREFIX + origin.encode())
        return None if row is None else self._decoder.decode(row)

    def put(self, origin: str, row: RobotsRow) -> None:
        """Keep a row; joins the open commit group."""
        self._store.put(_FAMILY, _PREFIX + origin.encode(), msgspec.msgpack.encode(row))
        self._remember(origin, row, self._settings[0])

    def drop(self, origin: str) -> None:
        """Know nothing of an origin, so that its file is fetched again."""
        self._store.delete(_FAMILY, _PREFIX + origin.encode())
        self._forget(origin)

    def _remember(self, origin: str, row: RobotsRow, settings: RobotsSettings) -> _Entry:
        rules: dict[_Reading, AgentRules] = {}
        if row.state is RobotsState.RULES:
            reading = _reading(settings)
            rules[reading] = _parse_cached(row.text, reading)
        entry = _Entry(structs.replace(row, text=b""), rules, len(row.text))
        self._forget(origin)
        self._recent[origin] = entry
        self._size += entry.size
        while len(self._recent) > self._capacity or (self._size > MEMORY and len(self._recent) > 1):
            self._forget(next(iter(self._recent)))
        return entry

    def _forget(self, origin: str) -> None:
        old = self._recent.pop(origin, None)
        if old is not None:
            self._size -= old.size


def _reading(settings: RobotsSettings) -> _Reading:
    return _Reading(settings.agent, settings.max_bytes)


def _parse_cached(text: bytes, reading: _Reading) -> AgentRules:
    return parse_robots(text, reading.max_bytes).for_agent(reading.agent)


def _custom_rules(settings: RobotsSettings) -> tuple[RobotsRow, AgentRules]:
    rules = parse_robots(settings.custom.encode()).for_agent(settings.agent)
    return RobotsRow(RobotsState.RULES, float("inf")), rules


_PREFIX_NAMES = b"d:"


class HostAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The last answer for a host.

    Attributes:
        addresses: In the order to try them; empty when the name has none.
        expires: Epoch seconds; after it the name is looked up again.
        learned: Epoch seconds of the answer; 0 in rows of older versions.
    """

    addresses: tuple[str, ...]
    expires: float
    learned: float = 0.0


class HostAnswers:
    """Answers by host, in memory for recent hosts and in the store for all."""

    def __init__(self, store: Store, capacity: int = 20_000) -> None:
        self._store = store
        self._capacity = capacity
        self._recent: OrderedDict[str, HostAnswer] = OrderedDict()
        self._decoder = msgspec.msgpack.Decoder(HostAnswer)

    def get(self, host: str, now: float, since: float = inf) -> HostAnswer | None:
        """Return the valid answer for a host; None when it must be looked up.

        Args:
            host: Its name.
            now: Seconds since the epoch.
            since: The start of the wait for the answer, in the same time: answers that arrived
                after it are valid, however short their time to live.
        """
        answer = self.latest(host)
        if answer is None:
            return None
        return answer if answer.expires > now or answer.learned >= since else None

    def latest(self, host: str) -> HostAnswer | None:
        """Return the last answer for a host, expired or not; None when there was none."""
        answer = self._recent.get(host)
        if answer is None:
            row = self._store.get(_FAMILY, _PREFIX_NAMES + host.encode())
            if row is None:
                return None
            answer = self._remember(host, self._decoder.decode(row))
        return answer

    def address(self, url: str) -> str:
        """Address of the host of a URL, as it was last known; "" when it never was."""
        name = host_of(url)
        if is_ip(name):
            return name.strip("[]")
        answer = self.latest(name)
        return answer.addresses[0] if answer is not None and answer.addresses else ""

    def put(self, host: str, answer: HostAnswer) -> None:
        """Keep an answer; joins the open commit group."""
        self._store.put(_FAMILY, _PREFIX_NAMES + host.encode(), msgspec.msgpack.encode(answer))
        self._remember(host, answer)

    def drop(self, host: str) -> None:
        """Know nothing of a host, so that it is looked up again."""
        self._store.delete(_FAMILY, _PREFIX_NAMES + host.encode())
        self._recent.pop(host, None)

    def _remember(self, host: str, answer: HostAnswer) -> HostAnswer:
        self._recent[host] = answer
        self._recent.move_to_end(host)
        if len(self._recent) > self._capacity:
            self._recent.popitem(last=False)
        return answer


FAILED_TTL = 600.0
"""How long a name that could not be resolved is taken as such, seconds."""

STALE = 30 * 86400.0
"""How long an old robots.txt may replace one that cannot be reached, seconds (RFC 9309 2.4
lets a crawler use it, 2.3.1.4 contains the 30 days)."""

_CODING = 1024
"""Bytes that a coded file may be larger than its content."""

_LONGEST_ERROR = 500
"""Characters that are kept of why a robots.txt could not be fetched."""

_ANSWERED = frozenset((RobotsState.RULES, RobotsState.ALLOW))


class Answers:
    """Stores the results of `dns:` and robots.txt visits, in the commit group of their capture."""

    def __init__(
        self, hosts: HostAnswers, robots: RobotsCache, settings: Effective[RobotsSettings]
    ) -> None:
        self._hosts = hosts
        self._robots = robots
        self._settings = settings

    def learn(self, visit: Visit, now: float) -> None:
        """Store the result of a final visit, if it was such a prerequisite."""
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
        once = ROBOTS_OPTIONAL in visit.uri.heritable
        row = RobotsRow(
            outcome, expires, status=visit.status, fetched=now, error=error, learned=now, once=once
        )
        if capture is not None and outcome is RobotsState.RULES:
            return structs.replace(row, text=self._text(visit, capture))
        if capture is not None and outcome is RobotsState.REDIRECT:
            return self._follow_redirect(row, visit, capture)
        return row

    def _follow_redirect(self, row: RobotsRow, visit: Visit, capture: Capture) -> RobotsRow:
        """Where the rules are; more redirects than are followed count as 4xx (2.3.1.2)."""
        heritable = visit.uri.heritable
        followed = int(heritable.get(ROBOTS_REDIRECTS, "0")) + 1
        most = self._settings[visit.overlay].max_redirects
        location = redirect_location(capture.headers)
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
