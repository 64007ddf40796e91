"""Units: spread the hosts of a list over units, so that all units end at about the same time.

The time of a host is its URLs times the delay between two fetches plus the time of a fetch. The
longest host goes first, into the unit with the least time; ties are broken by name. Hosts of a
group, such as those of a domain or of an address, go into one unit. If fewer units are parallel
than there are, the others wait for their turn, and a host has only its share of the time.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace
from typing import NamedTuple


class HostWork(NamedTuple):
    """A host with its URLs in a list.

    Attributes:
        name: Its name.
        urls: URLs.
        delay: Time from the beginning of one fetch to that of the next, s.
        group: Name of its group; "" for none.
    """

    name: str
    urls: int
    delay: float
    group: str = ""

    @property
    def seconds(self) -> float:
        """Its expected time, s."""
        return self.urls * self.delay


class PackedUnits(NamedTuple):
    """Hosts in units.

    Attributes:
        unit_of: The unit of each host, from 0.
        seconds: Expected time of each unit: that of its longest host, or its share of all work.
        most: URLs to keep, for hosts that exceed the limit.
        cut: URLs that are cut.
        longest: The host that needs the most time; None without hosts.
        urls: URLs of all hosts, without cut ones.
        whole: Expected time until all units are done, s.
    """

    unit_of: dict[str, int]
    seconds: tuple[float, ...]
    most: dict[str, int]
    cut: int
    longest: HostWork | None
    urls: int = 0
    whole: float = 0.0


def pack(
    works: Iterable[HostWork], units: int, limit: float = 0.0, at_once: int = 0
) -> PackedUnits:
    """Spread hosts over units.

    Args:
        works: The hosts, each once.
        units: Number of units, at least 1; fewer if there are fewer hosts.
        limit: Longest time of all units, s; further URLs of a host are cut, except one. 0: none.
        at_once: Parallel units; 0: all.
    """
    hosts = list(works)
    number = max(1, min(units, len({_group(work) for work in hosts})))
    turns = -(-number // at_once) if at_once else 1
    fitting, most = _fit(hosts, limit / turns)
    groups = _groups(fitting)
    loads = [(0.0, 0, unit) for unit in range(number)]
    heapify(loads)
    unit_of: dict[str, int] = {}
    seconds = [0.0] * number
    for group in groups:
        load, urls, unit = loads[0]
        more, fetches = sum(work.seconds for work in group), sum(work.urls for work in group)
        heapreplace(loads, (load + more, urls + fetches, unit))
        unit_of.update((work.name, unit) for work in group)
        # Hosts of a unit are fetched in parallel: the slowest host decides.
        seconds[unit] = max(seconds[unit], *(work.seconds for work in group))
    longest = max(fitting, key=lambda work: (work.seconds, work.urls, work.name), default=None)
    urls = sum(work.urls for work in fitting)
    cut = sum(work.urls for work in hosts) - urls
    whole = _whole(seconds, at_once)
    return PackedUnits(unit_of, tuple(seconds), most, cut, longest, urls, whole)


def _fit(works: Iterable[HostWork], limit: float) -> tuple[list[HostWork], dict[str, int]]:
    """Return hosts with the URLs that fit into a time, s (0: all); and the numbers of cut hosts."""
    fitting: list[HostWork] = []
    most: dict[str, int] = {}
    for work in works:
        fits = work.urls
        if limit and work.seconds > limit:
            fits = min(work.urls, max(1, int(limit / work.delay)))
        if fits < work.urls:
            most[work.name] = fits
        fitting.append(work._replace(urls=fits))
    return fitting, most


def _whole(seconds: Sequence[float], at_once: int) -> float:
    """Return the total time of units, `at_once` in parallel, in their order; 0: all in parallel."""
    ends = [0.0] * (at_once or len(seconds))
    for duration in seconds:
        heapreplace(ends, ends[0] + duration)
    return max(ends)


def _group(work: HostWork) -> tuple[bool, str]:
    """Return the group of a host for its unit; without a group its name."""
    return bool(work.group), work.group or work.name


def _groups(works: Iterable[HostWork]) -> list[list[HostWork]]:
    """Return hosts by group, the longest group first."""
    by_group: dict[tuple[bool, str], list[HostWork]] = {}
    for work in works:
        by_group.setdefault(_group(work), []).append(work)

    def order(item: tuple[tuple[bool, str], list[HostWork]]) -> tuple[float, int, tuple[bool, str]]:
        name, group = item
        return -sum(work.seconds for work in group), -sum(work.urls for work in group), name

    return [group for _, group in sorted(by_group.items(), key=order)]
