"""`/api/try/OPERATION`: the form of a question, sent on to the address that answers it."""

from starlette.responses import RedirectResponse

from nacre.console.call import Call
from nacre.console.operations import ApiOperation, asked_url
from nacre.console.problems import RefusedRequestError, not_found
from nacre.messages import message

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
