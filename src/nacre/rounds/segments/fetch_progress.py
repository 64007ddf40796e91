"""The progress of a fetch: of each unit and of all units, and the remaining time.

This module uses no clock: the caller passes the time.
"""

from collections.abc import Container, Iterable, Mapping
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

import msgspec

from nacre.uri.parse import host

_SURE = 3
"""Visits of a host, and seconds of a fetch, after which measured times are used."""


class UnitProgress(msgspec.Struct, frozen=True):
    """The progress of a unit over all its attempts.

    Attributes:
        visits: Final visits.
        of: Expected visits: the URLs of the list, with targets of followed redirects, without URLs
            of hosts that were given up.
        listed: URLs of the list.
        bytes: Bytes of payload received.
        hosts: Hosts with a request.
        seconds: Remaining time of the host with the most work, s; 0 if no URL remains.
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


class _HostVisits(msgspec.Struct):
    """The visits of a host in this attempt: their number, and the times of first and last."""

    visits: int = 0
    first: float = 0.0
    last: float = 0.0


class HostsLeft:
    """The hosts of a list: the number with a request, and the remaining time of the slowest.

    Args:
        plans: The hosts of the list.
    """

    def __init__(self, plans: Mapping[str, HostLoad]) -> None:
        self._remaining = {name: plan.urls for name, plan in plans.items()}
        self._delays = {name: plan.delay for name, plan in plans.items()}
        self._visits_by_host: dict[str, _HostVisits] = {}
        # What is left only shrinks: an entry that is too great is put right when it is on top.
        self._heap = [(-plan.urls * plan.delay, name) for name, plan in plans.items()]
        heapify(self._heap)

    @property
    def requested_hosts(self) -> int:
        """The number of hosts with a request."""
        return len(self._visits_by_host)

    def visited(self, name: str, now: float | None = None, *, listed: bool = True) -> None:
        """Count a visit.

        Args:
            name: The host.
            now: The time, s; None for a visit of an earlier attempt.
            listed: The URL is in the list.
        """
        visits = self._visits_by_host.get(name)
        if visits is None:
            visits = self._visits_by_host[name] = _HostVisits()
        if now is not None:
            visits.first = visits.first if visits.visits else now
            visits.last = now
            visits.visits += 1
        if listed and self._remaining.get(name):
            self._remaining[name] -= 1

    def give_up(self, name: str) -> int:
        """Remove the remaining URLs of a host; return their number."""
        number = self._remaining.get(name, 0)
        if number:
            self._remaining[name] = 0
        return number

    def seconds(self) -> float:
        """Return the remaining time of the host with the most work, s; 0 if no URL remains.

        The plan determines that host, its own visits determine its pace.
        """
        heap = self._heap
        while heap:
            estimate, name = heap[0]
            remaining = self._remaining[name]
            current = -remaining * self._delays[name]
            if not remaining:
                heappop(heap)
            elif current == estimate:
                return remaining * self._pace(name)
            else:
                heapreplace(heap, (current, name))
        return 0.0

    def _pace(self, name: str) -> float:
        """Return the time between two visits of a host, s."""
        visits = self._visits_by_host.get(name)
        if visits is None or visits.visits < _SURE:
            return self._delays[name]
        return (visits.last - visits.first) / (visits.visits - 1)


class UnitCounter:
    """Counts the visits of a unit over all its attempts.

    Args:
        plans: The hosts of its list.
        urls: Contains the URLs and keys of the list.
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
            now: The time, s; None for a visit of an earlier attempt.
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
            given_up: The hosts whose remaining URLs are not requested.
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
            self._hosts.requested_hosts,
            round(self._hosts.seconds(), 1),
        )


class FetchProgress(NamedTuple):
    """The progress of a fetch.

    Attributes:
        visits: Final visits.
        of: Expected visits.
        bytes: Bytes of payload received.
        hosts: Hosts with a request.
        left: Remaining time, s; None if unknown yet.
        ready: Finished units.
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
    """The pace of a fetch, from the repeated reports of its units.

    Args:
        urls: URLs of the lists of all units.
        deadline: Latest end, seconds since the epoch; 0 for none.
    """

    def __init__(self, urls: int, deadline: float = 0.0) -> None:
        self._urls = urls
        self._deadline = deadline
        self._first: tuple[float, int] | None = None

    def progress(self, units: Iterable[UnitProgress], now: float) -> FetchProgress:
        """Return the progress of all units.

        Args:
            units: Units that have begun; all URLs of other units wait.
            now: The time, seconds since the epoch.
        """
        begun = list(units)
        visits = sum(unit.visits for unit in begun)
        expected = self._urls + sum(unit.of - unit.listed for unit in begun)
        if self._first is None or visits == self._first[1]:
            self._first = now, visits  # the time of their start is no part of the pace
        return FetchProgress(
            visits,
            max(expected, visits),
            sum(unit.bytes for unit in begun),
            sum(unit.hosts for unit in begun),
            self._remaining(begun, max(expected - visits, 0), visits, now),
        )

    def _remaining(
        self, begun: list[UnitProgress], waiting: int, visits: int, now: float
    ) -> float | None:
        """Return the remaining time: that of the slowest host, or the URLs by the overall pace.

        The overall pace includes units that wait for their turn and report no host.
        """
        if not waiting:
            return 0.0
        began, before = self._first or (now, visits)
        estimate = max((unit.seconds for unit in begun), default=0.0)
        if visits > before and now - began >= _SURE:
            estimate = max(estimate, waiting * (now - began) / (visits - before))
        if not estimate:
            return None
        return max(0.0, min(estimate, self._deadline - now)) if self._deadline else estimate
