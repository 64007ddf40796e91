"""A row of the table of routes."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from starlette.responses import Response

from nacre.console.call import NounCall, P, PageAnswer
from nacre.console.parts import ConsoleParts
from nacre.ops.operation import Role
from nacre.web.versions import EditedThing
from nacre.web.workers.background import HeldTask

Answer = msgspec.Struct | PageAnswer | HeldTask | Response
P_contra = TypeVar("P_contra", contravariant=True)
RouteHandler = Callable[[NounCall[P]], Awaitable[Answer | None]]
VersionFinder = Callable[[NounCall[P]], Awaitable[EditedThing]]
ViewFacts = Callable[[NounCall[P], Any], Awaitable[Mapping[str, Any] | HeldTask | PageAnswer]]
API = "/api/v1"
"""Before the paths of the interface for programs."""


def no_parts(_: ConsoleParts) -> None:
    """Return the parts of a handler that needs only the common ones."""


class RouteView(NamedTuple, Generic[P_contra]):
    """The view of a page: how it shows the answer of a handler that a REST path has, too.

    Attributes:
        template: Name of the template.
        facts: Returns the facts of the template in addition to those of every page, a task that
            reads them, or another page. Receives the call and the answer. None: no more facts.
        title: Title of the page in its place while the job never ran; "": it is shown then, too.
        tab: Name of the tab of that page.
    """

    template: str
    facts: ViewFacts[P_contra] | None = None
    title: str = ""
    tab: str = ""


class RouteRow(NamedTuple, Generic[P_contra]):
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
        media: Media types of an answer that is no JSON, or not only, separated by ", "; "" for
            JSON, and for none.
        text: Media type of a body that is a text, which the handler reads; "" for none.
        fields: Header fields that it looks at, of `decoding.FIELD_VALUES`.
        makes: Parameter of other paths that the answer gives, and its name in the answer; ("", "")
            for none.
        version_of: Returns the present version of the editable resource. The answer has its ETag,
            and a change is refused (412) if `If-Match` has a different one. None: not editable.
        secret: The answer has a secret, so it is not stored for repeated requests.
        parts: Returns the parts of the noun, of all parts of the console; `of_noun` sets it.
    """

    verb: str
    path: str
    role: Role
    handler: RouteHandler[P_contra]
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
    version_of: VersionFinder[P_contra] | None = None
    secret: bool = False
    form: type[msgspec.Struct] | None = None
    view: RouteView[P_contra] | None = None
    parts: Callable[[ConsoleParts], object] = no_parts

    @property
    def is_api(self) -> bool:
        """Whether it is of the interface for programs, whose errors are problem details.

        The page that describes the interface to people is not.
        """
        is_below = self.path.startswith(f"{API}/") and self.path != f"{API}/"
        return is_below or self.path in {"/health", "/metrics"}


def of_noun(
    rows: Iterable[RouteRow[P]], parts: Callable[[ConsoleParts], P]
) -> tuple["AnyRow", ...]:
    """Return the rows of a noun with the parts that its handlers receive.

    Args:
        rows: The rows.
        parts: Returns the parts, of all parts of the console.
    """
    return tuple(row._replace(parts=parts) for row in rows)


AnyRow = RouteRow[Any]
"""A row of the whole table: `of_noun` has checked that its parts are those of its handler."""
