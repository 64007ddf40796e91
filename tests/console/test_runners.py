import asyncio
from pathlib import Path

import pytest

from nacre.console import runners
from nacre.console.server import OpenedConsole
from nacre.fleet.reach import ConsoleReach
from nacre.fleet.standing import ConsoleLocks
from tests.console.admin.test_quotas import SteppedClock
from tests.console.given import GivenConsole, play, with_common
from tests.console.reached import while_served


def test_a_console_that_serves_begins_runs_and_keeps_the_quotas(tmp_path: Path):
    async def scene(opened: OpenedConsole) -> None:
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert {"poller", "launcher", "tails of logs", "schedules", "quotas"} <= names

    while_served(tmp_path, ConsoleReach(), scene)


def test_what_could_not_be_told_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(runners, "changers_of", lambda _: ())
    answers, told = iter((False, False, True)), []

    def begin() -> bool:
        told.append(next(answers))
        return told[-1]

    async def scene(console: GivenConsole) -> None:
        parts, clock = console.parts, SteppedClock(10.0)
        locks = ConsoleLocks(
            parts.standing, tmp_path / "console", lambda: parts.common.fleet.places, "x", clock
        )
        with pytest.raises(asyncio.CancelledError):
            await runners.keep_standing(with_common(parts, clock=clock), locks, begin)
        locks.free()

    play(tmp_path, scene)
    assert told == [False, False, True]
