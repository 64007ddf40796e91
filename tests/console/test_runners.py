import asyncio
from pathlib import Path

from nacre.console.access.reach import ConsoleReach
from nacre.console.server import OpenedConsole
from tests.console.reached import while_served


def test_a_console_that_serves_begins_runs_and_keeps_the_quotas(tmp_path: Path):
    async def scene(opened: OpenedConsole) -> None:
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert {"poller", "launcher", "tails of logs", "schedules", "quotas"} <= names

    while_served(tmp_path, ConsoleReach(), scene)
