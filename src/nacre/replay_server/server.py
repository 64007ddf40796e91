"""The process of `nacre replay`."""

import shlex
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn

from nacre.catalogue.holdings import JOB, ROUNDS, open_holding
from nacre.core.clock import Clock
from nacre.fleet.keys import new_secret
from nacre.replay_server.access import ReplayAccess
from nacre.replay_server.app import ReplayApp
from nacre.replay_server.parts import ReplayParts
from nacre.replay_server.shelf import LOCAL, LocalShelf, local_audience
from nacre.replay_server.sites import ReplaySite
from nacre.web.serving import FaceServer, loopback_sockets, server_config

PORT: Final = 8411
"""The port of replay."""


class ReplayOptions(NamedTuple):
    """The options of a replay server.

    Attributes:
        port: The port; 0 for a free one.
        host: Host name of the viewer behind a proxy that serves HTTPS; "" for `replay.localhost`.
        is_single: See `ReplaySite`.
        allows_origins: See `ReplayParts`.
    """

    port: int = PORT
    host: str = ""
    is_single: bool = False
    allows_origins: bool = False

    def site(self, port: int) -> ReplaySite:
        """Return the names of the server.

        Args:
            port: The port on which it listens; a proxy has the usual port of HTTPS.
        """
        if self.host:
            return ReplaySite(self.host.lower(), 0, "https", self.is_single)
        return ReplaySite(port=port, is_single=self.is_single)


class OpenedReplay(NamedTuple):
    """A replay server that answers.

    Attributes:
        url: URL of the first page, with a ticket.
        key: The key for programs.
        programs: URL for programs.
    """

    url: str
    key: str
    programs: str


class _ReplayServer(FaceServer):
    """A server that reports when it answers; by then it takes Ctrl-C."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config, lambda: None)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See its base."""
        await super().startup(sockets)
        self._on_start()


async def serve(
    targets: Sequence[str | Path],
    options: ReplayOptions,
    clock: Clock,
    on_open: Callable[[OpenedReplay], None],
) -> None:
    """Serve a holding until Ctrl-C or SIGTERM.

    Args:
        targets: See `open_holding`.
        options: The options.
        clock: The time.
        on_open: Called once, when it answers.

    Raises:
        JobError: There is no such holding, or the port is in use.
    """
    holding = open_holding(targets)
    command = f"nacre replay {shlex.join(map(str, targets))}"
    sockets = loopback_sockets(options.port, command=command)
    try:
        port: int = sockets[0].getsockname()[1]
        key, site = new_secret(), options.site(port)
        access = ReplayAccess(local_audience(key), clock.now)
        shelf = LocalShelf(targets, holding)
        target = shlex.quote(str(targets[0])) if holding.kind in {JOB, ROUNDS} else ""
        origins = options.allows_origins
        parts = ReplayParts(site, access, shelf, target=target, allows_origins=origins)
        ticket = access.ticket(LOCAL, holding.label, is_printed=True)
        url = f"{site.viewer}/view/{holding.label}/#t={ticket}"
        opened = OpenedReplay(url, key, f"http://localhost:{port}/")
        server = _ReplayServer(server_config(ReplayApp(parts)), lambda: on_open(opened))
        await server.serve(sockets)
    finally:
        for listener in sockets:
            listener.close()
