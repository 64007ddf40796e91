"""Replay beside a console: its users, keys and jobs, on a separate port."""

import socket

from nacre.errors import JobError
from nacre.fleet.places import FoundJob
from nacre.fleet.requester import NOBODY, Requester
from nacre.replay_server.access import ReplayAccess, ReplayAudience
from nacre.replay_server.app import ReplayApp
from nacre.replay_server.parts import ReplayParts
from nacre.replay_server.server import ReplayOptions
from nacre.replay_server.shelf import FleetShelf, job_label
from nacre.replay_server.sites import viewer_path
from nacre.web.port import ReplayPort, ReplayPortMaker, ReplayPortParts
from nacre.web.serving import SecondServer, loopback_sockets, server_config

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
        app = ReplayApp(ReplayParts(site, access, shelf, parts.pages))

        def link(identity: Requester, job: FoundJob, url: str, timestamp: str) -> str:
            label = job_label(job)
            path = viewer_path(label, timestamp or "9", url) if url else f"/view/{label}/"
            return f"{site.viewer}{path}#t={access.ticket(subject_of(identity), label)}"

        async def work() -> None:
            listeners = [listener for listener in sockets if listener.fileno() >= 0]
            listeners = listeners or _console_sockets(port, is_fixed=True)
            server = SecondServer(server_config(app), lambda: None)
            try:
                await server.serve(listeners)
            finally:
                for opened in getattr(server, "servers", ()):  # none before its start
                    opened.close()
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
