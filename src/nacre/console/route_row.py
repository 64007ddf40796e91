"""A row of the table of routes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from nacre.console.call import Call, PageAnswer
from nacre.ops.roles import Role
from nacre.web.versions import EditedThing
from nacre.web.workers.background import HeldTask

Answer = msgspec.Struct | PageAnswer | HeldTask | Response
RouteHandler = Callable[[Call], Awaitable[Answer | None]]
VersionFinder = Callable[[Call], Awaitable[EditedThing]]
API = "/api/v1"
"""Before the paths of the interface for programs."""


class RouteView(NamedTuple):
    """The view of a page: how it shows the answer of a handler that a REST path has, too.

    Attributes:
        template: Name of the template.
        facts: Returns what the template shows beside the facts of every page, a task that reads
            it, or another page; takes the call and the answer; None: nothing.
        title: Title of the page in its place while the job never ran; "": it is shown then, too.
        tab: Name of the tab of that page.
    """

    template: str
    facts: Callable[[Call, Any], Awaitable[Mapping[str, Any] | HeldTask | PageAnswer]] | None = None
    title: str = ""
    tab: str = ""


class RouteRow(NamedTuple):
    """A row of the table.

    Attributes:
        verb: `GET`, `POST` and so on.
        path: Path with parameters in braces.
        role: Who may ask; NOBODY: everybody.
        handler: It answers.
        summary: What it does, in a sentence.
        query: Struct of the query; None: it takes none.
        body: Struct of the body, JSON; None: it takes none, or reads it itself.
        form: Struct of the fields of a form; None: it takes none, or reads it itself.
        view: How the page shows the answer; None: the answer is sent as it is.
        answer: Struct of the answer; None for a page, or an answer without a body.
        status: Status code of a good answer.
        changes: It changes something, where its verb says so; False for a question that is too long
            for a URL, which the audit log leaves out unless it is refused.
        media: Media type of an answer that is no JSON; "" for JSON, and for none.
        text: Media type of a body that is a text, which the handler reads; "" for none.
        fields: Header fields that it looks at, of `decoding.FIELD_VALUES`.
        makes: Parameter of other paths that the answer gives, and its name in the answer; ("", "")
            for none.
        version_of: Finds what can be edited there, as it is now: the answer has its ETag, and what
            changes it is refused (412) where `If-Match` names another one; None: nothing can be.
        secret: The answer has a secret: it is not kept to be given again.
    """

    verb: str
    path: str
    role: Role
    handler: RouteHandler
    summary: str
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    answer: type[msgspec.Struct] | None = None
    status: int = 200
    changes: bool = True
    media: str = ""
    text: str = ""
    fields: tuple[str, ...] = ()
    makes: tuple[str, str] = ("", "")
    version_of: VersionFinder | None = None
    secret: bool = False
    form: type[msgspec.Struct] | None = None
    view: RouteView | None = None

    @property
    def is_api(self) -> bool:
        """Whether it is of the interface for programs, whose errors are problem details.

        The page that describes the interface to people is not.
        """
        is_below = self.path.startswith(f"{API}/") and self.path != f"{API}/"
        return is_below or self.path in {"/health", "/metrics"}
