"""The expected fetch time of lists: of a host, of a unit, and of all units of a segment."""

from collections.abc import Iterable
from typing import Any

from nacre.crawldb.units import HostWork, PackedUnits, pack
from nacre.frontier.settings import PolitenessSettings
from nacre.rounds.engine import TaskEngine
from nacre.rounds.steps.context import StepContext

LATENCY = 0.2
"""Assumed time of a fetch if that of its host is unknown, s."""

AT_ONCE = "at_once"
"""Mark of a segment of this machine: the number of its parallel units."""


def fetch_spacing(polite: PolitenessSettings, delay: float = 0.0, latency: float = 0.0) -> float:
    """Return the expected time from one fetch of a host to the next, s: delay and fetch.

    Args:
        polite: The politeness.
        delay: The learned delay, with Crawl-delay, s; 0 for none.
        latency: Time of a fetch of the host, s; 0 if unknown.
    """
    own = latency or LATENCY
    usual = min(max(own * polite.delay_factor, polite.min_delay), polite.max_delay)
    wait = usual if polite.delay is None else polite.delay
    return max(wait, delay) + own / polite.in_flight


def units_at_once(engine: TaskEngine) -> int:
    """Return the parallel units of an engine; 0: all, each a process of this machine."""
    return 0 if engine.name == "local" else engine.workers


def pack_hosts(
    context: StepContext, works: Iterable[HostWork], units: int, limit: float = 0.0
) -> PackedUnits:
    """Pack hosts into units, as the engine of a step will fetch them; see `pack`."""
    return pack(works, units, limit, units_at_once(context.engine))


def time_marks(context: StepContext, packs: PackedUnits) -> dict[str, Any]:
    """Return the marks of a segment for its time."""
    all_at_once = not units_at_once(context.engine)
    marks: dict[str, Any] = {"seconds": packs.whole}
    return {**marks, AT_ONCE: len(packs.seconds)} if all_at_once else marks
