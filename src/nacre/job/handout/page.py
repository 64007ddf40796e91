"""The report of a run as a document, for people who did not make it (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from nacre.job.handout.facts import Counted, RunLine, RunReport
from nacre.job.handout.words import (
    ENDS,
    FOUND,
    KEEPS,
    LIMIT,
    Words,
    kind_of,
    reason_of,
)
from nacre.report.document import (
    Bars,
    Cell,
    Column,
    DataTable,
    Document,
    Form,
    Section,
    Series,
)
from nacre.report.units import share, size
from nacre.wire.urltext import readable_url

_SEEDS = 5
_MOSTLY = 0.5
_CHANGED = ("minor", "major")
_GONE = ("missing", "gone", "soft-404")
_UNCHANGED = ("none", "noise", "markup", "template")
_UNITS = ((86_400, "{} d"), (3_600, "{} h"), (60, "{} min"), (1, "{} s"))


class Addressee(NamedTuple):
    """For whom it is: the language, and the time zone with its name."""

    words: Words
    zone: tzinfo = UTC
    zone_name: str = "UTC"

    def moment(self, seconds: float) -> str:
        """A time in seconds since the epoch: `2026-11-20 10:00`."""
        moment = datetime.fromtimestamp(seconds, self.zone)
        return f"{moment:%Y-%m-%d %H:%M}"

    def span(self, seconds: float) -> str:
        """A length of time, in its two largest units."""
        whole, parts = max(1, round(seconds)), []
        for length, unit in _UNITS:
            if whole >= length:
                parts.append(self.words(unit, whole // length))
                whole %= length
        return " ".join(parts[:2])


def run_document(found: RunReport, reader: Addressee, now: float) -> Document:
    """The report.

    Args:
        found: What became of the run.
        reader: For whom it is.
        now: When it is made, seconds since the epoch.
    """
    words = reader.words
    sections = (
        _short(found, reader),
        _got(found, reader),
        _changed(found, words),
        _failed(found, words),
        _saved(found, words),
        _runs(found, reader),
    )
    return Document(
        words("Crawl report: {}", found.job),
        tuple(section for section in sections if section is not None),
        about=_about(found, reader, now),
        language=words.tag,
        footer=words("Made by Nacre. Time zone: {}.", reader.zone_name),
        none=words("none"),
    )


def _about(found: RunReport, reader: Addressee, now: float) -> tuple[tuple[str, str], ...]:
    words, run = reader.words, found.run
    named = [readable_url(url) for url in found.seeds[:_SEEDS]]
    left = found.seed_count - len(named)
    sites = ", ".join(named) + (" " + words("and {} more", f"{left:,}") if left > 0 else "")
    period = words("since {}", reader.moment(run.started))
    if run.ended:
        period = words("{} to {}", reader.moment(run.started), reader.moment(run.ended))
    exit_ = "RUNNING" if found.running else run.exit
    return (
        (words("Job"), found.job),
        (words("Site" if found.seed_count == 1 else "Sites"), sites),
        (words("Period"), f"{period} ({reader.zone_name})"),
        (words("Run"), words("No. {} ({}), {}", run.number, run.name, _mode(run, words))),
        (words("Ended"), words(ENDS.get(exit_, LIMIT))),
        (words("Report made"), reader.moment(now)),
    )


def _mode(run: RunLine, words: Words) -> str:
    return words("first, full" if run.number == 1 else run.mode)


# ---- in short


def _short(found: RunReport, reader: Addressee) -> Section:
    words, numbers = reader.words, found.numbers
    got = words(
        "The run received {} ({}) from {}; web pages among them: {}.",
        words.count(numbers["documents"], "document"),
        size(numbers["total_crawled_bytes"]),
        words.count(numbers["hosts_visited"], "host"),
        f"{numbers['html_documents']:,}",
    )
    compared = ""
    if found.run.number > 1:
        text = "By comparison with earlier runs, pages that changed: {}, gone: {}, new: {}."
        of = found.run.found
        compared = words(text, *(f"{_sum(of, kinds):,}" for kinds in (_CHANGED, _GONE, ("new",))))
    seeds = (
        words(
            "The seed {} could not be got: {}.",
            readable_url(one.url),
            words.why(one.status, one.cause),
        )
        for one in found.failed_seeds[:_SEEDS]
    )
    return Section(words("In short"), (words.stop(got, compared, *_rest(found, words)), *seeds))


def _rest(found: RunReport, words: Words) -> Iterator[str]:
    """What is missing."""
    failed, waiting = sum(found.failed.values()), found.numbers["uris_queued"]
    if failed:
        text = "Addresses that could not be got: {}; they are listed below with the reason."
        yield words(text, f"{failed:,}")
    if waiting:
        yield words("Addresses that still wait: {}.", f"{waiting:,}")
    if not failed and not waiting:
        yield words("Everything that was asked for was received.")


def _sum(counts: Mapping[str, int], kinds: Sequence[str]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


# ---- got


def _got(found: RunReport, reader: Addressee) -> Section:
    words, numbers = reader.words, found.numbers
    unchanged = numbers["not_modified_uris"]
    facts = [
        (words("Documents"), f"{numbers['documents']:,}"),
        (words("Of these, web pages (HTML)"), f"{numbers['html_documents']:,}"),
        (words("Redirects"), f"{numbers['redirects']:,}"),
        (words("Error pages"), f"{numbers['error_replies']:,}"),
        (words("Data received"), size(numbers["total_crawled_bytes"])),
        (words("Time taken"), reader.span(found.elapsed)),
    ]
    if unchanged:
        facts.insert(2, (words("Not modified since the last visit"), f"{unchanged:,}"))
    hosts = [row for row in found.hosts if row.name != "dns:"]
    counts = (Column(words("Addresses"), Form.COUNT), Column(words("Data"), Form.BYTES))
    mimes = [row for row in found.mimes if row.name != "text/dns"]
    tables = (
        DataTable(
            words("Hosts"),
            (Column(words("Host")), *counts),
            tuple((_host(row, words), row.urls, row.bytes) for row in hosts),
        ),
        DataTable(
            words("Media types"),
            (Column(words("Type")), Column(words("Kind")), *counts),
            tuple(_mime(row, words) for row in mimes),
        ),
    )
    return Section(words("What was got"), facts=tuple(facts), tables=tables)


def _host(row: Counted, words: Words) -> str:
    return readable_url(f"http://{row.name}")[7:] if row.name else words("all others")


def _mime(row: Counted, words: Words) -> tuple[Cell, ...]:
    if not row.name:
        return words("all others"), "", row.urls, row.bytes
    return row.name, words(kind_of(row.name)), row.urls, row.bytes


# ---- changed


def _changed(found: RunReport, words: Words) -> Section | None:
    if found.run.number == 1:
        return None
    columns = (Column(words("Found")), Column(words("Pages"), Form.COUNT))
    rows = tuple((words(FOUND[kind]), number) for kind, number in found.run.found.items())
    of = found.run.found
    named = (
        ("New pages", "new", ("new",)),
        ("Changed pages", "changed", _CHANGED),
        ("Pages that are gone", "gone", _GONE),
    )
    lists = tuple(
        _pages(words, title, found.changes.get(name, []), _sum(of, kinds))
        for title, name, kinds in named
        if found.changes.get(name)
    )
    text = (words("By comparison with the last version of each page that was visited again."),)
    first = DataTable(words("What changed"), columns, rows)
    return Section(words("What changed"), text, tables=(first, *lists))


def _pages(words: Words, title: str, urls: Sequence[str], number: int) -> DataTable:
    caption = words(title)
    if number > len(urls):
        caption += f" ({words('{} of {} are named', len(urls), f'{number:,}')})"
    columns = (Column(words("Address"), Form.URL),)
    return DataTable(caption, columns, tuple((url,) for url in urls))


# ---- failed


def _failed(found: RunReport, words: Words) -> Section:
    numbers = found.numbers
    robots = next((row.urls for row in found.statuses if row.name == "-9998"), 0)
    facts = [(words("Refused by robots.txt"), f"{robots:,}")]
    if numbers["uris_queued"]:
        facts.append((words("Still waiting"), f"{numbers['uris_queued']:,}"))
    text = (
        words(
            "What is left out by the rules of the crawl is not counted here; neither are mere "
            "guesses."
        ),
    )
    reasons = DataTable(
        words("By reason"),
        (
            Column(words("Reason")),
            Column(words("Code")),
            Column(words("Addresses"), Form.COUNT),
        ),
        tuple((words(reason_of(code)), str(code), n) for code, n in found.failed.items()),
    )
    named, number = len(found.failures), sum(found.failed.values())
    caption = words("The addresses")
    if number > named:
        caption += f" ({words('{} of {} are named', named, f'{number:,}')})"
    addresses = DataTable(
        caption,
        (
            Column(words("Address"), Form.URL),
            Column(words("Code")),
            Column(words("Linked from"), Form.URL),
        ),
        tuple((one.url, str(one.status), one.via or words("seed")) for one in found.failures),
    )
    tables = (reasons, addresses) if found.failed else ()
    return Section(words("What could not be got"), text, tuple(facts), tables=tables)


# ---- saved


def _saved(found: RunReport, words: Words) -> Section:
    numbers = found.numbers
    references = numbers["duplicate_by_hash_uris"] + numbers["not_modified_uris"]
    spared = numbers["duplicate_by_hash_bytes"] + numbers["not_modified_bytes"]
    facts = [
        (words("WARC files"), f"{found.warc_files:,}"),
        (words("Size of the archive"), size(found.warc_bytes)),
        (words("Stored as new"), size(numbers["novel_crawled_bytes"])),
        (words("Known already, stored as a reference"), f"{references:,}"),
        (words("Data that was not stored again"), size(spared)),
    ]
    if found.run.number > 1:
        facts.append((words("Way of keeping"), words(KEEPS[found.keep])))
    text: tuple[str, ...] = ()
    if found.noise > _MOSTLY and found.keep == "strict":
        told = (
            "{} of the data stored differs in counters, dates or advertisements alone; with "
            "--keep lean a note is kept of such visits."
        )
        text = (words(told, share(found.noise)),)
    return Section(words("What was saved"), text, tuple(facts))


# ---- all runs


def _runs(found: RunReport, reader: Addressee) -> Section | None:
    words = reader.words
    if len(found.runs) == 1:
        return None
    columns = (
        Column(words("No."), Form.COUNT),
        Column(words("Began")),
        Column(words("Run")),
        *(Column(words(name), Form.COUNT) for name in ("New", "Changed", "Gone", "Unchanged")),
    )
    rows = tuple(_run(run, reader) for run in found.runs)
    series = tuple(
        Series(words(name), tuple(float(_sum(run.found, kinds)) for run in found.runs[1:]))
        for name, kinds in (("New", ("new",)), ("Changed", _CHANGED), ("Gone", _GONE))
    )
    title = words("New, changed and gone pages by run")
    labels = tuple(reader.moment(run.started)[:10] for run in found.runs[1:])
    plot = Bars(title, labels, series, words("pages"))
    table = DataTable(words("All runs of this job"), columns, rows)
    return Section(words("All runs of this job"), plots=(plot,), tables=(table,))


def _run(run: RunLine, reader: Addressee) -> tuple[Cell, ...]:
    mode = _mode(run, reader.words)
    if run.number == 1:
        return run.number, reader.moment(run.started), mode, None, None, None, None
    counts = (_sum(run.found, kinds) for kinds in (("new",), _CHANGED, _GONE, _UNCHANGED))
    return run.number, reader.moment(run.started), mode, *counts
