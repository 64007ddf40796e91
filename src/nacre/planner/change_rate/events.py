"""Events: changes of many pages of a section at once, such as a release or a new design (pure).

A page changes at its own rate, or because of an event in a section that contains it. Sections
are nested: the site, its directories, the URL template. The visits of a step to pages of a section
are a *look*. The look gives the posterior of an event, and of the share of pages that it changed:
hypotheses are no event, and an event with one of a few shares; their likelihood is binomial, with
the changes that the pages' own rates explain as the base. The prior of a section combines its own
hazard with the result of the look for the section around it.

A look also holds for pages whose last visit is earlier: a page that an event may have changed is
expected to have changed until a visit shows otherwise. So a forecast rises at once in the whole
section, and falls back page by page.

Source: two-level (shock) models of dependent failures: Marshall and Olkin, "A multivariate
exponential distribution", 1967.
"""

import math
import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from operator import mul
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.value import DAY
from nacre.planner.tuning import guess
from nacre.uri.parse import authority, origin

SHARES = (0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.999)
"""Shares of a section that an event may change. Part of the format of the rows."""
_EVEN = (1.0 / len(SHARES),) * len(SHARES)
_WHOLE = 6
"""Index of the share that means a whole section: a few of its pages may be of another kind."""
_NUMBERS = re.compile(r"(?:\{int\}|[^{}])*")
"""Each folder with a number is a separate section (a version); dated folders share a section."""
_EVENTS = guess(
    "events.events", 0.1, "Number of events of a section, added before the first observation."
)
_DAYS = guess("events.days", 180.0, "Days of observation that are added with it.")
_SPREAD = guess(
    "events.spread", 1.0, "Number of events whose shares were spread evenly, added likewise."
)
_DEEPEST = 3
"""A bound of memory: directories of a path that are sections."""
_SECTIONS = 500
"""A bound of memory: sections of a site that are watched."""
_LOOKS = 6
"""A bound of memory: looks at a section that are remembered; those at an event longest."""
_OTHER = "*"
"""Stands for a section that is not watched; no section has this name."""
_LEAST = 1e-4
"""Least share of changes that own rates explain: certainty would prove an event by one visit."""
_DOUBT = guess(
    "events.doubt",
    (0.5, 1.0, 2.0),
    "Factors by which the changes that own rates explain may be wrong, all alike: forecasts that "
    "are too low are no event.",
)
_MOST = 0.9
"""Largest share of changes that own rates explain: certainty would forbid any event."""
_CLEAR = 0.1
"""From this share on a look counts as one at an event: by ten visits it is distinguished from 0."""


class LookRow(msgspec.Struct, array_like=True):
    """The visits of a step to pages of a section.

    Attributes:
        time: Of the step, seconds since the epoch.
        visits: Pages visited again.
        changes: Those that had changed.
        expected: Changes that their own rates explain.
    """

    time: float
    visits: int = 0
    changes: int = 0
    expected: float = 0.0

    def count(self, own: float, *, changed: bool) -> None:
        """Count a visit; `own` is the chance of a change by the page's own rate."""
        self.visits += 1
        self.changes += changed
        self.expected += own


class SectionRow(msgspec.Struct, array_like=True):
    """A section of a site; kept in the store.

    Attributes:
        looks: Its looks, the latest at the end.
        events: Events so far; those that the wider section explains count as its own.
        days: Days under observation.
        spread: Events by the share of pages that they changed, as `SHARES`.
        settled: Time of the last look that this was learned from.
    """

    looks: list[LookRow] = []
    events: float = 0.0
    days: float = 0.0
    spread: list[float] = []
    settled: float = 0.0

    @property
    def hazard(self) -> float:
        """Events a day."""
        return (self.events + _EVENTS) / (self.days + _DAYS)

    @property
    def shares(self) -> tuple[float, ...]:
        """Probability of each of `SHARES`, given an event."""
        if not self.spread:
            return _EVEN
        total = sum(self.spread) + _SPREAD
        even = _SPREAD / len(SHARES)
        return tuple((weight + even) / total for weight in self.spread)

    def at(self, time: float) -> LookRow | None:
        """The look of a step; None when no page was visited in it."""
        return next((look for look in reversed(self.looks) if look.time == time), None)

    def since(self, time: float) -> float:
        """Days from the look before one of this time; 0 when there is none."""
        earlier = [look.time for look in self.looks if look.time < time]
        return (time - max(earlier)) / DAY if earlier else 0.0

    def begin_look(self, time: float) -> LookRow:
        """Begin the look of a step; of old ones those at an event are remembered longest."""
        if len(self.looks) >= _LOOKS:
            quiet = [look for look in self.looks if look.changes <= _CLEAR * look.visits]
            self.looks.remove((quiet or self.looks)[0])
        look = LookRow(time)
        self.looks.append(look)
        return look

    def settle(self, posterior: "EventPosterior", wider: float, days: float, time: float) -> None:
        """Learn how often there is an event, and how far it reaches, once a look is over.

        Args:
            posterior: What the look says.
            wider: Share of changes that an event of the wider section explains.
            days: Days since the look before.
            time: Of the look.
        """
        own = max(0.0, posterior.event - wider)
        self.days, self.settled = self.days + days, time
        self.events += own
        if own > _CLEAR:
            spread = self.spread or [0.0] * len(SHARES)
            self.spread = [old + new for old, new in zip(spread, posterior.shares, strict=True)]


class EventPosterior(NamedTuple):
    """The probability of an event in a section.

    Attributes:
        shares: Of an event that changed each of `SHARES`.
    """

    shares: tuple[float, ...]

    @property
    def event(self) -> float:
        """Probability of an event."""
        return sum(self.shares)

    @property
    def share(self) -> float:
        """Probability that an event changed a page of the section."""
        return float(sum(map(mul, self.shares, SHARES)))

    def within(self, hazard: float, shares: Sequence[float]) -> "EventPosterior":
        """The same for a part of the section before any look at it.

        Half of the events of a section change the same share of each part, half whole parts.

        Args:
            hazard: Probability of an event of the part alone.
            shares: Probability of each of `SHARES`, given that.
        """
        inherited = [0.5 * weight for weight in self.shares]
        inherited[_WHOLE] += 0.5 * self.share
        remaining = (1.0 - sum(inherited)) * hazard
        return EventPosterior(
            tuple(weight + remaining * own for weight, own in zip(inherited, shares, strict=True))
        )

    def seeing(self, look: LookRow) -> "EventPosterior":
        """The same after a look."""
        if not look.visits:
            return self
        changes, same = look.changes, look.visits - look.changes
        logs = []
        for share in (0.0, *SHARES):
            for factor in _DOUBT:
                calm = min(max(factor * look.expected / look.visits, _LEAST), _MOST)
                chance = 1.0 - (1.0 - calm) * (1.0 - share)
                logs.append(changes * math.log(chance) + same * math.log(1.0 - chance))
        top = max(logs)
        chances = [math.exp(log - top) for log in logs]
        size = len(_DOUBT)
        likely = [sum(chances[at : at + size]) for at in range(0, len(chances), size)]
        priors = (max(0.0, 1.0 - self.event), *self.shares)
        weights = [prior * chance for prior, chance in zip(priors, likely, strict=True)]
        total = sum(weights)
        if total <= 0.0:
            return self
        return EventPosterior(tuple(weight / total for weight in weights[1:]))


NO_EVENT = EventPosterior((0.0,) * len(SHARES))


class SectionEvents:
    """The events of one site.

    Args:
        rows: Its sections, by name; they change.
        now: Time of the step, seconds since the epoch.
        every: Days between steps: the time in which an event of this step lies.
    """

    def __init__(self, rows: MutableMapping[str, SectionRow], now: float, every: float) -> None:
        self._rows = rows
        self._now, self._every = now, every
        self._shares: dict[tuple[tuple[str, ...], float], tuple[float, float]] = {}
        self._found: dict[tuple[tuple[str, ...], float], EventPosterior] = {}
        self._reported: dict[tuple[str, float], float] = {}
        self._settle()

    def look(self, row: PageRow, own: float, now: float, *, changed: bool) -> None:
        """Count a visit of a page that was chosen without a hint.

        Args:
            row: The page, as before the visit.
            own: Chance of a change by the page's own rate.
            now: Time of the visit; before the step for captures of runs that were not planned.
            changed: There was one.
        """
        names = sections_of(row)
        blamed = self._blamed(names, row.last_visit, now, changed=changed)
        for name in names:
            for time in blamed or [now]:
                self._count(name, time, own, begins=not blamed, changed=changed)
        self._forget()

    def _count(self, name: str, time: float, own: float, *, begins: bool, changed: bool) -> None:
        """Count a visit in a section's look of a step, which may begin with it."""
        section = self._rows.get(name)
        if section is None:
            if len(self._rows) >= _SECTIONS:
                return
            section = self._rows[name] = SectionRow()
        if (name, time) not in self._reported:
            before = 0.0 if time == self._now else self._posterior(nested(name), time).share
            self._reported[name, time] = before
        look = section.at(time)
        if look is None and begins:
            look = section.begin_look(time)
        if look is not None:
            look.count(own, changed=changed)

    def share(self, row: PageRow) -> float:
        """Probability that an event has changed a page since its last visit; see `shares`."""
        return self.shares(row)[0]

    def shares(self, row: PageRow) -> tuple[float, float]:
        """Probability that an event has changed a page since its last visit, and in this step.

        Without a look at its sections, as on sites whose hints announce changes, an event is left
        to the hints.
        """
        # Sections that are not watched are all alike: a site may have any number of them.
        names = tuple(name if name in self._rows else _OTHER for name in sections_of(row))
        key = names, row.last_visit
        event_shares = self._shares.get(key)
        if event_shares is None:
            times = self._times(names, row.last_visit)
            same = math.prod(1.0 - self._posterior(names, time).share for time in times)
            fresh = self._posterior(names, self._now).share if self._now in times else 0.0
            event_shares = self._shares[key] = 1.0 - same, fresh
        return event_shares

    def take_news(self) -> bool:
        """Whether visits changed the expectation of a section since the last call."""
        news = False
        for (name, time), before in self._reported.items():
            share = self._posterior(nested(name), time).share
            if abs(share - before) >= _CLEAR:
                self._reported[name, time], news = share, True
        return news

    def _blamed(
        self, names: tuple[str, ...], last: float, now: float, *, changed: bool
    ) -> list[float]:
        """Times of earlier events of which a visit is evidence; none if there was none.

        A page that did not change was in none of them. A change is explained by the likeliest, of
        equals by the first: it says nothing of the others.
        """
        times = self._times(names, last) - {now}
        shares = {time: self._posterior(names, time).share for time in sorted(times)}
        events = [time for time, share in shares.items() if share >= _CLEAR]
        return sorted(events, key=lambda time: -round(shares[time], 1))[:1] if changed else events

    def _times(self, names: tuple[str, ...], last: float) -> set[float]:
        """Times of the looks at some sections after a visit."""
        rows = (self._rows.get(name) for name in names)
        return {look.time for row in rows if row for look in row.looks if look.time > last}

    def _posterior(self, names: tuple[str, ...], time: float) -> EventPosterior:
        """What the looks of a step at nested sections say of the innermost one."""
        if not names:
            return NO_EVENT
        key = names, time
        posterior = self._found.get(key)
        if posterior is None:
            section = self._rows.get(names[-1]) or SectionRow()
            hazard = -math.expm1(-section.hazard * (section.since(time) or self._every))
            posterior = self._posterior(names[:-1], time).within(hazard, section.shares)
            look = section.at(time)
            posterior = self._found[key] = posterior if look is None else posterior.seeing(look)
        return posterior

    def _settle(self) -> None:
        """Learn from the last look at each section of a step that is over."""
        for name, section in self._rows.items():
            time = section.looks[-1].time if section.looks else 0.0
            if section.settled < time < self._now:
                names = nested(name)
                wider = self._posterior(names[:-1], time).share
                section.settle(self._posterior(names, time), wider, section.since(time), time)
        self._forget()

    def _forget(self) -> None:
        self._shares.clear()
        self._found.clear()


def nested(name: str) -> tuple[str, ...]:
    """The sections around a section, and itself, widest first; the site is ""."""
    parts = name.split("/")
    return tuple("/".join(parts[:length]) for length in range(1, len(parts) + 1))


def sections_of(row: PageRow) -> tuple[str, ...]:
    """The sections of a page, widest first: its site, directories, and kind of URL."""
    return _sections(row.url, row.template)


def section_of(row: PageRow) -> str:
    """The innermost section of a page, with its site."""
    return f"{authority(row.url)} {sections_of(row)[-1]}"


@lru_cache(maxsize=100_000)
def _sections(url: str, template: str) -> tuple[str, ...]:
    start = len(origin(url)) + 1
    plain = url[start:].partition("?")[0].split("/")
    shapes = template[start:].split("/")
    folders = [
        word if len(shapes) <= at or _NUMBERS.fullmatch(shapes[at]) else shapes[at]
        for at, word in enumerate(plain[:-1][:_DEEPEST])
    ]
    if "{" in shapes[-1]:
        folders.append(f"*{shapes[-1]}")
    return nested("/".join(["", *folders]))
