"""What the parts of a job have to do with each other once they are put together."""

import asyncio
from pathlib import Path

from nacre.core.events import AlertLogged, Event
from nacre.job.overview import stored_overview
from nacre.machine.layout import Layout
from nacre.runs.runs import read_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.job.opened import opened


def test_alerts_are_heard_and_counted_over_all_sessions_of_a_run(tmp_path: Path):
    heard: list[Event] = []

    async def alert(text: str) -> int:
        async with opened(tmp_path, heard=heard) as session:
            session.logs.alert(text)
            return session.logs.alerts.total

    assert [asyncio.run(alert(text)) for text in ("one", "two")] == [1, 2]
    assert [event for event in heard if isinstance(event, AlertLogged)] == [
        AlertLogged("one"),
        AlertLogged("two"),
    ]
    memory = JobSettings().store.memory
    with Store.open(str(Layout(tmp_path).store), memory=memory, read_only=True) as store:
        assert stored_overview(store, read_run(store)).alerts == 2
