"""crawl.log, in Heritrix's exact format: one line for each URI that is final.

Source: reference/heritrix.md 1.14. Nothing from the web can break a line: blanks and control
characters inside a field become `%20` and so on.
"""

import json
from datetime import UTC, datetime

from nacre.core.capture import Capture
from nacre.core.processor import Visit

_BREAKS = {code: f"%{code:02X}" for code in (*range(0x21), 0x7F)}
_BREAKS |= dict.fromkeys((0x85, 0x2028, 0x2029), "?")


def safe(text: str) -> str:
    """A field without blanks and control characters; "-" for an empty one."""
    if not text:
        return "-"
    return text if text.isascii() and text.isalnum() else text.translate(_BREAKS)


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

    def digits(self, micros: int) -> str:
        """17 digits, to the millisecond, of µs since the epoch."""
        second, rest = divmod(micros, 1_000_000)
        if second != self._second:
            self._set(second)
        return f"{self._digits}{rest // 1000:03d}"


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
        """The line of a final visit, with its line feed."""
        uri, capture = visit.uri, visit.capture
        size, start, digest = "-", "-", "-"
        if capture is not None:
            length = _size(capture)
            size = str(length) if length else "-"
            start = f"{self._started.digits(capture.began)}+{capture.duration}"
            digest = capture.payload_digest or "-"
        line = (
            f"{self._logged.dashed(now)} {visit.status:>5} {size:>10} {uri.url} {uri.path or '-'} "
            f"{uri.via or '-'} {(visit.mime and safe(visit.mime)) or 'unknown'} #{visit.toe:03d} "
            f"{start} {digest} {(uri.source and safe(uri.source)) or '-'} {_annotations(visit)}"
        )
        if self._extra_info:
            line += " " + _extra(visit)
        return line.encode("utf-8", "backslashreplace") + b"\n"


def _size(capture: Capture) -> int:
    return capture.payload_length if capture.framing == "chunked" else capture.body.length


def _annotations(visit: Visit) -> str:
    attempts = visit.uri.attempts + 1
    if attempts <= 1 and not visit.annotations:
        return "-"
    words = [f"{attempts}t"] if attempts > 1 else []
    words += (safe(word).replace(",", "%2C") for word in visit.annotations)
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
