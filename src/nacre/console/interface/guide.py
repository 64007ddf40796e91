"""`/api/v1/`: the interface for programs, for people: its operations, and each of them in full."""

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.call import Call, PageAnswer
from nacre.console.interface.operations import ApiOperation, asked_url, curl_line
from nacre.fleet.checks import own_url
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.ops.operation import role_named


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
        operation = operation_of(call, query.operation)
        return PageAnswer("api_operation.html", _operation_facts(call, operation))
    operations: dict[str, ApiOperation] = call.request.app.state.operations()
    text = query.find.strip().lower()
    translate = call.language.text
    matches = [
        operation
        for operation in operations.values()
        if text in _searched_text(operation, translate(operation.summary))
    ]
    return PageAnswer(
        "api_guide.html", {"query": query, "found": matches, "total": len(operations)}
    )


def _searched_text(operation: ApiOperation, summary: str) -> str:
    return f"{operation.verb} {operation.path} {operation.summary} {summary}".lower()


def _operation_facts(call: Call, operation: ApiOperation) -> dict[str, object]:
    url = call.request.url
    # A proxy speaks HTTPS to others, and plain HTTP to the console.
    origin = own_url(call.reach, url.port or 80)
    if not call.reach.proxy:
        origin = f"{url.scheme}://{url.netloc}"
    jobs = call.snapshots()
    values = {"job": jobs[0][0].id} if jobs else {}
    needed = role_named(operation.role)
    return {
        "one": operation, "curl": curl_line(operation, origin, values), "values": values,
        "place": PLACE,
        "known": {kind.name for kind in operation.types},
        "may": needed is None or call.identity.role >= needed,
    }  # fmt: skip


PLACE = "in-path-"
"""Before the names of fields of a form that belong into the path."""


def operation_of(call: Call, name: str) -> ApiOperation:
    """The operation of a name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    operations: dict[str, ApiOperation] = call.request.app.state.operations()
    if name not in operations:
        raise not_found(
            message(
                "console.api-operation",
                "operation {name!r} of the interface for programs",
                name=name[:100],
            )
        )
    return operations[name]


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
    query = call.request.query_params
    places = {field.name: query.get(f"{PLACE}{field.name}", "") for field in operation.places}
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
    return RedirectResponse(asked_url(operation, places, query), 303)
