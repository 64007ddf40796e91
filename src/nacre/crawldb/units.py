"""Units: how the hosts of a list are spread over units, so that all end at about the same time.

The time of a host is its URLs times the wait between two of its fetches and the time of a fetch.
The longest goes first, into the unit with least; ties are broken by name. Hosts of a group, such as
those of a domain or of an address, go into one unit.
"""

from collections.abc import Iterable
from heapq import heapify, heapreplace
from typing import NamedTuple


class HostWork(NamedTuple):
    """A host with its URLs in a list.

    Attributes:
        name: Its name.
        urls: URLs.
        delay: Time from one fetch to the next, s.
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
    """

    unit_of: dict[str, int]
    seconds: tuple[float, ...]
    most: dict[str, int]
    cut: int
    longest: HostWork | None
    urls: int = 0


def pack(works: Iterable[HostWork], units: int, limit: float = 0.0) -> PackedUnits:
    """Spread hosts over units.

    Args:
        works: The hosts, each once.
        units: Units wanted, at least 1; there are fewer when there are fewer hosts.
        limit: Longest time of a host, s; its URLs beyond are left out, all but one. 0: none.
    """
    most: dict[str, int] = {}
    cut = 0
    fitting: list[HostWork] = []
    for work in works:
        if limit and work.seconds > limit:
            kept = min(work.urls, max(1, int(limit / work.delay)))
            cut += work.urls - kept
            if kept < work.urls:
                most[work.name] = kept
            fitting.append(work._replace(urls=kept))
        else:
            fitting.append(work)
    groups = _groups(fitting)
    number = max(1, min(units, len(groups)))
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
    return PackedUnits(unit_of, tuple(seconds), most, cut, longest, urls)


def _groups(works: Iterable[HostWork]) -> list[list[HostWork]]:
    """Hosts by group, the longest group first."""
    found: dict[tuple[bool, str], list[HostWork]] = {}
    for work in works:
        found.setdefault((bool(work.group), work.group or work.name), []).append(work)

    def order(item: tuple[tuple[bool, str], list[HostWork]]) -> tuple[float, int, tuple[bool, str]]:
        name, group = item
        return -sum(work.seconds for work in group), -sum(work.urls for work in group), name

    return [group for _, group in sorted(found.items(), key=order)]
