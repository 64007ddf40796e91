"""Reports in the language of a page: their headings and names, where the catalogue has them (pure).

What is in cells and in sentences with numbers stays as the report has it.
"""

from collections.abc import Callable

from nacre.report.document import (
    Bars,
    Curves,
    DataTable,
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
        about=tuple((_said(name, text), value) for name, value in document.about),
        sections=tuple(_section(one, text) for one in document.sections),
    )


def _said(words: str, text: Translate) -> str:
    return text(words) if words else ""


def _section(section: Section, text: Translate) -> Section:
    return section._replace(
        heading=_said(section.heading, text),
        text=tuple(_said(one, text) for one in section.text),
        facts=tuple((_said(name, text), value) for name, value in section.facts),
        plots=tuple(_plot(one, text) for one in section.plots),
        tables=tuple(_table(one, text) for one in section.tables),
    )


def _table(table: DataTable, text: Translate) -> DataTable:
    columns = tuple(one._replace(name=_said(one.name, text)) for one in table.columns)
    return table._replace(caption=_said(table.caption, text), columns=columns)


def _plot(plot: Plot, text: Translate) -> Plot:
    title = _said(plot.title, text)
    match plot:
        case Bars():
            series = tuple(one._replace(name=_said(one.name, text)) for one in plot.series)
            return plot._replace(title=title, series=series, unit=_said(plot.unit, text))
        case Curves():
            curves = tuple(one._replace(name=_said(one.name, text)) for one in plot.curves)
            return plot._replace(
                title=title, curves=curves, across=_said(plot.across, text), up=_said(plot.up, text)
            )
        case HeatMap():
            return plot._replace(title=title, unit=_said(plot.unit, text))
        case TimeLine():
            return plot._replace(title=title)
