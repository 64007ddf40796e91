"""Values of WARC header fields (nothing that the web sent can break a line), and dates.

Source: WARC 1.1 clauses 4 and 5.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from nacre.core.base32 import encode_sha1

DATE_DIGITS = 6
"""Digits of a second that times have here: microseconds."""

_NO_SIGNS = str.maketrans("", "", "-T:.Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253402300799_000_000  # 9999-12-31T23:59:59Z, the last that W3CDTF can write


def field(text: str) -> str:
    """Return a value for a WARC header or a metadata line, which can be encoded as UTF-8.

    What cannot be printed (CR, LF, NUL, other controls, line separators, lone surrogates) is
    percent-encoded, so that the value stays on its line; blanks around it are dropped.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _percent(c) for c in text.strip())
    return text.strip()


def uri_field(uri: str) -> str:
    """Return a URI as a field value: `field`, and its blanks percent-encoded too."""
    value = field(uri)
    return value.replace(" ", "%20") if " " in value else value


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=64)
def _second_text(second: int) -> str:
    return (_EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(maxsize=64)
def _second_digits(second: int) -> str:
    return _second_text(second).translate(_NO_SIGNS)


def _within(micros: int) -> int:
    """Take a time of a broken clock to the nearest of the years 1970 to 9999."""
    return micros if 0 <= micros <= _LAST else min(max(micros, 0), _LAST)


def date_text(micros: int, digits: int = DATE_DIGITS) -> str:
    """WARC-Date of a time, in UTC.

    Times outside the years 1970 to 9999 (a broken clock) are taken to the nearest of them.

    Args:
        micros: µs since the epoch.
        digits: Digits of the fraction of a second, 0 to 6. A time that needs more (that of a
            capture before the setting was changed) has more: no date is another instant's.
    """
    second, micro = divmod(_within(micros), 1_000_000)
    fraction = f"{micro:06d}"
    if digits < DATE_DIGITS:
        fraction = fraction[:digits] + fraction[digits:].rstrip("0")
    return f"{_second_text(second)}.{fraction}Z" if fraction else f"{_second_text(second)}Z"


def cut_date(micros: int, digits: int) -> int:
    """Truncate a time, µs since the epoch, to `digits` digits of a second."""
    unit: int = 10 ** (DATE_DIGITS - digits)
    return micros - micros % unit


def date_digits(micros: int) -> str:
    """Return the digits of `date_text`, 20 of them."""
    return date_text(micros).translate(_NO_SIGNS)


def second_digits(micros: int) -> str:
    """Return the first 14 of `date_digits`: the date of an index line."""
    return _second_digits(_within(micros) // 1_000_000)


def digest_label(digest: bytes) -> str:
    """`sha1:BASE32` of 20 bytes of SHA-1."""
    return "sha1:" + encode_sha1(digest)


def digest_of(data: bytes) -> str:
    """`sha1:BASE32` of some bytes."""
    return "sha1:" + encode_sha1(hashlib.sha1(data, usedforsecurity=False).digest())


def record_uri(raw: bytes) -> str:
    """Return a record id from 16 bytes: `urn:uuid:` in the form of a version 4 UUID (RFC 9562)."""
    text = raw.hex()
    variant = "89ab"[raw[8] >> 4 & 3]
    return f"urn:uuid:{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def micros(date: str | None) -> int:
    """Return µs since the epoch of a WARC-Date; 0 for an invalid date."""
    try:
        moment = datetime.fromisoformat(date or "")
    except ValueError:
        return 0
    return (moment - _EPOCH) // timedelta(microseconds=1) if moment.tzinfo else 0


def strip_brackets(value: str) -> str:
    """Return a URI without the angle brackets that ids have."""
    return value[1:-1] if value[:1] == "<" and value[-1:] == ">" else value
