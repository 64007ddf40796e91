"""A call: one request on its way to its handler, and the answers that a handler can give."""

from typing import Any, NamedTuple

from starlette.requests import Request

from nacre.console.access.audit import AuditNote
from nacre.console.access.roles import Requester
from nacre.console.access.sessions import BrowserSession
from nacre.console.catalogue import Language
from nacre.console.fleet.places import FoundJob
from nacre.console.services import ConsoleServices


class Call(NamedTuple):
    """A request that was checked.

    Attributes:
        services: The parts of the console.
        request: The request itself.
        identity: Who asks.
        session: Their session; None where a key or nobody asks.
        language: The language of the answer.
        note: Additions to the line of the audit log; only for what changes something.
        query: The query, as the struct of its route; None where it has none.
        body: The body, likewise.
    """

    services: ConsoleServices
    request: Request
    identity: Requester
    session: BrowserSession | None
    language: Language
    note: AuditNote
    query: Any = None
    body: Any = None

    def job(self) -> FoundJob:
        """The job that the path names.

        Raises:
            RefusedRequestError: There is none (404).
        """
        return self.services.fleet.job(str(self.request.path_params["job"]))


class PageAnswer(NamedTuple):
    """A page, to be rendered.

    Attributes:
        template: Name of its template.
        facts: What the template shows, by name.
        status: Status code.
    """

    template: str
    facts: dict[str, Any]
    status: int = 200
