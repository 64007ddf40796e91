"""Numbers, times and sizes as text: with units for people, and in Heritrix's forms (pure).

The terminal and HTML show values in the same form; Heritrix's forms are for its logs and reports.
"""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from nacre.report.document import Cell, Column, Format
from nacre.wire.urltext import readable_url

_SIZES = ("B", "KB", "MB", "GB", "TB", "PB")
_SPANS = ((365.0, "y"), (1.0, "d"), (1 / 24, "h"), (1 / 1440, "min"), (1 / 86400, "s"))
_FOR_EVER = 36_500.0


def size(count: float) -> str:
    """Bytes: `512 B`, `1.5 MB`, in thousands."""
    unit = 0
    while count >= 1000.0 and unit < len(_SIZES) - 1:
        count /= 1000.0
        unit += 1
    digits = 0 if count >= 100.0 or not unit else 1
    return f"{count:.{digits}f} {_SIZES[unit]}"


def span(days: float) -> str:
    """Return a time in days: `20 s`, `3.5 h`, `12 d`, `2.1 y`; `never` for more than a century."""
    if not days < _FOR_EVER:
        return "never"
    length, name = next((unit for unit in _SPANS if days >= unit[0]), _SPANS[-1])
    return f"{short(days / length)} {name}"


def share(part: float) -> str:
    """Return a share as per cent, with one digit more near its ends: `99.52 %`."""
    percent = 100.0 * part
    digits = 1 if 1.0 <= percent <= 99.0 or percent in {0.0, 100.0} else 2
    return f"{percent:.{digits}f} %"


def short(value: float) -> str:
    """Return a number to three digits, or whole: `0.123`, `12.3`, `1,234`."""
    if value >= 100.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NONE = "-"
"""The text for no value."""
NUMERIC = frozenset(Format) - {Format.TEXT, Format.NAME, Format.URL, Format.TIME}
"""Forms whose cells are set to the right."""


def written(cell: Cell, form: Format) -> str:
    """Return a cell as text."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return NONE
    if isinstance(cell, str):
        return (readable_url(cell) if form is Format.URL else cell) or NONE
    return _WRITERS[form](float(cell))


def heading(column: Column) -> str:
    """Return the heading of a column; for times it contains the time zone."""
    if column.form is Format.TIME and "UTC" not in column.name:
        return f"{column.name} (UTC)"
    return column.name


def url_facts(url: str) -> tuple[tuple[str, str], ...]:
    """Return a URL as people read it and, where that is another text, as it is requested."""
    text = readable_url(url)
    return (("URL", text),) if text == url else (("URL", text), ("requested as", url))


def moment(seconds: float) -> str:
    """Return a time in seconds since the epoch: `2026-11-20 10:00`, UTC; "-" for 0."""
    return to_the_second(seconds)[:16] if seconds else NONE


def to_the_second(seconds: float) -> str:
    """Return a time in seconds since the epoch: `2026-11-20 10:00:00`, UTC; "never" after 9999."""
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return "never"


def day(seconds: float) -> str:
    """Return the day of a time, UTC: `2026-11-20`."""
    return moment(seconds)[:10]


_WRITERS: dict[Format, Callable[[float], str]] = {
    Format.TEXT: short,
    Format.NAME: short,
    Format.URL: short,
    Format.COUNT: lambda value: f"{value:,.0f}",
    Format.NUMBER: short,
    Format.SHARE: share,
    Format.BYTES: size,
    Format.TIME: moment,
    Format.DAYS: span,
    Format.SECONDS: lambda value: span(value / 86_400.0),
}


# ---- in Heritrix's forms

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

_ENDS = {
    "RUNNING": "Running - Active",
    "FINISHED": "Finished",
    "ABORTED": "Finished - Ended by operator",
    "INTERRUPTED": "Finished - Interrupted",
    "FINISHED_TIME_LIMIT": "Finished - Timelimit hit",
    "FINISHED_DATA_LIMIT": "Finished - Maximum amount of data limit hit",
    "FINISHED_DOCUMENT_LIMIT": "Finished - Maximum number of documents limit hit",
    "FINISHED_WRITE_LIMIT": "Finished - Maximum bytes (written) limit hit",
    "FINISHED_QUEUE_BUDGET": "Finished - Queues over budget or retired are left",
    "FINISHED_DISK_WAIT": "Finished - No free space for too long",
    "FINISHED_ABNORMAL": "Abnormal exit from crawling",
    "CRASHED": "Cut off without an end",
}


def end_words(status: str) -> str:
    """Return a status in Heritrix's words, where it has them: `Finished - Timelimit hit`."""
    return _ENDS.get(status, status)


def binary_size(number: int) -> str:
    """Heritrix's form of a size: `1504 B`, `1.5 KiB`, `69 MiB`."""
    amount, unit = float(number), 0
    while amount >= 1024 and unit < len(_BINARY) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{decimal(amount, 1 if unit and amount < 10 else 0)} {_BINARY[unit]}"


def decimal(number: float, digits: int = 2) -> str:
    """Heritrix's form of a number: no zeros at the end of its digits; `NaN` and `∞` as in Java."""
    if number != number:  # noqa: PLR0124 - only NaN is not itself
        return "NaN"
    if number in {math.inf, -math.inf}:
        return "∞" if number > 0 else "-∞"
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def minute(seconds: float) -> str:
    """Heritrix's stamp of a report, 12 digits: `202611221147`, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M")


def duration(seconds: float) -> str:
    """Heritrix's form of a duration: `1h2m3s45ms`, parts that are zero left out."""
    whole = round(seconds * 1000)
    parts = (
        (whole // 86_400_000, "d"),
        (whole // 3_600_000 % 24, "h"),
        (whole // 60_000 % 60, "m"),
        (whole // 1000 % 60, "s"),
        (whole % 1000, "ms"),
    )
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0ms"


def time_text(milliseconds: int) -> str:
    """Return milliseconds since the epoch as `2026-12-03 10:15:00 UTC` (pure)."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
