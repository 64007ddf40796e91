"""Preconditions of a fetch: the addresses of the host, and its robots.txt.

Both are separate URIs (hop P), fetched through the same queue; the URI that needs them returns to
it as -50, at no cost. It may use the answer that it waited for, even if that expired at once.
Policies that do not obey robots.txt have it fetched too, for the archive and for its sitemaps.
Source: Heritrix 3, PreconditionEnforcer.
"""

from collections import OrderedDict
from math import inf
from typing import Literal

from nacre.annotations import ROBOT_EXCLUDED
from nacre.config.effective import Effective, fixed
from nacre.core.clock import Clock
from nacre.core.processor import Result, Visit
from nacre.core.status import FetchStatus, describe
from nacre.engine.chain.entry import CHECKS, NAMES, REPLY, Entry
from nacre.engine.prerequisites import ROBOTS_FOR, HostAnswers, RobotsCache, RobotsRow
from nacre.scope.robots_txt import AgentRules, RobotsPolicy, RobotsSettings, RobotsState
from nacre.uri.parse import host, is_ip, origin, request_target

# The way to a member of an enumeration is long.
_OBEY, _IGNORE, _REDIRECT, _UNREACHABLE, _PROCEED = (
    RobotsPolicy.OBEY,
    RobotsPolicy.IGNORE,
    RobotsState.REDIRECT,
    RobotsState.UNREACHABLE,
    Result.PROCEED,
)

_DNS, _ROBOTS = "dns", "robots"

_WAITING = 100_000
"""URIs whose start of waiting is cached; an evicted URI may have to wait again."""


class CheckPreconditions(Entry):
    """Schedules `dns:` and robots.txt first, and obeys robots.txt. Settings: `robots`, `dns`."""

    heritrix = "PreconditionEnforcer"
    gives = frozenset((CHECKS,))
    uses = frozenset((NAMES, REPLY))
    processor: Literal["preconditions"] = "preconditions"


class WaitingUris:
    """Start of waiting of URIs with prerequisites. After a restart they request them again."""

    def __init__(self, capacity: int = _WAITING) -> None:
        self._capacity = capacity
        self._since: OrderedDict[str, dict[str, float]] = OrderedDict()

    def begin(self, url: str, kind: str, now: float) -> None:
        """A URI waits for a kind of prerequisite from now on (epoch seconds)."""
        self._since.setdefault(url, {})[kind] = now
        self._since.move_to_end(url)
        if len(self._since) > self._capacity:
            self._since.popitem(last=False)

    def since(self, url: str, kind: str) -> float:
        """Return the time when the wait began, epoch seconds; infinite when it does not wait."""
        waits = self._since.get(url)
        return waits.get(kind, inf) if waits else inf

    def end(self, url: str) -> None:
        """Nothing is waited for any more."""
        if self._since:
            self._since.pop(url, None)


class Preconditions:
    """Sets `visit.status` and `visit.prerequisite`; FINISH when the URI cannot be fetched now."""

    def __init__(
        self,
        answers: HostAnswers,
        robots: RobotsCache,
        settings: Effective[RobotsSettings],
        *,
        resolves: Effective[bool] | None = None,
    ) -> None:
        self._answers = answers
        self._robots = robots
        self._settings = settings
        self._resolves = resolves or fixed(True)  # noqa: FBT003 - the value itself
        self._waiting = WaitingUris()

    def accepts(self, visit: Visit) -> bool:
        """Everything but `dns:` has preconditions."""
        url = visit.uri.url
        return not url.startswith("dns:")

    def check(self, visit: Visit, now: float) -> Result:
        """Decide whether the visit may continue."""
        result = self._check(visit, now)
        if not visit.prerequisite:
            self._waiting.end(visit.uri.url)
        return result

    def _check(self, visit: Visit, now: float) -> Result:
        url = visit.uri.url
        name = host(url)
        if self._resolves[visit.overlay] and not is_ip(name):
            answer = self._answers.get(name, now, self._waiting.since(url, _DNS))
            if answer is None:
                self._waiting.begin(url, _DNS, now)
                return _defer(visit, f"dns:{name}")
            if not answer.addresses:
                return _fail(visit, FetchStatus.PREREQUISITE_DNS_FAILED, f"{name} has no address")
        # Other schemes have no robots.txt.
        web = url.startswith(("http:", "https:"))
        return self._check_robots(visit, url, now) if web else Result.PROCEED

    def _check_robots(self, visit: Visit, url: str, now: float) -> Result:
        if ROBOTS_FOR in visit.uri.heritable or not visit.asks_robots:
            return _PROCEED
        settings, site = self._settings[visit.overlay], origin(url)
        since = self._waiting.since(url, _ROBOTS)
        if settings.policy is not _OBEY and settings.fetch:
            row = self._robots.row(site, now, visit.overlay, since)
            if row is None or row.state is _REDIRECT:
                return self._ask_first(visit, site, row, now)
        if settings.policy is _IGNORE:
            return _PROCEED
        entry = self._robots.get(site, now, visit.overlay, since)
        if entry is None or entry[0].state is _REDIRECT:
            return self._ask_first(visit, site, entry[0] if entry else None, now)
        return _obey(visit, site, *entry, calculates=settings.calculate_only)

    def _ask_first(self, visit: Visit, site: str, row: RobotsRow | None, now: float) -> Result:
        """Defer it for robots.txt, or for the redirect target of robots.txt."""
        if row is not None:
            return _defer(visit, row.next_url)
        self._waiting.begin(visit.uri.url, _ROBOTS, now)
        return _defer(visit, f"{site}/robots.txt")


class CheckPreconditionsStep:
    """The preconditions as a step of the chain."""

    def __init__(self, preconditions: Preconditions, clock: Clock) -> None:
        self._preconditions = preconditions
        self._clock = clock

    def accepts(self, visit: Visit) -> bool:
        """See `Preconditions.accepts`."""
        return self._preconditions.accepts(visit)

    async def process(self, visit: Visit) -> Result:
        """See `Preconditions.check`."""
        return self._preconditions.check(visit, self._clock.now())


def _obey(
    visit: Visit, site: str, row: RobotsRow, rules: AgentRules | None, *, calculates: bool
) -> Result:
    """Apply the stored robots.txt."""
    if row.state is _UNREACHABLE:
        reason = row.error or describe(row.status).rstrip(".")
        text = f"robots.txt of {site} could not be fetched ({row.status}: {reason})"
        return _fail(visit, FetchStatus.PREREQUISITE_ROBOTS_FAILED, text)
    visit.obey((rules and rules.crawl_delay) or 0.0)
    return _PROCEED if rules is None else _judge(visit, rules, calculates=calculates)


def _judge(visit: Visit, rules: AgentRules, *, calculates: bool) -> Result:
    verdict = rules.verdict(request_target(visit.uri.url))
    if verdict.allowed:
        return _PROCEED
    visit.disallowed(verdict.line)
    if calculates:
        visit.annotate(ROBOT_EXCLUDED)
        return _PROCEED
    return _fail(visit, FetchStatus.ROBOTS_PRECLUDED, f"robots.txt says {verdict.line!r}")


def _defer(visit: Visit, prerequisite: str) -> Result:
    visit.defer(prerequisite)
    return Result.FINISH


def _fail(visit: Visit, status: FetchStatus, error: str) -> Result:
    visit.refuse(status, error)
    return Result.FINISH
