"""`/api/try/OPERATION`: the form of a question, sent on to the address that answers it."""

from starlette.responses import RedirectResponse

from nacre.console.call import Call
from nacre.console.operations import ApiOperation, asked_url
from nacre.console.problems import RefusedRequestError, not_found

PLACE = "in-path-"
"""Before the names of fields of a form that belong into the path."""


def operation_of(call: Call, name: str) -> ApiOperation:
    """The operation of a name.

    Raises:
        RefusedRequestError: There is none (404).
    """
    known: dict[str, ApiOperation] = call.request.app.state.operations()
    if name not in known:
        raise not_found(f"operation {name[:100]!r} of the interface for programs")
    return known[name]


async def try_it(call: Call) -> RedirectResponse:
    """Ask an operation that changes nothing; its answer is shown as a program gets it."""
    operation = operation_of(call, call.request.path_params["operation"])
    if not operation.can_be_tried:
        raise RefusedRequestError(
            409, "not-tried", f"{operation.id} is not asked by a form; its page has a line for curl"
        )
    given = call.request.query_params
    places = {field.name: given.get(f"{PLACE}{field.name}", "") for field in operation.places}
    missing = [name for name, value in places.items() if not value.strip()]
    if missing:
        raise RefusedRequestError(
            422, "bad-query", f"{operation.path} needs {', '.join(missing)}; fill it in"
        )
    return RedirectResponse(asked_url(operation, places, given), 303)
