"""When a session is over."""

import asyncio
from pathlib import Path

import pytest

from nacre.core.events import Events
from nacre.core.states import ExitStatus
from nacre.fetch.guard import AddressGuard
from nacre.job.imports import ImportMode, ImportOptions
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.scope.seeds import read_seeds
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.recovery import StartOptions
from tests.job.opened import log_of

# Jobs of one process share the delays of hosts: no other test has this one.
SEED, ADDED = "http://ending.test/", "http://ending.test/added"
NOTHING_FETCHED = JobSettings.model_validate(
    {"chains": {"fetch": {"preselect": {"block_all": True}}}}
)


class ThinkingPlanner:
    """A planner that wants no visits; while it thinks, an operator may add a URL."""

    recrawl = None
    wants_more = False

    def __init__(self, session: Session, added: list[str]) -> None:
        self._session = session
        self._added = added
        self.asked = 0

    async def begin(self) -> None:
        """Nothing was fetched before."""

    async def look(self) -> bool:
        """It adds nothing while there is work."""
        return False

    async def more(self) -> bool:
        """The URLs that are added meanwhile are not its own."""
        self.asked += 1
        urls, self._added = self._added, []
        await self._session.editor.import_lines(urls, ImportOptions(ImportMode.IMPORT))
        return False

    def end(self) -> None:
        """It has nothing to note."""


@pytest.mark.parametrize("added", [[], [ADDED]])
def test_what_is_added_while_the_planner_thinks_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: list[str]
):
    async def run() -> Session:
        session = Session(Layout(tmp_path), NOTHING_FETCHED, RealDisk(), SystemClock(), Events())
        try:
            session.open(AddressGuard(), lambda: read_seeds([SEED]), StartOptions())
            planner = ThinkingPlanner(session, added)
            monkeypatch.setattr(session, "planning", planner)
            monkeypatch.setattr(session._run_end, "_planning", planner)
            assert await session.run() is ExitStatus.FINISHED
            # Asked again once that is done, and only then.
            assert planner.asked == 1 + len(added)
        finally:
            await session.close()
        return session

    lines = log_of(asyncio.run(run()), "crawl.log").splitlines()
    assert [(line.split()[1], line.split()[3]) for line in lines] == [
        ("-5001", url) for url in (SEED, *added)
    ]
