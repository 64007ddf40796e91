"""What incremental runs saved against full crawls, and how much they missed (pure).

A full crawl at the same moment would have asked once for every URL known then. What was missed is
estimated twice: from pages drawn by lot, which owes nothing to any model, and from the rates.
"""

import math

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.history.verdict.audit import Audit, Range
from nacre.history.verdict.deletion import Life
from nacre.job.studies.known import CHANGED, LOT, MISSING, NEW, Known, Run, first_run
from nacre.job.studies.model import Model, is_visited
from nacre.job.studies.stored_as import Way, stored_as

_NORMAL = 1.96


class Cost(msgspec.Struct):
    """What a crawl took.

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
        lots: Pages drawn by lot among those that the plan left out.
        lots_changed: Those that had changed.
        left: Pages left out, lots not counted.
        recall: Share of the changes of known pages that it found, by the lots.
    """

    run: str
    started: float
    cost: Cost
    full: Cost
    copies: float = 0.0
    new: int = 0
    changed: int = 0
    deleted: int = 0
    lots: int = 0
    lots_changed: int = 0
    left: float = 0.0
    recall: Estimate = Estimate(0.0, 1.0, 1.0)


class Savings(msgspec.Struct):
    """All incremental runs.

    Attributes:
        runs: In order of time.
        total: Their sum; its recall is from the lots of all.
        first: What the first, full run took.
        expected: Share of the changes that the last run found, by the rates of what it left out.
        ways: How the visits were stored, by the way of keeping.
        audited: False when no page was drawn by lot: the recall is unknown then.
    """

    runs: list[RunSavings]
    total: RunSavings
    first: Cost
    expected: Estimate
    audited: bool
    ways: list[Way]


def savings(known: Known) -> Savings:
    """Compare the incremental runs with full crawls."""
    runs = known.runs()
    counts = _Counts(first_run(runs))
    for visit in known.visits():
        counts.add(visit)
    rows = [_fact(row, dead=row.url not in counts.seen) for row in known.rows()]
    found = []
    for run in runs:
        one = counts.runs.get(run.number)
        if one is None or run.mode == "full":
            continue
        is_last = run is runs[-1]
        found.append(_of_run(run, one, rows, _left(rows, run) if is_last else None))
    total = _total(found)
    first = counts.first
    if runs:
        first.seconds = runs[0].elapsed
        first.requests = max(first.requests, float(runs[0].requests))
    expected = _expected(known, runs, found)
    ways = stored_as(runs, known.visits())
    return Savings(found, total, first, expected, total.lots > 0, ways)


class _Fact(msgspec.Struct, frozen=True, gc=False):
    """What is needed of a row; all of them are held."""

    first_seen: float
    gone: float
    last_visit: float
    bytes: int
    visited: bool


def _fact(row: PageRow, *, dead: bool) -> _Fact:
    """Dead links are no pages that are gone: a full crawl follows them each time."""
    gone = row.life_since if row.life in {Life.GONE, Life.SUSPECT} and not dead else math.inf
    return _Fact(row.first_seen, gone, row.last_visit, row.bytes, is_visited(row))


class _Counted(msgspec.Struct):
    cost: Cost
    new: int = 0
    changed: int = 0
    deleted: int = 0
    lots: int = 0
    lots_changed: int = 0
    weight: float = 0.0


class _Counts:
    """The fetch log, by run."""

    def __init__(self, first: int) -> None:
        self.runs: dict[int, _Counted] = {}
        self.first = Cost()
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
        one = self.runs.setdefault(visit.run, _Counted(Cost()))
        cost = self.first if visit.run == self._first else one.cost
        cost.requests += 1
        cost.received += visit.bytes
        cost.stored += visit.bytes if visit.stored == "novel" else visit.patch
        changed = vanished or visit.kind in CHANGED
        one.new += visit.kind == NEW and visit.answer == "there"
        one.changed += visit.kind in CHANGED
        one.deleted += vanished
        if visit.wanted == LOT:
            one.lots += 1
            one.lots_changed += changed
            one.weight += 1.0 / max(visit.propensity, 1e-6)


def _left(rows: list[_Fact], run: Run) -> int:
    """Pages that the last run knew and did not visit."""
    return sum(
        one.visited and one.first_seen < run.started and one.last_visit < run.started
        for one in rows
    )


def _of_run(run: Run, one: _Counted, rows: list[_Fact], left: int | None) -> RunSavings:
    found = RunSavings(run.name, run.started, one.cost, Cost())
    found.cost.seconds = run.elapsed
    # The log has neither the names that were made up nor the icons that were guessed.
    found.cost.requests = max(one.cost.requests, float(run.requests))
    found.new, found.changed, found.deleted = one.new, one.changed, one.deleted
    found.lots, found.lots_changed = one.lots, one.lots_changed
    found.left = max(0.0, one.weight - one.lots) if left is None else float(left)
    known = [row for row in rows if row.first_seen <= _end(run) and row.gone >= run.started]
    found.full.requests = float(len(known)) or one.cost.requests
    found.copies = max(float(sum(row.bytes for row in known)), one.cost.received)
    found.full.received, found.full.stored = found.copies, one.cost.stored
    each = run.elapsed / one.cost.requests if one.cost.requests else 0.0
    found.full.seconds = found.full.requests * each
    found.recall = _recall(found)
    return found


def _end(run: Run) -> float:
    return run.ended or math.inf


def _recall(one: RunSavings) -> Estimate:
    audit = Audit(one.lots, one.lots_changed, one.left, one.changed + one.deleted)
    return _estimate(audit.recall())


def _estimate(found: Range) -> Estimate:
    return Estimate(*found)


def _total(runs: list[RunSavings]) -> RunSavings:
    total = RunSavings("all", runs[0].started if runs else 0.0, Cost(), Cost())
    for one in runs:
        for into, cost in ((total.cost, one.cost), (total.full, one.full)):
            into.requests += cost.requests
            into.received += cost.received
            into.stored += cost.stored
            into.seconds += cost.seconds
        for name in ("copies", "new", "changed", "deleted", "lots", "lots_changed", "left"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    total.recall = _recall(total)
    return total


def _expected(known: Known, runs: object, found: list[RunSavings]) -> Estimate:
    """Found changes over found and expected ones; each page left out is a coin of its own."""
    if not found:
        return Estimate(1.0, 1.0, 1.0)
    last = found[-1]
    model = Model(known)
    missed = variance = 0.0
    for row in known.rows():
        if is_visited(row) and row.life == Life.LIVE and 0.0 < row.last_visit < last.started:
            chance = model.chance(row, last.started)
            missed += chance
            variance += chance * (1.0 - chance)
    spread = _NORMAL * math.sqrt(variance)
    seen = last.changed + last.deleted
    return Estimate(*(_part(seen, missed + step) for step in (spread, 0.0, -spread)))


def _part(found: float, missed: float) -> float:
    missed = max(0.0, missed)
    return found / (found + missed) if found + missed > 0.0 else 1.0
