"""The process of a console: its parts, its sockets, its start and end.

The jobs are separate processes, which go on when the console ends: it can be killed at any
time.
"""

import asyncio
import errno
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from nacre.console.app import ConsoleApp
from nacre.console.parts import ConsoleParts, console_parts
from nacre.console.reader_tasks import READER_TASKS
from nacre.console.runners import Runners, begin_all, keep_standing, readers_of
from nacre.core.clock import Clock
from nacre.errors import JobError, NacreError, StorageError
from nacre.fleet.checks import own_url, require_reach
from nacre.fleet.database import ConsoleDatabase, publish, withdraw
from nacre.fleet.reach import ConsoleOptions
from nacre.fleet.standing import ConsoleLocks
from nacre.fleet.users import HeritrixKeyBook, UserBook
from nacre.web.connections import BoundedConnection
from nacre.web.live.hub import ViewerHub
from nacre.web.middleware import PeerGuard
from nacre.web.port import PortConsole, PortMaker, load_port_maker
from nacre.web.workers.pool import ReaderPool

GRACE: Final = 2
"""Seconds that requests in process have at the end."""


class OpenedConsole(NamedTuple):
    """A console that answers.

    Attributes:
        url: Its URL, such as `http://localhost:8410/`.
        parts: Its parts.
        port: The port on which it listens.
        heritrix: URL of Heritrix's interface; "" for none.
    """

    url: str
    parts: ConsoleParts
    port: int
    heritrix: str = ""


class _Server(uvicorn.Server):
    """A server that ends by a signal and does not raise it again."""

    def __init__(self, config: uvicorn.Config, hub: ViewerHub) -> None:
        super().__init__(config)
        self._hub = hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See its base; Ctrl-C and SIGTERM come here."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See its base; streams would never end by themselves."""
        self._hub.close()
        await super().shutdown(sockets)


class _PortServer(_Server):
    """A second server, which the console stops: only the console handles Ctrl-C."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See its base; two servers that take a signal hide it from each other."""
        yield


def loopback_sockets(port: int, option: str = "--port") -> list[socket.socket]:
    """Open sockets of a port on 127.0.0.1 and, if IPv6 is available, on ::1.

    Args:
        port: The port; 0 for any free port.
        option: The command-line option that sets the port, for messages.

    Raises:
        JobError: The port is in use; the message contains the program that uses it, if known.
    """
    try:
        first = _bound(socket.AF_INET, "127.0.0.1", port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise JobError(f"port {port} cannot be used: {error.strerror}") from None
        raise JobError(
            f"port {port} is taken{owner_of(port)}; "
            f"`nacre console {option} {port + 10}` takes another"
        ) from None
    sockets = [first]
    # `localhost` may be ::1. Where another program has that port, 127.0.0.1 remains.
    with suppress(OSError):
        sockets.append(_bound(socket.AF_INET6, "::1", first.getsockname()[1]))
    return sockets


def listening_sockets(bind: str, port: int) -> list[socket.socket]:
    """Sockets of a port on an address, or on the loopback.

    Args:
        bind: The address; "" or `localhost` for the loopback.
        port: The port; 0 for a free one.

    Raises:
        JobError: The port is taken, or the address is none of this machine.
    """
    if bind in {"", "localhost"}:
        return loopback_sockets(port)
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    try:
        return [_bound(family, bind, port)]
    except OSError as error:
        by = owner_of(port) if error.errno == errno.EADDRINUSE else ""
        raise JobError(
            f"port {port} of {bind} cannot be used: {error.strerror}{by}; --bind takes an address "
            "of this machine, --port another port"
        ) from None


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind((address, port))
        bound.listen(128)
    except OSError:
        bound.close()
        raise
    bound.settimeout(0.0)
    return bound


def owner_of(port: int) -> str:
    """Describe the process of this user that listens on a port; "" if none is found."""
    inodes = _listening(port)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for handle in (process / "fd").iterdir():
                if os.readlink(handle) in inodes:  # noqa: PTH115 - it names no file
                    name = (process / "comm").read_text().strip()
                    return f" by process {process.name} ({name})"
    return ""


def _listening(port: int) -> frozenset[str]:
    """Sockets that listen on a port, as `/proc/PID/fd` names them."""
    listening = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text("ascii").splitlines()[1:]:
                fields = re.split(r"\s+", line.strip())
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    listening.add(f"socket:[{fields[9]}]")
    return frozenset(listening)


def _pages_server(parts: ConsoleParts) -> _Server:
    """The server of pages and the interface for programs."""
    app: ASGIApp = ConsoleApp(parts).asgi()
    if parts.common.reach.proxy:
        app = PeerGuard(app, parts.common.reach.proxy)
    certificate, key = parts.common.reach.tls or (None, None)
    config = uvicorn.Config(
        app, http=BoundedConnection, ws="none", lifespan="off",
        log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=GRACE, ssl_certfile=certificate, ssl_keyfile=key,
    )  # fmt: skip
    return _Server(config, parts.common.hub)


async def serve(
    options: ConsoleOptions, clock: Clock, on_open: Callable[[OpenedConsole], None]
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        options: The options.
        clock: The time.
        on_open: Called once, when it answers.

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
    try:
        require_reach(reach, users, clock.now())
        pages = listening_sockets(reach.bind, options.port)
    except NacreError:
        database.close()
        raise
    sockets = list(pages)
    number: int = pages[0].getsockname()[1]
    url = own_url(reach, number)
    parts = console_parts(options, database, users, clock, ReaderPool(READER_TASKS))
    server = _pages_server(parts)
    locks = ConsoleLocks(
        parts.standing, options.folder, lambda: parts.common.fleet.places, url, clock
    )
    try:
        await parts.common.fleet.scan()
        tell = await _take_place(options, parts, locks, url)
        port = _heritrix(make_port, options, parts, database, url, server)
        async with asyncio.TaskGroup() as group:
            work: Runners = (
                *readers_of(parts, database),
                ("standing", partial(keep_standing, parts, locks, tell)),
            )
            working = begin_all(group, parts, work)
            serving = None
            if port is not None:
                sockets += port.sockets
                serving = group.create_task(port.server.serve(port.sockets), name="heritrix")
            on_open(OpenedConsole(url, parts, number, port.url if port is not None else ""))
            await server.serve(pages)
            if port is not None and serving is not None:
                port.server.should_exit = True
                await serving
            for task in working:
                task.cancel()
    finally:
        withdraw(options.folder)
        await _close(parts, sockets)
        database.close()
        locks.free()


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

    server: _Server
    sockets: list[socket.socket]
    url: str


def _heritrix(
    make_port: PortMaker | None, options: ConsoleOptions, parts: ConsoleParts,
    database: ConsoleDatabase, pages: str, console: _Server,
) -> _HeritrixPort | None:  # fmt: skip
    """Open the port with Heritrix's interface; None if no port is wanted."""
    if options.heritrix is None or make_port is None:
        return None

    def end() -> None:
        console.should_exit = True

    theirs = parts.port(HeritrixKeyBook(database))
    made = make_port(theirs, options.heritrix, PortConsole(options.folder, pages, end))
    config = uvicorn.Config(
        made.app, http=BoundedConnection, ws="none", lifespan="off",
        log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=GRACE, ssl_certfile=made.certificate, ssl_keyfile=made.key,
    )  # fmt: skip
    sockets = loopback_sockets(options.heritrix.port, "--heritrix")
    url = f"https://localhost:{sockets[0].getsockname()[1]}/engine"
    return _HeritrixPort(_PortServer(config, parts.common.hub), sockets, url)
