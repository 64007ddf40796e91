"""The reports of a run as documents: headings and units on every column (pure).

Their files have Heritrix's columns; these are for people. Fields that only tell of the crawler's
own workings are there when they are asked for (`verbose`).
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from nacre.core.status import describe
from nacre.report.document import Cell, Column, DataTable, Document, Form, Section
from nacre.report.forms import written
from nacre.report.material import Data
from nacre.report.units import size, span

_DAY = 86_400.0
_COUNT, _BYTES, _URL = Form.COUNT, Form.BYTES, Form.URL
Spec = tuple[str, str, Form, bool]
"""A column: the key of its values, its heading, its form, and whether only `verbose` shows it."""


def _table(
    caption: str, specs: Iterable[Spec], rows: Iterable[Data], *, verbose: bool
) -> DataTable:
    shown = [spec for spec in specs if verbose or not spec[3]]
    columns = tuple(Column(name, form) for _, name, form, _ in shown)
    found = tuple(tuple(_cell(row.get(key), form) for key, _, form, _ in shown) for row in rows)
    return DataTable(caption, columns, found)


def _cell(value: object, form: Form) -> Cell:
    if form is Form.TIME and isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    return value if isinstance(value, str | int | float) else None


def _rows_of(data: Data, caption: str, specs: Iterable[Spec], *, verbose: bool) -> Section:
    left = data.get("left_out", 0)
    text = (f"{left:,} more rows are in the file of the run.",) if left else ()
    return Section("", text, tables=(_table(caption, specs, data["rows"], verbose=verbose),))


# ---- the run


def _failed(data: Data) -> str:
    """As the last lines of a crawl count it: robots.txt and `dns:` stand apart."""
    pages = data["failed_pages"]
    others = data["uri_failures"] - pages
    return f"{pages:,}" + (f", and {others:,} of robots.txt or dns" if others > 0 else "")


def _summary(data: Data, *, verbose: bool) -> Document:
    seconds = max(float(data["seconds"]), 1e-3)
    about = (
        ("Job", data["crawl"]),
        ("Run", data["run"]),
        ("State", data["status"]),
        ("Time", span(seconds / _DAY)),
    )
    seeds = (
        ("Seeds with a reply", _count(data["seeds_crawled"])),
        ("Seeds without", _count(data["seeds_uncrawled"])),
    )
    got = (
        ("Hosts with a reply", _count(data["hosts_visited"])),
        ("Documents", f"{data['documents']:,} ({data['html_documents']:,} HTML)"),
        ("Redirects", _count(data["redirects"])),
        ("Error replies", _count(data["error_replies"])),
        ("Failed", _failed(data)),
        ("Disregarded (robots.txt and the like)", _count(data["uri_disregards"])),
        ("Waiting", _count(data["uris_queued"])),
    )
    kept = (
        ("Received", size(data["total_crawled_bytes"])),
        ("New", _pair(data, "novel_uris", "novel_crawled_bytes")),
        (
            "Same content as before",
            _pair(data, "duplicate_by_hash_uris", "duplicate_by_hash_bytes"),
        ),
        ("Not modified", _pair(data, "not_modified_uris", "not_modified_bytes")),
        ("Stored as differences", _pair(data, "delta_uris", "delta_bytes")),
    )
    speed = (
        ("URIs", f"{data['uris_per_second']:,} a second"),
        ("Bytes", f"{data['kb_per_second']:,} KB a second"),
    )
    sections = [
        Section("Seeds", facts=seeds),
        Section("URIs", facts=got),
        Section("Bytes", facts=kept),
        Section("Speed", facts=speed),
    ]
    if verbose or data["regex_timeouts"]:
        facts = (
            ("URIs found", _count(data["uris_discovered"])),
            ("URIs with a result", _count(data["uris_processed"])),
            ("Matches of expressions that took too long", _count(data["regex_timeouts"])),
        )
        sections.append(Section("Inside", facts=facts))
    return Document("Crawl summary", tuple(sections), about)


def _count(value: float) -> str:
    return written(value, Form.COUNT)


def _pair(data: Data, urls: str, length: str) -> str:
    return f"{data[urls]:,} URIs, {size(data[length])}"


_SEEDS: tuple[Spec, ...] = (
    ("seed", "seed", _URL, False),
    ("result", "result", Form.TEXT, False),
    ("code", "status", Form.TEXT, False),
    ("redirect", "redirects to", _URL, False),
    ("next_try", "next try (UTC)", Form.TIME, False),
)


def _seeds(data: Data, *, verbose: bool) -> Document:
    rows = [row | {"result": _result(row), "code": str(row["code"])} for row in data["rows"]]
    section = _rows_of(data | {"rows": rows}, "Seeds, those without a reply first", _SEEDS,
                       verbose=verbose)  # fmt: skip
    return Document("Seeds", (section,))


def _result(row: Data) -> str:
    """Why, in words, where the report has them; else what the status says."""
    said = str(row.get("cause") or "")
    code = int(row["code"])
    return said or ("not tried yet" if not code else describe(code).rstrip("."))


_HOSTS: tuple[Spec, ...] = (
    ("host", "host", _URL, False),
    ("urls", "URIs", _COUNT, False),
    ("bytes", "received", _BYTES, False),
    ("novel_urls", "new URIs", _COUNT, False),
    ("novel_bytes", "new", _BYTES, False),
    ("dup_by_hash_urls", "same content URIs", _COUNT, False),
    ("dup_by_hash_bytes", "same content", _BYTES, True),
    ("not_modified_urls", "not modified URIs", _COUNT, False),
    ("not_modified_bytes", "not modified", _BYTES, True),
    ("robots", "refused by robots.txt", _COUNT, False),
    ("remaining", "waiting URIs", _COUNT, False),
)
_SOURCES: tuple[Spec, ...] = (
    ("source", "seed", _URL, False),
    ("host", "host", _URL, False),
    ("urls", "URIs", _COUNT, False),
)
_MIMES: tuple[Spec, ...] = (
    ("mime", "media type", _URL, False),
    ("urls", "URIs", _COUNT, False),
    ("bytes", "received", _BYTES, False),
)
_STATUSES: tuple[Spec, ...] = (
    ("rescode", "status", Form.TEXT, False),
    ("meaning", "meaning", Form.TEXT, False),
    ("urls", "URIs", _COUNT, False),
)


def _of_rows(title: str, specs: tuple[Spec, ...]) -> "Renderer":
    def render(data: Data, *, verbose: bool) -> Document:
        return Document(title, (_rows_of(data, title, specs, verbose=verbose),))

    return render


def _statuses(data: Data, *, verbose: bool) -> Document:
    rows = [
        row | {"rescode": str(row["rescode"]), "meaning": describe(row["rescode"])}
        for row in data["rows"]
    ]
    section = _rows_of(data | {"rows": rows}, "Replies and results by status", _STATUSES,
                       verbose=verbose)  # fmt: skip
    return Document("Status codes", (section,))


# ---- the crawler


_STEPS: tuple[Spec, ...] = (
    ("name", "processor", Form.TEXT, False),
    ("function", "what it does", Form.TEXT, False),
    ("handled", "visits", _COUNT, False),
    ("seconds", "time in it", Form.SECONDS, False),
    ("links", "links", _COUNT, False),
    ("written", "written", _BYTES, False),
    ("kind", "class", Form.TEXT, True),
)


def _processors(data: Data, *, verbose: bool) -> Document:
    sections = tuple(
        Section(f"{chain} chain", tables=(_table("In order", _STEPS, steps, verbose=verbose),))
        for chain, steps in data["chains"].items()
    )
    return Document("Processors", sections, (("Job", data["crawl"]),))


_QUEUES: tuple[Spec, ...] = (
    ("queue", "queue", _URL, False),
    ("state", "state", Form.TEXT, False),
    ("current_size", "waiting URIs", _COUNT, False),
    ("total_enqueues", "URIs ever put in", _COUNT, False),
    ("error_count", "failures", _COUNT, False),
    ("wake_time", "rests until (UTC)", Form.TIME, False),
    ("total_spend", "spent (cost)", _COUNT, False),
    ("total_budget", "budget (cost; below 0: none)", Form.NUMBER, False),
    ("precedence", "precedence", _COUNT, True),
    ("session_balance", "balance of this turn (cost)", _COUNT, True),
    ("last_cost", "last cost", _COUNT, True),
    ("average_cost", "average cost", Form.NUMBER, True),
    ("last_dequeue_time", "last handed out (UTC)", Form.TIME, True),
    ("last_peek_uri", "URI handed out last", _URL, True),
    ("last_queued_uri", "URI put in last", _URL, True),
)


def _frontier(data: Data, *, verbose: bool) -> Document:
    facts = (
        ("Found", f"{data['discovered']:,} URIs"),
        ("Waiting", f"{data['queued']:,} URIs"),
        ("Done", f"{data['finished']:,} URIs"),
        ("Of these with a reply", f"{data['succeeded']:,}"),
        ("Failed", f"{data['failed']:,}"),
        ("Disregarded", f"{data['disregarded']:,}"),
    )
    states = DataTable(
        "Queues by state",
        (Column("state"), Column("queues", _COUNT)),
        tuple((name.replace("_", "-"), number) for name, number in data["queues"].items()),
    )
    tables = [states, _table("The largest queues", _QUEUES, data["largest"], verbose=verbose)]
    if verbose:
        tables += (
            _table(f"Queues: {name.replace('_', '-')}", _QUEUES, rows, verbose=True)
            for name, rows in data["lists"].items()
            if rows
        )
    section = Section("", facts=facts, tables=tuple(tables))
    return Document("Frontier", (section,), (("Job", data["crawl"]),))


_TOES: tuple[Spec, ...] = (
    ("toe", "worker", _COUNT, False),
    ("uri", "URI", _URL, False),
    ("seconds", "for", Form.SECONDS, False),
    ("attempts", "tries before", _COUNT, False),
    ("step", "step", Form.TEXT, False),
    ("path", "hop path", Form.TEXT, True),
    ("via", "found on", _URL, True),
)


def _threads(data: Data, *, verbose: bool) -> Document:
    facts = (("Workers", f"{data['threads']:,}, of which {data['active']:,} are busy"),)
    table = _table("Fetches in process", _TOES, data["rows"], verbose=verbose)
    return Document(
        "Workers", (Section("", (), facts, tables=(table,)),), (("Job", data["crawl"]),)
    )


Renderer = Callable[..., Document]
"""Makes a document of the data of a report; `verbose` adds what only the crawler's workings are."""

TABLED: dict[str, Renderer] = {
    "crawl-summary": _summary,
    "seeds": _seeds,
    "hosts": _of_rows("Hosts", _HOSTS),
    "source": _of_rows("Sources", _SOURCES),
    "mimetype": _of_rows("Media types", _MIMES),
    "responsecode": _statuses,
    "processors": _processors,
    "frontier-summary": _frontier,
    "frontier-nonempty": _of_rows("Queues with URIs left", _QUEUES),
    "threads": _threads,
}
"""All of them by name."""
