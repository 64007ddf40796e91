"""The numbers of this moment, out of a running job's parts."""

import resource
from math import inf, nan
from pathlib import Path

from nacre.frontier.queues import State
from nacre.job.assemble import Parts
from nacre.report.progress import Counts

_PAGE = resource.getpagesize()


def counts_of(parts: Parts) -> Counts:
    """What progress-statistics.log shows."""
    totals = parts.frontier.totals
    states = totals.states
    working = states[State.IN_PROCESS] + states[State.SNOOZED]
    able = working + states[State.READY] + states[State.INACTIVE]
    filled = able + states[State.RETIRED]
    queues = (queue.row for queue in parts.frontier.rotation.roster.in_memory())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = _resident() or peak
    return Counts(
        discovered=totals.discovered,
        queued=totals.queued,
        failed=totals.failed,
        busy=parts.engine.busy,
        congestion=_ratio(able, working),
        deepest=max((row.size + row.waiting for row in queues), default=0),
        average=totals.queued // filled if filled else 0,
        memory=memory,
        peak=max(peak, memory),
    )


def _ratio(able: int, working: int) -> float:
    if working:
        return able / working
    return inf if able else nan


def _resident() -> int:
    """Resident memory now, KB; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * _PAGE // 1024
