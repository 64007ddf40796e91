"""Fetch status: HTTP codes and the crawler's negative codes, in one table, and causes in words.

Source: Heritrix 3, `FetchStatusCodes`. Codes of processors that come later (quotas, crawl mappers,
logins) are defined here already, so that no log ever changes its meaning. `cause` says why a URL
was not fetched: its status, error text and tries as one sentence.
"""

import re
from enum import Enum, IntEnum
from typing import NamedTuple

from nacre.messages import message, static


class CountedAs(Enum):
    """The way in which a finished URI is counted."""

    SUCCESS = "success"
    FAILURE = "failure"
    DISREGARDED = "disregarded"


_SUCCESS = CountedAs.SUCCESS  # the way to a member of an enumeration is long


class FetchStatus(IntEnum):
    """The crawler's own codes; positive codes below 1000 are those of HTTP."""

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
    """The meaning of a status for the crawler.

    Attributes:
        name: Short name for reports.
        meaning: One sentence for the operator.
        retryable: The frontier tries again, within its limits.
        counted: How the URI counts when it is final.
    """

    name: str
    meaning: str
    retryable: bool
    counted: CountedAs


_S, _F, _D = CountedAs.SUCCESS, CountedAs.FAILURE, CountedAs.DISREGARDED

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
        "runtime-exception", "An error in the crawler; see runtime-errors.log.", True, _F
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
        "robots-failed", "robots.txt could not be fetched, so nothing may be fetched.", False, _F
    ),
    FetchStatus.PREREQUISITE_FAILED: StatusFacts(
        "prerequisite-failed", "Another prerequisite, such as a login, failed.", False, _F
    ),
    FetchStatus.PREREQUISITE_UNSCHEDULABLE: StatusFacts(
        "prerequisite-unschedulable", "Its prerequisite could not be scheduled.", False, _F
    ),
    FetchStatus.OUT_OF_SCOPE: StatusFacts(
        "out-of-scope",
        "Out of scope, or without prospect, when it was checked again before its fetch.",
        False,
        _D,
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


def counted(status: int) -> CountedAs:
    """Return the counter of a final status: HTTP replies of any code are successes (captures)."""
    if status > 0:
        return _SUCCESS
    facts = STATUS_TABLE.get(FetchStatus(status)) if status in _KNOWN else None
    return facts.counted if facts else CountedAs.FAILURE


def describe(status: int) -> str:
    """One sentence about a status, for `explain` and reports."""
    if status in _KNOWN:
        meaning = STATUS_TABLE[FetchStatus(status)].meaning.rstrip(".")
        return message("status.meaning", "{meaning}.", meaning=static(meaning))
    if status == _PROXY_ASKS:
        return message(
            "status.proxy-password",
            "HTTP status {status}: the proxy asks for a name and a password (fetch.proxy).",
            status=status,
        )
    if status > 0:
        return message("status.http", "HTTP status {status}.", status=status)
    return message("status.unknown", "Unknown status {status}.", status=status)


_PROXY_ASKS = 407
_KNOWN = frozenset(int(s) for s in FetchStatus)


_ERRNO = re.compile(r" \(errno \d+\)")
_SSL = re.compile(r"\[(?:SSL|X509)[^\]]*\] | \(_ssl\.c:\d+\)")
_PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    410: "Gone",
    414: "URI Too Long",
    429: "Too Many Requests",
    451: "Unavailable For Legal Reasons",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
"""Of the IANA registry of HTTP status codes, those that are met."""
_PLAIN = (
    ("says NXDOMAIN", "reports that there is no such name (NXDOMAIN)"),
    ("connection: Connection ", "connection "),
    ("connection: ", "connection "),
)


def cause(status: int, error: str = "") -> str:
    """Return the reason why a URL was not fetched, in words: `connection refused`.

    Args:
        status: Its fetch status.
        error: The error in the fetcher's words; "" if the status suffices.
    """
    if status == _PROXY_ASKS:
        return describe(status).rstrip(".")
    if status > 1:
        phrase = _PHRASES.get(status, "")
        return f"the server answered {status}" + (f" ({phrase})" if phrase else "")
    if status == FetchStatus.UNATTEMPTED and not error:
        return "not tried yet"
    text = _SSL.sub("", _ERRNO.sub("", error)).strip()
    for technical, plain in _PLAIN:
        text = text.replace(technical, plain)
    if not text:
        facts = STATUS_TABLE.get(FetchStatus(status)) if status in set(FetchStatus) else None
        text = (facts.meaning if facts else describe(status)).rstrip(".")
    if status == FetchStatus.TIMEOUT and "reply" not in text:
        return f"no reply: {text}"
    return _lower_first(text)


def with_tries(text: str, tries: int, next_in: str = "") -> str:
    """Return a cause with past and next tries: `connection refused, tried 3 times, next in 4 min`.

    Args:
        text: The cause.
        tries: Tries so far; one is not worth a word.
        next_in: When it is tried again, in words; "" when it is not.
    """
    parts = [text]
    if tries > 1 or (tries and next_in):
        parts.append(_TIMES.get(tries) or f"tried {tries} times")
    if next_in:
        parts.append(next_in)
    return ", ".join(parts)


_TIMES = {1: "tried once", 2: "tried twice"}


def _lower_first(text: str) -> str:
    """Small at the beginning, where that is a plain word."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first.istitle() else text
