"""A job: a directory with `crawl.yaml`, its runs, and the way to run it from a program."""

from pathlib import Path

from nacre.core.clock import Clock
from nacre.errors import ConfigError, DamageError, StorageError
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard, guard_for_seeds
from nacre.job.clock import SystemClock
from nacre.job.engine import DispositionError
from nacre.job.events import Alert, Events
from nacre.job.layout import Layout
from nacre.job.seeds import SeedList, read_seeds
from nacre.job.session import Session
from nacre.job.settings import JobSettings
from nacre.job.space import places
from nacre.job.states import ExitStatus
from nacre.store.disk import RealDisk
from nacre.store.recovery import Start
from nacre.store.seam import Disk
from nacre.store.space import Ballast, reserve, wait_for_space
from nacre.uri.parse import host, is_ip

_PLAIN = Start()
_MAX_FAULTS = 100


class Job:
    """One job.

    Args:
        root: Its directory.
        settings: Its settings, checked.
        clock: The time; None for the machine's.
        disk: The file operations; None for the machine's.

    Attributes:
        events: Subscribe here.
        session: The running session; None while none runs.
        faults: URLs whose disposition failed by a bug of ours; they end as -5.
    """

    def __init__(
        self,
        root: Path,
        settings: JobSettings,
        *,
        clock: Clock | None = None,
        disk: Disk | None = None,
    ) -> None:
        self.layout = Layout(root)
        self.settings = settings
        self.clock = clock or SystemClock()
        self.disk = disk or RealDisk()
        self.events = Events()
        self.session: Session | None = None
        self.faults: dict[str, Exception] = {}
        self._ballast = 0
        self._largest = 0

    def seeds(self) -> SeedList:
        """The seed list of the configuration.

        Raises:
            ConfigError: It cannot be read.
        """
        named = self.settings.seeds
        if not isinstance(named, str):
            return read_seeds(named)
        try:
            text = (self.layout.root / named).read_text("utf-8", "replace")
        except OSError as error:
            raise ConfigError(f"seeds: {named} cannot be read: {error.strerror}") from error
        return read_seeds(text.splitlines())

    async def guard(self) -> AddressGuard:
        """The address guard: private seeds open exactly their own addresses."""
        resolver = DnsResolver(self.settings.dns, self.clock)
        addresses: list[str] = []
        for seed in self.seeds().seeds:
            name = host(seed.url)
            if is_ip(name):
                addresses.append(name.strip("[]"))
            elif not seed.url.startswith("dns:"):
                addresses += (await resolver.lookup(name)).addresses
        return guard_for_seeds(self.settings.network.allow, addresses)

    async def run(self, start: Start = _PLAIN) -> ExitStatus:
        """Run or resume the job to its end, through storage errors that pass.

        Raises:
            DamageError: The archive and the store contradict each other.
            StorageError: The store cannot be opened, though there is space.
        """
        guard = await self.guard()
        suspects: set[str] = set()
        while True:
            if not await self._has_space():
                return ExitStatus.DISK_WAIT
            session = Session(self.layout, self.settings, self.disk, self.clock, self.events)
            try:
                return await self._one_session(session, guard, start._replace(suspects=suspects))
            except DispositionError as fault:
                self.faults[fault.url] = fault.error
                if len(self.faults) > _MAX_FAULTS:
                    raise
            except DamageError:
                raise
            except StorageError as error:
                if self.session is None:
                    raise
                self.events.emit(Alert(f"{error}; opening the job again"))
                suspects |= session.suspects
            finally:
                self.session = None
                await session.close()
            # What failed once may fail at once again: never a busy loop.
            await self.clock.sleep(1.0)

    async def _one_session(self, session: Session, guard: AddressGuard, start: Start) -> ExitStatus:
        session.open(guard, self.seeds, start)
        session.parts.engine.faults = self.faults
        self._ballast = session.parts.store.engine.size_limit
        self._keep_ballast()
        self.session = session
        try:
            return await session.run()
        finally:
            self._largest = max(self._largest, session.parts.commit.largest)

    def _keep_ballast(self) -> None:
        need = reserve(self._ballast, self._largest)
        self._ballast_file().keep(str(self.layout.state), need)

    def _ballast_file(self) -> Ballast:
        return Ballast(self.disk, str(self.layout.state / "ballast"), self._ballast)

    async def _has_space(self) -> bool:
        """Wait for the reserve; False when that took longer than the operator allows."""
        self.layout.state.mkdir(parents=True, exist_ok=True)
        buffers = self._ballast or self.settings.store.memory // 4
        need = max(reserve(buffers, self._largest), self.settings.disk.reserve)
        self._ballast_file().free(str(self.layout.state), need)
        return await wait_for_space(
            self.disk,
            places(self.layout, self.settings),
            need,
            self.clock,
            self.settings.disk.max_wait,
            lambda missing: self.events.emit(Alert(f"waiting for space: {missing}")),
        )
