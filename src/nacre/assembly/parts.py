"""Builds a running job from its settings and its opened store, stage by stage.

Each stage has a record: rules (`rules.py`), the frontier and scheduling (`scheduling.py`), storage
(`storing.py`), fetching (`fetching.py`, `fetch_steps.py`), and here reporting and the engine.
`assemble` returns the records (`records.py`); the opener of a job passes to each part the records
that it uses.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nacre.assembly.browsing import make_render_step, open_renderer
from nacre.assembly.fetch_steps import fetch_steps
from nacre.assembly.fetching import make_fetching
from nacre.assembly.records import Reporting, RunRecords
from nacre.assembly.rules import JobRules, open_rules
from nacre.assembly.scheduling import (
    Queues,
    make_identity,
    make_queues,
    make_scheduling,
    make_wall_step,
)
from nacre.assembly.storing import Storing, make_storing
from nacre.core.crawluri import CrawlURI
from nacre.core.events import Alert, Events
from nacre.core.processor import Processor, Result, Visit
from nacre.engine.candidates.identity import again_at
from nacre.engine.chain.entry import ChainName, Kit
from nacre.engine.chain.plan import ChainBuilder
from nacre.engine.disposition import (
    AddedProcessors,
    BackToFrontier,
    Disposition,
    FinalRecords,
    SeedFallback,
    SharedQueues,
)
from nacre.engine.engine import Engine, Shortage
from nacre.engine.logs import AlertCounter, JobLogs, LogLines
from nacre.engine.observer import VisitObserver
from nacre.engine.prerequisites import Answers, HostAnswers
from nacre.engine.steps.dispose import DisposeStep, FollowLinksStep, QueueDelays
from nacre.engine.unasked import UnaskedReplies
from nacre.engine.visits import Chain, VisitRunner
from nacre.fetch.guard import AddressGuard
from nacre.fetch.spool import Spool
from nacre.report.statistics import ChainStatistics, Statistics
from nacre.runs.runs import INCREMENTAL, RunContext
from nacre.settings.settings import JobSettings
from nacre.store.commit import GroupCommit
from nacre.store.store import Store


@dataclass(frozen=True)
class EngineRecord:
    """The engine of a run, and its parts.

    Attributes:
        engine: The engine.
        unasked: Replies without a request.
        shortage: What is done when file handles run out.
        chains: The three chains.
    """

    engine: Engine
    unasked: UnaskedReplies
    shortage: Shortage
    chains: tuple[ChainBuilder, ...]

    def time_passed(self) -> None:
        """See `ChainBuilder.time_passed`."""
        for chain in self.chains:
            chain.time_passed()

    def finish(self) -> None:
        """See `ChainBuilder.finish`."""
        for chain in self.chains:
            chain.finish()


class _Chains:
    """Makes the chains of a run; all count in one table of steps.

    Attributes:
        made: Those that were made.
    """

    def __init__(self, rules: JobRules, steps: ChainStatistics, kit: Kit) -> None:
        self._rules = rules
        self._steps = steps
        self._kit = kit
        self.made: list[ChainBuilder] = []

    def make(
        self, name: ChainName, built: Mapping[str, Callable[[], Processor]] | None = None
    ) -> ChainBuilder:
        """Return a chain.

        Args:
            name: Which one.
            built: What makes the steps that the job's parts do, by the names of their entries.
        """
        settings = self._rules.effective
        entries = settings.then(lambda s: s.chains.of(name))
        builder = ChainBuilder(name, entries, self._steps, self._kit, built or {})
        self.made.append(builder)
        return builder


def assemble(
    settings: JobSettings,
    context: RunContext,
    opened: tuple[Store, GroupCommit],
    guard: AddressGuard,
    observe: Callable[[RunRecords], VisitObserver],
    faults: Mapping[str, Exception],
) -> tuple[RunRecords, EngineRecord]:
    """Build all parts of a run, once the store is open and recovered.

    Args:
        settings: The job's settings.
        context: The run.
        opened: The store and its group commit.
        guard: Which addresses may be connected to.
        observe: Makes the observer of visits, when all parts exist but the engine.
        faults: URLs whose disposition failed in two earlier sessions, with the bug.
    """
    reporting = _reporting(settings, context, opened)
    clock, logs = context.clock, reporting.logs
    rules, queues = _rules_and_queues(settings, context, opened, reporting)
    spool = Spool(context.layout.scratch)
    storing = make_storing(rules, context, opened, spool.scratch)
    kit = _kit(context, rules, reporting, queues, storing, reporting.alert)
    chains = _Chains(rules, reporting.steps, kit)
    scheduling = make_scheduling(rules, queues, chains.make(ChainName.CANDIDATE), opened, logs)
    renderer = open_renderer(settings.browser, context.layout)
    logins = scheduling.logins.known
    fetching = make_fetching(rules, opened[0], guard, spool, logins, clock, renderer=renderer)
    records = RunRecords(context, rules, reporting, queues, scheduling, storing, fetching)
    observer, unasked = observe(records), _make_unasked(records)

    def engine_of_run() -> Engine:
        return engine

    def starved() -> None:
        shortage.note()

    steps = _steps(records, engine_of_run)
    chain = Chain(chains.make(ChainName.FETCH, steps).fetch(), clock, scheduling.ignored)
    disposition = _disposition(records, chains, observer, unasked, starved)
    engine = _engine(records, chain, disposition, observer, faults)
    shortage = Shortage(engine, clock, reporting.alert)
    return records, EngineRecord(engine, unasked, shortage, tuple(chains.made))


def _alerts(logs: JobLogs, events: Events) -> Callable[[str], None]:
    """Return what logs a message for the operator, and shows it where the job runs."""

    def alert(text: str) -> None:
        logs.alert(text)
        events.emit(Alert(text))

    return alert


def _rules_and_queues(
    settings: JobSettings,
    context: RunContext,
    opened: tuple[Store, GroupCommit],
    reporting: Reporting,
) -> tuple[JobRules, Queues]:
    """Build the rules and the frontier; some rules ask in which queue a URL belongs."""

    def queue_of(url: str) -> str:
        return identity.queue(url)

    root, clock, hosts = context.layout.root, context.clock, HostAnswers(opened[0])
    rules = open_rules(settings, root, queue_of=queue_of, write=reporting.logs.decided)
    identity = make_identity(rules, hosts, clock)
    queues = make_queues(
        rules, identity, hosts, opened, clock,
        line=reporting.lines, alert=reporting.alert, job=root,
        learns=context.run.mode != INCREMENTAL, max_wait=context.max_wait,
    )  # fmt: skip
    return rules, queues


def _steps(
    records: RunRecords, engine: Callable[[], Engine]
) -> Mapping[str, Callable[[], Processor]]:
    """Return the makers of all steps of the fetch chain.

    Args:
        records: The parts that are ready.
        engine: Returns the engine, which is made after the chain.
    """
    rules, queues, storing = records.rules, records.queues, records.storing
    opened, clock = (storing.store, storing.commit), records.context.clock
    alert = records.reporting.alert
    return {
        **fetch_steps(records, conditional=records.is_conditional),
        "render": lambda: make_render_step(records, engine),
        "walls": lambda: make_wall_step(rules, queues, opened, alert, clock),
    }


def _engine(
    records: RunRecords,
    chain: Chain,
    disposition: Disposition,
    observer: VisitObserver,
    faults: Mapping[str, Exception],
) -> Engine:
    context, rules, storing = records.context, records.rules, records.storing
    visits = VisitRunner(
        frontier=records.queues.frontier,
        chain=chain,
        disposition=disposition,
        archive=storing.archive,
        pages=storing.pages,
        commit=storing.commit,
        logs=records.reporting.logs,
        events=context.events,
        clock=context.clock,
        observer=observer,
        faults=faults,
    )
    return Engine(
        records.queues.frontier,
        visits,
        storing.commit,
        context.clock,
        context.supervisor,
        rules.sheets.of,
        parallel=rules.settings.engine.parallel,
    )


def _reporting(
    settings: JobSettings, context: RunContext, opened: tuple[Store, GroupCommit]
) -> Reporting:
    store, commit = opened
    lines = LogLines(commit, context.run.name)
    alerts = AlertCounter(store, context.run.name, context.events)
    logs = JobLogs(lines, context.clock, alerts, extra_info=settings.engine.log_extra_info)
    engine = settings.engine
    statistics = Statistics(store, source_codes=engine.source_tags and engine.source_codes)
    steps = ChainStatistics(store)
    commit.on_seal(statistics.seal)
    commit.on_seal(steps.seal)
    return Reporting(lines, logs, _alerts(logs, context.events), statistics, steps)


def _kit(
    context: RunContext,
    rules: JobRules,
    reporting: Reporting,
    queues: Queues,
    storing: Storing,
    alert: Callable[[str], None],
) -> Kit:
    frontier, history = queues.frontier, storing.archive.history

    def later(uri: CrawlURI, due: float) -> None:
        frontier.schedule([again_at(uri, due)], context.clock.now())

    return Kit(
        chain=ChainName.FETCH,
        label="",
        clock=context.clock,
        root=context.layout.root,
        run=f"runs/{context.run.name}",
        line=reporting.lines,
        alert=alert,
        address=lambda visit: queues.hosts.address(visit.uri.url),
        job=rules.effective,
        state=rules.scope_state,
        commit=storing.commit,
        history=history.get,
        later=later,
    )


def _disposition(
    records: RunRecords,
    chains: _Chains,
    observer: VisitObserver,
    unasked: UnaskedReplies,
    starved: Callable[[], None],
) -> Disposition:
    rules, queues, storing = records.rules, records.queues, records.storing
    scheduling, fetching, reporting = records.scheduling, records.fetching, records.reporting
    clock, frontier, effective = records.context.clock, queues.frontier, rules.effective
    chain, logs = chains.make(ChainName.DISPOSITION), reporting.logs
    robots, politeness = effective.then(lambda s: s.robots), effective.then(lambda s: s.politeness)
    delays = QueueDelays(politeness, frontier, fetching.pacer, fetching.robots, clock)
    return Disposition(
        frontier=frontier,
        clock=clock,
        chain=AddedProcessors(chain.disposition(), logs),
        back=BackToFrontier(
            frontier,
            delays,
            identity=queues.identity,
            robots=fetching.robots,
            inherited=rules.sheets.inherited,
            logs=logs,
            clock=clock,
        ),
        records=FinalRecords(
            storing.archive,
            unasked,
            Answers(queues.hosts, fetching.robots, robots),
            SharedQueues(frontier, politeness),
            storing.pages,
            storing.rights,
            chain.step("archive"),
        ),
        observer=observer,
        links=FollowLinksStep(
            scheduling.candidates,
            queues.prospects,
            effective.then(lambda s: s.engine.follow_error_pages),
            chain.step("candidates"),
        ),
        fallback=SeedFallback(frontier, queues.identity, scheduling.seeds),
        ending=DisposeStep(
            frontier=frontier,
            delays=delays,
            speculation=scheduling.speculation,
            statistics=reporting.statistics,
            logs=logs,
            quotas=queues.quotas,
            outcomes=storing.outcomes,
            clock=clock,
            counts=chain.step("disposition"),
        ),
        quotas=queues.quotas,
        visit_done=storing.commit.visit_done,
        starved=starved,
    )


def _make_unasked(records: RunRecords) -> UnaskedReplies:
    context, storing = records.context, records.storing
    archive = storing.archive
    return UnaskedReplies(
        store=storing.store,
        frontier=records.queues.frontier,
        writer=archive.writer,
        history=archive.history,
        robots=records.fetching.robots,
        record_id=storing.numbers.record_id,
        log=records.reporting.logs.recovery,
        clock=context.clock,
        visit_done=storing.commit.visit_done,
        supervisor=context.supervisor,
    )


_ASKING = frozenset(
    (
        "preselect",
        "runtime-limit",
        "quotas",
        "preconditions",
        "recheck-scope",
        "fetch-dns",
        "fetch-http",
        "render",
        "walls",
    )
)
"""Steps that send requests, or decide whether requests may be sent."""


class _Passing:
    """A step that does nothing."""

    def accepts(self, _visit: Visit) -> bool:
        return False

    async def process(self, _visit: Visit) -> Result:
        return Result.PROCEED


def replay_chain(records: RunRecords) -> Chain:
    """Make the fetch chain for existing replies: steps that send requests do nothing.

    Args:
        records: The records of a run.
    """
    context, reporting = records.context, records.reporting
    kit = _kit(
        context,
        records.rules,
        reporting,
        records.queues,
        records.storing,
        reporting.logs.alert,
    )
    steps = fetch_steps(records, conditional=False)
    makers = {name: make for name, make in steps.items() if name not in _ASKING}
    makers |= dict.fromkeys(_ASKING, _Passing)
    chains = _Chains(records.rules, reporting.steps, kit)
    builder = chains.make(ChainName.FETCH, makers)
    return Chain(builder.fetch(), context.clock, records.scheduling.ignored)
