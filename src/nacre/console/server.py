"""The process of a console: its parts, its sockets, its start and end.

The jobs are separate processes, which go on when the console ends: it can be killed at any
time.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from starlette.types import ASGIApp

from nacre.console.app import ConsoleApp
from nacre.console.parts import ConsoleParts, console_parts
from nacre.console.reader_tasks import READER_TASKS
from nacre.console.runners import Runners, begin_all, keep_standing, readers_of
from nacre.core.clock import Clock
from nacre.errors import NacreError, StorageError
from nacre.fleet.checks import own_url, require_reach
from nacre.fleet.database import ConsoleDatabase, publish, withdraw
from nacre.fleet.reach import ConsoleOptions
from nacre.fleet.standing import ConsoleLocks
from nacre.fleet.users import HeritrixKeyBook, UserBook
from nacre.web.middleware import PeerGuard
from nacre.web.port import PortConsole, PortMaker, ReplayPortMaker, load_port_maker
from nacre.web.serving import (
    FaceServer,
    SecondServer,
    listening_sockets,
    loopback_sockets,
    server_config,
)
from nacre.web.workers.pool import ReaderPool


class OpenedConsole(NamedTuple):
    """A console that answers.

    Attributes:
        url: Its URL, such as `http://localhost:8410/`.
        parts: Its parts.
        port: The port on which it listens.
        heritrix: URL of Heritrix's interface; "" for none.
        replay: URL of replay; "" for none.
    """

    url: str
    parts: ConsoleParts
    port: int
    heritrix: str = ""
    replay: str = ""


def _pages_server(parts: ConsoleParts) -> FaceServer:
    """The server of pages and the interface for programs."""
    app: ASGIApp = ConsoleApp(parts).asgi()
    if parts.common.reach.proxy:
        app = PeerGuard(app, parts.common.reach.proxy)
    certificate, key = parts.common.reach.tls or (None, None)
    return FaceServer(server_config(app, certificate, key), parts.common.hub.close)


def _open_pages(
    options: ConsoleOptions, database: ConsoleDatabase, users: UserBook, now: float
) -> list[socket.socket]:
    """Open the sockets of the pages, if the console may be reached so; else close the database."""
    try:
        require_reach(options.reach, users, now)
        return listening_sockets(options.reach.bind, options.port)
    except NacreError:
        database.close()
        raise


async def serve(
    options: ConsoleOptions,
    clock: Clock,
    on_open: Callable[[OpenedConsole], None],
    make_replay: ReplayPortMaker | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        options: The options.
        clock: The time.
        on_open: Called once, when it answers.
        make_replay: Opens replay with the console; None for no replay.

    Raises:
        ConfigError: It must not be opened in this way.
        JobError: The port is taken.
        MissingExtraError: Heritrix's port is wanted, and nacre-migrate is not installed.
        StorageError: Its own files cannot be used.
    """
    make_port = load_port_maker() if options.heritrix is not None else None
    reach = options.reach
    database = ConsoleDatabase(options.folder)
    users = UserBook(database, clock)
    pages = _open_pages(options, database, users, clock.now())
    sockets = list(pages)
    number: int = pages[0].getsockname()[1]
    url = own_url(reach, number)
    parts = console_parts(options, database, users, clock, ReaderPool(READER_TASKS))
    fleet = parts.common.fleet
    locks = ConsoleLocks(parts.standing, options.folder, lambda: fleet.places, url, clock)
    try:
        replay = make_replay(parts.replay_port(url.rstrip("/"))) if make_replay else None
        if replay is not None:
            parts = parts._replace(common=parts.common._replace(replay=replay.link))
        server = _pages_server(parts)
        await parts.common.fleet.scan()
        tell = await _take_place(options, parts, locks, url)
        port = _heritrix(make_port, options, parts, database, url, server)
        sockets += port.sockets if port is not None else []
        work: Runners = (
            *readers_of(parts, database),
            ("standing", partial(keep_standing, parts, locks, tell)),
            *([("replay", replay.work)] if replay is not None else []),
        )
        urls = (port.url if port is not None else "", replay.url if replay is not None else "")
        opened = OpenedConsole(url, parts, number, *urls)
        await _serve_until_end(server, pages, port, work, lambda: on_open(opened), parts)
    finally:
        withdraw(options.folder)
        await _close(parts, sockets)
        database.close()
        locks.free()


async def _serve_until_end(
    server: FaceServer, pages: list[socket.socket], port: "_HeritrixPort | None", work: Runners,
    on_open: Callable[[], None], parts: ConsoleParts,
) -> None:  # fmt: skip
    """Serve the pages and Heritrix's interface beside the background work, until a signal."""
    async with asyncio.TaskGroup() as group:
        working = begin_all(group, parts, work)
        serving = None
        if port is not None:
            serving = group.create_task(port.server.serve(port.sockets), name="heritrix")
        on_open()
        await server.serve(pages)
        if port is not None and serving is not None:
            port.server.should_exit = True
            await serving
        for task in working:
            task.cancel()


async def _close(parts: ConsoleParts, sockets: Sequence[socket.socket]) -> None:
    """End the processes of a console, and close its sockets."""
    await parts.common.tasks.close()
    await parts.common.readers.close()
    for listener in sockets:
        listener.close()


async def _take_place(
    options: ConsoleOptions, parts: ConsoleParts, locks: ConsoleLocks, url: str
) -> Callable[[], bool]:
    """Try the locks of a console, and announce it to commands if it has all locks.

    Commands use the ids of the console that works on the jobs, not of one that only shows them.

    Returns:
        The function that announces it, to be called again when it takes over.
    """
    tell = partial(tell_commands, options, parts, url)
    if await asyncio.to_thread(locks.take):
        tell()
    return tell


def tell_commands(options: ConsoleOptions, parts: ConsoleParts, url: str) -> bool:
    """Announce a console and its places to commands; False if that cannot be written.

    Args:
        options: Its options.
        parts: Its parts.
        url: Its URL.
    """
    try:
        parts.places.serve(options.places)
        publish(options.folder, url, local_link=options.reach.local_link)
    except (OSError, StorageError):  # the disk is full: pages are answered all the same
        return False
    return True


class _HeritrixPort(NamedTuple):
    """The port with Heritrix's interface: its server, sockets and URL."""

    server: FaceServer
    sockets: list[socket.socket]
    url: str


def _heritrix(
    make_port: PortMaker | None, options: ConsoleOptions, parts: ConsoleParts,
    database: ConsoleDatabase, pages: str, console: FaceServer,
) -> _HeritrixPort | None:  # fmt: skip
    """Open the port with Heritrix's interface; None if no port is wanted."""
    if options.heritrix is None or make_port is None:
        return None

    def end() -> None:
        console.should_exit = True

    theirs = parts.port(HeritrixKeyBook(database))
    port = make_port(theirs, options.heritrix, PortConsole(options.folder, pages, end))
    config = server_config(port.app, port.certificate, port.key)
    sockets = loopback_sockets(options.heritrix.port, "--heritrix")
    url = f"https://localhost:{sockets[0].getsockname()[1]}/engine"
    return _HeritrixPort(SecondServer(config, parts.common.hub.close), sockets, url)
