"""Values as people read them: the same on the terminal and in HTML (pure)."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from nacre.report.document import Cell, Form

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SIZES = ("B", "KB", "MB", "GB", "TB", "PB")
_UNITS = ((365.0, "y"), (1.0, "d"), (1 / 24, "h"), (1 / 1440, "min"), (1 / 86400, "s"))
_FOR_EVER = 36_500.0
NONE = "-"
"""What stands for no value."""
NUMERIC = frozenset(Form) - {Form.TEXT, Form.URL, Form.TIME}
"""Forms whose cells are set to the right."""


def written(cell: Cell, form: Form) -> str:
    """A cell as text."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return NONE
    if isinstance(cell, str):
        return cell or NONE
    return _WRITERS[form](float(cell))


def moment(seconds: float) -> str:
    """A time in seconds since the epoch: `2026-11-20 10:00`, UTC; "-" for 0."""
    return to_the_second(seconds)[:16] if seconds else NONE


def to_the_second(seconds: float) -> str:
    """A time in seconds since the epoch: `2026-11-20 10:00:00`, UTC; "never" after 9999."""
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return "never"


def day(seconds: float) -> str:
    """The day of a time, UTC: `2026-11-20`."""
    return moment(seconds)[:10]


def span(days: float) -> str:
    """A time in days: `20 s`, `3.5 h`, `12 d`, `2.1 y`; `never` for more than a century."""
    if not days < _FOR_EVER:
        return "never"
    size, name = next((unit for unit in _UNITS if days >= unit[0]), _UNITS[-1])
    return f"{_short(days / size)} {name}"


def share(part: float) -> str:
    """A share as per cent, with one digit more near its ends: `99.52 %`."""
    percent = 100.0 * part
    digits = 1 if 1.0 <= percent <= 99.0 or percent in {0.0, 100.0} else 2
    return f"{percent:.{digits}f} %"


def size(count: float) -> str:
    """Bytes: `1.5 MB`, in thousands."""
    unit = 0
    while count >= 1000.0 and unit < len(_SIZES) - 1:
        count /= 1000.0
        unit += 1
    return (
        f"{count:.0f} {_SIZES[unit]}"
        if count >= 100 or not unit
        else (f"{count:.1f} {_SIZES[unit]}")
    )


def _short(value: float) -> str:
    if value >= 100.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


_WRITERS: dict[Form, Callable[[float], str]] = {
    Form.TEXT: _short,
    Form.URL: _short,
    Form.COUNT: lambda value: f"{value:,.0f}",
    Form.NUMBER: _short,
    Form.SHARE: share,
    Form.BYTES: size,
    Form.TIME: moment,
    Form.DAYS: span,
    Form.SECONDS: lambda value: span(value / 86_400.0),
}
