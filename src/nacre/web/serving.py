"""Servers of a face: their sockets on the loopback or an address, and their end by a signal."""

import errno
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from nacre.errors import JobError
from nacre.web.connections import BoundedConnection
from nacre.web.middleware import StreamGuard

GRACE: Final = 2
"""Seconds that requests in process have at the end."""


class FaceServer(uvicorn.Server):
    """A server that ends by a signal and does not raise it again.

    Args:
        config: See its base.
        on_end: Called before the wait for the requests in process: streams would never end by
            themselves.
    """

    def __init__(self, config: uvicorn.Config, on_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_end = on_end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See its base; Ctrl-C and SIGTERM come here."""
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See its base."""
        self._on_end()
        await super().shutdown(sockets)


class SecondServer(FaceServer):
    """A second server, which the first server stops: only the first handles Ctrl-C."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """See its base; two servers that take a signal hide it from each other."""
        yield


def loopback_sockets(
    port: int, option: str = "--port", command: str = "nacre console"
) -> list[socket.socket]:
    """Open sockets of a port on 127.0.0.1 and, if IPv6 is available, on ::1.

    Args:
        port: The port; 0 for any free port.
        option: The command-line option that sets the port, for messages.
        command: The command that has this option, for messages.

    Raises:
        JobError: The port is in use; the message contains the program that uses it, if known.
    """
    try:
        first = _bound(socket.AF_INET, "127.0.0.1", port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise JobError(f"port {port} cannot be used: {error.strerror}") from None
        raise JobError(
            f"port {port} is taken{owner_of(port)}; `{command} {option} {port + 10}` takes another"
        ) from None
    sockets = [first]
    # `localhost` may be ::1. Where another program has that port, 127.0.0.1 remains.
    with suppress(OSError):
        sockets.append(_bound(socket.AF_INET6, "::1", first.getsockname()[1]))
    return sockets


def listening_sockets(
    bind: str, port: int, option: str = "--port", command: str = "nacre console"
) -> list[socket.socket]:
    """Sockets of a port on an address, or on the loopback.

    Args:
        bind: The address; "" or `localhost` for the loopback.
        port: The port; 0 for a free one.
        option: The command-line option that sets the port, for messages.
        command: The command that has this option, for messages.

    Raises:
        JobError: The port is taken, or the address is none of this machine.
    """
    if bind in {"", "localhost"}:
        return loopback_sockets(port, option, command)
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    try:
        return [_bound(family, bind, port)]
    except OSError as error:
        by = owner_of(port) if error.errno == errno.EADDRINUSE else ""
        raise JobError(
            f"port {port} of {bind} cannot be used: {error.strerror}{by}; --bind takes an address "
            f"of this machine, {option} another port"
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


def server_config(
    app: ASGIApp, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Config:
    """Return the configuration of a server of a face.

    Args:
        app: The application.
        certificate: File of its TLS certificate, PEM; None for HTTP.
        key: File of the key of the certificate, PEM.
    """
    return uvicorn.Config(
        StreamGuard(app), http=BoundedConnection, ws="none", lifespan="off",
        log_config=None, access_log=False, server_header=False, proxy_headers=False,
        timeout_graceful_shutdown=GRACE, ssl_certfile=certificate, ssl_keyfile=key,
    )  # fmt: skip
