"""Which run a job is in, and how the last one ended: one row, so that a start knows what to do."""

import msgspec

from nacre.job.states import ExitStatus


class RunRow(msgspec.Struct, frozen=True):
    """The current or last run.

    Attributes:
        name: Its directory under `runs/`.
        number: Number of the run, from 1.
        started: Epoch seconds of its first start.
        exit: `RUNNING` until it ends; only FINISHED runs are over, all others can be resumed.
        ended: Epoch seconds of its last end; 0 while it runs.
        elapsed: Seconds that it ran, pauses left out, up to the last commit.
        mode: `full`, or `incremental`: visits what the planner chooses.
        parent: Name of the run before; "" for none.
        budget: What it may spend, as it was asked for; "" for no limit.
        keep: `strict`, `lean` or `delta`: what of its visits is stored in full.
        fresh: Its seeds were not entered yet.
        clearing: The rows of the run before are still to be removed.
        bytes_each: Mean bytes of a reply in the run before; 0 when unknown.
        seconds_each: Mean time for a reply in the run before; 0 when unknown.
        before: Requests, bytes and seconds that count in its budget beside its own: of the runs
            of the 24 hours before, where the budget is one for the day.
        spent: The same of the run itself; kept from when the next one was planned.
    """

    name: str
    number: int
    started: float
    exit: ExitStatus = ExitStatus.NONE
    ended: float = 0.0
    elapsed: float = 0.0
    mode: str = "full"
    parent: str = ""
    budget: str = ""
    keep: str = "strict"
    fresh: bool = False
    clearing: bool = False
    bytes_each: float = 0.0
    seconds_each: float = 0.0
    before: tuple[int, int, float] = (0, 0, 0.0)
    spent: tuple[int, int, float] = (0, 0, 0.0)

    @property
    def needs_bodies(self) -> bool:
        """A full run beside others: pages that did not change are fetched too, for their links."""
        return self.mode == "full" and self.number > 1

    @property
    def title(self) -> str:
        """What it is, for people: `incremental run NAME after NAME, at most 2GB`."""
        if not self.parent:
            return f"run {self.name}"
        budget = f", at most {self.budget}" if self.budget else ""
        return f"{self.mode} run {self.name} after {self.parent}{budget}"
