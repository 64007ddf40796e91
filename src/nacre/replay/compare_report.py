"""A comparison of two captures as a report for people (pure)."""

from collections.abc import Iterator

from nacre.inspect.analysis.difference import LEFT_OUT, NOISE
from nacre.messages import message, static
from nacre.replay.compare import (
    ComparedCapture,
    CompareView,
    LinkComparison,
    SourceComparison,
    SourceLine,
)
from nacre.report.document import (
    Column,
    Compared,
    Comparison,
    DataTable,
    Format,
    ReportDocument,
    Section,
)
from nacre.report.formatting import share, url_facts

CUT = message("replay.compare-cut", "There is more than is compared or shown here.")
COARSE = message(
    "replay.compare-coarse",
    "The sources differ so much that some equal lines count as gone and new.",
)


def compare_document(view: CompareView) -> ReportDocument:
    """Return the report of a comparison; sections that were not made are left out."""
    return ReportDocument(message("replay.two-captures", "Two captures"), tuple(_sections(view)))


def _sections(view: CompareView) -> Iterator[Section]:
    yield Section("", facts=_facts(view), tables=(_captures(view),))
    old, new = view.old.date, view.new.date
    if view.text is not None:
        verdict = message(
            "study.verdict",
            "{verdict} ({reason}), score {score}",
            verdict=static(view.text.kind),
            reason=static(view.text.reason),
            score=share(view.text.score),
        )
        pieces = tuple(
            Compared(piece.kind, piece.was, piece.now, NOISE.get(piece.noise, piece.noise))
            for piece in view.text.context or view.text.pieces
        )
        facts = (("Verdict", verdict), ("Pieces that stayed", f"{view.text.same:,}"))
        yield Section("Text", (), facts, comparison=Comparison(old, new, pieces))
    if view.source is not None:
        yield _source_section(view.source, old, new)
    if view.headers is not None:
        rows = tuple((item.name, item.was, item.now) for item in view.headers)
        columns = tuple(Column(name, Format.NAME) for name in ("Header", "Older", "Newer"))
        yield Section("Headers", tables=(DataTable("Headers that differ", columns, rows),))
    if view.links is not None:
        yield _links_section(view.links)


def _facts(view: CompareView) -> tuple[tuple[str, str], ...]:
    urls = url_facts(view.old.url)
    if view.new.url != view.old.url:
        urls = (*urls, *url_facts(view.new.url))
    if view.is_same:
        return (*urls, ("Payload", message("replay.same-payload", "the same bytes")))
    place = message(
        "replay.first-difference",
        "differs from byte {offset} on",
        offset=f"{view.first_difference:,}",
    )
    return (*urls, ("Payload", place))


def _captures(view: CompareView) -> DataTable:
    columns = (
        Column("Captured", Format.NAME),
        Column("Status", Format.NAME),
        Column("Media type", Format.NAME),
        Column("Encoding", Format.NAME),
        Column("Size", Format.BYTES),
        Column("Image", Format.NAME),
        Column("SHA-256", Format.NAME),
    )
    return DataTable("Captures", columns, (_row(view.old), _row(view.new)))


def _row(capture: ComparedCapture) -> tuple[str | int, ...]:
    size = f"{capture.width}x{capture.height}" if capture.width else ""
    return (
        capture.date, str(capture.status or ""), capture.mime, capture.charset, capture.size, size,
        capture.digest,
    )  # fmt: skip


def _source_section(source: SourceComparison, old: str, new: str) -> Section:
    text = (*((CUT,) if source.is_cut else ()), *((COARSE,) if source.is_coarse else ()))
    facts = (
        ("Lines gone", f"{source.gone:,}"),
        ("New lines", f"{source.new:,}"),
        ("Lines that stayed", f"{source.same:,}"),
    )
    lines = tuple(map(_compared_line, source.lines))
    return Section("Source", text, facts, comparison=Comparison(old, new, lines))


def _compared_line(line: SourceLine) -> Compared:
    if line.kind == "skipped":
        return Compared(LEFT_OUT, LEFT_OUT, LEFT_OUT)
    number = str(line.new or line.old)
    return Compared(
        number,
        None if line.kind == "new" else line.text,
        None if line.kind == "gone" else line.text,
    )


def _links_section(links: LinkComparison) -> Section:
    columns = (Column("Change"), Column("Kind", Format.NAME), Column("URL", Format.URL))
    rows = tuple(
        (static("new" if link.is_new else "gone"), link.hop, link.url) for link in links.links
    )
    facts = (("Links that stayed", f"{links.same:,}"),)
    text = (CUT,) if links.is_cut else ()
    return Section("Links", text, facts, tables=(DataTable("Links that differ", columns, rows),))
