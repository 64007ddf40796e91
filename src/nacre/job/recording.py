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
from nacre.core.status import FetchStatus, cause
from nacre.engine.pages.recorded import RecordedRequests, RecorderParts
from nacre.fetch.dial import is_certificate_refusal
from nacre.job.session import Session
from nacre.uri.parse import origin

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
        self._warned_of: set[int] = set()

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
        if visit.status not in self._warned_of:
            self._warn(visit)

    def _warn(self, visit: Visit) -> None:
        """Warn once of each kind of refusal: the person sees a closed connection, and no reason."""
        if visit.status == FetchStatus.UNFETCHABLE:
            warning = self._address_warning(visit.uri.url)
        elif visit.status == FetchStatus.CONNECT_FAILED:
            warning = _certificate_warning(visit.uri.url, visit.error)
        else:
            return
        if warning:
            self._warned_of.add(visit.status)
            self._session.alert(
                f"{warning}. This is said once; crawl.log has every such request ({visit.status})"
            )

    def _address_warning(self, url: str) -> str:
        """Return that the guard refuses the address of a URL, and the remedy; "" if it does not."""
        session = self._session
        address = session.queues.hosts.address(url)
        refusal = session.fetching.guard.refusal(address) if address else ""
        if not refusal:
            return ""
        return f"{refusal}. For all of loopback and the private networks, use --allow-private"

    def _fail(self, error: Exception) -> None:
        if not self._failed.done():
            self._failed.set_exception(error)


def _certificate_warning(url: str, error: str) -> str:
    """Return that a certificate was refused, why, and the remedy; "" for another failure."""
    if not is_certificate_refusal(error):
        return ""
    reason = cause(FetchStatus.CONNECT_FAILED, error)
    remedy = "To accept all certificates, use --set fetch.tls=record"
    return f"the certificate of {origin(url)} is refused ({reason}). {remedy}"
