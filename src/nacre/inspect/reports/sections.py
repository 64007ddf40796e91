"""The pages of a job by section of its sites: how many, how large, and the results of their visits.

A section is a directory of a host (`example.org/news/`) with all paths below it. The facts are
those of the crawl.log of each run, which has refusals and failures as well. They are sorted on
disk, URL by URL, so that memory does not grow with the job.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappush, heappushpop
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.annotations import PAIR, verdict
from nacre.core.status import FetchStatus
from nacre.errors import JobError, URIError
from nacre.inspect.reports.base import (
    Audience,
    Report,
    ReportColumn,
    ReportRequest,
    ReportSubject,
    data_table,
)
from nacre.inspect.reports.disk_sort import sort_rows
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import DataTable, Format, ReportDocument, Section
from nacre.report.formatting import size
from nacre.report.log_fields import (
    GUESSES,
    crawl_log_lines,
    has_crawl_log,
    is_left_out,
    line_fields,
    number_of,
)
from nacre.runs.runs import INCREMENTAL, all_runs
from nacre.uri.parse import parse
from nacre.wire.urltext import possible_urls

MOST = 5_000
"""Sections that are named; the others are summed up."""
_COUNT, _BYTES, _URL = Format.COUNT, Format.BYTES, Format.URL
_HTML = (b"text/html", b"application/xhtml+xml")
_VERDICT = verdict("", 0.0).partition(":")[0] + ":"
_CHANGES = frozenset(("minor", "major"))
"""Classes of differences that are changes of the page, as in all reports."""
_ANYWHERE = "any-host.invalid"
"""Stands for the host of a path that was given without one."""
_REFUSALS = frozenset((int(FetchStatus.ROBOTS_PRECLUDED), 401, 403, 407, 451))
_GONE = frozenset((404, 410))
_NOT_MODIFIED = 304
_NEW, _CHANGED, _SAME, _LOST, _MOVED, _REFUSED, _FAILED = range(7)
"""What a visit found; of several in one run the first one of these counts."""


class SectionCounts(msgspec.Struct, kw_only=True):
    """The counts of a section, in URLs; a URL counts once.

    Attributes:
        pages: Those that were got and are HTML.
        files: Those that were got and are something else.
        bytes: Payload of all contents that were new, or differ from those before.
        new: Got for the first time.
        changed: Got with another content than before; what differs in noise alone is unchanged.
        unchanged: Got, or confirmed by the server, with the same content.
        gone: Not there any more (404, 410), though they were got before.
        moved: Redirects.
        refused: By robots.txt, or by the server (401, 403, 407, 451).
        failed: All others without a page: no connection, errors, dead links.
    """

    pages: int = 0
    files: int = 0
    bytes: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    gone: int = 0
    moved: int = 0
    refused: int = 0
    failed: int = 0


_BY_RESULT = ("new", "changed", "unchanged", "gone", "moved", "refused", "failed")
"""The counters of what a visit found, by its number."""


class SectionRun(SectionCounts, kw_only=True):
    """The counts of a section in one run.

    Attributes:
        run: Number of the run, from 1.
    """

    run: int


class SectionFacts(SectionCounts, kw_only=True):
    """A section over all runs.

    `new` are all that were ever got; `changed` changed at least once, and `unchanged` never, though
    they were visited again. `gone`, `moved`, `refused` and `failed` are those whose last visit
    found that.

    Attributes:
        section: URL of its directory.
        runs: Its counts in each run that visited it, in their order.
    """

    section: str
    runs: list[SectionRun] = []


class SectionList(msgspec.Struct, kw_only=True):
    """The sections of a job.

    Attributes:
        below: The directory whose sections these are; "" for all hosts.
        runs: Numbers of the runs.
        missing: Numbers of those that have no crawl.log any more, so that they are not counted.
        sections: Those with the most pages and files first; at most 5,000.
        left_out: How many more there are.
        total: The counts of all together, those left out included.
    """

    below: str
    runs: list[int]
    missing: list[int]
    sections: list[SectionFacts]
    left_out: int
    total: SectionFacts


class RunLog(NamedTuple):
    """The crawl.log of a run.

    Attributes:
        run: Number of the run.
        judged: An incremental run, whose lines say how a page differs.
        lines: The lines.
    """

    run: int
    judged: bool
    lines: Iterable[bytes]


class _VisitLine(NamedTuple):
    """A line of a crawl.log: a visit of a URL of a section."""

    section: str
    url: str
    run: int
    status: int
    size: int
    digest: str
    change: str
    html: bool
    judged: bool


# ---- which section a URL is of


SectionOf = Callable[[str], str]
"""Returns the section of a URL, without its scheme; "" if it is in none."""


def sections_below(text: str) -> SectionOf:
    """The function that gives the section of a URL.

    Args:
        text: The directory whose sections are wanted: `https://example.org/news/`, without its
            scheme too, or only `/news/`, of any host; "" for those of all hosts.

    Raises:
        JobError: It is no URL.
    """
    if not text:
        return _in_root
    bases = list(dict.fromkeys(_base(spelling) for spelling in _spellings(text.strip())))

    def section(url: str) -> str:
        host, path = _host_and_path(url)
        for name, base in bases:
            if name in {host, ""} and path.startswith(base):
                return _within(host, base, path)
        return ""

    return section


def _in_root(url: str) -> str:
    host, path = _host_and_path(url)
    return _within(host, "/", path) if host else ""


def _within(host: str, base: str, path: str) -> str:
    """Return the directory below `base` that contains a path, or `base` itself."""
    name, slash, _ = path[len(base) :].partition("/")
    return f"{host}{base}{name}/" if slash else host + base


def _host_and_path(url: str) -> tuple[str, str]:
    """Host with its port, and path without query; "" for what has no host."""
    _, mark, after_scheme = url.partition("://")
    if not mark:
        return "", ""
    host, _, path = after_scheme.partition("?")[0].partition("/")
    return host, f"/{path}"


def _spellings(text: str) -> list[str]:
    """The URLs that a typed directory may mean; of a path alone those of `_ANYWHERE`."""
    if text.startswith("/"):
        text = f"http://{_ANYWHERE}{text}"
    elif "://" not in text:
        text = f"http://{text}"
    try:
        is_url = bool(_host_and_path(parse(text))[0]) and not any(map(str.isspace, text))
    except URIError:
        is_url = False
    if not is_url:
        raise JobError(
            message(
                "report.is-no-directory-of-site",
                "{text} is no directory of a site: `nacre report JOB sections "
                "https://example.org/news/`",
                text=text,
            )
        )
    return possible_urls(text)


def _base(url: str) -> tuple[str, str]:
    """Host and directory of a URL; what has no dot in its last name is a directory."""
    host, path = _host_and_path(url)
    folder, _, name = path.rpartition("/")
    base = f"{folder}/{name}/" if name and "." not in name else f"{folder}/"
    return ("" if host == _ANYWHERE else host.lower()), base


# ---- the lines of the logs


def visit_lines(log: RunLog, section_of: SectionOf) -> Iterator[_VisitLine]:
    """The visits of a run that count, in order of time.

    What another URL needed (robots.txt, names) is left out, and so are guesses that led nowhere,
    what the settings left out, and second fetches for comparison.
    """
    for line in log.lines:
        fields = line_fields(line)
        if fields is None:
            continue
        status, path = number_of(fields[1]), fields[4]
        if path.endswith(b"P") or is_left_out(status):
            continue
        if not 0 < status < 400 and GUESSES & set(path.decode("latin-1")):
            continue
        url = fields[3].decode("utf-8", "replace")
        section = section_of(url)
        noted = fields[11].decode("utf-8", "replace").split(",")
        if not section or PAIR in noted:
            continue
        change = next((item.split(":")[1] for item in noted if item.startswith(_VERDICT)), "")
        yield _VisitLine(
            section, url, log.run, status, max(number_of(fields[2]), 0),
            fields[9].decode("latin-1"), change, fields[6].startswith(_HTML), log.judged,
        )  # fmt: skip


def section_list(
    logs: Iterable[RunLog], below: str = "", scratch: Path | None = None, most: int = MOST
) -> SectionList:
    """The sections of a job.

    Args:
        logs: Of its runs, in their order.
        below: See `sections_below`.
        scratch: Directory of temporary files; None for the system's.
        most: Sections that are named.

    Raises:
        JobError: `below` is no URL.
        OSError: A temporary file cannot be written.
    """
    section_of = sections_below(below)
    runs: list[int] = []

    def lines() -> Iterator[_VisitLine]:
        for log in logs:
            runs.append(log.run)
            yield from visit_lines(log, section_of)

    # Sorting is stable: the visits of a URL stay in order of time.
    ordered = sort_rows(lines(), _VisitLine, itemgetter(0, 1), scratch)
    total = SectionFacts(section="")
    by_run: dict[int, SectionRun] = {}
    ranked: list[tuple[int, int, SectionFacts]] = []
    number = 0
    for number, (name, visits) in enumerate(groupby(ordered, key=itemgetter(0)), start=1):
        facts = _counted(name, visits)
        _add(total, facts)
        for item in facts.runs:
            _add(by_run.setdefault(item.run, SectionRun(run=item.run)), item)
        entry = (facts.pages + facts.files, -number, facts)
        (heappush if len(ranked) < most else heappushpop)(ranked, entry)
    total.runs = [by_run[run] for run in sorted(by_run)]
    ranked.sort(reverse=True)
    sections = [facts for *_, facts in ranked]
    return SectionList(
        below=below, runs=runs, missing=[], sections=sections, left_out=number - len(sections),
        total=total,
    )  # fmt: skip


def _add(to: SectionCounts, counts: SectionCounts) -> None:
    for name in SectionCounts.__struct_fields__:
        setattr(to, name, getattr(to, name) + getattr(counts, name))


def _counted(section: str, lines: Iterable[_VisitLine]) -> SectionFacts:
    """The counts of a section, of its visits URL by URL."""
    facts = SectionFacts(section="")
    by_run: dict[int, SectionRun] = {}
    for url, visits in groupby(lines, key=itemgetter(1)):
        if not facts.section:
            facts.section = f"{url.partition('://')[0]}://{section}"
        _count_url(facts, by_run, visits)
    facts.runs = [by_run[run] for run in sorted(by_run)]
    facts.bytes = sum(item.bytes for item in facts.runs)
    return facts


def _count_url(
    facts: SectionFacts, by_run: dict[int, SectionRun], visits: Iterable[_VisitLine]
) -> None:
    """Count the visits of a URL, which come in order of time."""
    digest, is_html, is_held = "", False, False
    has_changed = is_again = False
    last = _FAILED
    for run, of_run in groupby(visits, key=itemgetter(2)):
        counts = by_run.setdefault(run, SectionRun(run=run))
        results = []
        for visit in of_run:
            last = _result_of(visit, digest, is_held=is_held)
            results.append(last)
            if last in {_NEW, _CHANGED} or (last == _SAME and visit.digest not in {digest, "-"}):
                counts.bytes += visit.size
            if last <= _SAME and visit.status != _NOT_MODIFIED:
                digest, is_html = visit.digest, visit.html
            is_held = is_held or last <= _SAME
        result = min(results)
        if result <= _SAME:
            counts.pages += is_html
            counts.files += not is_html
        name = _BY_RESULT[result]
        setattr(counts, name, getattr(counts, name) + 1)
        has_changed = has_changed or result == _CHANGED
        is_again = is_again or result == _SAME
    if is_held:
        facts.pages += is_html
        facts.files += not is_html
        facts.new += 1
        facts.changed += has_changed
        facts.unchanged += is_again and not has_changed
    if last > _SAME:
        name = _BY_RESULT[last]
        setattr(facts, name, getattr(facts, name) + 1)


def _result_of(visit: _VisitLine, digest: str, *, is_held: bool) -> int:
    """What a visit found.

    Args:
        visit: The visit.
        digest: Of the content before.
        is_held: The URL was got before.
    """
    status = visit.status
    if status == _NOT_MODIFIED:
        return _SAME
    if 200 <= status < 300:
        if not is_held:
            return _NEW
        # Where nothing judged the difference, it counts.
        is_change = visit.change in _CHANGES or not (visit.change or visit.judged)
        return _CHANGED if visit.digest != digest and is_change else _SAME
    if status in _GONE and is_held:
        return _LOST
    if 300 <= status < 400:
        return _MOVED
    return _REFUSED if status in _REFUSALS else _FAILED


# ---- the report

_COLUMNS = (
    ReportColumn("section", "section", _URL),
    ReportColumn("run", "run", _COUNT),
    ReportColumn("pages", "pages", _COUNT),
    ReportColumn("files", "other files", _COUNT),
    ReportColumn("bytes", "size", _BYTES),
    ReportColumn("new", "new", _COUNT),
    ReportColumn("changed", "changed", _COUNT),
    ReportColumn("unchanged", "unchanged", _COUNT),
    ReportColumn("gone", "gone", _COUNT),
    ReportColumn("moved", "redirects", _COUNT),
    ReportColumn("refused", "refused", _COUNT),
    ReportColumn("failed", "failed", _COUNT),
)
_OF_ONE = tuple(column for column in _COLUMNS if column.key != "run")
_OF_ALL = tuple(column for column in _COLUMNS if column.key not in {"run", "new"})
_ABOUT = (
    message(
        "report.sections-explained",
        "A section is a directory with all paths below it; its pages are HTML, and the "
        "rest are other files. Each URL counts once.",
    ),
    message(
        "report.sections-size",
        "The size is that of all contents that were new or differ from those before.",
    ),
)
_OVER_ALL = message(
    "report.sections-over-runs",
    "Over all runs: changed at least once, or visited again and never changed; gone, "
    "redirected, refused or failed at the last visit.",
)
_NONE = message("report.no-visited-page", "No run has visited a page there.")


class SectionsReport(Report):
    """The pages of each section of the sites."""

    name = "sections"
    summary = "pages, sizes and changes of each section of the sites, such as /news/"
    audience = Audience.CURATOR
    subject = ReportSubject.EITHER

    def data(self, view: View, request: ReportRequest) -> SectionList:
        """See `Report.data`; the logs of all runs are read."""
        self.check(request)
        rows = [row for row in all_runs(view.store) if not row.fresh]
        if not rows:
            raise view.layout.never_ran()
        folders = {row.number: view.layout.run(row.name) / "logs" for row in rows}
        missing = [number for number, folder in folders.items() if not has_crawl_log(folder)]
        logs = [
            RunLog(row.number, row.mode == INCREMENTAL, crawl_log_lines(folders[row.number]))
            for row in rows
        ]
        # Only a running job has its scratch directory for sure, and the right to write there.
        scratch = view.layout.scratch if view.running else None
        result = section_list(logs, request.url, scratch)
        result.missing = missing
        return result

    def document(self, data: SectionList, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        text = list(_ABOUT)
        if len(data.runs) > 1:
            text.append(_OVER_ALL)
        if data.missing:
            numbers = ", ".join(map(str, data.missing))
            text.append(
                message(
                    "report.runs-not-counted",
                    "Not counted, as their crawl.log is gone: runs {numbers}.",
                    numbers=numbers,
                )
            )
        if data.left_out:
            text.append(
                message(
                    "report.smaller-sections",
                    "{left_out:,} smaller sections are left out; all are in the sums.",
                    left_out=data.left_out,
                )
            )
        if not data.sections:
            text = [_NONE]
        facts = tuple(_facts(data))
        first = Section("", tuple(text), facts, tables=(_table(data, verbose=request.verbose),))
        if len(data.runs) < 2:
            return ReportDocument("Pages by section", (first,))
        rows = (
            {**msgspec.structs.asdict(run), "section": facts.section}
            for facts in data.sections
            for run in facts.runs
        )
        table = data_table("Sections by run", _COLUMNS, rows, verbose=request.verbose)
        return ReportDocument("Pages by section", (first, Section("By run", tables=(table,))))


def _facts(data: SectionList) -> Iterator[tuple[str, str]]:
    total = data.total
    if data.below:
        yield "Below", data.below
    yield "Pages", f"{total.pages:,}"
    yield "Other files", f"{total.files:,}"
    yield "Size", size(total.bytes)


def _table(data: SectionList, *, verbose: bool) -> DataTable:
    """Return the sections over all runs; a single run has only new pages."""
    columns = _OF_ALL if len(data.runs) > 1 else _OF_ONE
    rows = map(msgspec.structs.asdict, data.sections)
    return data_table("Sections", columns, rows, verbose=verbose)
