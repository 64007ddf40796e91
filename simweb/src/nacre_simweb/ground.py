"""The ground truth of a world: its articles, their lives, its lists and boilerplate."""

from bisect import bisect_right
from functools import cached_property

from nacre_simweb.calendar import DAY, START
from nacre_simweb.draw import Draw
from nacre_simweb.failures import Faults
from nacre_simweb.hints import Hinter
from nacre_simweb.life import Lives
from nacre_simweb.listing import Listing
from nacre_simweb.parameters import WorldParameters
from nacre_simweb.process import events
from nacre_simweb.site import SimulatedSite


class Ground:
    """One world without its replies.

    Args:
        parameters: What it is like.
        seed: Its seed.

    Attributes:
        parameters: What it is like.
        seed: Its seed.
        draw: Its random numbers.
        end: End of its history, seconds.
        site: Its articles.
        lives: What happens to them.
        hinter: What it says about them.
        faults: When it does not answer.
    """

    def __init__(self, parameters: WorldParameters, seed: int) -> None:
        self.parameters = parameters
        self.seed = seed
        self.draw = draw = Draw(seed).at(parameters.domain)
        self.end = parameters.days * DAY
        self.site = SimulatedSite(parameters, draw)
        self.lives = Lives(parameters, draw)
        self.hinter = Hinter(parameters.hints, draw, self.end)
        self.faults = Faults(parameters.failures, draw, self.end)

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
            tuple(events("poisson", self.draw.at("templates", host), rate, 0.0, self.end))
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
