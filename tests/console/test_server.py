import asyncio
import errno
import os
import signal
from pathlib import Path

import httpx
import pytest

from nacre.console.parts import console_parts
from nacre.console.reader_tasks import READER_TASKS
from nacre.console.server import OpenedConsole, serve, tell_commands
from nacre.errors import JobError
from nacre.fleet.database import ConsoleDatabase, running_url
from nacre.fleet.keys import KeyBook
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import places_of
from nacre.fleet.reach import ConsoleOptions, ConsoleReach, PortOptions
from nacre.fleet.users import UserBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from nacre.web.serving import loopback_sockets
from nacre.web.workers.pool import ReaderPool
from tests.cli.site import nacre, site
from tests.console.given import LONG
from tests.console.reached import while_served
from tests.fleet.test_standing import GivenLocks, crawls

GBK: dict[str, str | bytes] = {
    "/": '<meta charset="utf-8"><title>图书馆</title><a href="/%CA%E9.html">书</a>',
    "/%CA%E9.html": '<meta charset="gbk"><title>书</title>'.encode("gbk"),
}


def test_a_console_serves_jobs_until_ctrl_c(tmp_path: Path):
    job = tmp_path / "crawls" / "图书馆"
    with site(GBK) as url:
        assert nacre("crawl", url, "--out", job, "-q").code == 0
    options = ConsoleOptions(places_of([tmp_path / "crawls"]), 0, tmp_path / "state")

    async def ask(console: OpenedConsole) -> dict[str, object]:
        assert running_url(tmp_path / "state") == console.url
        key = console.parts.access.keys.add("test", Role.VIEWER)
        fields = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(headers=fields, trust_env=False) as client:
            answer = await client.get(f"{console.url}api/v1/jobs/crawls~图书馆", timeout=120)
            assert answer.status_code == 200, answer.text
            found: dict[str, object] = answer.json()
            return found

    async def play() -> dict[str, object]:
        opened: asyncio.Future[OpenedConsole] = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as group:
            group.create_task(serve(options, SystemClock(), opened.set_result))
            found = await ask(await opened)
            os.kill(os.getpid(), signal.SIGINT)
        return found

    found = asyncio.run(play())
    assert found["item"]["sentence"]["code"] == "finished"  # type: ignore[index]
    assert found["sentence"] == found["item"]["sentence"]  # type: ignore[index]
    assert found["overview"]["documents"] == 2  # type: ignore[index]
    assert running_url(tmp_path / "state") is None


def test_a_console_serves_on_a_full_disk_and_is_told_to_commands_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "crawls").mkdir()
    options = ConsoleOptions(places_of([tmp_path / "crawls"]), 0, tmp_path / "state")
    database = ConsoleDatabase(options.folder)
    users, clock = UserBook(database, SystemClock()), SystemClock()
    parts = console_parts(options, database, users, clock, ReaderPool(READER_TASKS))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("nacre.fleet.database.replace_file", full)
        assert not tell_commands(options, parts, "http://localhost:1/")
    database.rows("PRAGMA query_only = ON")
    assert not tell_commands(options, parts, "http://localhost:1/")
    assert running_url(options.folder) is None
    database.rows("PRAGMA query_only = OFF")
    assert tell_commands(options, parts, "http://localhost:1/")
    assert running_url(options.folder) == "http://localhost:1/"
    database.close()


@pytest.mark.slow
def test_a_console_that_only_shows_is_not_told_to_commands(tmp_path: Path):
    place = crawls(tmp_path, "crawls")
    other = GivenLocks(tmp_path / "other", place)
    assert other.locks.take()
    database = ConsoleDatabase(tmp_path / "state")
    PlaceBook(database).serve(places_of([crawls(tmp_path, "before").root]))

    async def scene(opened: OpenedConsole) -> None:
        assert opened.parts.standing.elsewhere is not None
        assert running_url(tmp_path / "state") is None
        assert [one.label for one in PlaceBook(database).served()] == ["before"]
        other.locks.free()
        async with asyncio.timeout(LONG):
            while running_url(tmp_path / "state") is None:  # noqa: ASYNC110 - a task tells it
                await asyncio.sleep(0)
        assert running_url(tmp_path / "state") == opened.url
        assert [one.label for one in PlaceBook(database).served()] == ["crawls"]

    while_served(tmp_path, ConsoleReach(), scene)
    database.close()


def test_what_was_read_is_known_at_the_next_start(tmp_path: Path):
    database = ConsoleDatabase(tmp_path)
    secret = KeyBook(database, SystemClock()).new_link()
    database.close()
    database = ConsoleDatabase(tmp_path)
    assert KeyBook(database, SystemClock()).use_link(secret)
    database.close()


def test_a_port_that_is_taken_is_said_with_its_owner():
    first = loopback_sockets(0)
    port = first[0].getsockname()[1]
    try:
        with pytest.raises(JobError, match=rf"port {port} is taken by process {os.getpid()} \("):
            loopback_sockets(port)
    finally:
        for one in first:
            one.close()


def test_a_port_of_heritrix_that_is_taken_is_said_by_its_option(tmp_path: Path):
    first = loopback_sockets(0)
    port = first[0].getsockname()[1]
    (tmp_path / "crawls").mkdir()
    options = ConsoleOptions(
        places_of([tmp_path / "crawls"]), 0, tmp_path / "state", heritrix=PortOptions(port)
    )
    try:
        with pytest.raises(JobError, match=rf"`nacre console --heritrix {port + 10}`"):
            asyncio.run(serve(options, SystemClock(), lambda _: None))
    finally:
        for one in first:
            one.close()
