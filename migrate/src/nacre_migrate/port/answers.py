"""Requests to Heritrix's port as they are read, and the forms of its answers."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from nacre.console.problems import RefusedRequestError, problem_of
from nacre.errors import NacreError
from nacre_migrate.port.xml import json_document, xml_document

MESSAGE: Final = "nacre-message"
"""Field of an answer with what Heritrix's pages flash."""
_PAGE: Final = "<h1>Page not found</h1>\nThe page you are looking for does not exist.\n"


def refused(request: Request, error: NacreError) -> str:
    """The words of a refusal; the audit log has its code."""
    request.state.outcome = problem_of(error).code
    return str(error)


async def drained(request: Request) -> None:
    """Read what is left of a body, so that the client gets its answer."""
    try:
        async for _ in request.stream():
            pass
    except (ClientDisconnect, RuntimeError):  # gone, or read already
        return


def target(request: Request) -> str:
    """Path and query, as they came."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    path = bytes(raw).decode("latin-1").partition("?")[0]
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def base(request: Request) -> str:
    """URL of the engine, without a slash at its end."""
    return f"{request.url.scheme}://{request.headers['host']}/engine"


def own_url(request: Request) -> str:
    """URL of the request, without its query and a slash at its end."""
    path = target(request).partition("?")[0]
    return f"{request.url.scheme}://{request.headers['host']}{path.rstrip('/')}"


async def form(request: Request) -> dict[str, str]:
    """The first value of each field of a form.

    Raises:
        RefusedRequestError: It is no form (415), or has too many fields (400).
    """
    body = (await request.body()).decode("utf-8", "replace")
    media = request.headers.get("content-type", "")
    if media and not media.startswith("application/x-www-form-urlencoded"):
        raise RefusedRequestError(
            415, "not-a-form", "send a form, application/x-www-form-urlencoded"
        )
    try:
        found = parse_qs(body, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise RefusedRequestError(400, "bad-form", "the form has over 1,000 fields") from None
    fields = {name: values[0] for name, values in found.items()}
    request.state.note.change(None, fields)
    return fields


def kind(request: Request) -> str:
    """The kind of answer that is accepted: `xml`, `json` or `html`."""
    accept = request.headers.get("accept", "")
    if "application/xml" in accept and "text/html" not in accept:
        return "xml"
    if "application/json" in accept:
        return "json"
    return "html" if "text/html" in accept else "xml"


def document(request: Request, root: str, tree: Mapping[str, Any]) -> Response:
    """A tree as XML or JSON, as it is accepted.

    Args:
        request: The request.
        root: Name of the root element.
        tree: The tree.
    """
    if kind(request) == "json":
        return Response(json_document(tree), media_type="application/json")
    return Response(xml_document(root, tree), media_type="application/xml")


def html(text: str) -> Response:
    """A page."""
    return Response(text, media_type="text/html")


def see_other(place: str, said: str) -> Response:
    """The redirect after a POST.

    Args:
        place: URL that it leads to.
        said: What Heritrix's pages would flash; "" for nothing.
    """
    fields = {"location": place}
    if said:
        line = " ".join(said.split())[:500]
        fields[MESSAGE] = quote(line, safe=" !\"#$&'(+*),-./:;<=>?@[]^_`{|}~")
    return Response(status_code=303, headers=fields)


def problem(error: NacreError) -> Response:
    """The answer that an error becomes."""
    found = problem_of(error)
    if found.status == HTTPStatus.NOT_FOUND:
        return Response(_PAGE, 404, media_type="text/html")
    return PlainTextResponse(f"{found.detail}\n", found.status)
