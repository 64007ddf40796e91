"""Builds the fetching side: connections, names, cookies, robots.txt."""

from dataclasses import dataclass
from pathlib import Path

from nacre.assembly.rules import JobRules
from nacre.core.clock import Clock
from nacre.core.rendered import PageRenderer
from nacre.engine.limits import Pacer
from nacre.engine.prerequisites import RobotsCache
from nacre.engine.steps.extract import ParserProcess
from nacre.engine.steps.fetching import CookieRows
from nacre.extract.settings import ExtractSettings
from nacre.fetch.cookie_jar import CookieJar
from nacre.fetch.dns import DnsResolver
from nacre.fetch.guard import AddressGuard
from nacre.fetch.http import HttpFetcher
from nacre.fetch.settings import Credential
from nacre.fetch.spool import Spool
from nacre.machine.clock import machine_clock
from nacre.settings.settings import JobSettings
from nacre.store.store import Store


@dataclass(frozen=True)
class Fetching:
    """The parts of a run that fetch.

    Attributes:
        guard: Which addresses may be connected to.
        fetcher: Fetches over HTTP.
        resolver: Looks names up.
        parser: The process that parses long documents.
        jar: The cookies.
        cookie_rows: Their rows in the store.
        pacer: Bandwidth as the hour of the week demands.
        robots: The rules of robots.txt.
        renderer: Opens pages in a browser, which starts with the first page.
    """

    guard: AddressGuard
    fetcher: HttpFetcher
    resolver: DnsResolver
    parser: ParserProcess
    jar: CookieJar
    cookie_rows: CookieRows
    pacer: Pacer
    robots: RobotsCache
    renderer: PageRenderer

    def configure(self, before: JobSettings, settings: JobSettings) -> None:
        """Apply changed settings to those parts whose settings hold for the whole job."""
        self.resolver.configure(settings.dns)
        self.jar.configure(settings.cookies)
        if before.network.allow != settings.network.allow:
            self.guard.allow_networks(settings.network.allow)

    def load_cookies(self, root: Path, now: float) -> list[str]:
        """Load the file of cookies in the settings; return its problems.

        Args:
            root: Directory of the job.
            now: Seconds since the epoch.

        Raises:
            ConfigError: It cannot be read.
        """
        settings = self.jar.settings
        name = settings.load_file
        problems = self.cookie_rows.load_file(root / name, now) if name else []
        return [f"{name}: {problem}" for problem in problems]

    def save_cookies(self, root: Path) -> str:
        """Write the file of cookies that the settings name; returns why that failed, or ""."""
        settings = self.jar.settings
        name = settings.save_file
        return self.cookie_rows.save_file(root / name) if name else ""

    async def close(self) -> None:
        """Close all connections, and end the browser and the process that parses."""
        await self.renderer.close()
        await self.fetcher.close()
        await self.parser.close()


def make_fetching(  # noqa: PLR0913 - the parts that meet here
    rules: JobRules,
    store: Store,
    guard: AddressGuard,
    spool: Spool,
    logins: list[Credential],
    clock: Clock,
    *,
    renderer: PageRenderer,
) -> Fetching:
    """Build the parts of a run that fetch.

    Args:
        rules: The settings under each combination of sheets.
        store: Keeps cookies and robots.txt.
        guard: Which addresses may be connected to.
        spool: Where bodies go.
        logins: Names and passwords of seeds.
        clock: The time.
        renderer: Opens pages in a browser.
    """
    settings = rules.settings
    jar = CookieJar(settings.cookies)
    rows = CookieRows(store, jar)
    rows.load(clock.now())
    fetcher = HttpFetcher(clock, guard, spool=spool, logins=logins, machine=machine_clock(clock))
    return Fetching(
        guard=guard,
        fetcher=fetcher,
        resolver=DnsResolver(settings.dns, clock),
        parser=ParserProcess(),
        jar=jar,
        cookie_rows=rows,
        pacer=Pacer(rules.effective.then(lambda s: s.bandwidth), fetcher.throttle),
        robots=RobotsCache(store, rules.effective.then(lambda s: s.robots)),
        renderer=renderer,
    )


def extract_settings(settings: JobSettings) -> ExtractSettings:
    """Meta robots speak to the same agent as robots.txt."""
    if settings.extract.robots_agent:
        return settings.extract
    return settings.extract.model_copy(update={"robots_agent": settings.robots.agent})
