"""The parts of the replay server, and a request to it."""

from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from nacre.replay_server.access import COOKIE, ReplayAccess, ReplayAdmission
from nacre.replay_server.shelf import Shelf
from nacre.replay_server.sites import HostPart, ReplaySite

WORKER_FIELD: Final = "x-nacre-worker"
"""Header of the requests that the worker of archived pages sends: what each is for."""
_NAVIGATIONS: Final = frozenset(("document", "iframe", "frame"))


class ReplayParts(NamedTuple):
    """The parts of a replay server.

    Attributes:
        site: Its names.
        access: Tickets and sessions.
        shelf: What it shows.
        console: Origin of the console; "" for none.
        target: The job as commands take it; "" if there are several, or if it is no job.
        allows_origins: Pages of any origin may read its files with a key (`--cors`).
    """

    site: ReplaySite
    access: ReplayAccess
    shelf: Shelf
    console: str = ""
    target: str = ""
    allows_origins: bool = False


class ReplayCall(NamedTuple):
    """A request whose host was checked.

    Attributes:
        parts: The parts of the server.
        request: The request.
        part: The part of the site that its Host names.
        target: Path and query as sent.
    """

    parts: ReplayParts
    request: Request
    part: HostPart
    target: str

    @property
    def admission(self) -> ReplayAdmission:
        """The caller, by the cookie of this origin or a key."""
        access = self.parts.access
        field = self.request.headers.get("authorization", "")
        if field:
            return access.of_key(field)
        return access.of_cookie(self.request.cookies.get(COOKIE, ""))

    @property
    def path(self) -> str:
        """The path as sent, without the query."""
        return self.target.partition("?")[0]


def destination_of(request: Request) -> str:
    """Return what a request is for, as browsers name it: `document`, `iframe`, `image`.

    The worker of archived pages adds it to the requests that it passes on, which are its own.
    """
    fields = request.headers
    return fields.get(WORKER_FIELD, "") or fields.get("sec-fetch-dest", "")


def is_navigation(call: ReplayCall) -> bool:
    """Whether a request is for a page in a window or a frame."""
    destination = destination_of(call.request)
    if destination:
        return destination in _NAVIGATIONS
    return call.request.method == "GET" and "text/html" in call.request.headers.get("accept", "")


def text_answer(text: str, status: int) -> Response:
    """Return a short answer for programs.

    Args:
        text: What failed, why and what to do; without a line end.
        status: Status code.
    """
    return Response(f"{text}\n", status, media_type="text/plain")
