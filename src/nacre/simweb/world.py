"""A world: a pure function of (seed, URL, time, request) to status, headers and body."""

from bisect import bisect_right
from functools import cached_property
from urllib.parse import urlsplit

from nacre.simweb.calendar import DAY, START
from nacre.simweb.draw import Draw
from nacre.simweb.failures import Faults
from nacre.simweb.hints import Hinter
from nacre.simweb.life import Lives
from nacre.simweb.listing import Listing
from nacre.simweb.parameters import WorldParameters
from nacre.simweb.process import events
from nacre.simweb.reply import Reply, Resource
from nacre.simweb.resources import Resources
from nacre.simweb.site import Site
from nacre.simweb.validators import Request, Stamps, State, http_date

_VALIDATED = frozenset({"article", "list", "home", "embed", "file", "hint"})


class World:
    """One simulated web.

    Nothing that it answers depends on what it was asked before; what it keeps are results that it
    could compute again.

    Args:
        parameters: What it is like.
        seed: Its seed.

    Attributes:
        parameters: What it is like.
        seed: Its seed.
        site: Its articles.
        lives: What happens to them.
    """

    def __init__(self, parameters: WorldParameters, seed: int) -> None:
        self.parameters = parameters
        self.seed = seed
        draw = Draw(seed).at(parameters.domain)
        self._draw = draw
        self.end = parameters.days * DAY
        self.site = Site(parameters, draw)
        self.lives = Lives(parameters, draw)
        self.hinter = Hinter(parameters.hints, draw, self.end)
        self.stamps = Stamps(parameters.validators, draw)
        self.faults = Faults(parameters.failures, draw, self.end)
        self.resources = Resources(self, draw)

    @property
    def starts(self) -> tuple[str, ...]:
        """The start page of each host: what a crawl begins with."""
        return tuple(f"http://{host}/" for host in self.site.hosts)

    @staticmethod
    def epoch(time: float) -> float:
        """Seconds since the epoch of a time of the world."""
        return START + time

    @cached_property
    def templates(self) -> tuple[tuple[float, ...], ...]:
        """Times at which the boilerplate of each host changes."""
        rate = self.parameters.templates.per_day / DAY
        return tuple(
            tuple(events("poisson", self._draw.at("templates", host), rate, 0.0, self.end))
            for host in range(len(self.site.hosts))
        )

    def template(self, host: int, time: float) -> tuple[int, float]:
        """Number of changes of the boilerplate so far, and the time of the last one."""
        times = self.templates[host]
        count = bisect_right(times, time)
        return count, times[count - 1] if count else 0.0

    @cached_property
    def listings(self) -> tuple[tuple[Listing, ...], ...]:
        """The lists of each host: its sections, and last that of its start page."""
        shape, teasers = self.parameters.shape, self.parameters.hints.teasers
        return tuple(
            (
                *(
                    Listing(articles, self.lives, shape.list_size, 0, teasers=teasers)
                    for articles in sections
                ),
                Listing(self.site.articles[host], self.lives, 20, 1, teasers=False),
            )
            for host, sections in enumerate(self.site.sections)
        )

    def respond(self, url: str, time: float, request: Request | None = None) -> Reply:
        """What a URL answers.

        Args:
            url: Absolute URL; its port is left out of account.
            time: Time of the world, seconds.
            request: What the request says; None for a plain first one.
        """
        asked = request or Request()
        parts = urlsplit(url)
        name, host = parts.hostname or "", self.site.host_number(parts.hostname or "")
        origin = f"http://{parts.netloc}"
        path = parts.path or "/"
        plain = f"http://{name}{path}" + (f"?{parts.query}" if parts.query else "")
        resource = self.resources.find(host, origin, path, parts.query, time)
        headers = [("Date", http_date(time)), ("Content-Type", resource.mime)]
        if resource.location:
            headers.append(("Location", resource.location))
        if resource.status == 503:
            headers.append(("Retry-After", "600"))
        if resource.status != 200 or resource.kind not in _VALIDATED:
            return Reply(plain, resource, resource.status, headers, asked.nonce)
        return self._validated(plain, host, resource, time, asked, headers)

    def _validated(
        self,
        url: str,
        host: int,
        resource: Resource,
        time: float,
        asked: Request,
        headers: list[tuple[str, str]],
    ) -> Reply:
        mode = self.stamps.mode(host)
        if mode == "none":
            return Reply(url, resource, 200, headers, asked.nonce)
        state = State(url, resource.mark, resource.since)
        headers += self.stamps.headers(mode, state, time, asked.nonce)
        same = self.stamps.unchanged(mode, state, asked)
        return Reply(url, resource, 304 if same else 200, headers, asked.nonce)
