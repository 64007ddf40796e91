"""A report for people as data: facts, tables and plots, which `plain` and `html` render."""

from enum import StrEnum
from typing import NamedTuple

Cell = str | int | float | None
"""A value of a table; None for an empty cell."""


class Format(StrEnum):
    """The format of a value, and its unit.

    A `TEXT` is a word of Nacre, which has a translation; a `NAME` comes from the web or an operator
    and is the same in each language.
    """

    TEXT = "text"
    NAME = "name"
    URL = "url"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    BYTES = "bytes"
    TIME = "time"
    DAYS = "days"
    SECONDS = "seconds"


NAMELESS = frozenset((Format.COUNT, Format.NUMBER))
"""Forms whose cells show no unit: the column heading contains the counted thing."""


class Column(NamedTuple):
    """A column of a table: its heading, and the form of its cells."""

    name: str
    form: Format = Format.TEXT


class DataTable(NamedTuple):
    """A table.

    Attributes:
        caption: What it shows.
        columns: Its columns.
        rows: A cell for each column.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Series(NamedTuple):
    """One series of bars: its name and a value for each bar."""

    name: str
    values: tuple[float, ...]


class Bars(NamedTuple):
    """Stacked bars.

    Attributes:
        title: What it shows.
        labels: One for each bar.
        series: The parts of each bar, lowest first; all values are 0 or more.
        unit: Of the values.
    """

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str = ""


class Curve(NamedTuple):
    """One line of a diagram: its name and its points, from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]


class Curves(NamedTuple):
    """Lines over an axis of amounts, spaced by their logarithm; the other runs from 0 to 1.

    Attributes:
        title: What it shows.
        across: Name of the axis of amounts.
        up: Name of the axis of shares.
        curves: The lines.
        marks: Points of note: amount, share, name.
    """

    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, float, str], ...] = ()


class HeatMap(NamedTuple):
    """A field for each row and column, darker where the value is higher.

    Attributes:
        title: What it shows.
        rows: Names of the rows.
        columns: Names of the columns.
        values: By row and column; 0 or more.
        unit: Of the values.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    unit: str = ""


class Span(NamedTuple):
    """A stretch of time in a lane of a time line, s since the epoch; a moment has no length."""

    lane: str
    start: float
    end: float
    text: str


class TimeLine(NamedTuple):
    """Stretches and moments of time in lanes.

    Attributes:
        title: What it shows.
        lanes: Their names, topmost first.
        spans: The spans in the lanes.
    """

    title: str
    lanes: tuple[str, ...]
    spans: tuple[Span, ...]


class Compared(NamedTuple):
    """One piece of two versions.

    Attributes:
        kind: What it is: `text`, `heading`, `link`, ...
        was: In the older version; None if it is new.
        now: In the newer one; None if it is gone.
        noise: Why it does not count as a change; "" when it does.
    """

    kind: str
    was: str | None
    now: str | None
    noise: str = ""


class Comparison(NamedTuple):
    """Two versions side by side: their names, and their pieces in document order."""

    old: str
    new: str
    pieces: tuple[Compared, ...]


Plot = Bars | Curves | HeatMap | TimeLine


class Section(NamedTuple):
    """A part of a report.

    Attributes:
        heading: Its heading.
        text: Paragraphs: the meaning of the numbers.
        facts: Names and values.
        plots: Each has its numbers in a table of the same report.
        tables: Tables.
        comparison: Two versions; None for none.
    """

    heading: str
    text: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    plots: tuple[Plot, ...] = ()
    tables: tuple[DataTable, ...] = ()
    comparison: Comparison | None = None


class ReportDocument(NamedTuple):
    """A whole report.

    Attributes:
        title: Its title.
        sections: Its parts.
        about: Its subject, under the title: job, site, period.
        language: Its language, as in HTML: `en`, `zh-CN`.
        footer: Its last line.
        none: Text in place of a table without rows.
    """

    title: str
    sections: tuple[Section, ...]
    about: tuple[tuple[str, str], ...] = ()
    language: str = "en"
    footer: str = "Made by Nacre. Times are UTC."
    none: str = "none"
