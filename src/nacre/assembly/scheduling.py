"""Builds the scheduling of URIs: from a seed or a link to the frontier, and from it.

Jobs of one user share their politeness in a table, a file in the user's cache directory.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nacre.assembly.rules import JobRules
from nacre.core.clock import Clock
from nacre.engine.candidates.candidates import Candidates, Timeouts
from nacre.engine.candidates.identity import Identity, Preloaded, canonicalizer
from nacre.engine.candidates.normalizing import Normalizing, normalizing
from nacre.engine.candidates.prospects import Prospects, UriPlacement
from nacre.engine.candidates.rejected_uris import Ignored, RejectedUris
from nacre.engine.candidates.scoping import JudgeScopeStep, PrepareStep
from nacre.engine.candidates.speculation import Speculation
from nacre.engine.chain.plan import ChainBuilder
from nacre.engine.logs import JobLogs, RecoveryJournal
from nacre.engine.prerequisites import HostAnswers
from nacre.engine.seeding.seedbook import LoginBook, SeedBook
from nacre.engine.steps.quotas import QuotaBook
from nacre.engine.steps.walls import WallStep
from nacre.engine.wall_book import WallBook
from nacre.frontier.frontier import Frontier
from nacre.frontier.operator import HELD
from nacre.frontier.queues import QueueState
from nacre.frontier.settings import PolitenessSettings
from nacre.frontier.shared_slots import ClockReading, SlotTable
from nacre.frontier.slot_owners import slots_directory, table_path
from nacre.machine.clock import machine_clock
from nacre.settings.settings import JobSettings
from nacre.store.commit import GroupCommit
from nacre.store.store import Store

_STALE = 30 * 86_400.0
"""Seconds after which the table of an earlier boot, or of another machine, is no longer in use."""


@dataclass(frozen=True)
class Queues:
    """The frontier, and the parts that determine the place of a URI in it.

    Attributes:
        frontier: The frontier.
        identity: Makes CrawlURIs.
        hosts: The addresses of hosts.
        quotas: What may be taken of a host, a domain, a source.
        prospects: Says which URIs go later; None in an incremental run, which has its planner.
    """

    frontier: Frontier
    identity: Identity
    hosts: HostAnswers
    quotas: QuotaBook
    prospects: Prospects | None


@dataclass(frozen=True)
class Scheduling:
    """The parts of a run that take seeds and links to the frontier.

    Attributes:
        candidates: Judges links, and schedules those that are accepted.
        seeds: The seeds.
        logins: Names and passwords of seeds.
        outside: What was refused.
        speculation: Which guesses are worth a try.
        ignored: What an operator wants ignored for now.
        normalizing: Rewrites URLs first; None: they stay as they are.
        timeouts: Expressions that took too long.
    """

    candidates: Candidates
    seeds: SeedBook
    logins: LoginBook
    outside: RejectedUris
    speculation: Speculation
    ignored: Ignored
    normalizing: Normalizing | None
    timeouts: Timeouts

    def configure(self, settings: JobSettings, logs: JobLogs) -> None:
        """Apply changed settings of the engine: number of refused URIs, log of the scope."""
        self.outside.limit(settings.engine.outside_kept)
        self.candidates.trace_scope(logs.of_scope(settings.engine))
        recent = self.candidates.recent
        recent.forget_refusals()


def make_identity(rules: JobRules, hosts: HostAnswers, clock: Clock) -> Identity:
    """Build the maker of CrawlURIs from URLs."""

    def addresses(host: str) -> Sequence[str]:
        answer = hosts.get(host, clock.now())
        return answer.addresses if answer else ()

    canonical = canonicalizer(rules.settings.uri)
    preloaded = Preloaded(canonical, rules.rule_files.read_lines)
    return Identity(canonical, rules.effective.then(lambda s: s.frontier), addresses, preloaded)


def make_queues(  # noqa: PLR0913 - dependencies of the frontier
    rules: JobRules,
    identity: Identity,
    hosts: HostAnswers,
    opened: tuple[Store, GroupCommit],
    clock: Clock,
    *,
    line: Callable[[str, bytes], None],
    alert: Callable[[str], None],
    job: Path,
    learns: bool,
    max_wait: float = 0.0,
) -> Queues:
    """Return the frontier of a run.

    Args:
        rules: The settings under each combination of sheets.
        identity: Makes CrawlURIs.
        hosts: The addresses of hosts.
        opened: The store and its group commit.
        clock: The time.
        line: Adds a line to a log.
        alert: Tells the operator something.
        job: The job's directory.
        learns: Learn the promise of links.
        max_wait: Longest wait that a server may request, seconds; 0: no limit.
    """
    (store, commit), settings = opened, rules.settings
    now, mono = clock.now(), clock.monotonic()
    frontier_settings = rules.effective.then(lambda s: s.frontier)
    politeness = rules.effective.then(lambda s: s.politeness)
    traps = rules.effective.then(lambda s: s.traps)
    prospects = Prospects(store, traps, rules.sheets.of) if learns else None
    journal = RecoveryJournal(line, clock) if settings.frontier.recovery_log else None
    frontier = Frontier(
        store,
        frontier_settings,
        politeness,
        now,
        mono,
        chooser=rules.sheets,
        traps=traps,
        journal=journal,
        slots=open_slots(
            settings.politeness, ClockReading(machine_clock(clock).now(), mono), alert, job
        ),
        placement=UriPlacement(identity, frontier_settings, rules.sheets.of, prospects),
        max_wait=max_wait,
    )
    overlays, operator = rules.sheets.overlays, frontier.operator
    paths = (path for sheet in overlays.sheets.values() for path in sheet.values)
    quota_settings = rules.effective.then(lambda s: s.quotas)
    quotas = QuotaBook(store, quota_settings, paths, identity.queue, operator.order_changed)
    for part in (prospects, journal, quotas):
        if part is not None:
            commit.on_seal(part.seal)
    commit.on_seal(frontier.save)
    return Queues(frontier, identity, hosts, quotas, prospects)


def make_scheduling(
    rules: JobRules,
    queues: Queues,
    chain: ChainBuilder,
    opened: tuple[Store, GroupCommit],
    logs: JobLogs,
) -> Scheduling:
    """Build the parts that take seeds and links to the frontier.

    Args:
        rules: The rules of the job.
        queues: The frontier.
        chain: The candidate chain.
        opened: The store and its group commit.
        logs: For decisions of the scope, and bugs of processors.
    """
    (store, commit), settings, state = opened, rules.settings, rules.scope_state
    seeds, ignored = SeedBook(store, state), Ignored()
    outside = RejectedUris(store, settings.engine.outside_kept)
    speculation = Speculation(store, tries_all=settings.extract.try_all_guesses)
    forms, timeouts = normalizing(settings.uri, rules.rule_files), Timeouts(state, store)
    plans, scope = chain.candidate(), rules.scope()
    candidates = Candidates(
        JudgeScopeStep(scope, queues.identity.key, outside, chain.step("scope")),
        PrepareStep(queues.identity, seeds.redirected, chain.step("prepare")),
        rules.sheets.overlay,
        frontier=queues.frontier,
        speculation=speculation,
        plans=plans,
        ignored=ignored,
        failed=logs.command_error,
        normalizing=forms,
        timeouts=timeouts if state.counts else None,
        prospects=queues.prospects,
        redirects=rules.effective.then(lambda s: s.engine.seed_redirects),
        led=seeds.led,
    )
    candidates.trace_scope(logs.of_scope(settings.engine))
    recent = candidates.recent
    state.when_own(recent.forget_refusals)
    for part in (outside, speculation, *((timeouts,) if state.counts else ())):
        commit.on_seal(part.seal)
    return Scheduling(
        candidates=candidates,
        seeds=seeds,
        logins=LoginBook(store),
        outside=outside,
        speculation=speculation,
        ignored=ignored,
        normalizing=forms,
        timeouts=timeouts,
    )


def open_slots(
    politeness: PolitenessSettings,
    moment: ClockReading,
    tell: Callable[[str], None],
    job: Path | None = None,
) -> SlotTable | None:
    """The table; None when it is switched off, when there is no delay, or when it cannot be opened.

    Args:
        politeness: What holds for the whole crawl.
        moment: The time.
        tell: Called with a text for the operator when it fails, now or later.
        job: Directory of the job, for commands that list other jobs; None: it is not listed.
    """
    if not politeness.shared_slots or politeness.delay == 0:
        return None
    try:
        path = table_path()
        table = SlotTable(path, tell, moment, job)
    except (OSError, RuntimeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        tell(
            f"politeness is not shared with other jobs, as {slots_directory()} cannot be used: "
            f"{reason} (politeness.shared_slots=false switches it off)"
        )
        return None
    _sweep(path, moment.now)
    return table


def _sweep(own: Path, now: float) -> None:
    """Remove the tables of other boots that were not written to for long."""
    with contextlib.suppress(OSError):
        for path in own.parent.iterdir():
            if path != own and path.lstat().st_mtime < now - _STALE:
                path.unlink()


def make_wall_step(
    rules: JobRules,
    queues: Queues,
    opened: tuple[Store, GroupCommit],
    alert: Callable[[str], None],
    clock: Clock,
) -> WallStep:
    """Build the step that recognises walls, and holds the queues of hosts that send little else.

    Args:
        rules: The settings under each combination of sheets.
        queues: The frontier.
        opened: The store and its group commit.
        alert: Sends a message to the operator.
        clock: The time.
    """
    store, commit = opened
    book = WallBook(store)
    commit.on_seal(book.seal)

    holds = _FrontierHolds(queues.frontier)
    return WallStep(rules.effective.then(lambda s: s.walls), book, holds, alert, clock)


class _FrontierHolds:
    """`QueueHolds` of a frontier."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier

    def hold(self, queue: str, wall: str) -> None:
        self._frontier.retire(queue, f"{HELD}{wall}")

    def is_held(self, queue: str) -> bool:
        row = self._frontier.queue_in_memory(queue)
        return row is not None and row.row.state is QueueState.RETIRED
