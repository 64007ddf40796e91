"""The process of `nacre replay`, and replay beside a console."""

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from nacre.catalogue.holdings import open_holding
from nacre.core.clock import Clock
from nacre.errors import JobError
from nacre.fleet.keys import new_secret
from nacre.fleet.places import FoundJob
from nacre.fleet.requester import NOBODY, Requester
from nacre.replay_server.access import ReplayAccess, ReplayAudience
from nacre.replay_server.app import ReplayApp
from nacre.replay_server.parts import ReplayParts
from nacre.replay_server.shelf import LOCAL, FleetShelf, LocalShelf, job_label, local_audience
from nacre.replay_server.sites import ReplaySite, viewer_path
from nacre.web.port import ReplayPort, ReplayPortMaker, ReplayPortParts
from nacre.web.serving import FaceServer, SecondServer, loopback_sockets, server_config

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
    sockets = loopback_sockets(options.port, command="nacre replay")
    try:
        port: int = sockets[0].getsockname()[1]
        key, site = new_secret(), options.site(port)
        access = ReplayAccess(local_audience(key), clock.now)
        shelf = LocalShelf(targets, holding)
        parts = ReplayParts(site, access, shelf, allows_origins=options.allows_origins)
        ticket = access.ticket(LOCAL, holding.label, is_printed=True)
        url = f"{site.viewer}/view/{holding.label}/#t={ticket}"
        server = FaceServer(server_config(ReplayApp(parts)), lambda: None)
        on_open(OpenedReplay(url, key, f"http://localhost:{port}/"))
        await server.serve(sockets)
    finally:
        for listener in sockets:
            listener.close()


SESSION, KEY = "session:", "key:"
"""Beginnings of the subjects of a console: the hash of a session, or the name of a key."""


def console_audience(parts: ReplayPortParts) -> ReplayAudience:
    """Return the audience of replay beside a console: its users and keys, while they are valid.

    Args:
        parts: The parts of the console.
    """

    def of_subject(subject: str) -> Requester:
        if subject.startswith(SESSION):
            session = parts.sessions.of_hash(subject.removeprefix(SESSION))
            return session.identity if session is not None else NOBODY
        return parts.keys.of_name(subject.removeprefix(KEY)) if subject else NOBODY

    def subject_of_key(secret: str) -> str:
        identity = parts.keys.identify(secret)
        return f"{KEY}{identity.name}" if identity.role else ""

    return ReplayAudience(of_subject, subject_of_key)


def subject_of(identity: Requester) -> str:
    """Return the subject of a caller of the console."""
    return f"{SESSION}{identity.session}" if identity.session else f"{KEY}{identity.name}"


def beside_console(options: ReplayOptions, *, is_fixed: bool) -> ReplayPortMaker:
    """Return the function that opens replay beside a console.

    Args:
        options: The options.
        is_fixed: The operator chose the port: if it is in use, that is an error, and no other port
            is taken.
    """

    def make(parts: ReplayPortParts) -> ReplayPort:
        sockets = _console_sockets(options.port, is_fixed=is_fixed)
        port: int = sockets[0].getsockname()[1]
        site = options.site(port)
        access = ReplayAccess(console_audience(parts), parts.clock.now)
        shelf = FleetShelf(parts.fleet, parts.title_of)
        app = ReplayApp(ReplayParts(site, access, shelf, parts.pages, options.allows_origins))

        def link(identity: Requester, job: FoundJob, url: str, timestamp: str) -> str:
            label = job_label(job)
            path = viewer_path(label, timestamp or "9", url) if url else f"/view/{label}/"
            return f"{site.viewer}{path}#t={access.ticket(subject_of(identity), label)}"

        async def work() -> None:
            listeners = [each for each in sockets if each.fileno() >= 0]
            listeners = listeners or _console_sockets(port, is_fixed=True)
            try:
                await SecondServer(server_config(app), lambda: None).serve(listeners)
            finally:
                for listener in listeners:
                    listener.close()

        return ReplayPort(f"{site.viewer}/", link, work)

    return make


def _console_sockets(port: int, *, is_fixed: bool) -> list[socket.socket]:
    try:
        return loopback_sockets(port, "--replay-port")
    except JobError:
        if is_fixed:
            raise
        return loopback_sockets(0, "--replay-port")
