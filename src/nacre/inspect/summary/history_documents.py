"""The documents of `nacre history` on runs and pages, for people (pure)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import convert

from nacre.core.history import PAIR
from nacre.inspect.analysis.wording import FOUND, STORED_AS
from nacre.inspect.reports.rights_report import signal_table
from nacre.inspect.rights import LedgerRow
from nacre.inspect.summary.run_texts import short_end
from nacre.report.document import Cell, Column, DataTable, Format, ReportDocument, Section
from nacre.report.formatting import moment, url_facts

_CHANGED = ("minor", "major")
_GONE = ("missing", "gone", "soft-404")
_SAME = ("none", "noise", "markup", "template")
_KINDS = {
    "page": "page",
    "index": "page that lists others",
    "sitemap": "sitemap",
    "feed": "feed",
    "embed": "part of pages (image, style sheet, script)",
    "file": "attached file",
}
_LIVES = {
    "live": "there",
    "suspect": "missing once, to be checked again soon",
    "gone": "gone",
    "moved": "moved to another URL",
    "unvisited": "not visited yet",
}
_NO_VISITS = "Visits and changes are shown after the first `nacre recrawl JOB`."
_SECONDS = frozenset(
    ("first_seen", "born", "last_visit", "last_change", "life_since", "listed", "full")
)
_MICROSECONDS = frozenset(("visited", "date", "confirmed", "noted"))


def found_in_words(verdict: str) -> str:
    """A verdict for people."""
    return FOUND.get(verdict, verdict)


# ---- one page


def page_history(
    result: Mapping[str, Any], due: tuple[str, str] | None, *, verbose: bool = False
) -> ReportDocument:
    """All that is known of one URL.

    Args:
        result: See `lookback.page`.
        due: When it is visited next, in words, and why; None when no visit is planned.
        verbose: With the fields that only the planner reads.
    """
    facts = [*url_facts(result["url"]), *_facts(result)]
    if due is not None:
        facts.append(("Next visit", f"{due[0]} ({due[1]})"))
    if result["visits"]:
        visits = _visits(result["visits"], verbose=verbose)
        sections = [Section("", facts=tuple(facts), tables=(visits,))]
    else:
        sections = [Section("", facts=tuple(facts), text=(_NO_VISITS,))]
    rows = [convert(row, LedgerRow) for row in result.get("rights", ())]
    if rows:
        sections.append(Section("", tables=(signal_table(rows),)))
    if verbose:
        sections += (
            Section(f"Inside: {name}", facts=_fields(result[name]))
            for name in ("page", "way", "version", "capture")
            if name in result
        )
    return ReportDocument("History of a page", tuple(sections))


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = []
    row = result.get("page")
    if row is not None:
        facts += _of_page(row)
    stored = [visit["stored"] for visit in result["visits"]]
    copies = [
        f"{stored.count(kind):,} {STORED_AS[kind]}"
        for kind in ("novel", "delta", "duplicate", "not-modified", "noted")
        if kind in stored
    ]
    if copies:
        facts.append(("In the archive", ", ".join(copies)))
    elif "capture" in result:
        facts += _of_capture(result["capture"])
    return facts


def _of_capture(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is known before a planner has read what a crawl got."""
    facts = [("Captured", f"{_readable('date', row['date'])} UTC, status {row['status']}")]
    if row["visits"] > 1:
        visited = _readable("visited", row["visited"])
        facts.append(("Visits", f"{row['visits']:,}, the last on {visited} UTC"))
    return facts


def _of_page(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    life = _LIVES.get(row["life"], row["life"]) if row["visits"] else _LIVES["unvisited"]
    if row["life"] != "live" and row["life_since"]:
        life += f", since {moment(row['life_since'])} UTC"
    if row["target"]:
        life += f": {row['target']}"
    facts = [("State", life), ("Kind", _KINDS.get(row["kind"], row["kind"]))]
    facts.append(("First seen", f"{moment(row['first_seen'])} UTC"))
    if row["visits"]:
        changes = f"{row['changes']:,} at {row['visits']:,} visits"
        if row["last_change"]:
            changes += f", the last on {moment(row['last_change'])} UTC"
        if row["noise"]:
            changes += f"; only noise differed at {row['noise']:,}"
        facts.append(("Changes", changes))
    if row["errors"]:
        facts.append(("Without an answer", f"{row['errors']:,} visits"))
    if row["told"]:
        facts.append(("Change reported by", ", ".join(row["told"])))
    return facts


def _visits(visits: Sequence[Mapping[str, Any]], *, verbose: bool) -> DataTable:
    columns = [
        Column("time (UTC)", Format.TIME),
        Column("run"),
        Column("status"),
        Column("what was found"),
        Column("what was kept"),
    ]
    if verbose:
        columns += (
            Column("share that differs", Format.SHARE),
            Column("decided by"),
            Column("evidence", Format.NAME),
            Column("visited for"),
            Column("forecast", Format.SHARE),
        )
    rows = []
    for visit in reversed(visits):
        row: list[Cell] = [visit["time"], str(visit["run"]), str(visit["status"])]
        row += [_result_text(visit), _stored_text(visit)]
        if verbose:
            row += [
                visit["score"],
                visit["reason"],
                visit.get("evidence", ""),
                visit["wanted"],
                visit["chance"],
            ]
        rows.append(tuple(row))
    return DataTable("Visits, latest first", tuple(columns), tuple(rows))


def _stored_text(visit: Mapping[str, Any]) -> str:
    stored: str = visit["stored"]
    if visit["status"] > 0 and not stored:
        return "nothing: the same as at the last record"
    return STORED_AS.get(stored, stored)


def _result_text(visit: Mapping[str, Any]) -> str:
    if PAIR in {visit["reason"], visit["wanted"]}:
        return found_in_words(PAIR)
    if visit["answer"] in {"there", ""}:
        return found_in_words(visit["kind"] or "none")
    return found_in_words(visit["answer"])


def _fields(row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _readable(name, value)) for name, value in row.items() if name != "url")


def _readable(name: str, value: object) -> str:
    """Times as dates, lists as words; all else as it is."""
    if value is None or isinstance(value, tuple | list):
        return ", ".join(map(str, value or ())) or "none"
    if isinstance(value, int | float) and name in _SECONDS | _MICROSECONDS:
        seconds = value / 1e6 if name in _MICROSECONDS else value
        return moment(seconds) if seconds else "never"
    return str(value) if value != "" else "none"


# ---- the whole job


def runs_document(results: Sequence[Mapping[str, Any]]) -> ReportDocument:
    """The runs of a job, in their order; see `lookback.run_list`."""
    columns = (
        *(
            Column("no.", Format.COUNT),
            Column("run"),
            Column("kind"),
            Column("began (UTC)", Format.TIME),
        ),
        *(Column("took", Format.SECONDS), Column("how it ended")),
        *(
            Column(f"{name} pages", Format.COUNT)
            for name in ("new", "changed", "gone", "unchanged")
        ),
        *(Column("kept"), Column("budget")),
    )
    rows = tuple(
        (
            *(item["number"], item["name"], item["mode"], item["started"], item["elapsed"]),
            short_end(str(item["exit"])),
            *(_sum(item["found"], kinds) for kinds in (("new",), _CHANGED, _GONE, _SAME)),
            *(item["keep"], item["budget"] or "none"),
        )
        for item in results
    )
    return ReportDocument("Runs", (Section("", tables=(DataTable("All runs", columns, rows),)),))


def _sum(counts: Mapping[str, int], kinds: Sequence[str]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def statistics_document(result: Mapping[str, Any]) -> ReportDocument:
    """Totals of a job; see `lookback.statistics`."""
    facts = (
        ("Pages known", f"{result['pages']:,}, of which {result['visited']:,} were visited"),
        ("Pages that list others", f"{result['index_pages']:,}"),
        ("Changes seen", f"{result['changes']:,}"),
        ("Last visit", f"{moment(result['last_visit'])} UTC"),
    )
    verdicts = {kind for counts in result["visits"].values() for kind in counts}
    kinds = [kind for kind in FOUND if kind in verdicts]
    kinds += sorted(verdicts - set(kinds))
    visits = DataTable(
        "Visits by run and result",
        (Column("found"), *(Column(f"run {run}", Format.COUNT) for run in result["visits"])),
        tuple(
            (found_in_words(kind), *(counts.get(kind, 0) for counts in result["visits"].values()))
            for kind in kinds
        ),
    )
    tables = [
        _counts("Pages by kind", "kind", result["kinds"], _KINDS),
        _counts("Pages by state", "state", result["lives"], _LIVES),
        visits,
    ]
    if "hosts" in result:
        tables.append(_hosts(result["hosts"]))
    return ReportDocument("What is known", (Section("", facts=facts, tables=tuple(tables)),))


def _counts(
    caption: str, name: str, counts: Mapping[str, int], words: Mapping[str, str]
) -> DataTable:
    rows = tuple((words.get(kind, kind), number) for kind, number in counts.items())
    return DataTable(caption, (Column(name), Column("pages", Format.COUNT)), rows)


def _hosts(hosts: Mapping[str, Mapping[str, int]]) -> DataTable:
    lives = [life for life in _LIVES if any(life in counts for counts in hosts.values())]
    columns = (
        Column("host", Format.URL),
        *(Column(f"pages {_LIVES[life].partition(',')[0]}", Format.COUNT) for life in lives),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(of.get(life, 0) for life in lives)) for name, of in hosts.items()
    )
    return DataTable("Pages by host and state", columns, rows)


def due_document(results: Sequence[tuple[float, str, str]]) -> ReportDocument:
    """Pages that are due next: time, URL, why."""
    columns = (
        Column("due (UTC)", Format.TIME),
        Column("page", Format.URL),
        Column("because"),
    )
    table = DataTable("The first ones", columns, tuple(results))
    return ReportDocument("Pages that are due next", (Section("", tables=(table,)),))


def top_document(
    results: Sequence[tuple[float, str]], young: Collection[str], doubt: str
) -> ReportDocument:
    """Pages that change most.

    Args:
        results: Expected changes a day, and URL.
        young: Of these, the ones of which too little is known for an interval.
        doubt: Why that is so of all; "" when it is not.
    """
    columns = (
        Column("changes a day", Format.NUMBER),
        Column("a change every", Format.DAYS),
        Column("page", Format.URL),
    )
    rows = tuple(
        (rate, None if doubt or url in young else 1.0 / rate, url) for rate, url in results
    )
    text = (doubt.capitalize() + ".",) if doubt else ()
    table = DataTable("Most first", columns, rows)
    return ReportDocument("Pages that change most", (Section("", text, tables=(table,)),))
