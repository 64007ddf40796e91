"""When a run is over: nothing left, a limit, a request; and when it waits for URIs."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nacre.core.states import ExitStatus, JobState
from nacre.frontier.queues import QueueState
from nacre.job.run_end import EndMonitors, RunEnd, RunRequests
from nacre.settings.settings import JobSettings


class FakeRun:
    """The parts that a decision asks."""

    def __init__(self, *, waits: bool = False) -> None:
        self.woken = self.settled = self.rotated = 0
        self.limit: ExitStatus | None = None
        self.lacks_space = False
        self.traps = SimpleNamespace(others_rest=True, begin_round=lambda: False)
        self.frontier = SimpleNamespace(
            is_empty=True, only_retries_remain=False, traps=self.traps,
            totals=SimpleNamespace(states=Counter[QueueState]()),
        )  # fmt: skip
        self.engine = SimpleNamespace(busy=0, wake=lambda: self.count("woken"))
        self.task = SimpleNamespace(busy=False)
        self.requests = RunRequests()
        settings = JobSettings.model_validate({"engine": {"run_while_empty": waits}})
        records = SimpleNamespace(
            queues=SimpleNamespace(frontier=self.frontier),
            fetching=SimpleNamespace(fetcher=SimpleNamespace(settle=self.settle)),
            storing=SimpleNamespace(rotate_idle=lambda: self.count("rotated")),
            context=SimpleNamespace(clock=SimpleNamespace(monotonic=lambda: 0.0)),
            rules=SimpleNamespace(settings=settings),
        )
        crawling = SimpleNamespace(engine=self.engine, unasked=SimpleNamespace(settle=bool))
        monitors = EndMonitors(
            cast("Any", SimpleNamespace(reached=lambda: self.limit)),
            cast("Any", SimpleNamespace(waited_too_long=lambda _: self.lacks_space)),
        )
        self.end = RunEnd(
            cast("Any", records), cast("Any", crawling), self.requests, monitors, None,
            [cast("Any", self.task)], is_unit=False,
        )  # fmt: skip

    def count(self, name: str) -> None:
        setattr(self, name, getattr(self, name) + 1)

    async def settle(self) -> None:
        self.settled += 1

    def look(self, state: JobState = JobState.RUNNING) -> ExitStatus | JobState | None:
        return asyncio.run(self.end.look(state))


def test_a_run_ends_when_nothing_is_left():
    run = FakeRun()
    assert run.look() is ExitStatus.FINISHED
    assert run.settled == 1
    run.frontier.totals.states[QueueState.RETIRED] = 1
    assert run.look() is ExitStatus.QUEUE_BUDGET
    run.traps.begin_round = lambda: True
    assert run.look() is None
    assert run.woken == 1


@pytest.mark.parametrize("what", ["uris", "fetches", "pause", "task"])
def test_a_run_goes_on_while_there_is_work(what: str):
    run = FakeRun()
    run.frontier.is_empty = what != "uris"
    run.engine.busy = int(what == "fetches")
    run.task.busy = what == "task"
    if what == "pause":
        run.requests.pauses.add("operator")
    assert run.look() is None
    run.limit = ExitStatus.DATA_LIMIT
    assert run.look() is ExitStatus.DATA_LIMIT
    run.lacks_space = True
    assert run.look() is ExitStatus.DISK_WAIT
    run.requests.exit = ExitStatus.ABORTED
    assert run.look() is ExitStatus.ABORTED


def test_a_run_that_waits_for_uris_is_empty_meanwhile():
    run = FakeRun(waits=True)
    assert run.look() is JobState.EMPTY
    assert run.look(JobState.PAUSING) is None, "a pause ends first"
    assert run.look(JobState.EMPTY) is None
    assert run.rotated == 1
    run.limit = ExitStatus.TIME_LIMIT
    assert run.look(JobState.EMPTY) is ExitStatus.TIME_LIMIT
    run.frontier.is_empty = False
    assert run.look(JobState.EMPTY) is JobState.RUNNING
    run.frontier.is_empty = True
    run.end.configure(JobSettings())
    assert run.look(JobState.EMPTY) is JobState.RUNNING, "it waits no more"
    assert run.look() is ExitStatus.FINISHED
