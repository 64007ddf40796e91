"""Reports in another language (pure)."""

from collections.abc import Iterable

from nacre.messages import Message, Translate, static, write
from nacre.report.document import (
    Bars,
    Cell,
    Curves,
    DataTable,
    Format,
    HeatMap,
    Plot,
    ReportDocument,
    Section,
    TimeLine,
)


class _Writer:
    """Writes the messages of a report in a language; other texts stay."""

    def __init__(self, translate: Translate) -> None:
        self._translate = translate

    def text(self, text: str) -> str:
        return str(write(text, self._translate))

    def term(self, text: str) -> str:
        """Write a heading or a name, which is a key of the catalogue if it is no message."""
        return self.text(static(text))

    def cell(self, cell: Cell, form: Format) -> Cell:
        if isinstance(cell, Message):
            return self.text(cell)
        return self.term(cell) if isinstance(cell, str) and form is Format.TEXT else cell

    def facts(self, facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((self.term(name), self.text(value)) for name, value in facts)

    def section(self, section: Section) -> Section:
        return section._replace(
            heading=self.term(section.heading),
            text=tuple(map(self.text, section.text)),
            facts=self.facts(section.facts),
            plots=tuple(map(self.plot, section.plots)),
            tables=tuple(map(self.table, section.tables)),
        )

    def table(self, table: DataTable) -> DataTable:
        forms = [column.form for column in table.columns]
        return table._replace(
            caption=self.term(table.caption),
            columns=tuple(item._replace(name=self.term(item.name)) for item in table.columns),
            rows=tuple(tuple(map(self.cell, row, forms)) for row in table.rows),
        )

    def plot(self, plot: Plot) -> Plot:
        title = self.term(plot.title)
        match plot:
            case Bars():
                series = tuple(
                    series_item._replace(name=self.term(series_item.name))
                    for series_item in plot.series
                )
                return plot._replace(title=title, series=series, unit=self.term(plot.unit))
            case Curves():
                curves = tuple(
                    series_item._replace(name=self.term(series_item.name))
                    for series_item in plot.curves
                )
                across, up = self.term(plot.across), self.term(plot.up)
                return plot._replace(title=title, curves=curves, across=across, up=up)
            case HeatMap():
                return plot._replace(title=title, unit=self.term(plot.unit))
            case TimeLine():
                return plot._replace(title=title)


def localize(document: ReportDocument, translate: Translate, tag: str) -> ReportDocument:
    """Return a report in another language.

    Args:
        document: The report; its headings, names and texts are messages.
        translate: Gives the template of a message in that language.
        tag: The language tag of the HTML document.
    """
    writer = _Writer(translate)
    return document._replace(
        title=writer.term(document.title),
        about=writer.facts(document.about),
        sections=tuple(map(writer.section, document.sections)),
        language=tag,
        footer=writer.term(document.footer),
        none=writer.term(document.none),
    )
