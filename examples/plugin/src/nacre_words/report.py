"""The report `words`: how many words the pages have."""

from nacre.plugin_reports import (
    Audience,
    Column,
    DataTable,
    Format,
    Report,
    ReportDocument,
    ReportRequest,
    Section,
    View,
)


class WordsReport(Report):
    """How many words the pages of the latest run have."""

    contract = 1
    name = "words"
    summary = "how many words the pages have"
    audience = Audience.CURATOR

    def data(self, view: View, request: ReportRequest) -> dict[str, int]:
        """See `Report.data`: words by URL."""
        log = view.layout.latest / "logs" / "words.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return {url: int(count) for count, url in (line.split(" ", 1) for line in lines)}

    def document(self, data: dict[str, int], request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        columns = (Column("page", Format.URL), Column("words", Format.COUNT))
        table = DataTable("Pages", columns, tuple(data.items()))
        return ReportDocument("Words", (Section("", tables=(table,)),))
