"""robots.txt of each origin: raw in the store, parsed in memory for the recent ones."""

from collections import OrderedDict
from math import inf
from typing import NamedTuple

import msgspec
from msgspec import structs

from nacre.config.effective import Effective
from nacre.scope.robots import RobotsPolicy, RobotsSettings, RobotsState
from nacre.scope.robots_rules import AgentRules
from nacre.scope.robots_txt import parse_robots
from nacre.store.store import Store

_FAMILY = "robots"
_PREFIX = b"r:"

_OBEY, _RULES = RobotsPolicy.OBEY, RobotsState.RULES  # the way to a member is long

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
        next_url: For REDIRECT: where it went.
        redirects: Redirects followed so far.
        fetched: Epoch seconds of the reply.
        error: Why there was none, in one line, for `explain`; "" when that is not known.
        learned: Epoch seconds since which this holds; 0 in rows of older versions.
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

    With the policy `custom` every origin has the operator's rules, with `ignore` none has any;
    neither looks at what was fetched.
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
        """The valid row of an origin without its text, and its rules; None: fetch it first.

        Args:
            origin: Scheme, host and port.
            now: Seconds since the epoch.
            overlay: Number of the combination of sheets under which they are asked for.
            since: When somebody began to wait for it, in the same time: a row that was learned
                after it is valid for them, however short its time to live.
        """
        settings = self._settings[overlay]
        if settings.policy is not _OBEY:
            return self._custom[overlay] if settings.policy is RobotsPolicy.CUSTOM else None
        entry = self._recent.get(origin)
        if entry is None:
            row = self.last(origin)
            if row is None:
                return None
            entry = self._remember(origin, row, settings)
        left = entry.row.expires - now
        if not 0 < left <= settings.ttl + _SET_BACK and entry.row.learned < since:
            return None
        if entry.row.state is not _RULES:
            return entry.row, None
        return entry.row, self._rules(origin, entry, self._readings[overlay])

    def _rules(self, origin: str, entry: _Entry, reading: _Reading) -> AgentRules:
        rules = entry.rules.get(reading)
        if rules is None:
            row = self.last(origin)
            rules = entry.rules[reading] = _parsed(row.text if row else b"", reading)
        return rules

    def last(self, origin: str) -> RobotsRow | None:
        """What was last kept for an origin, expired or not."""
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
            rules[reading] = _parsed(row.text, reading)
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


def _parsed(text: bytes, reading: _Reading) -> AgentRules:
    return parse_robots(text, reading.max_bytes).for_agent(reading.agent)


def _custom_rules(settings: RobotsSettings) -> tuple[RobotsRow, AgentRules]:
    rules = parse_robots(settings.custom.encode()).for_agent(settings.agent)
    return RobotsRow(RobotsState.RULES, float("inf")), rules
