"""Why a URL was not got, in words for people: statuses, error texts and tries as one sentence."""

import re

from nacre.core.status import STATUS_TABLE, FetchStatus, describe

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
    ("says NXDOMAIN", "says that there is no such name (NXDOMAIN)"),
    ("connection: Connection ", "connection "),
    ("connection: ", "connection "),
)
_PROXY_ASKS = 407


def cause(status: int, error: str = "") -> str:
    """Why a URL was not got, in words: `connection refused`.

    Args:
        status: Its fetch status.
        error: What was in the way, as the fetcher says it; "" where the status says all.
    """
    if status == _PROXY_ASKS:
        return describe(status).rstrip(".")
    if status > 1:
        phrase = _PHRASES.get(status, "")
        return f"the server answered {status}" + (f" ({phrase})" if phrase else "")
    if status == FetchStatus.UNATTEMPTED and not error:
        return "not tried yet"
    text = _SSL.sub("", _ERRNO.sub("", error)).strip()
    for said, plain in _PLAIN:
        text = text.replace(said, plain)
    if not text:
        facts = STATUS_TABLE.get(FetchStatus(status)) if status in set(FetchStatus) else None
        text = (facts.meaning if facts else describe(status)).rstrip(".")
    if status == FetchStatus.TIMEOUT and "reply" not in text:
        return f"no reply: {text}"
    return _lowered(text)


def with_tries(text: str, tries: int, next_in: str = "") -> str:
    """A cause with what was and will be done: `connection refused, tried 3 times, next in 4 min`.

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


def _lowered(text: str) -> str:
    """Small at the beginning, where that is a plain word."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first.istitle() else text
