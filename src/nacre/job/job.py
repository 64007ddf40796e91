"""A job: a directory with `crawl.yaml`, its runs, and the way to run it from a program."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import chain
from pathlib import Path

from nacre.config.check import Loaded
from nacre.config.layer import SettingOrigin
from nacre.config.seed_file import seed_lines
from nacre.core.clock import Clock
from nacre.core.events import Alert, Events
from nacre.core.states import ExitStatus
from nacre.engine.seeding.survey import SeedSurvey, survey
from nacre.engine.steps.quotas import OPERATOR
from nacre.engine.visits import DispositionError
from nacre.errors import ConfigError, DamageError, NacreError, StorageError
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard, guard_for_seeds
from nacre.frontier.queues import Totals
from nacre.job.background.account import RunAccount
from nacre.job.background.actions import ActionDirectory
from nacre.job.background.checkpoints import CheckpointService
from nacre.job.background.control_files import ControlFiles
from nacre.job.background.freed_memory import FreedMemory
from nacre.job.background.metrics_server import serve_metrics
from nacre.job.background.outbackcdx import IndexPusher
from nacre.job.background.webhooks import WebhookNotifier
from nacre.job.monitors import (
    BackgroundTask,
    JobUnit,
    longest_wait,
    places,
    raise_file_limit,
    space_needed,
    tune_allocator,
)
from nacre.job.session import Session
from nacre.machine.clock import SystemClock, machine_clock
from nacre.machine.layout import Layout
from nacre.machine.local_files import remove_left_behind
from nacre.runs.manifest import OriginOf, after_set, unknown_origin, write_effective
from nacre.scope.seeds import Entry, read_seeds
from nacre.settings.contact import contact_problems, public_hosts, resolver_lookup
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.opening import shortage, wait_for_space
from nacre.store.recovery import StartOptions
from nacre.store.seam import Disk

_LOOKUPS = 50
"""Names of seeds looked up at a time before the crawl."""
_MAX_FAULTS = 100
_MAX_FRUITLESS = 7
"""Sessions in a row without progress after which a storage error is final; waits double, so that
this takes some four minutes."""


class Job:
    """One job.

    Args:
        root: Its directory.
        settings: Its settings, checked.
        clock: The time; None for the machine's.
        disk: The file operations; None for the machine's.
        on_terminal: A person watches: a pause for space lasts until there is some.
        origin: Gives the origin of a setting, for `effective.json` of the run; None: unknown.
        unit: The list that it fetches in place of its seeds; None: its seeds.
        record_ids: Gives 16 fresh bytes for the id of a WARC record; None for random ones.
        companion: Makes a task that runs beside each session; None: there is none.

    Attributes:
        on_terminal: As given.
        events: Subscribe here.
        session: The running session; None while none runs.
        checkpoints: Makes those of the running session; set while one runs.
        account: What the last session kept of itself; None before one, and of units.
        origin: As given; of settings that were changed since, where they came from.
        trouble: Why no session runs, when none does.
        is_over: It ran in this process, and its last session has ended.
        waits_for_space: No session runs, because too little space is free.
        faults: URLs whose disposition failed twice by a bug of ours; they end as -5.
    """

    checkpoints: CheckpointService

    def __init__(  # noqa: PLR0913 - what a program may give to a job
        self,
        root: Path,
        settings: JobSettings,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
        on_terminal: bool = False,
        origin: OriginOf | None = None,
        unit: JobUnit | None = None,
        record_ids: Callable[[], bytes] | None = None,
        companion: Callable[[Session], BackgroundTask] | None = None,
    ) -> None:
        self.layout = Layout(root)
        self.settings = settings
        self.clock = clock or SystemClock()
        self.disk = disk or RealDisk()
        self.events = Events()
        self.session: Session | None = None
        self.waits_for_space = self._gives_up = self.is_over = False
        self.trouble = "it begins or ends; try again in a moment"
        self.faults: dict[str, Exception] = {}
        self._faulted: set[str] = set()
        self._set: set[str] = set()
        self._at_start: OriginOf | None = None
        self._before_control: dict[str, object] = {}
        self._control: ControlFiles | None = None
        self.account: RunAccount | None = None
        self._finished = -1
        self._fruitless = 0
        self.origin: OriginOf = origin or unknown_origin
        self._webhooks = WebhookNotifier(self)
        self.on_terminal = on_terminal
        self._unit = unit
        self._record_ids = record_ids
        self._companion = companion

    def seeds(self) -> Iterator[Entry]:
        """The seed list of the configuration, read while it is gone through.

        Raises:
            ConfigError: It cannot be read.
        """
        named = self.settings.seeds
        file = named if isinstance(named, str) else ""
        return read_seeds(seed_lines(named, self.layout.root), file)

    async def guard(self, seeds: SeedSurvey | None = None) -> AddressGuard:
        """The address guard: private seeds open exactly their own addresses.

        Only names of a private kind and names in `dns.hosts` are looked up: what others resolve
        to opens nothing.

        Args:
            seeds: A survey of the seeds; None makes one.
        """
        seeds, settings = seeds or self._survey(), self.settings
        resolver = DnsResolver(settings.dns, self.clock)
        limit = asyncio.Semaphore(_LOOKUPS)

        async def look_up(name: str) -> Sequence[str]:
            async with limit:
                return (await resolver.lookup(name)).addresses

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(look_up(name)) for name in seeds.names]
        resolved = chain.from_iterable(task.result() for task in tasks)
        return guard_for_seeds(settings.network.allow, chain(seeds.addresses, resolved))

    def _survey(self) -> SeedSurvey:
        settings = self.settings
        return survey(self.seeds(), settings.dns.hosts)

    async def run(self, *, accept_loss: bool = False) -> ExitStatus:
        """Run or resume the job, and notify its listeners; see `_run`.

        Args:
            accept_loss: Continue although archived data is missing.
        """
        self.is_over = False
        async with self._webhooks.running(), self._metrics(), self._indexes():
            try:
                return await self._run(StartOptions(accept_loss=accept_loss))
            finally:
                self.is_over = True

    def _indexes(self) -> AbstractAsyncContextManager[None]:
        """Posts indexes of closed WARCs; those of batch rounds are in parts that may be dropped."""
        return IndexPusher(self).running() if self._unit is None else nullcontext()

    def _metrics(self) -> AbstractAsyncContextManager[None]:
        """Serves metrics; units of batch rounds, which run beside each other, have none."""
        return serve_metrics(self) if self._unit is None else nullcontext()

    async def _run(self, start: StartOptions) -> ExitStatus:
        """Run or resume the job to its end, through storage errors that pass.

        Raises:
            ConfigError: A public site is to be crawled without a contact, or without any delay.
            DamageError: The archive and the store contradict each other.
            StorageError: The store cannot be opened, though there is space; or one session after
                another failed before a URI was finished.
        """
        seeds, settings = self._survey(), self.settings
        lookup = resolver_lookup(DnsResolver(settings.dns, self.clock))
        public = await public_hosts(seeds.public, settings.network.allow, lookup)
        problems = contact_problems(settings, public)
        if problems:
            raise ConfigError(problems)
        guard = await self.guard(seeds)
        remove_left_behind(machine_clock(self.clock).now())
        tune_allocator()
        raise_file_limit()
        suspects: frozenset[str] = frozenset()
        paused = settings.engine.pause_at_start
        while await self._has_space():
            session = self._session()
            try:
                session.open(guard, self.seeds, start._replace(suspects=suspects))
                self._count_progress(session.frontier.totals)
                write_effective(session.directory, self.settings, self.origin)
                self._add_tasks(session)
                if paused:
                    session.hold(OPERATOR)
                self.session = session
                return await session.run()
            except (StorageError, DispositionError) as error:
                if self.session is None or isinstance(error, DamageError):
                    raise
                paused = OPERATOR in session.holds
                self._note(error)
            finally:
                self.session = None
                await session.close()
                suspects |= session.suspects
            # What failed once may fail at once again: never a busy loop.
            await self.clock.sleep(2.0 ** min(self._fruitless, _MAX_FRUITLESS))
        return ExitStatus.ABORTED if self._gives_up else ExitStatus.DISK_WAIT

    def _session(self) -> Session:
        return Session(
            self.layout,
            self.settings,
            self.disk,
            self.clock,
            self.events,
            self.faults,
            on_terminal=self.on_terminal,
            unit=self._unit,
            record_ids=self._record_ids,
        )

    def _add_tasks(self, session: Session) -> None:
        """Give a session the tasks that run beside each."""
        self.checkpoints = CheckpointService(session, self.disk, self.clock)
        session.add_task(self.checkpoints)
        session.add_task(ActionDirectory(session, self.disk, self.clock, self.events))
        self._control = ControlFiles(session, self.clock, self._before_control)
        session.add_task(self._control)
        session.add_task(FreedMemory(self.clock))
        self.account = None if self._unit is not None else RunAccount(session, self.clock)
        if self.account is not None:
            session.add_task(self.account)
        if self._companion is not None:
            session.add_task(self._companion(session))
        for task in self._unit.tasks(session.engine.wake) if self._unit is not None else ():
            session.add_task(task)

    def look_at_control(self) -> None:
        """Obey the control files now, instead of within a second."""
        if self._control is not None:
            self._control.look()

    def origin_now(self, path: str) -> object:
        """The origin of the current value of a setting: a control file, or from `origin`."""
        file = self._control.says(path) if self._control is not None else ""
        return SettingOrigin("file", f"control/{file}") if file else self.origin(path)

    def changed(self, settings: JobSettings, paths: Iterable[str]) -> None:
        """The operator gave a running job other settings: their origins are others too."""
        self.settings = settings
        self._at_start = self._at_start or self.origin
        self._set |= set(paths)
        try:
            fresh = load_job(self.layout).origin
        except NacreError:
            # The file has other faults by now; the job runs on without it.
            fresh = Loaded(settings, {}).origin
        self.origin = after_set(self._at_start, fresh, frozenset(self._set))
        if self.session is not None:
            write_effective(self.session.directory, settings, self.origin)

    def _note(self, error: StorageError | DispositionError) -> None:
        """A session ended by itself: say so; a bug is remembered with its URI."""
        if isinstance(error, DispositionError):
            if error.url in self._faulted:
                self.faults[error.url] = error.error
            self._faulted.add(error.url)
            if len(self._faulted) > _MAX_FAULTS:
                raise error
        elif self._fruitless >= _MAX_FRUITLESS:
            raise error
        self._tell_trouble(f"{str(error).rstrip('.')}; opening the job again")

    def _tell_trouble(self, text: str) -> None:
        self.trouble = text
        self.events.emit(Alert(text))

    def _count_progress(self, totals: Totals) -> None:
        """Count the sessions in a row that came no further than those before them."""
        self._fruitless = 0 if totals.finished != self._finished else self._fruitless + 1
        self._finished = totals.finished

    def missing_space(self) -> str:
        """Places that lack space for a start, with their free and needed bytes; "" for none."""
        return shortage(self.disk, places(self.layout, self.settings), self.space_needed())

    def space_needed(self) -> int:
        """The space that is kept free on each file system, bytes."""
        return space_needed(self.settings)

    async def _has_space(self) -> bool:
        """Wait for the reserve; False when that took longer than the operator allows."""
        settings = self.settings
        self.disk.makedirs(str(self.layout.state))
        try:
            return await wait_for_space(
                self.disk,
                places(self.layout, settings),
                self.space_needed(),
                self.clock,
                longest_wait(settings, on_terminal=self.on_terminal),
                self._tell_shortage,
                gives_up=lambda: self._gives_up,
            )
        finally:
            self.waits_for_space = False

    def stop_waiting(self) -> None:
        """While it waits for space: end, as after `stop`; within some seconds."""
        self._gives_up = True

    def _tell_shortage(self, missing: str) -> None:
        self.waits_for_space = True
        self._tell_trouble(f"waiting for space: {missing}")
