"""Requests to Heritrix's port as they are read, and the forms of its answers.

A document is a tree of mappings, lists and plain values, in XML or JSON. XML is only written, never
read. Source: Heritrix 3, `XmlMarshaller` and `JsonMarshaller`.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, quote
from xml.sax.saxutils import escape

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from nacre.errors import NacreError
from nacre.fleet.refusals import RefusedRequestError
from nacre.web.problems import problem_of

MESSAGE: Final = "nacre-message"
"""Field of an answer with what Heritrix's pages flash."""
_PAGE: Final = "<h1>Page not found</h1>\nThe page you are looking for does not exist.\n"


def refused(request: Request, error: NacreError) -> str:
    """The words of a refusal; the audit log has its code."""
    request.state.outcome = problem_of(error).code
    return str(error)


async def drained(request: Request) -> None:
    """Read the rest of a body, so that the client gets its answer."""
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
        parsed = parse_qs(body, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise RefusedRequestError(400, "bad-form", "the form has over 1,000 fields") from None
    fields = {name: values[0] for name, values in parsed.items()}
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


def see_other(place: str, text: str) -> Response:
    """The redirect after a POST.

    Args:
        place: URL that it leads to.
        text: What Heritrix's pages would flash; "" for nothing.
    """
    fields = {"location": place}
    if text:
        line = " ".join(text.split())[:500]
        fields[MESSAGE] = quote(line, safe=" !\"#$&'(+*),-./:;<=>?@[]^_`{|}~")
    return Response(status_code=303, headers=fields)


def problem(error: NacreError) -> Response:
    """The answer that an error becomes."""
    details = problem_of(error)
    if details.status == HTTPStatus.NOT_FOUND:
        return Response(_PAGE, 404, media_type="text/html")
    return PlainTextResponse(f"{details.detail}\n", details.status)


# ---- documents

Tree = Mapping[str, Any]
"""Values by name: None, bool, int, float, str, lists and trees."""

DECLARATION: Final = "<?xml version=\"1.0\" standalone='yes'?>\n"
_STEP: Final = "  "
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_document(root: str, tree: Tree) -> str:
    """A document of XML.

    Args:
        root: Name of the root element.
        tree: What is in it: an item of a list is an element `value`; None an empty element.
    """
    return f"{DECLARATION}{''.join(_element(root, tree, ''))}\n\n"


def _element(name: str, value: object, indent: str) -> Iterator[str]:
    if value is None:
        yield f"{indent}<{name}/>"
    elif isinstance(value, Mapping):
        yield from _parent(name, list(value.items()), indent)
    elif isinstance(value, list | tuple):
        yield from _parent(name, [("value", item) for item in value], indent)
    else:
        yield f"{indent}<{name}>{escape(_FORBIDDEN.sub('', _text(value)))}</{name}>"


def _parent(name: str, children: list[tuple[str, object]], indent: str) -> Iterator[str]:
    yield f"{indent}<{name}>"
    for child, value in children:
        yield "\n"
        yield from _element(child, value, indent + _STEP)
    yield f"\n{indent}</{name}>" if children else f"</{name}>"


def _text(value: object) -> str:
    """A plain value as Java's `toString` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return str(value)


def json_document(tree: Tree) -> str:
    """A document of JSON; numbers that JSON does not know are null."""
    return json.dumps(_plain(tree), indent=2, ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return _FORBIDDEN.sub("", value) if isinstance(value, str) else value
