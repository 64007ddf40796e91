"""The reports of a job: what the store holds, gathered for `report.reports`."""

from nacre.errors import JobError
from nacre.frontier.totals import read_totals
from nacre.job.identity import Identity
from nacre.job.outcomes import Outcomes
from nacre.job.runrow import RunRow
from nacre.job.seedbook import seed_rows
from nacre.report.reports import REPORTS, Data, Report, RunFacts
from nacre.report.stats import totals
from nacre.store.store import Store


def report_named(name: str) -> Report:
    """One of the reports.

    Raises:
        JobError: There is none of that name; the message names them all.
    """
    try:
        return REPORTS[name]
    except KeyError:
        raise JobError(f"there is no report {name!r}; there are: {', '.join(REPORTS)}") from None


def run_facts(store: Store, job: str, run: RunRow, identity: Identity) -> RunFacts:
    """What reports need to know of a run, as last committed."""
    frontier = read_totals(store)
    crawled, uncrawled = seed_counts(store, identity)
    return RunFacts(
        job=job,
        run=run.name,
        status=str(run.exit),
        started=run.started,
        elapsed=run.elapsed,
        seeds_crawled=crawled,
        seeds_uncrawled=uncrawled,
        discovered=frontier.discovered,
        queued=frontier.queued,
        finished=frontier.finished,
        succeeded=frontier.succeeded,
        failed=frontier.failed,
        disregarded=frontier.disregarded,
    )


def seed_counts(store: Store, identity: Identity) -> tuple[int, int]:
    """Seeds with a reply, and the others."""
    outcomes = Outcomes(store)
    crawled = total = 0
    for row in seed_rows(store):
        outcome = outcomes.get(identity.key(row.url))
        total += 1
        crawled += outcome is not None and outcome.status > 0
    return crawled, total - crawled


def make_report(name: str, store: Store, facts: RunFacts) -> Data:
    """The data of a report.

    Raises:
        JobError: There is none of that name.
    """
    return report_named(name).build(store, facts)


def any_seed_fetched(store: Store, identity: Identity) -> bool:
    """Whether a seed had a reply; without seeds, whether anything had."""
    outcomes = Outcomes(store)
    seeds = (outcomes.get(identity.key(row.url)) for row in seed_rows(store))
    known = False
    for outcome in seeds:
        known = True
        if outcome is not None and outcome.status > 0:
            return True
    return not known and totals(store).urls > 0
