"""Builds the parts of a running job from its settings and its opened store."""

from collections.abc import Callable, Mapping, Sequence

from nacre.config.effective import Effective
from nacre.config.sheet import Overlays
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Processor
from nacre.extract.settings import ExtractSettings
from nacre.fetch.cookies import CookieJar
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard
from nacre.fetch.http import HttpFetcher
from nacre.fetch.spool import Spool
from nacre.frontier.frontier import Frontier
from nacre.frontier.settings import FrontierSettings
from nacre.frontier.slots import Moment
from nacre.history.crawldb import History
from nacre.history.dedup import Digests
from nacre.job.admission.candidates import Candidates
from nacre.job.admission.identity import Identity, again_at, canonicalizer
from nacre.job.admission.ignores import Ignored
from nacre.job.admission.normalizing import normalizing
from nacre.job.admission.outside import Outside
from nacre.job.admission.preloaded import Preloaded
from nacre.job.admission.rulefiles import RuleFiles
from nacre.job.admission.scoping import scope_state
from nacre.job.admission.speculation import Speculation
from nacre.job.admission.timeouts import Timeouts
from nacre.job.chain.entry import ChainName, Kit
from nacre.job.chain.plan import ChainBuilder
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import sheet_list
from nacre.job.configuration.sheets import Sheets
from nacre.job.counters import alerts_counter
from nacre.job.events import Alert, AlertLogged, Events
from nacre.job.extracting.extraction import Extract
from nacre.job.extracting.parser import ParserProcess
from nacre.job.holdings.warcseries import warc_writers
from nacre.job.layout import Layout
from nacre.job.numbers import Numbers
from nacre.job.running.engine import Chain, Engine
from nacre.job.running.shortage import Shortage
from nacre.job.runrow import RunRow
from nacre.job.seeding.logins import LoginBook
from nacre.job.seeding.seedbook import SeedBook
from nacre.job.visit.answers import Answers
from nacre.job.visit.cookie_rows import CookieRows
from nacre.job.visit.disposition import Disposition, DispositionParts
from nacre.job.visit.fetching import FetchDns, FetchHttp
from nacre.job.visit.journaling import RecoveryJournal
from nacre.job.visit.logs import JobLogs, LogLines
from nacre.job.visit.names import HostAnswers
from nacre.job.visit.outcomes import Outcomes
from nacre.job.visit.pacer import Pacer
from nacre.job.visit.preconditions import CheckPreconditions, Preconditions
from nacre.job.visit.preselect import Preselect, preselection
from nacre.job.visit.quotas import EnforceQuotas, QuotaBook
from nacre.job.visit.recheck import Recheck
from nacre.job.visit.robots_cache import RobotsCache
from nacre.job.visit.runtime import LimitRuntime
from nacre.job.visit.shared_slots import open_slots
from nacre.job.visit.unasked import UnaskedParts, UnaskedReplies
from nacre.job.visit.writing import ArchiveStep
from nacre.report.stats import Statistics
from nacre.report.steps import Steps
from nacre.scope.compile import compile_gate, compile_scope
from nacre.scope.rule import Gate, Scope
from nacre.scope.subject import Place
from nacre.scope.watch import Logged
from nacre.store.commit import GroupCommit
from nacre.store.store import Store


class Parts:
    """Everything of one running job, built once after the store is open and recovered.

    Args:
        settings: The job's settings.
        layout: Its directories.
        run: The run.
        store: The opened store.
        commit: The group commit.
        guard: Which addresses may be connected to.
        clock: The time.
        events: Who listens.
    """

    def __init__(  # noqa: PLR0913 - the root of everything
        self,
        *,
        settings: JobSettings,
        layout: Layout,
        run: RunRow,
        store: Store,
        commit: GroupCommit,
        guard: AddressGuard,
        clock: Clock,
        events: Events,
    ) -> None:
        self.settings = settings
        self.store = store
        self.commit = commit
        self.clock = clock
        self.guard = guard
        self.run, self.lines = run, LogLines(commit, run.name)
        self._events = events
        self.layout = layout
        self.rule_files = RuleFiles(layout.root)
        self.scope_state = scope_state(
            layout.root, self.rule_files, queue_of=self._queue_of, write=self._decided
        )
        self.sheets = self._sheets(layout)
        frontier = self.effective.then(lambda s: s.frontier)
        self.politeness = self.effective.then(lambda s: s.politeness)
        self.robots_settings = self.effective.then(lambda s: s.robots)
        self.numbers = Numbers(store)
        self.hosts = HostAnswers(store)
        self.identity = self._identity(frontier)
        self.logs = self._job_logs()
        self.frontier = self._frontier(frontier)
        moment = Moment(clock.now(), clock.monotonic())
        self.frontier.courtesy.slots = open_slots(settings.politeness, moment, self._alert)
        self.statistics = Statistics(store)
        self.quotas = self._quotas()
        self.outcomes = Outcomes(store)
        self.robots = RobotsCache(store, self.robots_settings)
        self.seeds, self.logins = SeedBook(store, self.scope_state), LoginBook(store)
        self.outside = Outside(store, settings.engine.outside_kept)
        self.speculation = Speculation(store, tries_all=settings.extract.try_all_guesses)
        self.steps = Steps(store)
        self.kit, self.chains = self._kit(), list[ChainBuilder]()
        self.candidates = self._candidates()
        self.spool = Spool(layout.scratch)
        self.resolver = DnsResolver(settings.dns, clock)
        self.parser = ParserProcess()
        self.fetcher = HttpFetcher(clock, guard, spool=self.spool, logins=self.logins.known)
        self.pacer = Pacer(self.effective.then(lambda s: s.bandwidth), self.fetcher.throttle)
        self.archive = self._archive()
        self.engine = self._engine(events)
        self.shortage = Shortage(self.engine, clock, self._alert)
        self._seal_with_groups()

    def _seal_with_groups(self) -> None:
        if self.settings.frontier.recovery_log:
            journal = RecoveryJournal(self.lines, self.clock)
            self.frontier.journal = journal.note
            self.commit.on_seal(journal.seal)
        for seal in (
            self.statistics.seal,
            self.quotas.seal,
            self.steps.seal,
            self.outside.seal,
            self.speculation.seal,
            self.frontier.save,
        ):
            self.commit.on_seal(seal)

    def _sheets(self, layout: Layout) -> Sheets:
        found = sheet_list(self.settings, layout.root)
        overlays = Overlays(self.settings, found.sheets)
        self.effective = overlays.settings
        sheets = Sheets(overlays, self.scope_state)
        sheets.associate(found.associations)
        return sheets

    def _scope(self) -> Effective[Scope]:
        rules = self.effective.then(lambda s: s.scope)
        return rules.then(lambda listed: compile_scope(listed, self.scope_state))

    def _queue_of(self, url: str) -> str:
        return self.identity.queue(url)

    def _decided(self, what: Logged) -> None:
        self.logs.decided(what)

    def _midfetch(self) -> Effective[Gate | None]:
        rules = self.effective.then(lambda s: s.fetch.midfetch)
        return rules.then(lambda listed: compile_gate(listed, self.scope_state, Place.MID_FETCH))

    def _candidates(self) -> Candidates:
        chain = self._chain(ChainName.CANDIDATE)
        candidates = Candidates(
            self._scope(),
            self.sheets.overlay,
            identity=self.identity,
            frontier=self.frontier,
            outside=self.outside,
            speculation=self.speculation,
            new_seed=self.seeds.redirected,
            plans=chain.candidate(),
        )
        candidates.judged, candidates.prepared = chain.step("scope"), chain.step("prepare")
        candidates.failed = self.logs.command_error
        self.normalizing = normalizing(self.settings, self.rule_files)
        candidates.normalizing = self.normalizing
        self.timeouts = Timeouts(self.scope_state, self.store)
        if self.scope_state.counts:
            candidates.timeouts = self.timeouts
            self.commit.on_seal(self.timeouts.seal)
        candidates.trace_scope(self.logs.of_scope(self.settings.engine))
        self.scope_state.when_own(candidates.recent.forget_refusals)
        return candidates

    def _job_logs(self) -> JobLogs:
        """The logs; alerts are counted over the whole run, and others hear of them."""
        extra_info = self.settings.engine.log_extra_info
        logs = JobLogs(self.lines, self.clock, extra_info=extra_info)
        store, name = self.store, alerts_counter(self.run.name)
        logs.alerts = store.counter(name)

        def told(text: str) -> None:
            store.set_counter(name, logs.alerts)
            self._events.emit(AlertLogged(text))

        logs.on_alert = told
        return logs

    def _alert(self, text: str) -> None:
        self.logs.alert(text)
        self._events.emit(Alert(text))

    def _starved(self) -> None:
        self.shortage.note()

    def _addresses(self, host: str) -> Sequence[str]:
        """What is known of a host, for queues by address."""
        answer = self.hosts.get(host, self.clock.now())
        return answer.addresses if answer else ()

    def _quotas(self) -> QuotaBook:
        """Other quotas bring back the queues that they retired."""
        settings = self.effective.then(lambda s: s.quotas)
        said = (path for sheet in self.sheets.overlays.sheets.values() for path in sheet.values)
        book = QuotaBook(self.store, settings, said, self.identity.queue)
        book.changed = self.frontier.steering.order_changed
        return book

    def _frontier(self, settings: Effective[FrontierSettings]) -> Frontier:
        found = Frontier(
            self.store,
            settings,
            self.politeness,
            self.clock.now(),
            self.clock.monotonic(),
            chooser=self.sheets,
            traps=self.effective.then(lambda s: s.traps),
        )
        self._assign(found)
        settings.watch(lambda: self._assign(found))
        return found

    def _assign(self, frontier: Frontier) -> None:
        """URIs change their queue when their turn comes, where a policy says so."""
        identity, overlay_of = self.identity, self.sheets.of
        frontier.handout.assign = (
            (lambda uri: identity.requeue(uri, overlay_of(uri))) if identity.moves else None
        )

    def _identity(self, frontier: Effective[FrontierSettings]) -> Identity:
        canonical = canonicalizer(self.settings.uri)
        preloaded = Preloaded(canonical, self.rule_files.read_lines)
        return Identity(canonical, frontier, self._addresses, preloaded)

    def _archive(self) -> ArchiveStep:
        writer, large = warc_writers(
            self.settings, self.run, self.store, self.commit, self.clock, self.numbers
        )
        return ArchiveStep(
            writer=writer,
            large=large,
            dedup=self.effective.then(lambda s: s.dedup),
            history=History(self.store),
            digests=Digests(self.store),
            numbers=self.numbers,
            scratch=self.spool.scratch,
        )

    def _engine(self, events: Events) -> Engine:
        settings, clock = self.settings, self.clock
        self.jar = CookieJar(settings.cookies)
        self.cookie_rows = CookieRows(self.store, self.jar)
        self.cookie_rows.load(clock.now())
        self.ignored = Ignored()
        self.runtime = LimitRuntime(self.effective.then(lambda s: s.limits.runtime))
        chain = Chain(self._fetch_chain().fetch(), clock)
        chain.refuses = self.ignored.refuses
        return Engine(
            frontier=self.frontier,
            chain=chain,
            disposition=self._disposition(),
            archive=self.archive,
            commit=self.commit,
            logs=self.logs,
            events=events,
            clock=clock,
            parallel=settings.engine.parallel,
            overlay_of=self.sheets.of,
        )

    def _fetch_chain(self) -> ChainBuilder:
        clock = self.clock
        checks = Preconditions(
            self.hosts, self.robots, self.robots_settings, resolves=self._resolves()
        )
        http = self._fetch_http()
        preselect = self.effective.then(lambda s: preselection(s.chains.fetch))
        return self._chain(
            ChainName.FETCH,
            {
                "preselect": lambda: Preselect(preselect, self.speculation),
                "runtime-limit": lambda: self.runtime,
                "quotas": lambda: EnforceQuotas(self.quotas),
                "preconditions": lambda: CheckPreconditions(checks, clock),
                "recheck-scope": self._recheck,
                "fetch-dns": lambda: FetchDns(self.resolver, clock),
                "fetch-http": lambda: http,
                "extract": lambda: Extract(self.effective.then(_extract_settings), self.parser),
            },
        )

    def _fetch_http(self) -> FetchHttp:
        return FetchHttp(
            self.fetcher,
            self.effective.then(lambda s: s.fetch),
            midfetch=self._midfetch(),
            keeps_cookies=self.effective.then(lambda s: s.cookies.enabled),
            answers=self.hosts,
            history=self.archive.history,
            conditional=self.settings.dedup.conditional and not self.run.needs_bodies,
            cookies=self.jar,
            cookie_rows=self.cookie_rows,
            pacer=self.pacer,
            clock=self.clock,
        )

    def _disposition(self) -> Disposition:
        self.unasked = self._unasked()
        final = self._chain(ChainName.DISPOSITION)
        return Disposition(
            DispositionParts(
                frontier=self.frontier,
                politeness=self.politeness,
                sheets=self.sheets,
                identity=self.identity,
                answers=Answers(self.hosts, self.robots, self.robots_settings),
                robots=self.robots,
                archive=self.archive,
                candidates=self.candidates,
                speculation=self.speculation,
                seeds=self.seeds,
                statistics=self.statistics,
                quotas=self.quotas,
                outcomes=self.outcomes,
                unasked=self.unasked,
                logs=self.logs,
                clock=self.clock,
                pacer=self.pacer,
                visit_done=self.commit.visit_done,
                starved=self._starved,
                plans=final.disposition(),
                archived=final.step("archive"),
                followed=final.step("candidates"),
                disposed=final.step("disposition"),
                follow_errors=self.effective.then(lambda s: s.engine.follow_error_pages),
            )
        )

    def _unasked(self) -> UnaskedReplies:
        return UnaskedReplies(
            UnaskedParts(
                store=self.store,
                frontier=self.frontier,
                archive=self.archive,
                robots=self.robots,
                numbers=self.numbers,
                logs=self.logs,
                clock=self.clock,
                visit_done=self.commit.visit_done,
            )
        )

    def _chain(
        self, name: ChainName, built: Mapping[str, Callable[[], Processor]] | None = None
    ) -> ChainBuilder:
        entries = self.effective.then(lambda s: s.chains.of(name))
        builder = ChainBuilder(name, entries, self.steps, self.kit, built or {})
        self.chains.append(builder)
        return builder

    def _kit(self) -> Kit:
        return Kit(
            chain=ChainName.FETCH,
            label="",
            clock=self.clock,
            root=self.layout.root,
            run=f"runs/{self.run.name}",
            line=self.lines,
            alert=self._alert,
            address=lambda visit: self.hosts.address(visit.uri.url),
            job=self.effective,
            state=self.scope_state,
            commit=self.commit,
            history=History(self.store).get,
            later=self._later,
        )

    def _later(self, uri: CrawlURI, due: float) -> None:
        self.frontier.schedule([again_at(uri, due)], self.clock.now())

    def _recheck(self) -> Recheck:
        scope = self.effective.then(lambda s: s.scope).then(
            lambda rules: compile_scope(rules, self.scope_state, Place.RECHECK.offers)
        )
        return Recheck(scope, self.kit.address)

    def _resolves(self) -> Effective[bool]:
        """Names are resolved here, unless a proxy may do it."""
        return self.effective.then(lambda s: not (s.fetch.proxy and s.network.proxy_resolves))


def _extract_settings(settings: JobSettings) -> ExtractSettings:
    """Meta robots speak to the same agent as robots.txt."""
    if settings.extract.robots_agent:
        return settings.extract
    return settings.extract.model_copy(update={"robots_agent": settings.robots.agent})
