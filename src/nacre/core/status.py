"""Fetch status: HTTP codes and the crawler's own negative ones, in one table.

Source: Heritrix 3, `FetchStatusCodes`. Codes of processors that come later (quotas, crawl mappers,
logins) stand here already, so that no log ever changes its meaning.
"""

from enum import Enum, IntEnum
from typing import NamedTuple


class Counted(Enum):
    """How a finished URI is counted."""

    SUCCESS = "success"
    FAILURE = "failure"
    DISREGARDED = "disregarded"


_SUCCESS = Counted.SUCCESS  # the way to a member of an enumeration is long


class FetchStatus(IntEnum):
    """The crawler's own codes; positive ones below 1000 are HTTP's."""

    DNS_OK = 1
    UNATTEMPTED = 0
    DNS_FAILED = -1
    CONNECT_FAILED = -2
    CONNECTION_LOST = -3
    TIMEOUT = -4
    RUNTIME_EXCEPTION = -5
    PREREQUISITE_DNS_FAILED = -6
    UNFETCHABLE = -7
    DEFERRED = -50
    PREREQUISITE_ROBOTS_FAILED = -61
    PREREQUISITE_FAILED = -62
    PREREQUISITE_UNSCHEDULABLE = -63
    OUT_OF_SCOPE = -5000
    BLOCKED_BY_USER = -5001
    BLOCKED_BY_PROCESSOR = -5002
    BLOCKED_BY_QUOTA = -5003
    BLOCKED_BY_RUNTIME = -5004
    DELETED = -6000
    KILLED = -7000
    ROBOTS_PRECLUDED = -9998


class StatusFacts(NamedTuple):
    """What the crawler does with a status.

    Attributes:
        name: Short name for reports.
        meaning: One sentence for the operator.
        retryable: The frontier tries again, within its limits.
        counted: How the URI counts when it is final.
    """

    name: str
    meaning: str
    retryable: bool
    counted: Counted


_S, _F, _D = Counted.SUCCESS, Counted.FAILURE, Counted.DISREGARDED

STATUS_TABLE: dict[FetchStatus, StatusFacts] = {
    FetchStatus.DNS_OK: StatusFacts("dns-ok", "The name was resolved.", False, _S),
    FetchStatus.UNATTEMPTED: StatusFacts("unattempted", "Never tried.", False, _F),
    FetchStatus.DNS_FAILED: StatusFacts("dns-failed", "The name could not be resolved.", True, _F),
    FetchStatus.CONNECT_FAILED: StatusFacts(
        "connect-failed", "No connection, or its TLS handshake failed.", True, _F
    ),
    FetchStatus.CONNECTION_LOST: StatusFacts(
        "connection-lost", "The connection ended before a usable reply.", True, _F
    ),
    FetchStatus.TIMEOUT: StatusFacts("timeout", "No usable reply within the limit.", True, _F),
    FetchStatus.RUNTIME_EXCEPTION: StatusFacts(
        "runtime-exception", "A fault of the crawler; see runtime-errors.log.", False, _F
    ),
    FetchStatus.PREREQUISITE_DNS_FAILED: StatusFacts(
        "prerequisite-dns-failed", "The name of its host could not be resolved.", False, _F
    ),
    FetchStatus.UNFETCHABLE: StatusFacts(
        "unfetchable", "No URI that can be fetched, or an address that is refused.", False, _F
    ),
    FetchStatus.DEFERRED: StatusFacts(
        "deferred", "Waits for a prerequisite, at no cost.", True, _D
    ),
    FetchStatus.PREREQUISITE_ROBOTS_FAILED: StatusFacts(
        "robots-failed", "robots.txt could not be had, so nothing may be fetched.", False, _F
    ),
    FetchStatus.PREREQUISITE_FAILED: StatusFacts(
        "prerequisite-failed", "Another prerequisite, such as a login, failed.", False, _F
    ),
    FetchStatus.PREREQUISITE_UNSCHEDULABLE: StatusFacts(
        "prerequisite-unschedulable", "Its prerequisite could not be scheduled.", False, _F
    ),
    FetchStatus.OUT_OF_SCOPE: StatusFacts(
        "out-of-scope", "Found out of scope, or hopeless, when it was looked at again.", False, _D
    ),
    FetchStatus.BLOCKED_BY_USER: StatusFacts(
        "blocked-by-user", "A setting of the operator blocks it.", False, _D
    ),
    FetchStatus.BLOCKED_BY_PROCESSOR: StatusFacts(
        "blocked-by-processor", "A processor, such as a crawl mapper, sent it away.", False, _D
    ),
    FetchStatus.BLOCKED_BY_QUOTA: StatusFacts("over-quota", "A quota was reached.", False, _F),
    FetchStatus.BLOCKED_BY_RUNTIME: StatusFacts(
        "over-runtime", "The time limit of the crawl was reached.", False, _F
    ),
    FetchStatus.DELETED: StatusFacts("deleted", "Deleted by the operator.", False, _D),
    FetchStatus.KILLED: StatusFacts(
        "killed", "Its processing was ended by the operator.", False, _F
    ),
    FetchStatus.ROBOTS_PRECLUDED: StatusFacts(
        "robots-precluded", "robots.txt disallows it.", False, _D
    ),
}


def counted(status: int) -> Counted:
    """How a final status counts: HTTP replies of any code are successes (they were captured)."""
    if status > 0:
        return _SUCCESS
    facts = STATUS_TABLE.get(FetchStatus(status)) if status in _KNOWN else None
    return facts.counted if facts else Counted.FAILURE


def describe(status: int) -> str:
    """One sentence about a status, for `explain` and reports."""
    if status in _KNOWN:
        return STATUS_TABLE[FetchStatus(status)].meaning
    if status == _PROXY_ASKS:
        return f"HTTP status {status}: the proxy asks for a name and a password (fetch.proxy)."
    return f"HTTP status {status}." if status > 0 else f"Unknown status {status}."


_PROXY_ASKS = 407
_KNOWN = frozenset(int(s) for s in FetchStatus)
