"""A console for tests: its application, on jobs in a folder, with a clock that is set."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import uvicorn

from nacre.console.app import ConsoleApp
from nacre.console.logs.tails import LogTails
from nacre.console.metrics import RequestTimes
from nacre.console.reader_tasks import READER_TASKS, find_task
from nacre.console.server import loopback_sockets
from nacre.console.services import ConsoleServices
from nacre.core.message_data import encode
from nacre.fleet.audit import AuditLog
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.heritrix_keys import HeritrixKeyBook
from nacre.fleet.job_books import DiskQuotaBook, LabelBook, WantedKindBook
from nacre.fleet.keys import KeyBook
from nacre.fleet.launch import Launcher
from nacre.fleet.passwords import LoginDesk, PasswordChecker
from nacre.fleet.place_book import PlaceBook
from nacre.fleet.places import Fleet, RemovalBook, places_of
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import COOKIE, SessionBook
from nacre.fleet.standing import ConsoleStanding
from nacre.fleet.users import UserBook
from nacre.fleet.webhook_book import WebhookBook
from nacre.machine.clock import SystemClock
from nacre.ops.roles import Role
from nacre.web.live.hub import JOBS, NoticeBoard, ViewerHub
from nacre.web.live.poller import Poller
from nacre.web.repeats import RepeatBook
from nacre.web.supervision import TroubleBoard
from nacre.web.workers.background import TaskBook, Tell
from nacre.web.workers.pool import PATIENCE, ReaderPool, decode_answer, error_of
from nacre.web.workers.views import VIEWS
from nacre.web.workers.worker import ReaderRequest, answer_to

ORIGIN = "http://localhost:8410"
LONG = 200.0
"""Seconds after which a test gives up: less than the limit of a test, and no test is about it."""


class StillClock(SystemClock):
    """A clock that stands still: pauses do not end however slow the machine is."""

    monotonic = staticmethod(lambda: 1000.0)


class HerePool(ReaderPool):
    """Readers in a thread of this process, one question at a time: none is started for each test.

    Nothing is given up, so that no test depends on the machine. The processes have tests of their
    own, and the stories in a browser use them.
    """

    def __init__(self) -> None:
        super().__init__(READER_TASKS, 1)
        self._one = asyncio.Lock()

    async def ask(
        self, task: str, job: Path, patience: float = PATIENCE, /, **arguments: object
    ) -> Any:
        return await self._here(task, job, None, arguments)

    async def work(self, task: str, job: Path, tell: Tell, /, **arguments: object) -> Any:
        loop = asyncio.get_running_loop()

        def told(done: int, total: int) -> None:
            loop.call_soon_threadsafe(tell, done, total)

        return await self._here(task, job, told, arguments)

    async def _here(
        self, task: str, job: Path, told: Tell | None, arguments: dict[str, object]
    ) -> Any:
        sent = msgspec.msgpack.encode(self._request(task, job, arguments))
        request = msgspec.msgpack.decode(sent, type=ReaderRequest)
        async with self._one:
            began = time.perf_counter()
            made = await asyncio.to_thread(answer_to, request, find_task, told)
            self._note(task, began)
        answer = decode_answer(encode(made))
        if answer.error:
            raise error_of(answer)
        return answer.data

    async def close(self) -> None:
        for root in VIEWS.open:
            VIEWS.close(root)
        await super().close()


class GivenConsole:
    """A console that answers in this process.

    Attributes:
        services: Its parts.
        client: Asks it, as nobody.
        port_keys: The keys of Heritrix's port.
    """

    def __init__(
        self, services: ConsoleServices, client: httpx.AsyncClient, port_keys: HeritrixKeyBook
    ) -> None:
        self.services = services
        self.client = client
        self.port_keys = port_keys
        self._keys: dict[Role, str] = {}

    def of(self, app: ConsoleApp) -> httpx.AsyncClient:
        """A client of another application on the same services."""
        transport = httpx.ASGITransport(app.asgi(), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=ORIGIN)

    def as_key(self, role: Role = Role.VIEWER) -> dict[str, str]:
        """Fields of a program with a key of a role."""
        if role not in self._keys:
            self._keys[role] = self.services.keys.add(f"{role.title} key", role)
        return {"authorization": f"Bearer {self._keys[role]}"}

    def as_session(self, role: Role = Role.ADMIN) -> dict[str, str]:
        """Fields of a browser that is logged in, as they come from its own pages."""
        secret = self.services.sessions.begin("anna", role)
        session = self.services.sessions.find(secret)
        assert session is not None
        return {
            "cookie": f"{COOKIE}={secret}",
            "sec-fetch-site": "same-origin",
            "x-nacre-token": session.token,
        }


@asynccontextmanager
async def given_console(folder: Path) -> AsyncIterator[GivenConsole]:
    """A console on the jobs below `folder/crawls`."""
    crawls = folder / "crawls"
    crawls.mkdir(exist_ok=True)
    clock = SystemClock()
    database = ConsoleDatabase(folder / "console")
    removals = RemovalBook(database)
    fleet, readers, hub = Fleet(places_of([crawls]), removals), HerePool(), ViewerHub()
    tasks = TaskBook(clock, hub.task_changed)
    users, sessions = UserBook(database, clock), SessionBook(database, clock)
    poller = Poller(fleet, readers, database, clock, hub)
    services = ConsoleServices(
        fleet=fleet,
        poller=poller,
        readers=readers,
        tasks=tasks,
        keys=KeyBook(database, clock),
        sessions=sessions,
        clock=clock,
        users=users,
        logins=LoginDesk(users, sessions, StillClock(), PasswordChecker(1, 64)),
        places=PlaceBook(database),
        times=RequestTimes(),
        standing=ConsoleStanding(),
        troubles=TroubleBoard(partial(hub.changed, JOBS)),
        audit=AuditLog(folder / "console", clock),
        hub=hub,
        launcher=Launcher(fleet, poller, database, clock, 2),
        labels=LabelBook(database),
        removals=removals,
        wanted=WantedKindBook(database),
        notices=NoticeBoard(),
        schedules=ScheduleBook(database, clock, partial(hub.changed, JOBS)),
        quotas=DiskQuotaBook(database, partial(hub.changed, JOBS)),
        webhooks=WebhookBook(database, clock),
        repeats=RepeatBook(database, clock),
        tails=LogTails(hub, clock),
    )
    await fleet.scan()
    transport = httpx.ASGITransport(ConsoleApp(services).asgi(), raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            yield GivenConsole(services, client, HeritrixKeyBook(database))
    finally:
        await tasks.close()
        await readers.close()
        database.close()


def play(folder: Path, scene: Callable[[GivenConsole], Awaitable[None]]) -> None:
    """Play a scene with a console."""

    async def played() -> None:
        async with given_console(folder) as console:
            await scene(console)

    asyncio.run(played())


@asynccontextmanager
async def streaming(console: GivenConsole) -> AsyncIterator[httpx.AsyncClient]:
    """Asks the same console over a socket, so that answers come while they are made."""
    sockets = loopback_sockets(0)
    app = ConsoleApp(console.services).asgi()
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets))
    base = f"http://localhost:{sockets[0].getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=60.0) as client:
            yield client
    finally:
        console.services.hub.close()
        server.should_exit = True
        await serving
