"""The articles of a world: their URLs, dates and titles."""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from nacre_simweb.calendar import DAY, START, operational, real
from nacre_simweb.draw import Draw
from nacre_simweb.parameters import WorldParameters
from nacre_simweb.process import events

_PAST = 3 * 365 * DAY
"""Seconds before time 0 within which the articles of time 0 were born."""


class Article(NamedTuple):
    """One article.

    Attributes:
        host: Number of its host.
        section: Number of its section on that host.
        number: Its number in the section, in the order of birth.
        serial: Its number on the host, likewise: what numbered URLs show.
        born: Time of birth, seconds; negative for those that were there before time 0.
    """

    host: int
    section: int
    number: int
    serial: int
    born: float

    @property
    def key(self) -> tuple[int, int, int]:
        """The key that its random numbers are drawn by."""
        return self.host, self.section, self.number


class SimulatedSite:
    """All articles of one world, made from its seed.

    Args:
        parameters: The world.
        draw: Its random numbers.
    """

    def __init__(self, parameters: WorldParameters, draw: Draw) -> None:
        self._parameters = parameters
        self._draw = draw.at("site")
        domain = parameters.domain
        other_hosts = (f"h{number}.{domain}" for number in range(2, parameters.shape.hosts + 1))
        self.hosts = (f"www.{domain}", *other_hosts)
        self._numbers = {name: number for number, name in enumerate(self.hosts)}

    def host_number(self, name: str) -> int:
        """Number of a host; -1 for none of this world."""
        return self._numbers.get(name, -1)

    @cached_property
    def articles(self) -> tuple[tuple[Article, ...], ...]:
        """Articles of each host, by serial."""
        return tuple(tuple(self._of_host(host)) for host in range(len(self.hosts)))

    @cached_property
    def sections(self) -> tuple[tuple[tuple[Article, ...], ...], ...]:
        """Articles of each section of each host, by number."""
        count = self._parameters.shape.sections
        by_section: list[list[list[Article]]] = [[[] for _ in range(count)] for _ in self.hosts]
        for articles in self.articles:
            for article in articles:
                by_section[article.host][article.section].append(article)
        return tuple(tuple(map(tuple, host)) for host in by_section)

    def article(self, host: int, serial: int) -> Article | None:
        """Return the article of a serial; None for none."""
        articles = self.articles[host]
        return articles[serial] if 0 <= serial < len(articles) else None

    def known_before(self, host: int, time: float) -> int:
        """Number of articles of a host born before a time."""
        return bisect_left(self.articles[host], time, key=lambda article: article.born)

    def _of_host(self, host: int) -> Iterator[Article]:
        weights = self._weights(host)
        born = [
            (time, section)
            for section, weight in enumerate(weights)
            for time in self._births(host, section, weight)
        ]
        counts = [0] * len(weights)
        for serial, (time, section) in enumerate(sorted(born)):
            yield Article(host, section, counts[section], serial, time)
            counts[section] += 1

    def _weights(self, host: int) -> list[float]:
        """Shares of the sections in the pages and births of a host."""
        draw = self._draw.at("weight", host)
        sigma = self._parameters.births.sigma
        raw = [
            2.718281828 ** (sigma * draw.normal(section))
            for section in range(self._parameters.shape.sections)
        ]
        total = sum(raw)
        return [weight / total for weight in raw]

    def _births(self, host: int, section: int, weight: float) -> list[float]:
        shape, births = self._parameters.shape, self._parameters.births
        hosts = len(self.hosts)
        old = round(shape.pages / hosts * weight)
        rhythm = births.rhythm
        begun = operational(rhythm, -_PAST)
        past = [real(rhythm, begun * (1 - (number + 0.5) / old)) for number in range(old)]
        draw = self._draw.at("births", host, section)
        rate = births.per_day / DAY / hosts * weight
        end = operational(rhythm, self._parameters.days * DAY)
        fresh = events("poisson", draw, rate, 0.0, end)
        return past + [real(rhythm, time) for time in fresh]


def date_of(time: float) -> datetime:
    """Date and time of the world."""
    return datetime.fromtimestamp(int(START + time), UTC)
