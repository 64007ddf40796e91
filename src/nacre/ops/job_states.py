"""Groups of the states of a job: within a group the same operations are possible (pure)."""

from collections.abc import Mapping
from typing import Final

from nacre.core.states import CRASHED

NEVER_RAN, PREPARING, RUNNING, PAUSED, STOPPING, STOPPED, FINISHED = (
    "never-ran", "preparing", "running", "paused", "stopping", "stopped", "finished",
)  # fmt: skip
"""The groups of a continuous crawl."""

ROUNDS, ROUNDS_RUNNING = "rounds", "rounds-running"
"""The groups of a batch crawl, which other commands control: at rest, and while rounds run."""

LIVE: Final = frozenset((RUNNING, PAUSED))
"""Groups in which a process answers commands."""

GROUPS: Final[Mapping[str, str]] = {
    "NASCENT": NEVER_RAN,
    "PREPARING": PREPARING,
    "RUNNING": RUNNING,
    "EMPTY": RUNNING,
    "PAUSING": PAUSED,
    "PAUSED": PAUSED,
    "STOPPING": STOPPING,
    "ABORTED": STOPPED,
    "INTERRUPTED": STOPPED,
    CRASHED: STOPPED,
    "FINISHED_DISK_WAIT": STOPPED,
    "FINISHED_ABNORMAL": STOPPED,
    "FINISHED_QUEUE_BUDGET": STOPPED,
    "FINISHED_TIME_LIMIT": STOPPED,
    "FINISHED_DATA_LIMIT": STOPPED,
    "FINISHED_DOCUMENT_LIMIT": STOPPED,
    "FINISHED_WRITE_LIMIT": STOPPED,
    "FINISHED": FINISHED,
    "ROUNDS": ROUNDS,
}
"""The group of each state of `JobOverview.state`. A run that reached a limit can be resumed."""


def group_of(state: str) -> str:
    """Return the group of a state of `JobOverview.state`; `stopped` for an unknown state."""
    return GROUPS.get(state, STOPPED)
