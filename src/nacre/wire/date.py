"""HTTP dates: read as tolerantly as browsers do, written in the one form that RFC 9110 wants."""

import re
from datetime import UTC, date, datetime

_SECONDS_A_DAY = 86400
_EPOCH = date(1970, 1, 1).toordinal()
_LAST = (date.max.toordinal() - _EPOCH + 1) * _SECONDS_A_DAY - 1
_FIRST_YEAR = 1601
_LONGEST = 256

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = {name.lower(): number for number, name in enumerate(_MONTHS, 1)}

# RFC 6265 5.1.1: separators of tokens, and the form of each kind of token.
_DELIMITERS = re.compile(r"[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_DELAY = re.compile(r"[0-9]+(?:\.[0-9]+)?")


class _Parts:
    """The four parts of a date, each taken from the first token that looks like it."""

    __slots__ = ("clock", "day", "month", "year")

    def __init__(self) -> None:
        self.clock: tuple[int, int, int] | None = None
        self.day = self.month = self.year = -1

    def take(self, token: str) -> None:
        """Use one token, in the order of RFC 6265 5.1.1: time, day, month, year."""
        if self.clock is None and (match := _CLOCK.match(token)):
            self.clock = int(match[1]), int(match[2]), int(match[3])
        elif self.day < 0 and (match := _DAY.match(token)):
            self.day = int(match[1])
        elif self.month < 0 and token[:3].lower() in _MONTH:
            self.month = _MONTH[token[:3].lower()]
        elif self.year < 0 and (match := _YEAR.match(token)):
            self.year = _full_year(int(match[1]))

    def seconds(self) -> float | None:
        """Seconds since the epoch; None when a part is missing or there is no such moment."""
        if self.clock is None or self.month < 0 or self.year < _FIRST_YEAR:
            return None
        hour, minute, second = self.clock
        if hour > 23 or minute > 59 or second > 59:
            return None
        try:
            day = date(self.year, self.month, self.day).toordinal() - _EPOCH
        except ValueError:
            return None
        return float(day * _SECONDS_A_DAY + hour * 3600 + minute * 60 + second)


def parse_http_date(text: str) -> float | None:
    """Read a date of an HTTP header or of a cookie.

    The three forms of RFC 9110 5.6.7 and whatever else RFC 6265 5.1.1 makes sense of; a time zone
    is ignored, since all dates are meant to be GMT. Only the first 256 characters count.

    Returns:
        Seconds since the epoch (UTC), before 1970 negative; None when it is not a date.
    """
    parts = _Parts()
    for token in _DELIMITERS.split(text[:_LONGEST]):
        if token:
            parts.take(token)
    return parts.seconds()


def format_http_date(seconds: float) -> str:
    """Write a moment as an IMF-fixdate (RFC 9110 5.6.7); fractions are cut, years end at 9999."""
    whole = int(min(max(seconds, 0), _LAST))
    days, second_of_day = divmod(whole, _SECONDS_A_DAY)
    day = date.fromordinal(days + _EPOCH)
    hour, second_of_day = divmod(second_of_day, 3600)
    minute, second = divmod(second_of_day, 60)
    return (
        f"{_DAYS[day.weekday()]}, {day.day:02} {_MONTHS[day.month - 1]} {day.year:04} "
        f"{hour:02}:{minute:02}:{second:02} GMT"
    )


def retry_after(value: str, now: float) -> float | None:
    """Return the seconds of a Retry-After header (RFC 9110 10.2.3).

    Args:
        value: The header's value: a number of seconds, or a date.
        now: Seconds since the epoch, UTC.

    Returns:
        Seconds from now; 0 for a time in the past; None for other text. It may be absurdly large,
        even infinite: the caller sets the limit.
    """
    value = value.strip()
    if _DELAY.fullmatch(value):
        return float(value)
    moment = parse_http_date(value)
    return None if moment is None else max(0.0, moment - now)


def _full_year(year: int) -> int:
    if 70 <= year <= 99:
        return year + 1900
    return year + 2000 if year <= 69 else year


_W3C = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?"
    r"\s?(Z|[+-]\d{2}:?\d{2})?)?)?)?\Z",
    re.IGNORECASE,
)


def parse_w3c_date(text: str) -> float | None:
    """Parse a date of a sitemap or feed to seconds since the epoch; None: it is no date.

    W3C-DTF from the year alone to fractions of a second, and the forms of `parse_http_date`. What
    is left out is the first of its kind; without a zone it is UTC.
    """
    match = _W3C.match(text.strip())
    if match is None:
        return parse_http_date(text)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        moment: datetime = datetime(
            year, month or 1, day or 1, hour, minute, min(second, 59), tzinfo=UTC
        )
    except ValueError:
        return None
    return moment.timestamp() - _offset(match[7])


def _offset(zone: str | None) -> float:
    if not zone or zone in {"Z", "z"}:
        return 0.0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -float(seconds) if zone[0] == "-" else float(seconds)
