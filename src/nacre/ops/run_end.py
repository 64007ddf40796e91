"""The end of a run: its exit status, its counts, and its findings."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from nacre.core.states import ExitCode, ExitStatus, RunCounts, SeedsEnd, exit_code
from nacre.engine.counters import TOO_DEEP, TOO_DEEP_POOR, not_visited
from nacre.inspect.analysis.wording import count_changes
from nacre.inspect.reports.seed_outcomes import SeedTally, all_seeds, run_counts
from nacre.inspect.view import reading
from nacre.job.overview import JobOverview, live_overview
from nacre.machine.layout import Layout
from nacre.report.browser_tally import BrowserTally, browser_tally
from nacre.report.statistics import rows
from nacre.runs.runs import INCREMENTAL, read_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.job.background.account import RunAccount
    from nacre.job.session import Session


@dataclass(frozen=True)
class RunResult:
    """The end of a run: its exit status and the counts behind the exit code.

    Attributes:
        exit: Why it ended.
        overview: The last numbers; None if it never came to run.
        counts: The counts that the exit code depends on.
        seeds: The seeds in numbers; with those that were not got, and the reason.
        statuses: Replies by status; None if `read_findings` has them, after a recrawl.
        changes: Pages that changed, stayed, are new and are gone, by their bytes; empty after a
            first run, and if `read_findings` has them.
        browser: The pages that were run in a browser, or should have been.
    """

    exit: ExitStatus
    overview: JobOverview | None = None
    counts: RunCounts = field(default_factory=RunCounts)
    seeds: SeedTally = field(default_factory=SeedTally)
    statuses: dict[int, int] | None = None
    changes: dict[str, int] = field(default_factory=dict)
    browser: BrowserTally = field(default_factory=BrowserTally)

    @property
    def fetched(self) -> bool:
        """At least one seed had a reply."""
        return self.counts.seeds is not SeedsEnd.NO_REPLY

    @property
    def code(self) -> ExitCode:
        """Exit code of the process."""
        return exit_code(self.exit, self.counts)


def run_result(session: "Session", account: "RunAccount | None") -> RunResult:
    """Return the numbers of a run that has ended, as an interrupted one: its end is not known yet.

    Args:
        session: The session that ended.
        account: The account of the run; None if there is none.
    """
    run, statistics, store = session.run_row, session.statistics, session.storing.store
    overview = live_overview(session)
    seeds = account.seeds if account is not None else None
    if seeds is None:  # it was to end at once
        seeds = all_seeds(store, session.queues.identity)
    else:
        unvisited = not_visited(store, run.number)._asdict()
        deep, poor = store.counter(TOO_DEEP), store.counter(TOO_DEEP_POOR)
        overview = structs.replace(overview, too_deep=deep, too_deep_poor=poor, **unvisited)
    # The store need not be opened again for the statuses, which takes 40 ms.
    statistics.seal()
    statuses = _statuses(store) if run.mode != INCREMENTAL else None
    return RunResult(
        ExitStatus.INTERRUPTED,
        overview=overview,
        counts=run_counts(run, seeds, statistics.totals),
        seeds=seeds,
        statuses=statuses,
        changes=statistics.totals.changes if run.number > 1 else {},
        browser=browser_tally(store),
    )


def _statuses(store: Store) -> dict[int, int]:
    """Replies by status."""
    by_status = ((int(status), tally.urls) for status, tally in rows(store, "status"))
    return {status: number for status, number in by_status if status >= 100}


class RunFindings(NamedTuple):
    """The findings of the last run, as stored.

    Attributes:
        statuses: Replies by status.
        verdicts: Results of the visits of a recrawl, by verdict.
        changes: Pages that changed, stayed, are new and are gone; empty in a first run.
        noise: Share of the bytes that a recrawl stored that differ in noise alone; 0 unless its
            `keep` is `strict`.
        is_recrawl: The run is a recrawl.
        is_cut: Its budget ended the recrawl.
        budget: The budget as typed.
        unvisited: Due pages that the budget left.
    """

    statuses: dict[int, int]
    verdicts: dict[str, int] = {}  # noqa: RUF012 - never changed
    changes: dict[str, int] = {}  # noqa: RUF012 - never changed
    noise: float = 0.0
    is_recrawl: bool = False
    is_cut: bool = False
    budget: str = ""
    unvisited: int = 0


def read_findings(layout: Layout, settings: JobSettings) -> RunFindings:
    """Read the findings of the last run of a job.

    Raises:
        StorageError: The store cannot be read.
    """
    with reading(layout, settings) as view:
        store = view.store
        run, statuses = read_run(store), _statuses(store)
        if run is None or run.mode != INCREMENTAL:
            return RunFindings(statuses)
        from nacre.inspect.analysis.page_history import found_by, stored_noise
        from nacre.recrawl.recrawl import CUT

        verdicts = found_by(store, run)
        return RunFindings(
            statuses, verdicts, count_changes(verdicts) if verdicts else {},
            stored_noise(store, run) if run.keep == "strict" else 0.0,
            is_recrawl=True, is_cut=bool(store.counter(CUT)), budget=run.budget,
            unvisited=not_visited(store, run.number).unvisited,
        )  # fmt: skip
