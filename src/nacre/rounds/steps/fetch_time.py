"""The expected time of lists: of a host, of a unit, and of all units of a segment together."""

from collections.abc import Iterable
from typing import Any

from nacre.crawldb.units import HostWork, PackedUnits, pack
from nacre.frontier.settings import PolitenessSettings
from nacre.rounds.engine import TaskEngine
from nacre.rounds.steps.context import StepContext

LATENCY = 0.2
"""Expected time of a fetch itself where that of its host is not known, s; a guess."""

AT_ONCE = "at_once"
"""Mark of a segment of this machine: how many of its units are fetched at the same time."""


def fetch_spacing(polite: PolitenessSettings, delay: float = 0.0, latency: float = 0.0) -> float:
    """Expected time from one fetch of a host to the next, s: the wait, and the fetch itself.

    Args:
        polite: The politeness.
        delay: The wait that was learned, with Crawl-delay, s; 0: none.
        latency: Time of a fetch of the host, s; 0: not known.
    """
    own = latency or LATENCY
    usual = min(max(own * polite.delay_factor, polite.min_delay), polite.max_delay)
    wait = usual if polite.delay is None else polite.delay
    return max(wait, delay) + own / polite.in_flight


def units_at_once(engine: TaskEngine) -> int:
    """Units that an engine fetches at the same time; 0: all, each a process of this machine."""
    return 0 if engine.name == "local" else engine.workers


def packed(
    context: StepContext, works: Iterable[HostWork], units: int, limit: float = 0.0
) -> PackedUnits:
    """Hosts in units, as the engine of a step will fetch them; see `pack`."""
    return pack(works, units, limit, units_at_once(context.engine))


def time_marks(context: StepContext, made: PackedUnits) -> dict[str, Any]:
    """The marks of a segment about its time."""
    all_at_once = not units_at_once(context.engine)
    marks: dict[str, Any] = {"seconds": made.whole}
    return {**marks, AT_ONCE: len(made.seconds)} if all_at_once else marks
