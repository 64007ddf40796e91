"""The progress of a fetch: how far a unit is, how far all are together, and how long it takes.

Nothing here asks a clock: who counts says what time it is.
"""

from collections.abc import Container, Iterable, Mapping
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

import msgspec

from nacre.uri.parse import host

_SURE = 3
"""Visits of a host, and seconds of a fetch, from which on what was measured counts."""


class UnitProgress(msgspec.Struct, frozen=True):
    """The progress of a unit over all its attempts.

    Attributes:
        visits: Final visits.
        of: Visits that there will be: the URLs of the list, with targets of redirects that were
            followed, without those of hosts that were given up.
        listed: URLs of the list.
        bytes: Bytes of payload received.
        hosts: Hosts that were asked.
        seconds: Time that the host with the most left still needs, s; 0: none has any left.
    """

    visits: int = 0
    of: int = 0
    listed: int = 0
    bytes: int = 0
    hosts: int = 0
    seconds: float = 0.0


class HostLoad(NamedTuple):
    """The part of a host in a list: its URLs, and the expected time between two fetches, s."""

    urls: int
    delay: float


class _Asked(msgspec.Struct):
    """The visits of a host in this attempt: their number, and times of the first and the last."""

    visits: int = 0
    first: float = 0.0
    last: float = 0.0


class HostsLeft:
    """The hosts of a list: how many were asked, and how long the slowest one still takes.

    Args:
        plans: The hosts of the list.
    """

    def __init__(self, plans: Mapping[str, HostLoad]) -> None:
        self._left = {name: plan.urls for name, plan in plans.items()}
        self._delays = {name: plan.delay for name, plan in plans.items()}
        self._asked: dict[str, _Asked] = {}
        # What is left only shrinks: an entry that is too great is put right when it is on top.
        self._heap = [(-plan.urls * plan.delay, name) for name, plan in plans.items()]
        heapify(self._heap)

    @property
    def asked(self) -> int:
        """Hosts that were asked."""
        return len(self._asked)

    def visited(self, name: str, now: float | None = None, *, listed: bool = True) -> None:
        """Count a visit.

        Args:
            name: The host.
            now: The time, s; None: it was in an earlier attempt.
            listed: The URL is in the list.
        """
        asked = self._asked.get(name)
        if asked is None:
            asked = self._asked[name] = _Asked()
        if now is not None:
            asked.first = asked.first if asked.visits else now
            asked.last = now
            asked.visits += 1
        if listed and self._left.get(name):
            self._left[name] -= 1

    def give_up(self, name: str) -> int:
        """Take what is left of a host out; the number of its URLs."""
        left = self._left.get(name, 0)
        if left:
            self._left[name] = 0
        return left

    def seconds(self) -> float:
        """The time that the host with the most left still needs, s; 0: none has any left.

        Which one it is follows from the plan, and how fast it goes from its own visits.
        """
        heap = self._heap
        while heap:
            known, name = heap[0]
            left = self._left[name]
            now = -left * self._delays[name]
            if not left:
                heappop(heap)
            elif now == known:
                return left * self._pace(name)
            else:
                heapreplace(heap, (now, name))
        return 0.0

    def _pace(self, name: str) -> float:
        """The time between two visits of a host, s."""
        asked = self._asked.get(name)
        if asked is None or asked.visits < _SURE:
            return self._delays[name]
        return (asked.last - asked.first) / (asked.visits - 1)


class UnitCounter:
    """Counts the visits of a unit over all its attempts.

    Args:
        plans: The hosts of its list.
        urls: Says which URLs, or keys, are in the list.
    """

    def __init__(self, plans: Mapping[str, HostLoad], urls: Container[str]) -> None:
        self._hosts = HostsLeft(plans)
        self._urls = urls
        self._listed = sum(plan.urls for plan in plans.values())
        self._given_up: set[str] = set()
        self._visits = self._more = self._gone = self._bytes = 0

    def visited(self, url: str, size: int, now: float | None = None) -> None:
        """Count a final visit.

        Args:
            url: The URL, or its key.
            size: Bytes of payload received.
            now: The time, s; None: it was in an earlier attempt.
        """
        listed = url in self._urls
        self._hosts.visited(host(url), now, listed=listed)
        self._visits += 1
        self._more += not listed
        self._bytes += size

    def received(self, size: int) -> None:
        """Count bytes of payload of visits that were counted without them."""
        self._bytes += size

    def progress(self, given_up: Iterable[str] = ()) -> UnitProgress:
        """The progress so far.

        Args:
            given_up: The hosts whose other URLs are not asked for.
        """
        for name in set(given_up) - self._given_up:
            self._given_up.add(name)
            self._gone += self._hosts.give_up(name)
        of = self._listed + self._more - self._gone
        return UnitProgress(
            self._visits,
            max(of, self._visits),
            self._listed,
            self._bytes,
            self._hosts.asked,
            round(self._hosts.seconds(), 1),
        )


class FetchProgress(NamedTuple):
    """The progress of a fetch.

    Attributes:
        visits: Final visits.
        of: Visits that there will be.
        bytes: Bytes of payload received.
        hosts: Hosts that were asked.
        left: Time that it still takes, s; None: not known yet.
        ready: Units that are done.
        units: All units.
    """

    visits: int
    of: int
    bytes: int
    hosts: int
    left: float | None
    ready: int = 0
    units: int = 0


class FetchPace:
    """The pace of a fetch, of what its units say again and again.

    Args:
        urls: URLs of the lists of all units.
        deadline: When it ends at the latest, seconds since the epoch; 0: when it is done.
    """

    def __init__(self, urls: int, deadline: float = 0.0) -> None:
        self._urls = urls
        self._deadline = deadline
        self._first: tuple[float, int] | None = None

    def progress(self, units: Iterable[UnitProgress], now: float) -> FetchProgress:
        """The progress of all together.

        Args:
            units: Those that have begun; of the others all URLs wait.
            now: The time, seconds since the epoch.
        """
        begun = list(units)
        visits = sum(one.visits for one in begun)
        of = self._urls + sum(one.of - one.listed for one in begun)
        if self._first is None or visits == self._first[1]:
            self._first = now, visits  # the start of units says nothing of their pace
        return FetchProgress(
            visits,
            max(of, visits),
            sum(one.bytes for one in begun),
            sum(one.hosts for one in begun),
            self._left(begun, max(of - visits, 0), visits, now),
        )

    def _left(
        self, begun: list[UnitProgress], waiting: int, visits: int, now: float
    ) -> float | None:
        """The time that so many URLs still take: that of the slowest host, or their share of all.

        A unit that waits for its turn has no host that says so; the usual pace counts it.
        """
        if not waiting:
            return 0.0
        began, before = self._first or (now, visits)
        left = max((one.seconds for one in begun), default=0.0)
        if visits > before and now - began >= _SURE:
            left = max(left, waiting * (now - began) / (visits - before))
        if not left:
            return None
        return max(0.0, min(left, self._deadline - now)) if self._deadline else left
