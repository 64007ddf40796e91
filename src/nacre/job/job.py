"""A job: a directory with `crawl.yaml`, its runs, and the way to run it from a program."""

from pathlib import Path

from nacre.core.clock import Clock
from nacre.errors import ConfigError, DamageError, StorageError
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard, guard_for_seeds
from nacre.job.clock import SystemClock
from nacre.job.events import Events
from nacre.job.layout import Layout
from nacre.job.seeds import SeedList, read_seeds
from nacre.job.session import Session
from nacre.job.settings import JobSettings
from nacre.job.states import ExitStatus
from nacre.store.disk import RealDisk
from nacre.store.recovery import Start
from nacre.store.seam import Disk
from nacre.uri.parse import host, is_ip

_PLAIN = Start()


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
            StorageError: The disk cannot be used at all.
        """
        guard = await self.guard()
        while True:
            session = Session(self.layout, self.settings, self.disk, self.clock, self.events)
            opened = False
            try:
                session.open(guard, self.seeds, start)
                opened = True
                self.session = session
                return await session.run()
            except DamageError:
                raise
            except StorageError:
                if not opened:
                    raise
            finally:
                self.session = None
                await session.close()
            await self._until_there_is_space()

    async def _until_there_is_space(self) -> None:
        await self.clock.sleep(1.0)
