"""Work beside the answers: what fails begins again, and nothing else ends with it."""

import asyncio
import logging
from pathlib import Path

import httpx
import pytest

from nacre.console.quota_runner import QuotaRunner
from nacre.console.server import OpenedConsole
from nacre.errors import StorageError
from nacre.fleet.reach import ConsoleReach
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from nacre.web import supervision
from nacre.web.supervision import TroubleBoard, keep, words_of
from tests.console.given import LONG, GivenConsole, play
from tests.console.reached import while_served


class QuickClock(SystemClock):
    """A clock whose pauses are over at once."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def test_work_that_fails_begins_again_and_says_so_once(caplog: pytest.LogCaptureFixture):
    tries, told = list[int](), list[int]()
    board = TroubleBoard(lambda: told.append(len(board.all())))

    async def work() -> None:
        tries.append(1)
        if len(tries) < 4:
            raise StorageError("console.db: database or disk is full")
        (trouble,) = board.all()
        assert (trouble.work, trouble.text) == ("quotas", "console.db: database or disk is full")

    asyncio.run(keep("quotas", work, board, QuickClock()))
    assert len(tries) == 4
    assert board.all() == []
    assert told == [1, 0]
    (record,) = caplog.records
    assert record.getMessage() == "quotas: console.db: database or disk is full"
    assert record.exc_info is None  # it is no bug


def test_a_bug_is_told_with_its_trace(caplog: pytest.LogCaptureFixture):
    tries = list[int]()

    async def work() -> None:
        tries.append(1)
        if len(tries) == 1:
            async with asyncio.TaskGroup():
                raise KeyError("overview")

    with caplog.at_level(logging.ERROR):
        asyncio.run(keep("poller", work, TroubleBoard(), QuickClock()))
    (record,) = caplog.records
    assert record.getMessage() == "poller: KeyError: 'overview'"
    assert record.exc_info is not None


def test_a_trouble_is_over_when_all_went_well_for_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervision, "CALM", 0.0)
    board = TroubleBoard()
    board.note("webhooks", "broken", 7.0)
    assert not board.note("webhooks", "broken", 9.0)
    assert board.all()[0].since == 7.0

    async def work() -> None:
        while board.all():  # noqa: ASYNC110 - a timer of the loop changes it
            await asyncio.sleep(0)

    asyncio.run(keep("webhooks", work, board, QuickClock()))
    assert board.all() == []


def test_the_words_of_a_group_are_those_of_its_first_error():
    group = ExceptionGroup("some", [ExceptionGroup("more", [StorageError("full")])])
    assert words_of(group) == "full"
    assert words_of(ValueError("x")) == "ValueError: x"


def test_a_console_whose_work_has_a_bug_answers_and_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async def broken(_: QuotaRunner) -> None:
        raise ValueError("no such quota")

    monkeypatch.setattr(QuotaRunner, "turn", broken)

    async def scene(opened: OpenedConsole) -> None:
        async with asyncio.timeout(LONG):
            while not opened.parts.troubles.all():  # noqa: ASYNC110 - a task changes it
                await asyncio.sleep(0)
        async with httpx.AsyncClient(trust_env=False, timeout=LONG) as client:
            assert (await client.get(f"{opened.url}health")).status_code == 200
            for role, shown in ((Role.ADMIN, True), (Role.OPERATOR, False)):
                key = opened.parts.access.keys.add(role.title, role)
                fields = {"authorization": f"Bearer {key}"}
                page = await client.get(f"{opened.url}alerts", headers=fields)
                assert ("quotas: ValueError: no such quota" in page.text) is shown
                assert ('data-alerts="1"' in page.text) is shown

    while_served(tmp_path, ConsoleReach(), scene)


def test_pages_answer_while_nothing_can_be_written(tmp_path: Path):
    async def scene(console: GivenConsole) -> None:
        session, key = console.as_session(Role.ADMIN), console.as_key(Role.ADMIN)
        database = console.parts.books.schedules._database
        database.rows("UPDATE sessions SET used = used - 600")
        database.rows("PRAGMA query_only = ON")  # as on a full disk: reading goes on
        for path in ("/", "/alerts", "/admin", "/calendar", "/account", "/api/v1/"):
            answer = await console.client.get(path, headers=session)
            assert answer.status_code == 200, path
        listed = await console.client.get("/api/v1/jobs", headers=key)
        assert listed.status_code == 200
        refused = await console.client.put("/api/v1/quota", json={"limit": 1}, headers=key)
        assert refused.status_code == 503
        assert "console.db: attempt to write a readonly database" in refused.json()["detail"]

    play(tmp_path, scene)
