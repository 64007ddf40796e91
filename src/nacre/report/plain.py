"""A report on the terminal: aligned tables, also of Chinese text (pure)."""

import unicodedata
from collections.abc import Iterator, Sequence
from textwrap import wrap

from nacre.report.document import Comparison, DataTable, Format, HeatMap, ReportDocument, Section
from nacre.report.escape import visible
from nacre.report.formatting import NUMERIC, heading, written

MOST_ROWS = 40
"""Rows of a table that are shown; the HTML and the JSON have more."""
_WIDEST = 90
_SHADES = " ·░▒▓█"


def plain_text(document: ReportDocument, most: int = MOST_ROWS) -> str:
    """Return the whole report."""
    lines = [document.title, "=" * _width(document.title), *_facts(document.about)]
    for section in document.sections:
        part = list(_section(section, most, document.none))
        lines += part if part and not part[0] else ["", *part]
    return "\n".join(map(visible, lines)) + "\n"


def _facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max((_width(name) for name, _ in facts), default=0)
    for name, value in facts:
        yield f"  {_pad(name, width)}  {value}"


def _section(section: Section, most: int, none: str) -> Iterator[str]:
    if section.heading:
        yield section.heading
        yield "-" * _width(section.heading)
    for paragraph in section.text:
        # A terminal breaks lines of Chinese anywhere, as is right.
        yield from wrap(paragraph, _WIDEST) if _width(paragraph) == len(paragraph) else [paragraph]
    yield from _facts(section.facts)
    for plot in section.plots:
        if isinstance(plot, HeatMap):
            yield from _heat(plot)
    for table in section.tables:
        yield from _table(table, most, none)
    if section.comparison is not None:
        yield from _comparison(section.comparison)


def _table(table: DataTable, most: int, none: str) -> Iterator[str]:
    yield ""
    yield f"{table.caption}:"
    if not table.rows:
        yield f"  ({none})"
        return
    texts = [[heading(column) for column in table.columns]]
    texts += [
        [_cut(written(cell, column.form)) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows[:most]
    ]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    forms = [column.form for column in table.columns]
    for row in texts:
        cells = map(_pad, row, widths, forms)
        yield "  " + "  ".join(cells).rstrip()
    if len(table.rows) > most:
        yield f"  … and {len(table.rows) - most:,} more (--html and --json have them)"


def _heat(plot: HeatMap) -> Iterator[str]:
    yield ""
    yield f"{plot.title}:"
    top = max((max(row, default=0.0) for row in plot.values), default=0.0)
    width = max(map(_width, plot.rows), default=0)
    heads = "".join(name[-2:].rjust(3) for name in plot.columns)
    yield f"  {' ' * width} {heads}"
    for name, row in zip(plot.rows, plot.values, strict=True):
        yield f"  {_pad(name, width)} " + "".join("  " + _shade(value, top) for value in row)


def _shade(value: float, top: float) -> str:
    if value <= 0.0 or top <= 0.0:
        return _SHADES[0]
    return _SHADES[1 + min(int(value / top * 5), 4)]


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"  - {comparison.old}"
    yield f"  + {comparison.new}"
    yield ""
    for piece in comparison.pieces:
        if piece.was is not None and piece.was == piece.now:
            yield f"  {piece.now}" if piece.kind == piece.now else f"  [{piece.kind}] {piece.now}"
            continue
        reason = f"   ({piece.noise})" if piece.noise else ""
        mark = ("~", "~") if piece.noise else ("-", "+")
        if piece.was is not None:
            yield f"{mark[0]} [{piece.kind}] {piece.was}{reason if piece.now is None else ''}"
        if piece.now is not None:
            yield f"{mark[1]} [{piece.kind}] {piece.now}{reason}"


def _cut(text: str) -> str:
    """Return a cell that is not too wide, on one line."""
    text = visible(text)
    if _width(text) <= _WIDEST:
        return text
    return text[: _WIDEST - 30] + "…" + text[-20:]


def _width(text: str) -> int:
    """Columns of a terminal that a text takes: Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _pad(text: str, width: int, form: Format = Format.TEXT) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if form in NUMERIC else text + blanks
