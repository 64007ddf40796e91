"""States of a job and ends of a run in words, for people."""

from nacre.cli.output import to_copy
from nacre.job.operator.overview import Overview

_GOES_ON = "; `nacre run JOB` goes on"
_HIGHER = "; with another limit `nacre run JOB` goes on"

_ENDS = {
    "NASCENT": "not run yet",
    "CRASHED": "cut off without an end" + _GOES_ON,
    "INTERRUPTED": "interrupted" + _GOES_ON,
    "ABORTED": "stopped" + _GOES_ON,
    "FINISHED": "finished",
    "FINISHED_TIME_LIMIT": "stopped at the time limit (limits.time)" + _HIGHER,
    "FINISHED_DATA_LIMIT": "stopped at the limit of bytes (limits.bytes or novel_bytes)" + _HIGHER,
    "FINISHED_DOCUMENT_LIMIT": "stopped at the limit of documents (limits.documents)" + _HIGHER,
    "FINISHED_WRITE_LIMIT": "stopped at the limit of WARC bytes" + _HIGHER,
    "FINISHED_QUEUE_BUDGET": "stopped: queues with URIs left are over budget or retired" + _GOES_ON,
    "FINISHED_DISK_WAIT": "stopped: no free space for too long (disk.max_wait)" + _GOES_ON,
    "FINISHED_ABNORMAL": "ended by an error" + _GOES_ON,
}

_LIVE = {
    "NASCENT": "not begun",
    "PREPARING": "preparing",
    "RUNNING": "running",
    "PAUSING": "pausing: what is being fetched is finished first",
    "PAUSED": "paused",
    "EMPTY": "nothing left to fetch",
    "STOPPING": "stopping",
    "FINISHED": "finished",
}

_WHY = {
    "operator": "by the operator",
    "runtime limit": "at the runtime limit",
    "disk": "for want of disk space",
    "FINISHED": "everything was tried",
    "INTERRUPTED": "interrupted",
    "ABORTED": "by the operator",
}


def state_words(overview: Overview) -> str:
    """How a job stands, without names of the program's own."""
    if not overview.parallel:
        plain = overview.state.lower().replace("_", " ")
        return to_copy(_ENDS.get(overview.state, plain))
    return live_words(overview)


def live_words(overview: Overview) -> str:
    """How a running job stands."""
    state = _LIVE.get(overview.state, overview.state.lower())
    reasons = (reason for reason in overview.why.split(", ") if reason)
    why = ", ".join(_WHY.get(reason) or _plain(reason) for reason in reasons)
    return f"{state} ({why})" if why else state


def _plain(reason: str) -> str:
    return _ENDS.get(reason, reason).partition(";")[0]
