"""A call: one request on its way to its handler, and the answers that a handler can give."""

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from starlette.requests import Request

from nacre.console.parts import (
    ActionParts,
    AdminParts,
    Common,
    JobParts,
    MonitorParts,
    StreamParts,
)
from nacre.core.clock import Clock, iso
from nacre.fleet.audit import AuditNote
from nacre.fleet.places import Fleet, FoundJob
from nacre.fleet.reach import ConsoleReach, may_name_files
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.requester import Requester
from nacre.fleet.schedule_book import ScheduleBook
from nacre.fleet.sessions import BrowserSession
from nacre.fleet.snapshot import JobSnapshot
from nacre.fleet.webhook_book import WebhookBook
from nacre.messages import message
from nacre.ops.operation import Role
from nacre.web.languages import Language
from nacre.web.live.hub import NoticeBoard, ViewerHub
from nacre.web.live.poller import Poller
from nacre.web.workers.background import TaskBook
from nacre.web.workers.pool import ReaderPool

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class NounCall(NamedTuple, Generic[P_co]):
    """A request that was checked.

    Attributes:
        common: The parts of the console that all handlers use.
        parts: Those of the noun.
        request: The request itself.
        identity: The caller.
        session: The caller's session; None for a key and for anonymous callers.
        language: The language of the answer.
        note: Additions to the line of the audit log; only for what changes something.
        query: The query, as the struct of its route; None if the route has no query.
        body: The body, as the struct of its route; None if the route has no body.
        params: The values of the parameters of the path.
    """

    common: Common
    parts: P_co
    request: Request
    identity: Requester
    session: BrowserSession | None
    language: Language
    note: AuditNote
    query: Any = None
    body: Any = None
    params: Mapping[str, Any] = {}

    def with_parts(self, parts: P) -> "NounCall[P]":
        """The same request for a handler of another noun.

        Args:
            parts: The parts of that noun.
        """
        return NounCall(self.common, parts, *self[2:])

    @property
    def fleet(self) -> Fleet:
        """The jobs of this machine."""
        return self.common.fleet

    @property
    def poller(self) -> Poller:
        """The present state of the jobs."""
        return self.common.poller

    @property
    def readers(self) -> ReaderPool:
        """The processes that read the stores of jobs."""
        return self.common.readers

    @property
    def tasks(self) -> TaskBook:
        """The tasks in the background."""
        return self.common.tasks

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.common.clock

    @property
    def hub(self) -> ViewerHub:
        """Notifies viewers of changes."""
        return self.common.hub

    @property
    def notices(self) -> NoticeBoard:
        """Results of forms, for the next page."""
        return self.common.notices

    @property
    def reach(self) -> ConsoleReach:
        """The ways by which the console is reached."""
        return self.common.reach

    @property
    def now(self) -> str:
        """The time of the answer, RFC 3339."""
        return iso(self.clock.now())

    def job(self, name: str | None = None) -> FoundJob:
        """The job of an id.

        Args:
            name: The id; None for the one that the path names.

        Raises:
            RefusedRequestError: There is none (404).
        """
        named = self.fleet.job(self.params["job"] if name is None else name)
        if not self.identity.sees(named.place):
            raise not_found("job", named.id)
        return named

    def sees(self, job: str) -> bool:
        """Whether the caller may see a job, which may no longer exist.

        Args:
            job: Its id.
        """
        return not self.identity.places or any(visible.id == job for visible, _ in self.snapshots())

    def snapshots(self) -> list[tuple[FoundJob, JobSnapshot]]:
        """The jobs that the caller may see, with their last snapshots."""
        all_snapshots = self.poller.snapshots()
        return [(job, snapshot) for job, snapshot in all_snapshots if self.identity.sees(job.place)]

    def require_place(self, label: str) -> None:
        """Refuse a place that the caller does not see.

        Args:
            label: Label of the place.

        Raises:
            RefusedRequestError: They do not see it (403).
        """
        if not self.identity.sees(label):
            labels = ", ".join(self.identity.places)
            raise RefusedRequestError(
                403,
                "place",
                message(
                    "console.places-of-user",
                    "{name} sees only {value}",
                    name=self.identity.name,
                    value=labels,
                ),
            )

    @property
    def may_send_privately(self) -> bool:
        """Whether the caller may have webhooks sent to private networks."""
        return self.identity.role >= Role.ADMIN or not self.reach.is_remote

    @property
    def may_name_files(self) -> bool:
        """Whether the caller may change settings that name files or programs."""
        remote, requester = self.reach.is_remote, self.identity
        return may_name_files(requester.role, is_remote=remote, places=requester.places)

    @property
    def address(self) -> str:
        """The address that the request came from; "" if it is not known."""
        return self.request.client.host if self.request.client else ""


Call = NounCall[object]
"""A request whose handler needs the common parts alone."""
ActionCall = NounCall[ActionParts]
AdminCall = NounCall[AdminParts]
HookCall = NounCall[WebhookBook]
JobCall = NounCall[JobParts]
MonitorCall = NounCall[MonitorParts]
ScheduleCall = NounCall[ScheduleBook]
StreamCall = NounCall[StreamParts]


class PageAnswer(NamedTuple):
    """A page, to be rendered.

    Attributes:
        template: Name of its template.
        facts: What the template shows, by name.
        status: Status code.
        headers: Further fields of the answer.
    """

    template: str
    facts: Mapping[str, object]
    status: int = 200
    headers: Mapping[str, str] = {}
