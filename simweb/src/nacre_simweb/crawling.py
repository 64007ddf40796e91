"""A policy on the real crawler: each batch of visits is a session of one job.

The crawler fetches, extracts, deduplicates and writes WARCs as always; its scope refuses every
link, because the policy chooses the URLs.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from nacre.annotations import AUDIT
from nacre.core.capture import Capture
from nacre.core.clock import Clock
from nacre.core.crawluri import Hop, Outlink
from nacre.core.events import Captured, Event, StateChanged
from nacre.core.processor import Visit
from nacre.core.states import JobState
from nacre.engine.steps.fetching import UNCONDITIONAL
from nacre.job.job import Job
from nacre.recrawl.knowledge import body_of
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.seam import Disk
from nacre_simweb.draw import Draw
from nacre_simweb.page import SimulatedLink
from nacre_simweb.policy import Policy, VisitOutcome, WantedVisit
from nacre_simweb.world import World

_NETWORK = "198.18.0.0/15"
"""Addresses for benchmarks (RFC 2544)."""
_HOPS = {Hop.LINK: "L", Hop.EMBED: "E", Hop.REDIRECT: "R", Hop.MANIFEST: "M"}
_TEXTS = ("text/", "application/xml", "application/rss")
_CONTEXTS = frozenset({"a/@href"})


class CarelessDisk(RealDisk):
    """The machine's disk without its waits: a simulation need not survive a power cut."""

    def fdatasync(self, handle: int) -> None:
        """Do nothing."""

    def fsync_dir(self, path: str) -> None:
        """Do nothing."""


class Crawling:
    """Visits a world with the real crawler.

    Args:
        world: The world.
        root: Directory of the job.
        policy: Its needs set the job's settings.
        clock: The crawler's time.
        to: Takes each step's time, seconds: the world, or its server, goes there.
        disk: The file operations; None for those that sync nothing.
        port: Where a server has the world on loopback; 0 for the simulated network.
        delay: Politeness delay, seconds.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        world: World,
        root: Path,
        policy: Policy,
        *,
        clock: Clock,
        to: Callable[[float], object],
        disk: Disk | None = None,
        port: int = 0,
        delay: float = 0.0,
    ) -> None:
        self._world = world
        self._clock = clock
        self._to = to
        self._port = port
        self._time = 0.0
        settings = job_settings(world, policy, served=bool(port), delay=delay)
        ids = _Ids(Draw(world.seed).at("records"))
        disk = disk or CarelessDisk()
        self.job = Job(root, settings, clock=clock, disk=disk, record_ids=ids)
        self._wanted: list[WantedVisit] = []
        self._visits: dict[str, VisitOutcome] = {}
        self.job.events.subscribe(self._receive, captures=True)

    async def step(self, time: float) -> None:
        """See `Fetcher`."""
        self._time = time
        waited = self._to(time)
        if asyncio.iscoroutine(waited):
            await waited

    async def visit(self, visits: Sequence[WantedVisit], policy: Policy) -> list[VisitOutcome]:
        """See `Fetcher`."""
        self._wanted = list(visits)
        self._visits = {}
        await self.job.run()
        return [self._visits.get(wanted.url) or self._nothing(wanted.url) for wanted in visits]

    def _nothing(self, url: str) -> VisitOutcome:
        """Return the outcome of a visit that came to nothing."""
        now = self._world.epoch(self._time)
        return VisitOutcome(url, now, 0, "", "", "", "", 0, (), bytes)

    def _receive(self, event: Event) -> None:
        if isinstance(event, StateChanged):
            if event.old is JobState.PREPARING and event.new is JobState.RUNNING:
                self._enter()
        elif isinstance(event, Captured) and event.visit.capture is not None:
            visit = event.visit
            if not visit.uri.is_prerequisite and visit.status > 0:
                url = self._inner(visit.uri.url)
                self._visits[url] = self._outcome(url, visit, event.visit.capture)

    def _enter(self) -> None:
        """Put the visits wanted into the frontier of the session that begins."""
        session = self.job.session
        if session is None:
            return
        identity = session.queues.identity
        uris = []
        for wanted in self._wanted:
            heritable = {UNCONDITIONAL: AUDIT} if wanted.fresh else {}
            uri = identity.seed(self._outer(wanted.url), heritable=heritable)
            uris.append(structs.replace(uri, is_seed=False, force_fetch=True))
        session.frontier.schedule(uris, self._clock.now())

    def _outcome(self, url: str, visit: Visit, capture: Capture) -> VisitOutcome:
        body = body_of(capture, visit.charset) if visit.mime.startswith(_TEXTS) else b""
        same = capture.status == 304
        return VisitOutcome(
            url,
            self._world.epoch(self._time),
            capture.status,
            "" if same else capture.payload_digest,
            visit.mime,
            (capture.header(b"etag") or b"").decode("latin-1"),
            (capture.header(b"last-modified") or b"").decode("latin-1"),
            0 if same else capture.payload_length,
            tuple(self._links(visit.outlinks)),
            lambda: body,
        )

    def _links(self, outlinks: Sequence[Outlink]) -> list[SimulatedLink]:
        """Links, embeds, redirects and entries of sitemaps; guesses left out."""
        links: dict[str, SimulatedLink] = {}
        for outlink in outlinks:
            hop = _HOPS.get(outlink.hop)
            url = self._inner(outlink.url)
            if hop and url not in links:
                text = outlink.text if hop == "L" and outlink.context in _CONTEXTS else ""
                links[url] = SimulatedLink(url, hop, text, outlink.lastmod)
        return list(links.values())

    def _outer(self, url: str) -> str:
        """Return the URL as it is asked for: with the port of a served world."""
        if not self._port:
            return url
        scheme, _, after = url.partition("://")
        host, slash, path = after.partition("/")
        return f"{scheme}://{host}:{self._port}{slash}{path}"

    def _inner(self, url: str) -> str:
        """Return the URL without that port."""
        return url.replace(f":{self._port}", "", 1) if self._port else url


class _Ids:
    """Record ids from the seed."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._count = 0

    def __call__(self) -> bytes:
        """16 bytes that were not given before."""
        self._count += 1
        return self._draw.at(self._count).bytes(16)


def job_settings(world: World, policy: Policy, *, served: bool, delay: float) -> JobSettings:
    """Return the settings of a job on a world.

    Args:
        world: The world.
        policy: Says whether to deduplicate and to ask with validators.
        served: The world is served on this machine; else it is inside the process.
        delay: Politeness delay, seconds.
    """
    hosts = {
        name: "127.0.0.1" if served else f"198.18.{number // 250}.{number % 250 + 1}"
        for number, name in enumerate(world.site.hosts)
    }
    return JobSettings.model_validate(
        {
            "name": "simweb",
            "seeds": (),
            "scope": [{"rule": "reject"}, {"rule": "prerequisite-accept"}],
            "dns": {"hosts": hosts, "ipv6": False},
            "network": {"allow": [_NETWORK, "127.0.0.0/8"]},
            "politeness": {"delay": delay, "group_by": "none"},
            "dedup": {
                "mode": "all" if policy.dedup else "off",
                "conditional": policy.conditional,
            },
            "archive": {"template": "${prefix}-${timestamp14}-${serialno}"},
            "fetch": {"contact": "https://simweb.invalid/", "accept_encoding": ""},
        }
    )
