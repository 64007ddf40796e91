"""The captures of a URL in a holding: all of them, that of a time, two to compare."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.lookup import CaptureIndex
from nacre.core.clock import digits14, iso_of_digits, parse_time
from nacre.errors import JobError, URIError
from nacre.messages import message
from nacre.replay.citation import clean_text
from nacre.replay.memento import timestamp_seconds
from nacre.uri.surt import index_key

MOST_CAPTURES: Final = 10_000
"""Captures of a URL that are chosen from."""
_MOST_FORMS: Final = 1_000
_LISTED: Final = 8
_BEGINNING: Final = re.compile(
    r"\d{4}(?:(?:0[1-9]|1[0-2])(?:(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])"
    r"(?:[0-5]\d(?:[0-5]\d)?)?)?)?)?",
    re.ASCII,
)
_SIGNS: Final = str.maketrans("", "", "-:TZtz ")


class CapturePair(NamedTuple):
    """Two captures to compare: the older and the newer."""

    old: IndexedCapture
    new: IndexedCapture


def captures_of(index: CaptureIndex, url: str, archive: str = "JOB") -> list[IndexedCapture]:
    """Return the captures of a URL, the oldest first, those of POST and PUT requests too.

    Args:
        index: The index of the holding.
        url: The URL.
        archive: The argument of commands for the holding, for the message.

    Raises:
        JobError: There are none, or it is no URL.
        StorageError: An index cannot be read.
    """
    text = url.strip()
    try:
        key = index_key(text if ":" in text else f"http://{text}").replace(" ", "%20")
    except URIError as error:
        raise JobError(
            message("ops.not-a-url", "{url} is no URL: {error}", url=clean_text(url), error=error)
        ) from error
    captures = index.exact(key) or [
        capture
        for capture in index.prefix(f"{key.partition('?')[0]}?", limit=_MOST_FORMS)
        if capture.method and index_key(capture.url).replace(" ", "%20") == key
    ]
    if not captures:
        raise JobError(
            message(
                "ops.url-not-captured",
                "there is no capture of {url}. Check the spelling, or list the captures: "
                "`nacre captures {archive}`",
                url=clean_text(url),
                archive=archive,
            )
        )
    return sorted(captures, key=lambda capture: capture.order[1:])[-MOST_CAPTURES:]


def choose_capture(captures: Sequence[IndexedCapture], at: str) -> IndexedCapture:
    """Return the capture of a time.

    Args:
        captures: The captures of a URL, the oldest first; at least one.
        at: Its place `WARC:OFFSET`; a time in ISO 8601 or as digits, or the beginning of one: the
            last capture that begins so, else the nearest in time; "" for the last.

    Raises:
        JobError: It is no time.
    """
    by_place = next((capture for capture in captures if capture.id == at), None)
    if by_place is not None or not at:
        return by_place or captures[-1]
    digits = read_digits(at)
    beginning = [capture for capture in captures if capture.timestamp.startswith(digits)]
    if beginning:
        return beginning[-1]
    aim = timestamp_seconds(digits)
    return min(captures, key=lambda capture: abs(timestamp_seconds(capture.timestamp) - aim))


def read_digits(text: str) -> str:
    """Return a time that a user typed as up to 14 digits.

    Raises:
        JobError: It is no time.
    """
    plain = text.strip().translate(_SIGNS)
    if _BEGINNING.fullmatch(plain):
        return plain
    try:
        return digits14(parse_time(text))
    except ValueError:
        raise JobError(
            message(
                "ops.no-time",
                "{text} is no time. Write it as 2026-11-20T10:00:00Z, as 14 digits, or the "
                "beginning of one",
                text=clean_text(text),
            )
        ) from None


def choose_pair(
    captures: Sequence[IndexedCapture], others: Sequence[IndexedCapture], old: str, new: str
) -> CapturePair:
    """Return two captures to compare.

    Args:
        captures: The captures of the URL, the oldest first.
        others: Those of the URL of the newer capture; the same for one URL.
        old: The older capture, see `choose_capture`; "" for the last one before the newer with
            another payload, else the preceding one.
        new: The newer capture; "" for the last.

    Raises:
        JobError: There are no two captures, or a time is none.
    """
    newer = choose_capture(others, new)
    if old:
        return CapturePair(choose_capture(captures, old), newer)
    earlier = [capture for capture in captures if capture.order[1:] < newer.order[1:]]
    if captures is not others and not earlier:
        earlier = list(captures)
    if not earlier:
        raise JobError(
            message(
                "ops.no-two-captures",
                "{url} has no two captures to compare; there are: {dates}. Crawl it again, or "
                "compare it with another URL",
                url=clean_text(newer.url),
                dates=", ".join(
                    iso_of_digits(capture.timestamp) for capture in captures[-_LISTED:]
                ),
            )
        )
    different = [capture for capture in earlier if capture.digest != newer.digest]
    return CapturePair((different or earlier)[-1], newer)
