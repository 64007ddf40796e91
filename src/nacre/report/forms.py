"""Values as people read them: the same on the terminal and in HTML (pure)."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from nacre.report.document import Cell, Column, Form
from nacre.report.units import share, short, size, span
from nacre.wire.urltext import readable_url

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NONE = "-"
"""What stands for no value."""
NUMERIC = frozenset(Form) - {Form.TEXT, Form.URL, Form.TIME}
"""Forms whose cells are set to the right."""


def written(cell: Cell, form: Form) -> str:
    """A cell as text."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return NONE
    if isinstance(cell, str):
        return (readable_url(cell) if form is Form.URL else cell) or NONE
    return _WRITERS[form](float(cell))


def heading(column: Column) -> str:
    """The heading of a column: that of times says which they are."""
    if column.form is Form.TIME and "UTC" not in column.name:
        return f"{column.name} (UTC)"
    return column.name


def url_facts(url: str) -> tuple[tuple[str, str], ...]:
    """A URL as people read it and, where that is another text, as it is requested."""
    text = readable_url(url)
    return (("URL", text),) if text == url else (("URL", text), ("requested as", url))


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


_WRITERS: dict[Form, Callable[[float], str]] = {
    Form.TEXT: short,
    Form.URL: short,
    Form.COUNT: lambda value: f"{value:,.0f}",
    Form.NUMBER: short,
    Form.SHARE: share,
    Form.BYTES: size,
    Form.TIME: moment,
    Form.DAYS: span,
    Form.SECONDS: lambda value: span(value / 86_400.0),
}
