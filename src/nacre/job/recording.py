"""The recorder: a proxy in place of a frontier gives a run its visits."""

import asyncio
import socket
from typing import NamedTuple

from nacre.assembly.browsing import inline_prerequisites
from nacre.browser.authority import CertificateAuthority
from nacre.browser.proxy import RecordingProxy
from nacre.core.processor import Visit
from nacre.core.rendered import RequestHandler
from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.pages.recorded import RecordedRequests, RecorderParts
from nacre.job.session import Session

_PATIENCE = 10.0
"""Seconds for which requests are still answered when the recording ends."""


class RecordingPlan(NamedTuple):
    """The socket, the authority and the key of a recording.

    Attributes:
        sock: The listening socket; each session has a copy.
        authority: Makes the certificates of hosts.
        key: Key that clients have to send; "" for none.
    """

    sock: socket.socket
    authority: CertificateAuthority
    key: str = ""


class Recorder:
    """Records while a session runs; see `job.monitors.BackgroundTask`.

    Args:
        session: The session, open.
        plan: What it needs.
    """

    name = "recorder"

    def __init__(self, session: Session, plan: RecordingPlan) -> None:
        self._session = session
        self._plan = plan
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._has_warned = False

    @property
    def busy(self) -> bool:
        """A recording ends when its operator ends it."""
        return True

    async def run(self) -> None:
        """Serve until cancelled; what browsers wait for is still received and stored.

        Raises:
            StorageError: Something could not be stored: the session must end.
        """
        plan = self._plan
        proxy = RecordingProxy(plan.authority, key=plan.key)
        listener = await proxy.serve(plan.sock.dup(), self._handler())
        try:
            await self._failed
        finally:
            listener.stop_accepting()
            await listener.wait_for_handlers(0.0 if self._session.abandoned else _PATIENCE)
            listener.close()

    async def ending(self, how: ExitStatus) -> None:
        """All is stored: `run` waited for it."""

    def _handler(self) -> RequestHandler:
        session = self._session
        engine = session.engine
        commit = session.storing.commit
        prerequisites = inline_prerequisites(
            session.rules, session.queues, session.clock, lambda: engine
        )
        return RecordedRequests(
            RecorderParts(
                run=prerequisites.run_chain,
                end=self._end,
                identity=session.queues.identity,
                overlay_of=session.rules.sheets.of,
                clock=session.clock,
                is_open=lambda: not session.holds,
                has_room=lambda: not commit.saturated,
                fail=self._fail,
            )
        )

    async def _end(self, visit: Visit) -> None:
        await self._session.engine.visits.end_recorded(visit)
        if visit.status == FetchStatus.UNFETCHABLE and not self._has_warned:
            self._warn(visit.uri.url)

    def _warn(self, url: str) -> None:
        """Warn once that the guard refused an address; the person sees a closed connection."""
        session = self._session
        address = session.queues.hosts.address(url)
        refusal = session.fetching.guard.refusal(address) if address else ""
        if refusal:
            self._has_warned = True
            session.alert(
                f"{refusal}. For all of loopback and the private networks, use --allow-private. "
                "This is said once; crawl.log has every refused request (-7)"
            )

    def _fail(self, error: Exception) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)
