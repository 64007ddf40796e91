"""The savings of incremental runs, for people (pure)."""

from nacre.job.studies.savings import Estimate, RunSavings, Savings
from nacre.job.studies.stored_as import Way
from nacre.report.document import Bars, Column, DataTable, Document, Form, Section, Series
from nacre.report.forms import day, written
from nacre.report.units import share, size

LEAN = (
    "Most of what was stored differs in noise alone: counters, clocks, advertisements, the "
    "template. With `nacre recrawl JOB --keep lean` a note is kept of such a visit, and the page "
    "in full once in 30 days."
)


def document(found: Savings) -> Document:
    """The savings for people."""
    if not found.runs:
        text = ("There was no incremental run yet: `nacre recrawl JOB` makes one.",)
        return Document("Savings", (Section("", text),))
    parts = (_total(found), _recall(found), _runs(found), _ways(found), _first(found))
    return Document("Savings", parts)


def _total(found: Savings) -> Section:
    total = found.total
    columns = (
        Column("cost"),
        Column("incremental"),
        Column("full crawls instead"),
        Column("saved", Form.SHARE),
    )
    rows = (
        _saved("requests", total.cost.requests, total.full.requests, Form.COUNT),
        _saved("bytes received", total.cost.received, total.full.received, Form.BYTES),
        _saved("bytes stored", total.cost.stored, total.copies, Form.BYTES),
        _saved("time", total.cost.seconds, total.full.seconds, Form.SECONDS),
    )
    text = (
        "Full crawls at the same moments would have asked once for every URL known then, at the "
        "pace that politeness gave these runs, and stored every reply. With deduplication they "
        "would have stored what these runs stored, and what these runs missed.",
    )
    plot = Bars(
        "Requests by run",
        tuple(day(one.started) for one in found.runs),
        (
            Series("made", tuple(one.cost.requests for one in found.runs)),
            Series("saved", tuple(one.full.requests - one.cost.requests for one in found.runs)),
        ),
        "requests",
    )
    return Section(
        "", text, plots=(plot,), tables=(DataTable("All incremental runs", columns, rows),)
    )


def _saved(name: str, cost: float, full: float, form: Form) -> tuple[str | float | None, ...]:
    return name, written(cost, form), written(full, form), 1.0 - cost / full if full > 0.0 else None


def _recall(found: Savings) -> Section:
    total = found.total
    audit = _range(total.recall) if found.audited else "unknown: no page was drawn by lot"
    facts = (
        ("By lots, all runs", audit),
        ("Drawn by lot", f"{total.lots:,} pages, of which {total.lots_changed:,} had changed"),
        ("By the rates, last run", _range(found.expected)),
    )
    text = (
        "Share of the changes and deletions of known pages that the runs found, with its 95 % "
        "interval. The lots are drawn among the pages that a plan leaves out: what they show is "
        "unbiased, whatever the plan believes, and the interval is exact. Few lots give a wide "
        "interval; `recrawl.lots` says how many are drawn.",
    )
    return Section("Estimated recall", text, facts)


def _range(found: Estimate) -> str:
    return f"{share(found.value)} ({share(found.low)} to {share(found.high)})"


def _runs(found: Savings) -> Section:
    columns = (
        Column("run"),
        *(Column(name, Form.COUNT) for name in ("requests", "requests of a full crawl")),
        *(Column(name, Form.COUNT) for name in ("new pages", "changed pages", "deleted pages")),
        *(Column(name, Form.COUNT) for name in ("lots (pages)", "lots that changed")),
        *(Column(name, Form.SHARE) for name in ("recall", "from", "to")),
        Column("received", Form.BYTES),
        Column("stored", Form.BYTES),
        Column("time", Form.SECONDS),
    )
    rows = tuple(map(_row, found.runs))
    return Section("By run", tables=(DataTable("Incremental runs", columns, rows),))


def _row(one: RunSavings) -> tuple[str | float | None, ...]:
    recall = one.recall if one.lots else None
    return (
        one.run,
        *(one.cost.requests, one.full.requests),
        *(one.new, one.changed, one.deleted, one.lots, one.lots_changed),
        *((recall.value, recall.low, recall.high) if recall else (None, None, None)),
        *(one.cost.received, one.cost.stored, one.cost.seconds),
    )


def _ways(found: Savings) -> Section:
    counts = (
        *("runs", "replies in full", "differences", "notes"),
        *("replies with only noise", "revisits", "unrecorded visits"),
    )
    columns = (
        Column("--keep"),
        *(Column(name, Form.COUNT) for name in counts),
        *(Column(name, Form.BYTES) for name in ("strict would store", "stored")),
        Column("saved", Form.SHARE),
    )
    rows = tuple(map(_way, found.ways))
    text: tuple[str, ...] = (
        "Bytes of payload before compression; of differences, what they take. Unrecorded are "
        "confirmations and failures beyond the first of a day (`keep`): the fetch log has them.",
    )
    table = DataTable("By way of keeping", columns, rows)
    if any(way.mostly_noise for way in found.ways):
        text = (LEAN, *text)
    return Section("How it was stored", text, tables=(table,))


def _way(way: Way) -> tuple[str | float | None, ...]:
    strict = way.strict_bytes
    return (
        *(way.keep, way.runs, way.full, way.differences, way.notes),
        *(way.noise, way.confirmed, way.unrecorded, strict, way.stored_bytes),
        1.0 - way.stored_bytes / strict if strict else None,
    )


def _first(found: Savings) -> Section:
    first = found.first
    facts = (
        ("Requests", written(first.requests, Form.COUNT)),
        ("Bytes received", size(first.received)),
        ("Bytes stored", size(first.stored)),
        ("Time", written(first.seconds, Form.SECONDS)),
    )
    text = ("For comparison only: the site was another one then.",)
    return Section("The first, full run", text, facts)
