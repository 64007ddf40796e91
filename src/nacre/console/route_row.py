"""A row of the table of routes."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
from starlette.responses import Response

from nacre.console.access.roles import Role
from nacre.console.call import Call, PageAnswer

Answer = msgspec.Struct | PageAnswer | Response
RouteHandler = Callable[[Call], Awaitable[Answer]]
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

    @property
    def is_api(self) -> bool:
        """Whether it is of the interface for programs, whose errors are problem details."""
        return self.path.startswith(f"{API}/") or self.path in {"/health", "/metrics"}
