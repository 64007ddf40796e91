"""crawl.log, in Heritrix's exact format: one line for each URI that is final.

Source: Heritrix 3, `UriProcessingFormatter`. Nothing from the web can break a line: blanks and
control characters inside a field become `%20` and so on.
"""

import json
from datetime import UTC, datetime

from nacre import annotations
from nacre.core.processor import Visit
from nacre.report.escape import safe

_FIELDS = 9
"""Fields after the two that are padded with blanks."""


class LogTimes:
    """Formats times of log lines; the part above milliseconds is remembered."""

    __slots__ = ("_dashed", "_digits", "_second")

    def __init__(self) -> None:
        self._second = -1
        self._dashed = ""
        self._digits = ""

    def _set(self, second: int) -> None:
        moment = datetime.fromtimestamp(second, UTC)
        self._second = second
        self._dashed = moment.strftime("%Y-%m-%dT%H:%M:%S")
        self._digits = moment.strftime("%Y%m%d%H%M%S")

    def dashed(self, now: float) -> str:
        """`2026-11-20T15:11:00.123Z`."""
        second, milli = divmod(int(now * 1000), 1000)
        if second != self._second:
            self._set(second)
        return f"{self._dashed}.{milli:03d}Z"

    def seconds(self, now: float) -> str:
        """`2026-11-20T15:11:00Z`."""
        second = int(now)
        if second != self._second:
            self._set(second)
        return f"{self._dashed}Z"

    def digits(self, micros: int) -> str:
        """17 digits, to the millisecond, of µs since the epoch."""
        second, remainder = divmod(micros, 1_000_000)
        if second != self._second:
            self._set(second)
        return f"{self._digits}{remainder // 1000:03d}"


class CrawlLog:
    """Makes the lines.

    Args:
        extra_info: Append the JSON object of Heritrix's `logExtraInfo`.
    """

    def __init__(self, *, extra_info: bool = False) -> None:
        self._extra_info = extra_info
        self._logged = LogTimes()
        self._started = LogTimes()

    def line(self, visit: Visit, now: float) -> bytes:
        """Return the line of a final visit, with its line feed.

        Args:
            visit: The visit.
            now: Instant of logging, seconds since the epoch.
        """
        uri, capture = visit.uri, visit.capture
        size, start, digest = "-", "-", "-"
        if capture is not None:
            # Heritrix's UriProcessingFormatter: `-` for 0 only if there was no reply of HTTP.
            size = str(capture.body.length or _of_nothing(visit))
            start = f"{self._started.digits(capture.began)}+{capture.duration}"
            digest = capture.payload_digest or "-"
        attempts = uri.attempts + 1
        annotated = visit.annotations or attempts > 1
        fields = (
            f"{uri.url} {uri.path or '-'} {uri.via or '-'} {visit.mime or 'unknown'} "
            f"#{visit.toe:03d} {start} {digest} {uri.source or '-'} "
            f"{_annotations(visit.annotations, attempts) if annotated else '-'}"
        )
        # Nearly all lines are clean, and one check of the whole line is cheap.
        if not fields.isprintable() or fields.count(" ") != _FIELDS - 1:
            fields = _clean(visit, start, digest, attempts)
        head = f"{self._logged.dashed(now)} {visit.status:>5} {size:>10} "
        tail = f" {_extra(visit)}\n" if self._extra_info else "\n"
        return f"{head}{fields}{tail}".encode("utf-8", "backslashreplace")


def _of_nothing(visit: Visit) -> str:
    """Return the size of an empty body."""
    replied = visit.status > 0 and visit.uri.url.startswith(("http:", "https:"))
    return "0" if replied else "-"


def _clean(visit: Visit, start: str, digest: str, attempts: int) -> str:
    """Return the fields, each one made safe."""
    uri = visit.uri
    fields = (
        safe(uri.url),
        safe(uri.path),
        safe(uri.via),
        safe(visit.mime or "unknown"),
        f"#{visit.toe:03d}",
        start,
        safe(digest),
        safe(uri.source),
        safe(_annotations(visit.annotations, attempts)),
    )
    return " ".join(fields)


def _annotations(noted: list[str], attempts: int) -> str:
    """Joined by commas, the number of attempts first when there were several."""
    words = [annotations.attempts(attempts)] if attempts > 1 else []
    words += [word.replace(",", "%2C") for word in noted if word]
    return ",".join(words)


def _extra(visit: Visit) -> str:
    facts: dict[str, str | int] = {}
    capture = visit.capture
    if capture is not None:
        facts["contentSize"] = len(capture.head) + capture.body.length
    if visit.warc_file:
        facts["warcFilename"] = visit.warc_file
        facts["warcFileOffset"] = visit.warc_offset
    facts |= visit.extra
    return json.dumps(facts, separators=(",", ":"))
