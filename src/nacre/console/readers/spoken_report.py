"""Reports in the language of a page: headings, names, sentences and cells in words (pure).

What the catalogue does not have, and URLs, stay as the report has them.
"""

from collections.abc import Callable, Iterable

from nacre.report.document import (
    Bars,
    Curves,
    DataTable,
    Format,
    HeatMap,
    Plot,
    ReportDocument,
    Section,
    TimeLine,
)

Translate = Callable[[str], str]


def spoken(document: ReportDocument, text: Translate) -> ReportDocument:
    """A report with its words in another language.

    Args:
        document: It.
        text: Gives the text of a language for an English one; the same where it has none.
    """
    return document._replace(
        title=_said(document.title, text),
        about=_facts(document.about, text),
        sections=tuple(_section(section, text) for section in document.sections),
    )


def _said(words: str, text: Translate) -> str:
    return text(words) if words else ""


def _facts(facts: Iterable[tuple[str, str]], text: Translate) -> tuple[tuple[str, str], ...]:
    # One word alone may be a name, such as that of the job.
    return tuple(
        (_said(name, text), _said(value, text) if " " in value else value) for name, value in facts
    )


def _section(section: Section, text: Translate) -> Section:
    return section._replace(
        heading=_said(section.heading, text),
        text=tuple(_said(one, text) for one in section.text),
        facts=_facts(section.facts, text),
        plots=tuple(_plot(plot, text) for plot in section.plots),
        tables=tuple(_table(table, text) for table in section.tables),
    )


def _table(table: DataTable, text: Translate) -> DataTable:
    columns = tuple(column._replace(name=_said(column.name, text)) for column in table.columns)
    in_words = [column.form is Format.TEXT for column in table.columns]
    rows = tuple(
        tuple(
            _said(cell, text) if said and isinstance(cell, str) else cell
            for cell, said in zip(row, in_words, strict=True)
        )
        for row in table.rows
    )
    return table._replace(caption=_said(table.caption, text), columns=columns, rows=rows)


def _plot(plot: Plot, text: Translate) -> Plot:
    title = _said(plot.title, text)
    match plot:
        case Bars():
            series = tuple(one._replace(name=_said(one.name, text)) for one in plot.series)
            return plot._replace(title=title, series=series, unit=_said(plot.unit, text))
        case Curves():
            curves = tuple(curve._replace(name=_said(curve.name, text)) for curve in plot.curves)
            return plot._replace(
                title=title, curves=curves, across=_said(plot.across, text), up=_said(plot.up, text)
            )
        case HeatMap():
            return plot._replace(title=title, unit=_said(plot.unit, text))
        case TimeLine():
            return plot._replace(title=title)
