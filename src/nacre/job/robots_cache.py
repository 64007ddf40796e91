"""robots.txt of each origin: raw in the store, parsed in memory for the recent ones."""

from collections import OrderedDict
from enum import StrEnum

import msgspec

from nacre.scope.robots import AgentRules, RobotsSettings, parse_robots
from nacre.store.store import Store

_FAMILY = "robots"
_PREFIX = b"r:"


class RobotsState(StrEnum):
    """What is known of an origin's robots.txt."""

    RULES = "rules"
    ALLOW = "allow"
    UNREACHABLE = "unreachable"
    REDIRECT = "redirect"


class RobotsRow(msgspec.Struct, frozen=True, array_like=True):
    """One origin.

    Attributes:
        state: What is known.
        expires: Epoch seconds; after it robots.txt is fetched again.
        text: The file's bytes, at most `RobotsSettings.max_bytes`; b"" without rules.
        status: Fetch status that led to this, for `explain`.
        next_url: For REDIRECT: where it went.
        redirects: Redirects followed so far.
    """

    state: RobotsState
    expires: float
    text: bytes = b""
    status: int = 0
    next_url: str = ""
    redirects: int = 0


class RobotsCache:
    """Rows by origin (`http://example.com:8080`), and their rules for the crawler's agents."""

    def __init__(self, store: Store, settings: RobotsSettings, capacity: int = 2_000) -> None:
        self._store = store
        self._settings = settings
        self._capacity = capacity
        self._recent: OrderedDict[str, tuple[RobotsRow, AgentRules | None]] = OrderedDict()
        self._decoder = msgspec.msgpack.Decoder(RobotsRow)

    def get(self, origin: str, now: float) -> tuple[RobotsRow, AgentRules | None] | None:
        """The valid row of an origin with its parsed rules; None when it must be fetched."""
        entry = self._recent.get(origin)
        if entry is None:
            row = self._store.get(_FAMILY, _PREFIX + origin.encode())
            if row is None:
                return None
            entry = self._remember(origin, self._decoder.decode(row))
        return entry if entry[0].expires > now else None

    def put(self, origin: str, row: RobotsRow) -> None:
        """Keep a row; joins the open commit group."""
        self._store.put(_FAMILY, _PREFIX + origin.encode(), msgspec.msgpack.encode(row))
        self._remember(origin, row)

    def _remember(self, origin: str, row: RobotsRow) -> tuple[RobotsRow, AgentRules | None]:
        rules = None
        if row.state is RobotsState.RULES:
            rules = parse_robots(row.text).for_agent(self._settings.agent)
        entry = self._recent[origin] = (row, rules)
        self._recent.move_to_end(origin)
        if len(self._recent) > self._capacity:
            self._recent.popitem(last=False)
        return entry
