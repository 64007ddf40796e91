"""`/api/v1/`: the interface for programs, for people: its operations, and each of them in full."""

from typing import Any

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.call import Call, PageAnswer
from nacre.console.checks import own_url
from nacre.console.interface.operations import ApiOperation, asked_url, curl_line
from nacre.console.problems import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.ops.roles import role_named


class ApiGuideQuery(msgspec.Struct, frozen=True):
    """The query of the page.

    Attributes:
        operation: The operation that is shown in full; "" for the list of all.
        find: Only operations whose path or summary has this text; "" for all.
    """

    operation: ShortText = ""
    find: ShortText = ""


async def show_guide(call: Call) -> PageAnswer:
    """All operations, or one of them in full."""
    query: ApiGuideQuery = call.query
    if query.operation:
        shown = operation_of(call, query.operation)
        return PageAnswer("api_operation.html", _operation_facts(call, shown))
    known: dict[str, ApiOperation] = call.request.app.state.operations()
    wanted = query.find.strip().lower()
    made = call.language.text
    found = [
        one
        for one in known.values()
        if wanted in f"{one.verb} {one.path} {one.summary} {made(one.summary)}".lower()
    ]
    return PageAnswer("api_guide.html", {"query": query, "found": found, "total": len(known)})


def _operation_facts(call: Call, shown: ApiOperation) -> dict[str, Any]:
    url = call.request.url
    # A proxy speaks HTTPS to others, and plain HTTP to the console.
    origin = own_url(call.services.reach, url.port or 80)
    if not call.services.reach.proxy:
        origin = f"{url.scheme}://{url.netloc}"
    jobs = call.snapshots()
    values = {"job": jobs[0][0].id} if jobs else {}
    needed = role_named(shown.role)
    return {
        "one": shown, "curl": curl_line(shown, origin, values), "values": values, "place": PLACE,
        "known": {kind.name for kind in shown.types},
        "may": needed is None or call.identity.role >= needed,
    }  # fmt: skip


PLACE = "in-path-"
"""Before the names of fields of a form that belong into the path."""


def operation_of(call: Call, name: str) -> ApiOperation:
    """The operation of a name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    known: dict[str, ApiOperation] = call.request.app.state.operations()
    if name not in known:
        raise not_found(
            message(
                "console.api-operation",
                "operation {name!r} of the interface for programs",
                name=name[:100],
            )
        )
    return known[name]


async def try_it(call: Call) -> RedirectResponse:
    """Ask an operation that changes nothing; its answer is shown as a program gets it."""
    operation = operation_of(call, call.request.path_params["operation"])
    if not operation.can_be_tried:
        raise RefusedRequestError(
            409,
            "not-tried",
            message(
                "console.no-form",
                "{id} is not asked by a form; its page has a line for curl",
                id=operation.id,
            ),
        )
    given = call.request.query_params
    places = {field.name: given.get(f"{PLACE}{field.name}", "") for field in operation.places}
    missing = [name for name, value in places.items() if not value.strip()]
    if missing:
        raise RefusedRequestError(
            422,
            "bad-query",
            message(
                "console.field-missing",
                "{path} needs {names}; fill it in",
                path=operation.path,
                names=", ".join(missing),
            ),
        )
    return RedirectResponse(asked_url(operation, places, given), 303)
