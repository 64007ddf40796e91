"""The numbers of this moment, out of a running job's parts."""

import resource

from nacre.frontier.queues import State
from nacre.job.assemble import Parts
from nacre.report.progress import Counts


def counts_of(parts: Parts) -> Counts:
    """What progress-statistics.log and the terminal show."""
    totals = parts.frontier.totals
    states = totals.states
    working = states[State.IN_PROCESS] + states[State.SNOOZED]
    able = working + states[State.READY] + states[State.INACTIVE]
    filled = able + states[State.RETIRED]
    return Counts(
        discovered=totals.discovered,
        queued=totals.queued,
        failed=totals.failed,
        busy=parts.engine.busy,
        congestion=able / working if working else 0.0,
        deepest=0,
        average=totals.queued // filled if filled else 0,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )
