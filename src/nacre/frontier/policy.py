"""The frontier's decisions, without side effects: rank, cost, delay, backoff and retries.

`rank` computes the place of a URI in its queue and its cost, `queue_precedence` when a queue has
its turn, `politeness_delay` and `next_backoff` how long a queue waits after a fetch, and
`retry_decision` whether a URI is tried again. Source: Heritrix 3 (queues, politeness, precedence
policies, cost policies); the backoff is this project's own.
"""

import re
from enum import Enum, StrEnum
from typing import NamedTuple

from nacre.core.crawluri import DEAD, CrawlURI, Directive, Hop, hop_count, split_path
from nacre.core.status import FetchStatus
from nacre.frontier.settings import (
    CostPolicy,
    FrontierSettings,
    PolitenessSettings,
    QueuePrecedence,
    UriPrecedence,
)

_CALENDAR = re.compile(
    r"calend(?:ar|rier)|year|month|day|date|event|jour|viewcal|yr=|[^0-9](?:19|20)[0-9]{2}[^0-9]",
    re.IGNORECASE,
)


def cost_of(policy: CostPolicy, url: str, via: str = "") -> int:
    """Cost of one attempt.

    Args:
        policy: `unit`: 1. `zero`: 0. `wag`: 1, 1 more for a query, and another 1 if the part
            before the query is a prefix of the via. `anti-calendar`: 1, and 1 more for a URL that
            looks like a page of a calendar (once, however often it does).
        url: The URL.
        via: URL of the page it was found on; "" for a seed.
    """
    if policy == "unit":
        return 1
    if policy == "zero":
        return 0
    if policy == "anti-calendar":
        return 2 if _CALENDAR.search(url) else 1
    path, question, _ = url.partition("?")
    if not question:
        return 1
    return 3 if via.startswith(path) else 2


MAX_PRECEDENCE = 127
"""Of a URI; a queue's goes to 255."""

MAX_QUEUE_PRECEDENCE = 255


def uri_precedence(choice: UriPrecedence, cost: int, path: str) -> int:
    """Precedence of a URI, 0 to 127; under `preloaded` that of a URI which its file leaves out.

    Args:
        choice: The policy.
        cost: Its cost.
        path: Its hop path.
    """
    if choice.policy == "cost":
        value = cost
    elif choice.policy in {"base", "preloaded"}:
        value = choice.base
    else:
        value = choice.base + (_links(path) if choice.navlinks_only else hop_count(path))
    return min(value, MAX_PRECEDENCE)


def _links(path: str) -> int:
    """Link hops of a path; hops that it gives only as a number count as links."""
    overflow, letters = split_path(path)
    return overflow + letters.count(Hop.LINK)


def queue_precedence(choice: QueuePrecedence, successes: int = 0, lowest: int = 0) -> int:
    """Precedence of a queue, 0 to 255.

    Args:
        choice: The policy.
        successes: URIs of it that were fetched with success.
        lowest: Lowest precedence among its URIs; 0 when it has none.
    """
    value = choice.base
    if choice.policy == "highest-uri":
        value += lowest
    elif choice.policy == "success-counts":
        value += _tiers(choice.increments, successes)
    return min(value, MAX_QUEUE_PRECEDENCE)


def _tiers(increments: tuple[int, ...], successes: int) -> int:
    """Steps passed: the last one repeats."""
    steps = 0
    for increment in increments[:-1]:
        if successes < increment:
            return steps
        successes -= increment
        steps += 1
    return steps + successes // increments[-1]


THROTTLED = frozenset((429, 503))
_LIMIT = 64.0
_SMOOTHING = 0.1
_SLOW = 3.0
_SLOW_MS = 500.0


class Backoff(NamedTuple):
    """The state of a queue's adaptive backoff: how much longer than usual it waits.

    Attributes:
        factor: After refusals the wait is multiplied by it, up to `backoff_up_to`; 1 is normal.
        latency: Smoothed time to the first byte, ms; 0 before the first reply.
        slowness: After slow replies the wait is multiplied by it, up to `max_delay`; 1 is normal.
    """

    factor: float = 1.0
    latency: float = 0.0
    slowness: float = 1.0


def next_backoff(
    settings: PolitenessSettings, state: Backoff, status: int, latency_ms: float
) -> Backoff:
    """Return the state after one fetch.

    429 and 503 double the factor. A first byte that takes three times as long as usual, and half a
    second more, raises the slowness by half and leaves the factor. Any other reply lets both
    decay. Under a fixed delay latency does not count.

    Args:
        settings: The current politeness.
        state: The state before.
        status: Fetch status.
        latency_ms: Time to the first byte, ms.
    """
    if status <= 0 or not settings.backoff_up_to:
        return state
    usual = state.latency
    latency = usual + _SMOOTHING * (latency_ms - usual) if usual else latency_ms
    if status in THROTTLED:
        return Backoff(min(state.factor * 2.0, _LIMIT), usual, state.slowness)
    slow = usual and latency_ms > max(_SLOW * usual, usual + _SLOW_MS)
    if slow and settings.delay is None:
        return Backoff(state.factor, latency, min(state.slowness * 1.5, _LIMIT))
    return Backoff(max(1.0, state.factor * 0.8), latency, max(1.0, state.slowness * 0.8))


# The way to a member of an enumeration is long.
_LINK, _MANIFEST, _REDIRECT, _NORMAL = Hop.LINK, Hop.MANIFEST, Hop.REDIRECT, Directive.NORMAL

STARVED_WAIT = 10.0
"""Seconds before a URI is tried again for which the crawler had no file handle."""
FAULT_WAIT = 5.0
"""Seconds before the retry of a URI that failed by an internal error of the crawler."""

_AT_THE_END = 30 * 86_400.0
"""Seconds after which a dead seed is tried again, if something else is left for that long."""

LEAST_RETRIED = min(THROTTLED)
"""No reply below this status is retried, unless it was cut short."""

_UNREACHABLE = frozenset(
    int(status)
    for status in (
        FetchStatus.DNS_FAILED,
        FetchStatus.CONNECT_FAILED,
        FetchStatus.CONNECTION_LOST,
        FetchStatus.TIMEOUT,
    )
)


class Rank(NamedTuple):
    """The place of a URI in its queue: lower goes first.

    Attributes:
        directive: `Directive`.
        precedence: 0 to 127, within the directive.
        cost: What one attempt costs its queue.
    """

    directive: Directive
    precedence: int
    cost: int


class RetryKind(Enum):
    """Attempts that are repeated, each kind so often."""

    UNREACHABLE = "unreachable"
    THROTTLED = "throttled"
    TRUNCATED = "truncated"
    STARVED = "starved"


class Retry(NamedTuple):
    """Try again.

    Attributes:
        at: Earliest time, seconds since the epoch.
        hold: The whole queue waits until then; else only the URI.
        kind: Kind of the attempt, for counts.
    """

    at: float
    hold: bool = False
    kind: RetryKind = RetryKind.UNREACHABLE


class LastTriesPhase(NamedTuple):
    """Nothing but retries is left.

    Attributes:
        since: Since when (`Frontier.last_since`), seconds since the epoch.
        within: Time for the last tries, seconds; None for that of the settings.
        once: One more try is all that this URI has (`Frontier.tries_once`).
    """

    since: float
    within: float | None = None
    once: bool = False


class Final(NamedTuple):
    """Do not try again.

    Attributes:
        reason: For the operator: `done`, `retries used up`, `nothing else left`.
    """

    reason: str


DONE = Final("done")


class AttemptOutcome(NamedTuple):
    """The outcome of an attempt, as far as retries need it.

    Attributes:
        status: Fetch status.
        truncated: The body was cut short.
        retry_after: Wait that the server requested, seconds; 0 without a request.
        last_delay: Last politeness delay of the queue, seconds.
        starved: Whether the crawler was out of file handles; no request was sent.
    """

    status: int
    truncated: bool = False
    retry_after: float = 0.0
    last_delay: float = 0.0
    starved: bool = False


def trans_hops(path: str) -> int:
    """Hops at the end of a path, back to the last link (L) or sitemap entry (M)."""
    letters = split_path(path)[1]
    return len(letters) - 1 - max(letters.rfind(_LINK), letters.rfind(_MANIFEST))


_EXTRA = frozenset((Hop.EMBED, Hop.SPECULATIVE, Hop.INFERRED))
_FOR_OTHERS = f"{Hop.REDIRECT}{Hop.PREREQUISITE}"


def is_extra(path: str) -> bool:
    """Return whether a hop path leads to no page: an embed or a guess, also after redirects."""
    return split_path(path)[1].rstrip(_FOR_OTHERS)[-1:] in _EXTRA


def directive_of(settings: FrontierSettings, path: str, *, is_seed: bool = False) -> Directive:
    """Scheduling directive of a candidate; that of a prerequisite is `prerequisite_rank`'s."""
    depth = settings.preference_depth_hops
    if path.endswith(_REDIRECT):
        return Directive.HIGH if depth >= 0 else Directive.MEDIUM
    if depth == 0 or (depth > 0 and hop_count(path) <= depth):
        return Directive.HIGH
    if is_seed or not path:
        return Directive.MEDIUM
    if 0 < trans_hops(path) <= settings.preference_embed_hops:
        return Directive.MEDIUM
    return _NORMAL


def rank(
    settings: FrontierSettings, path: str, *, is_seed: bool = False, url: str = "", via: str = ""
) -> Rank:
    """Directive, precedence and cost of a candidate.

    Args:
        settings: The frontier's.
        path: Its hop path.
        is_seed: It is a seed.
        url: Its URL.
        via: URL of the page it was found on; "" for none.
    """
    cost = cost_of(settings.cost, url, via)
    precedence = uri_precedence(settings.uri_precedence, cost, path)
    return Rank(directive_of(settings, path, is_seed=is_seed), precedence, cost)


def prerequisite_rank(uri: CrawlURI) -> Rank:
    """Return the rank of a prerequisite of `uri`: one directive sooner, and never after it.

    A URI that already has the highest directive is overtaken by precedence.
    """
    if uri.directive > Directive.HIGHEST:
        return Rank(Directive(uri.directive - 1), min(uri.precedence, MAX_PRECEDENCE), uri.cost)
    return Rank(Directive.HIGHEST, max(0, uri.precedence - 1), uri.cost)


class DelayCause(StrEnum):
    """Causes of a politeness delay. The values are stored in rows of queues."""

    UNKNOWN = ""
    FIXED = "fixed"
    DURATION = "duration"
    SLOW = "slow"
    REFUSED = "refused"
    CRAWL_DELAY = "crawl-delay"
    RETRY_AFTER = "retry-after"
    BANDWIDTH = "bandwidth"


def delay_limit(settings: PolitenessSettings, cause: str) -> float:
    """Longest delay of a cause, seconds; 0 if no setting of politeness bounds it.

    Args:
        settings: The current politeness.
        cause: A value of `DelayCause`.
    """
    match cause:
        case DelayCause.DURATION | DelayCause.SLOW:
            return settings.max_delay
        case DelayCause.REFUSED:
            return settings.backoff_up_to
        case DelayCause.CRAWL_DELAY:
            return settings.respect_crawl_delay_up_to
        case DelayCause.RETRY_AFTER:
            return settings.respect_retry_after_up_to
        case _:
            return 0.0


class Pace(NamedTuple):
    """A politeness delay.

    Attributes:
        delay: Seconds.
        cause: What decided it.
    """

    delay: float
    cause: DelayCause

    def at_least(self, delay: float, cause: DelayCause) -> "Pace":
        """Return the longer of this delay and another one."""
        return Pace(delay, cause) if delay > self.delay else self


def politeness_delay(
    settings: PolitenessSettings,
    fetch_ms: float,
    crawl_delay: float | None = None,
    retry_after: float | None = None,
    backoff: Backoff | None = None,
) -> float:
    """Seconds that a queue waits after a fetch; see `pace_after`."""
    return pace_after(settings, fetch_ms, crawl_delay, retry_after, backoff).delay


def pace_after(
    settings: PolitenessSettings,
    fetch_ms: float,
    crawl_delay: float | None = None,
    retry_after: float | None = None,
    backoff: Backoff | None = None,
) -> Pace:
    """Return how long a queue waits after a fetch, and why.

    Args:
        settings: The current politeness.
        fetch_ms: Duration of the fetch, ms.
        crawl_delay: Crawl-delay of robots.txt, seconds; None when there is none.
        retry_after: Wait that the server requested, seconds; None without a request.
        backoff: State of the adaptive backoff; None when it is off.
    """
    if settings.delay is not None:
        pace = Pace(settings.delay, DelayCause.FIXED)
    else:
        wait = settings.delay_factor * fetch_ms / 1000.0
        least = min(max(wait, settings.min_delay), settings.max_delay)
        pace = Pace(least, DelayCause.DURATION)
    if backoff is not None:
        pace = _longer(settings, pace, backoff)
    if crawl_delay is not None and crawl_delay > pace.delay:
        most = settings.respect_crawl_delay_up_to
        pace = pace.at_least(min(crawl_delay, most), DelayCause.CRAWL_DELAY)
    if retry_after is not None and retry_after > pace.delay:
        most = settings.respect_retry_after_up_to
        pace = pace.at_least(min(retry_after, most), DelayCause.RETRY_AFTER)
    return pace


def _longer(settings: PolitenessSettings, usual: Pace, backoff: Backoff) -> Pace:
    """Apply the backoff. Refusals multiply the usual delay, not the one of slow replies."""
    base, pace = max(usual.delay, 1.0), usual
    if settings.backoff_up_to and settings.delay is None and backoff.slowness > 1.0:
        pace = pace.at_least(min(base * backoff.slowness, settings.max_delay), DelayCause.SLOW)
    if backoff.factor > 1.0:
        pace = pace.at_least(min(base * backoff.factor, settings.backoff_up_to), DelayCause.REFUSED)
    return pace


def retry_decision(
    settings: FrontierSettings,
    uri: CrawlURI,
    ending: AttemptOutcome,
    now: float,
    last: LastTriesPhase | None = None,
) -> Retry | Final:
    """Whether an attempt is repeated. -50 is not an ending: see `Frontier.deferred`.

    Each kind of attempt is counted apart. A prerequisite (`dns:`, robots.txt) holds its queue, and
    a robots.txt that answers 5xx counts as unreachable.

    Args:
        settings: The frontier's.
        uri: As it was handed out: `attempts` were made before this one.
        ending: How this attempt ended.
        now: Seconds since the epoch.
        last: Nothing but retries is left; None before that.
    """
    retry = _next_try(settings, uri, ending, now)
    if retry is None:
        return DONE
    if getattr(uri, retry.kind.value) >= _most(settings, retry.kind):
        return Final("retries used up")
    is_dead = DEAD in uri.heritable
    if last is None:
        return retry._replace(at=now + _AT_THE_END) if is_dead else retry
    if last.once and uri.attempts:
        return Final("nothing else left")
    if is_dead:
        return retry._replace(at=now)
    within = settings.last_tries_within if last.within is None else last.within
    return _in_time(retry, now, last.since, within, settings.last_tries)


def _next_try(
    settings: FrontierSettings, uri: CrawlURI, ending: AttemptOutcome, now: float
) -> Retry | None:
    """Return the try after this one, were it allowed; None when it would not change anything."""
    status, prerequisite = ending.status, uri.is_prerequisite
    if ending.starved:
        return Retry(now + STARVED_WAIT, prerequisite, RetryKind.STARVED)
    if status == FetchStatus.RUNTIME_EXCEPTION:
        # Once: an error that comes again is a bug.
        return None if uri.last_status == status else Retry(now + FAULT_WAIT, prerequisite)
    if status in _UNREACHABLE or (prerequisite and 500 <= status < 600):
        return Retry(now + _doubled_wait(settings, uri.unreachable), prerequisite)
    if status in THROTTLED:
        wait = max(2.0 * ending.last_delay, ending.retry_after)
        return Retry(
            now + min(wait, settings.throttled_wait_max), hold=True, kind=RetryKind.THROTTLED
        )
    if ending.truncated and status > 0:
        return Retry(now + _doubled_wait(settings, uri.truncated), kind=RetryKind.TRUNCATED)
    return None


def _most(settings: FrontierSettings, kind: RetryKind) -> int:
    """Attempts of a kind after which there is no further one."""
    if kind is RetryKind.THROTTLED:
        return settings.throttled_retries
    if kind is RetryKind.TRUNCATED:
        return settings.truncated_retries
    return settings.max_retries - 1


def _doubled_wait(settings: FrontierSettings, attempts: int) -> float:
    """Return the wait before the retry that follows `attempts` earlier ones."""
    return min(settings.retry_delay * 2.0 ** min(attempts, 32), settings.retry_delay_max)


def _in_time(retry: Retry, now: float, since: float, within: float, tries: int) -> Retry | Final:
    """Once nothing but retries is left, the last tries share the time that is left for them."""
    if now - since >= within:
        return Final("nothing else left")
    return retry._replace(at=min(retry.at, now + within / tries))
