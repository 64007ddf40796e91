"""A row of the table of routes."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
from starlette.responses import Response

from nacre.console.call import Call, PageAnswer
from nacre.console.versions import EditedThing
from nacre.ops.roles import Role

Answer = msgspec.Struct | PageAnswer | Response
RouteHandler = Callable[[Call], Awaitable[Answer]]
VersionFinder = Callable[[Call], Awaitable[EditedThing]]
API = "/api/v1"
"""Before the paths of the interface for programs."""


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

    @property
    def is_api(self) -> bool:
        """Whether it is of the interface for programs, whose errors are problem details.

        The page that describes the interface to people is not.
        """
        is_below = self.path.startswith(f"{API}/") and self.path != f"{API}/"
        return is_below or self.path in {"/health", "/metrics"}
