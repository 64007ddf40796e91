"""Units: how the hosts of a list are spread over units, so that all end at about the same time.

The time of a host is its URLs times the wait between two of its fetches and the time of a fetch.
The longest goes first, into the unit with least; ties are broken by name. Hosts of a group, such as
those of a domain or of an address, go into one unit. Where fewer units than all run at the same
time, the others wait for their turn, and a host has but its share of the time.
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
        group: Name of its group; "" for none: it is one of its own.
    """

    name: str
    urls: int
    delay: float
    group: str = ""

    @property
    def seconds(self) -> float:
        """Its time."""
        return self.urls * self.delay


class PackedUnits(NamedTuple):
    """Hosts in units.

    Attributes:
        unit_of: The unit of each host, from 0.
        seconds: Expected time of each unit: that of its longest host, or its share of all work.
        most: URLs of a host that are kept, for hosts that need longer than the limit.
        cut: URLs that are left out.
        longest: The host that needs the most time; None without hosts.
        urls: URLs of all hosts, without those that are left out.
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
        units: Units wanted, at least 1; there are fewer when there are fewer hosts.
        limit: Longest time of all units, s; URLs of a host beyond are left out, all but one. 0:
            none.
        at_once: Units that run at the same time; 0: all.
    """
    given = list(works)
    number = max(1, min(units, len({_group(work) for work in given})))
    turns = -(-number // at_once) if at_once else 1
    fitting, most = _fitting(given, limit / turns)
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
        # Hosts of a unit are fetched side by side: the slowest one decides.
        seconds[unit] = max(seconds[unit], *(work.seconds for work in group))
    longest = max(fitting, key=lambda work: (work.seconds, work.urls, work.name), default=None)
    urls = sum(work.urls for work in fitting)
    cut = sum(work.urls for work in given) - urls
    whole = _whole(seconds, at_once)
    return PackedUnits(unit_of, tuple(seconds), most, cut, longest, urls, whole)


def _fitting(works: Iterable[HostWork], limit: float) -> tuple[list[HostWork], dict[str, int]]:
    """Hosts with the URLs that fit into a time, s, 0: all; and those numbers of the others."""
    fitting: list[HostWork] = []
    most: dict[str, int] = {}
    for work in works:
        kept = work.urls
        if limit and work.seconds > limit:
            kept = min(work.urls, max(1, int(limit / work.delay)))
        if kept < work.urls:
            most[work.name] = kept
        fitting.append(work._replace(urls=kept))
    return fitting, most


def _whole(seconds: Sequence[float], at_once: int) -> float:
    """The time of units of which so many run at the same time, in their order; 0: all do."""
    ends = [0.0] * (at_once or len(seconds))
    for one in seconds:
        heapreplace(ends, ends[0] + one)
    return max(ends)


def _group(work: HostWork) -> tuple[bool, str]:
    """What a host shares with others of its unit; of one without a group its name."""
    return bool(work.group), work.group or work.name


def _groups(works: Iterable[HostWork]) -> list[list[HostWork]]:
    """Hosts by group, the longest group first."""
    found: dict[tuple[bool, str], list[HostWork]] = {}
    for work in works:
        found.setdefault(_group(work), []).append(work)

    def order(item: tuple[tuple[bool, str], list[HostWork]]) -> tuple[float, int, tuple[bool, str]]:
        name, group = item
        return -sum(work.seconds for work in group), -sum(work.urls for work in group), name

    return [group for _, group in sorted(found.items(), key=order)]
