"""The savings of incremental runs against full crawls, and the changes that they missed (pure).

A full crawl at the same moment would have asked once for every URL known then. What was missed is
estimated twice: from pages drawn at random, which depends on no model, and from the rates.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.forecasts import NO_FORECAST, ForecastScore, forecasts_section
from nacre.inspect.analysis.rate_model import RateModel, is_visited
from nacre.inspect.analysis.recrawl_data import (
    CHANGED,
    LOT,
    MISSING,
    NEW,
    RecrawlData,
    Run,
    first_run,
)
from nacre.inspect.reports.base import Audience, ReportRequest
from nacre.messages import message
from nacre.planner.change_detection.deletion import Life
from nacre.planner.recall import Range, RecallEstimate
from nacre.report.document import Bars, Column, DataTable, Format, ReportDocument, Section, Series
from nacre.report.formatting import day, share, size, written

NOISE = frozenset(("markup", "noise", "template"))
"""Kinds of differences that are not changes of the page; `--keep lean` leaves a note of them."""


def is_mostly_noise(noise: int, stored: int) -> bool:
    """Whether most bytes that were stored differ in noise alone."""
    return 2 * noise > stored


class KeepModeTotals(msgspec.Struct):
    """Totals of the visits of all incremental runs with one `--keep`.

    Attributes:
        keep: `strict`, `lean` or `delta`.
        runs: Runs.
        full: Replies stored in full.
        full_bytes: Their payloads.
        differences: Replies stored as differences.
        difference_bytes: Their payloads.
        patch_bytes: The differences themselves.
        notes: Replies of which a note is kept.
        note_bytes: Their payloads.
        confirmed: Revisits.
        unrecorded: Replies of which nothing was written.
        noise: Of the replies stored in full, those that differed in markup, noise or the template
            alone.
        noise_bytes: Their payloads.
    """

    keep: str
    runs: int = 0
    full: int = 0
    full_bytes: int = 0
    differences: int = 0
    difference_bytes: int = 0
    patch_bytes: int = 0
    notes: int = 0
    note_bytes: int = 0
    confirmed: int = 0
    unrecorded: int = 0
    noise: int = 0
    noise_bytes: int = 0

    @property
    def mostly_noise(self) -> bool:
        """Whether `--keep lean` would have saved most of the stored bytes."""
        return self.keep == "strict" and is_mostly_noise(self.noise_bytes, self.full_bytes)

    @property
    def strict_bytes(self) -> int:
        """The bytes that `strict` would have stored of the same replies."""
        return self.full_bytes + self.difference_bytes + self.note_bytes

    @property
    def stored_bytes(self) -> int:
        """The bytes that were stored."""
        return self.full_bytes + self.patch_bytes

    def add(self, visit: FetchRow) -> None:
        """Count a visit."""
        if visit.stored == "novel":
            self.full += 1
            self.full_bytes += visit.bytes
            if visit.kind in NOISE:
                self.noise += 1
                self.noise_bytes += visit.bytes
        elif visit.stored == "delta":
            self.differences += 1
            self.difference_bytes += visit.bytes
            self.patch_bytes += visit.patch
        elif visit.stored == "noted":
            self.notes += 1
            self.note_bytes += visit.bytes
        elif visit.stored:
            self.confirmed += 1
        else:
            self.unrecorded += visit.status > 0


def by_keep_mode(runs: Sequence[Run], visits: Iterable[FetchRow]) -> list[KeepModeTotals]:
    """The totals of each way of keeping, in the order in which they were first used."""
    ways: dict[str, KeepModeTotals] = {}
    by_run: dict[int, KeepModeTotals] = {}
    for run in runs:
        if run.mode != "full":
            way = by_run[run.number] = ways.setdefault(run.keep, KeepModeTotals(run.keep))
            way.runs += 1
    for visit in visits:
        result = by_run.get(visit.run)
        if result is not None:
            result.add(visit)
    return list(ways.values())


_NORMAL = 1.96


class CrawlCost(msgspec.Struct):
    """The cost of a crawl.

    Attributes:
        requests: Replies, prerequisites left out.
        received: Bytes of payload received.
        stored: Bytes of payload stored in full, and of differences.
        seconds: Its time, politeness and pauses between requests included.
    """

    requests: float = 0.0
    received: float = 0.0
    stored: float = 0.0
    seconds: float = 0.0


class Estimate(msgspec.Struct, frozen=True):
    """A share between the ends of its 95 % interval."""

    low: float
    value: float
    high: float


class RunSavings(msgspec.Struct):
    """One incremental run.

    Attributes:
        run: Its name.
        started: When, seconds since the epoch.
        cost: What it took.
        full: What a full crawl at its time would have taken; it stores what changed in full.
        copies: Bytes that a full crawl without deduplication would have stored.
        new: New pages found.
        changed: Changes found of pages known before.
        deleted: Pages found missing for the first time.
        lots: Pages drawn at random among those that the plan left out.
        lots_changed: Those that had changed.
        left: Pages left out, those drawn at random not counted.
        recall: Share of the changes of known pages that it found, by the pages drawn at random.
        forecasts: Its forecasts and their outcomes.
    """

    run: str
    started: float
    cost: CrawlCost
    full: CrawlCost
    copies: float = 0.0
    new: int = 0
    changed: int = 0
    deleted: int = 0
    lots: int = 0
    lots_changed: int = 0
    left: float = 0.0
    recall: Estimate = Estimate(0.0, 1.0, 1.0)
    forecasts: ForecastScore = msgspec.field(default_factory=ForecastScore)


class Savings(msgspec.Struct):
    """All incremental runs.

    Attributes:
        runs: In order of time.
        total: Their sum; its recall is from the random samples of all.
        first: What the first, full run took.
        expected: Share of the changes that the last run found, by the change rates of skipped
            pages.
        ways: How the visits were stored, by the way of keeping.
        audited: False when no page was drawn at random: the recall is unknown then.
    """

    runs: list[RunSavings]
    total: RunSavings
    first: CrawlCost
    expected: Estimate
    audited: bool
    ways: list[KeepModeTotals]


def savings(data: RecrawlData) -> Savings:
    """Compare the incremental runs with full crawls."""
    runs = data.runs()
    counts = _Counts(first_run(runs))
    for visit in data.visits():
        counts.add(visit)
    rows = [_fact(row, dead=row.url not in counts.seen) for row in data.rows()]
    results = []
    for run in runs:
        counted = counts.runs.get(run.number)
        if counted is None or run.mode == "full":
            continue
        is_last = run is runs[-1]
        results.append(
            _of_run(run, counted, rows, _count_unvisited(rows, run) if is_last else None)
        )
    total = _total(results)
    first = _cost_of(runs[0], counts.first) if runs else counts.first
    expected = _expected(data, runs, results)
    ways = by_keep_mode(runs, data.visits())
    return Savings(results, total, first, expected, total.lots > 0, ways)


class _Fact(msgspec.Struct, frozen=True, gc=False):
    """What is needed of a row; all of them are held."""

    first_seen: float
    gone: float
    last_visit: float
    bytes: int
    visited: bool


def _fact(row: PageRow, *, dead: bool) -> _Fact:
    """Dead links are not pages that are gone: a full crawl follows them each time."""
    gone = row.life_since if row.life in {Life.GONE, Life.SUSPECT} and not dead else math.inf
    return _Fact(row.first_seen, gone, row.last_visit, row.bytes, is_visited(row))


class _Counted(msgspec.Struct):
    cost: CrawlCost
    new: int = 0
    changed: int = 0
    deleted: int = 0
    lots: int = 0
    lots_changed: int = 0
    weight: float = 0.0
    forecasts: ForecastScore = msgspec.field(default_factory=ForecastScore)


class _Counts:
    """The fetch log, by run."""

    def __init__(self, first: int) -> None:
        self.runs: dict[int, _Counted] = {}
        self.first = CrawlCost()
        self._first = first
        self._gone: set[str] = set()
        self.seen: set[str] = set()

    def add(self, visit: FetchRow) -> None:
        """Count a visit."""
        missing = visit.answer in MISSING
        vanished = missing and visit.url not in self._gone and visit.url in self.seen
        (self._gone.add if missing else self._gone.discard)(visit.url)
        if visit.answer == "there":
            self.seen.add(visit.url)
        if visit.status <= 0:
            return
        counted = self.runs.setdefault(visit.run, _Counted(CrawlCost()))
        cost = self.first if visit.run == self._first else counted.cost
        cost.requests += 1
        cost.received += visit.bytes
        cost.stored += visit.bytes if visit.stored == "novel" else visit.patch
        changed = vanished or visit.kind in CHANGED
        counted.new += visit.kind == NEW and visit.answer == "there"
        counted.changed += visit.kind in CHANGED
        counted.deleted += vanished
        if visit.kind != NEW and visit.wanted not in NO_FORECAST:
            counted.forecasts.add(visit.chance, changed=changed)
        if visit.wanted == LOT:
            counted.lots += 1
            counted.lots_changed += changed
            counted.weight += 1.0 / max(visit.propensity, 1e-6)


def _count_unvisited(rows: list[_Fact], run: Run) -> int:
    """Pages that the last run knew and did not visit."""
    return sum(
        row.visited and row.first_seen < run.started and row.last_visit < run.started
        for row in rows
    )


def _of_run(run: Run, item: _Counted, rows: list[_Fact], unvisited: int | None) -> RunSavings:
    cost = _cost_of(run, item.cost)
    pages = [row for row in rows if row.first_seen <= _end(run) and row.gone >= run.started]
    copies = max(float(sum(row.bytes for row in pages)), cost.received)
    visits = float(len(pages)) or cost.requests
    seconds = run.elapsed / cost.requests if cost.requests else 0.0
    result = RunSavings(
        run.name,
        run.started,
        cost,
        CrawlCost(visits, copies, cost.stored, visits * seconds),
        copies,
        item.new,
        item.changed,
        item.deleted,
        item.lots,
        item.lots_changed,
        max(0.0, item.weight - item.lots) if unvisited is None else float(unvisited),
        forecasts=item.forecasts,
    )
    return _with_recall(result)


def _cost_of(run: Run, logged: CrawlCost) -> CrawlCost:
    """Return the cost by the fetch log, which has neither invented names nor guessed icons."""
    requests = max(logged.requests, float(run.requests))
    return replace(logged, requests=requests, seconds=run.elapsed)


def _end(run: Run) -> float:
    return run.ended or math.inf


def _with_recall(savings: RunSavings) -> RunSavings:
    audit = RecallEstimate(
        savings.lots, savings.lots_changed, savings.left, savings.changed + savings.deleted
    )
    return replace(savings, recall=_estimate(audit.recall()))


def _estimate(result: Range) -> Estimate:
    return Estimate(*result)


def _total(runs: list[RunSavings]) -> RunSavings:
    total = RunSavings("all", runs[0].started if runs else 0.0, CrawlCost(), CrawlCost())
    for run in runs:
        for into, cost in ((total.cost, run.cost), (total.full, run.full)):
            into.requests += cost.requests
            into.received += cost.received
            into.stored += cost.stored
            into.seconds += cost.seconds
        for name in ("copies", "new", "changed", "deleted", "lots", "lots_changed", "left"):
            setattr(total, name, getattr(total, name) + getattr(run, name))
        total.forecasts = total.forecasts.plus(run.forecasts)
    return _with_recall(total)


def _expected(data: RecrawlData, runs: object, savings_by_run: list[RunSavings]) -> Estimate:
    """Divide found changes by found and expected ones; each skipped page is an independent coin."""
    if not savings_by_run:
        return Estimate(1.0, 1.0, 1.0)
    last = savings_by_run[-1]
    model = RateModel(data)
    missed = variance = 0.0
    for row in data.rows():
        if is_visited(row) and row.life == Life.LIVE and 0.0 < row.last_visit < last.started:
            chance = model.chance(row, last.started)
            missed += chance
            variance += chance * (1.0 - chance)
    spread = _NORMAL * math.sqrt(variance)
    detected = last.changed + last.deleted
    return Estimate(*(_part(detected, missed + step) for step in (spread, 0.0, -spread)))


def _part(result: float, missed: float) -> float:
    missed = max(0.0, missed)
    return result / (result + missed) if result + missed > 0.0 else 1.0


LEAN = message(
    "study.noise-stored",
    "Most stored bytes differ in noise alone: counters, clocks, advertisements, "
    "the template. With `nacre recrawl JOB --keep lean` a note is kept of such a "
    "visit, and the page in full once in 30 days.",
)


def document(result: Savings) -> ReportDocument:
    """The savings for people."""
    if not result.runs:
        text = (
            message(
                "study.no-incremental-run",
                "There was no incremental run yet: `nacre recrawl JOB` makes one.",
            ),
        )
        return ReportDocument("Savings", (Section("", text),))
    parts = (
        _total_savings_page(result),
        _recall_savings_page(result),
        forecasts_section(
            [(run.run, run.forecasts) for run in result.runs], result.total.forecasts
        ),
        _runs(result),
        _ways(result),
        _first(result),
    )
    return ReportDocument("Savings", parts)


def _total_savings_page(savings: Savings) -> Section:
    total = savings.total
    columns = (
        Column("cost"),
        Column("incremental"),
        Column("full crawls instead"),
        Column("saved", Format.SHARE),
    )
    rows = (
        _saved("requests", total.cost.requests, total.full.requests, Format.COUNT),
        _saved(
            message("study.bytes-received", "bytes received"),
            total.cost.received,
            total.full.received,
            Format.BYTES,
        ),
        _saved(
            message("study.bytes-stored", "bytes stored"),
            total.cost.stored,
            total.copies,
            Format.BYTES,
        ),
        _saved("time", total.cost.seconds, total.full.seconds, Format.SECONDS),
    )
    text = (
        message(
            "study.full-crawls-compared",
            "Full crawls at the same moments would have asked once for every URL known then, "
            "at the pace that politeness gave these runs, and stored every reply. With "
            "deduplication they would have stored what these runs stored, and what these runs "
            "missed.",
        ),
        message(
            "study.requests-counted",
            "Requests are replies, those for robots.txt left out. Bytes are those of payloads: "
            "the heads of replies are left out. Time is without preparation and pauses.",
        ),
    )
    plot = Bars(
        "Requests by run",
        tuple(day(run.started) for run in savings.runs),
        (
            Series("made", tuple(run.cost.requests for run in savings.runs)),
            Series("saved", tuple(run.full.requests - run.cost.requests for run in savings.runs)),
        ),
        "requests",
    )
    return Section(
        "", text, plots=(plot,), tables=(DataTable("All incremental runs", columns, rows),)
    )


def _saved(name: str, cost: float, full: float, form: Format) -> tuple[str | float | None, ...]:
    return name, written(cost, form), written(full, form), 1.0 - cost / full if full > 0.0 else None


def _recall_savings_page(savings: Savings) -> Section:
    total = savings.total
    audit = (
        _range(total.recall)
        if savings.audited
        else message("study.recall-unknown", "unknown: no page was drawn at random")
    )
    facts = (
        ("From random samples, all runs", audit),
        (
            "Drawn at random",
            message(
                "study.sampled-pages-changed",
                "{lots:,} pages, of which {lots_changed:,} had changed",
                lots=total.lots,
                lots_changed=total.lots_changed,
            ),
        ),
        ("From change rates, last run", _range(savings.expected)),
    )
    text = (
        message(
            "study.recall-explained",
            "Share of the changes and deletions of known pages that the runs found, with its "
            "95 % interval. The random sample is drawn among the pages that a plan leaves out: "
            "their result is unbiased, whatever the plan assumes, and the interval is "
            "exact. A small sample gives a wide interval; `recrawl.lots` sets how many are "
            "drawn.",
        ),
    )
    return Section("Estimated recall", text, facts)


def _range(estimate: Estimate) -> str:
    return f"{share(estimate.value)} ({share(estimate.low)} to {share(estimate.high)})"


def _runs(savings: Savings) -> Section:
    columns = (
        Column("run"),
        *(Column(name, Format.COUNT) for name in ("requests", "requests of a full crawl")),
        *(Column(name, Format.COUNT) for name in ("new pages", "changed pages", "deleted pages")),
        *(Column(name, Format.COUNT) for name in ("sampled pages", "sampled pages that changed")),
        *(Column(name, Format.SHARE) for name in ("recall", "from", "to")),
        Column("received", Format.BYTES),
        Column("stored", Format.BYTES),
        Column("time", Format.SECONDS),
    )
    rows = tuple(map(_row, savings.runs))
    return Section("By run", tables=(DataTable("Incremental runs", columns, rows),))


def _row(savings: RunSavings) -> tuple[str | float | None, ...]:
    recall = savings.recall if savings.lots else None
    return (
        savings.run,
        *(savings.cost.requests, savings.full.requests),
        *(savings.new, savings.changed, savings.deleted, savings.lots, savings.lots_changed),
        *((recall.value, recall.low, recall.high) if recall else (None, None, None)),
        *(savings.cost.received, savings.cost.stored, savings.cost.seconds),
    )


def _ways(savings: Savings) -> Section:
    counts = (
        *("runs", "replies in full", "differences", "notes"),
        *(
            "replies with only noise",
            "revisits",
            "unrecorded visits",
        ),
    )
    columns = (
        Column("--keep"),
        *(Column(name, Format.COUNT) for name in counts),
        *(Column(name, Format.BYTES) for name in ("strict would store", "stored")),
        Column("saved", Format.SHARE),
    )
    rows = tuple(map(_way, savings.ways))
    text: tuple[str, ...] = (
        message(
            "study.bytes-explained",
            "Bytes of payload before compression; of differences, their stored size. Unrecorded "
            "are confirmations and failures beyond the first of a day (`keep`): the fetch log "
            "has them.",
        ),
    )
    table = DataTable("By way of keeping", columns, rows)
    if any(way.mostly_noise for way in savings.ways):
        text = (LEAN, *text)
    return Section("How it was stored", text, tables=(table,))


def _way(way: KeepModeTotals) -> tuple[str | float | None, ...]:
    strict = way.strict_bytes
    return (
        *(way.keep, way.runs, way.full, way.differences, way.notes),
        *(way.noise, way.confirmed, way.unrecorded, strict, way.stored_bytes),
        1.0 - way.stored_bytes / strict if strict else None,
    )


def _first(savings: Savings) -> Section:
    first = savings.first
    facts = (
        ("Requests", written(first.requests, Format.COUNT)),
        ("Bytes received", size(first.received)),
        ("Bytes stored", size(first.stored)),
        ("Time", written(first.seconds, Format.SECONDS)),
    )
    text = (
        message("study.comparison-only", "For comparison only: the site was another one then."),
    )
    return Section("The first, full run", text, facts)


class SavingsReport(Analysis):
    """The savings of incremental runs, and the changes that they missed."""

    name = "savings"
    summary = "what incremental runs saved, and the share of changes that they found"
    audience = Audience.CURATOR

    def analyze(self, data: RecrawlData, request: ReportRequest) -> Savings:
        """See `Analysis.analyze`."""
        return savings(data)

    def document(self, data: Savings, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
