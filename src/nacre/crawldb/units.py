"""Units: how the hosts of a list are spread over units, so that all end at about the same time.

The time of a host is its URLs times the wait between two of its fetches and the time of a fetch.
The longest goes first, into the unit with least; ties are broken by name.
"""

from collections.abc import Iterable, Mapping
from heapq import heapify, heapreplace
from typing import NamedTuple


class HostWork(NamedTuple):
    """A host, domain or address with its URLs in a list.

    Attributes:
        name: Its name.
        urls: URLs.
        delay: Time from one fetch to the next, s.
    """

    name: str
    urls: int
    delay: float

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
    fitting.sort(key=lambda work: (-work.seconds, -work.urls, work.name))
    number = max(1, min(units, len(fitting)))
    loads = [(0.0, 0, unit) for unit in range(number)]
    heapify(loads)
    unit_of: dict[str, int] = {}
    seconds = [0.0] * number
    for work in fitting:
        load, urls, unit = loads[0]
        heapreplace(loads, (load + work.seconds, urls + work.urls, unit))
        unit_of[work.name] = unit
        seconds[unit] = max(seconds[unit], work.seconds)
    longest = fitting[0] if fitting else None
    urls = sum(work.urls for work in fitting)
    return PackedUnits(unit_of, tuple(seconds), most, cut, longest, urls)


def delays_of(hosts: Iterable[str], known: Mapping[str, float], default: float) -> dict[str, float]:
    """The wait of each host: what is known of it, or the default, s."""
    return {host: max(default, known.get(host, 0.0)) for host in hosts}
