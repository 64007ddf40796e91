"""A console for tests: its application, on jobs in a folder, with a clock that is set."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import uvicorn

from nacre.console.app import ConsoleApp
from nacre.console.parts import ConsoleParts, console_parts
from nacre.console.reader_tasks import READER_TASKS, find_task
from nacre.core.message_data import encode
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.passwords import LoginDesk, PasswordChecker
from nacre.fleet.places import places_of
from nacre.fleet.reach import ConsoleOptions
from nacre.fleet.sessions import COOKIE
from nacre.fleet.users import HeritrixKeyBook, UserBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from nacre.web.serving import loopback_sockets
from nacre.web.workers.background import Tell
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
        parts: Its parts.
        client: Asks it, as nobody.
        port_keys: The keys of Heritrix's port.
    """

    def __init__(
        self, parts: ConsoleParts, client: httpx.AsyncClient, port_keys: HeritrixKeyBook
    ) -> None:
        self.parts = parts
        self.client = client
        self.port_keys = port_keys
        self._keys: dict[Role, str] = {}

    def of(self, app: ConsoleApp) -> httpx.AsyncClient:
        """A client of another application on the same parts."""
        transport = httpx.ASGITransport(app.asgi(), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=ORIGIN)

    def as_key(self, role: Role = Role.VIEWER) -> dict[str, str]:
        """Fields of a program with a key of a role."""
        if role not in self._keys:
            self._keys[role] = self.parts.access.keys.add(f"{role.title} key", role)
        return {"authorization": f"Bearer {self._keys[role]}"}

    def as_session(self, role: Role = Role.ADMIN) -> dict[str, str]:
        """Fields of a browser that is logged in, as they come from its own pages."""
        secret = self.parts.access.sessions.begin("anna", role)
        session = self.parts.access.sessions.find(secret)
        assert session is not None
        return {
            "cookie": f"{COOKIE}={secret}",
            "sec-fetch-site": "same-origin",
            "x-nacre-token": session.token,
        }


def with_common(parts: ConsoleParts, **changes: Any) -> ConsoleParts:
    """The parts of a console with other common ones."""
    return parts._replace(common=parts.common._replace(**changes))


@asynccontextmanager
async def given_console(folder: Path) -> AsyncIterator[GivenConsole]:
    """A console on the jobs below `folder/crawls`."""
    crawls = folder / "crawls"
    crawls.mkdir(exist_ok=True)
    clock = SystemClock()
    database = ConsoleDatabase(folder / "console")
    options = ConsoleOptions(places_of([crawls]), 0, folder / "console", max_running=2)
    users = UserBook(database, clock)
    parts = console_parts(options, database, users, clock, HerePool())
    logins = LoginDesk(users, parts.access.sessions, StillClock(), PasswordChecker(1, 64))
    parts = parts._replace(access=parts.access._replace(logins=logins))
    await parts.common.fleet.scan()
    transport = httpx.ASGITransport(ConsoleApp(parts).asgi(), raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            yield GivenConsole(parts, client, HeritrixKeyBook(database))
    finally:
        await parts.common.tasks.close()
        await parts.common.readers.close()
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
    app = ConsoleApp(console.parts).asgi()
    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets))
    base = f"http://localhost:{sockets[0].getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=base, trust_env=False, timeout=60.0) as client:
            yield client
    finally:
        console.parts.common.hub.close()
        server.should_exit = True
        await serving
