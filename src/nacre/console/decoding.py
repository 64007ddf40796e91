"""Queries and bodies of requests as the structs of their rows; whatever does not fit is refused."""

from typing import Final, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from nacre.console.bounds import DEEPEST, is_deeper
from nacre.console.problems import RefusedRequestError

JSON_TYPE: Final = "application/json"
S = TypeVar("S", bound=msgspec.Struct)


def query_of(kind: type[S] | None, request: Request) -> S | None:
    """The query of a request.

    Args:
        kind: Its struct; None: there is none.
        request: The request. Of a field that comes twice, the last one counts; unknown ones do not.

    Raises:
        RefusedRequestError: It does not fit (422).
    """
    if kind is None:
        return None
    known = {field.encode_name for field in msgspec.structs.fields(kind)}
    values = {name: v for name, v in request.query_params.items() if name in known}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        said = f"the query does not fit: {error}"
        raise RefusedRequestError(422, "bad-query", said) from None


async def body_of(kind: type[S] | None, request: Request) -> S | None:
    """The body of a request.

    Args:
        kind: Its struct; None: there is none, or the handler reads it.
        request: The request.

    Raises:
        RefusedRequestError: It is not sent as JSON (415), is none (400), or does not fit (422).
    """
    if kind is None:
        return None
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        data = await request.body()
    except ClientDisconnect:
        raise RefusedRequestError(400, "cut-off", "the body was cut off") from None
    if not data and media in {"", JSON_TYPE}:  # what has defaults only need not be sent
        data, media = b"{}", JSON_TYPE
    if media != JSON_TYPE:
        raise RefusedRequestError(415, "not-json", f"send JSON, with `Content-Type: {JSON_TYPE}`")
    return decoded(data, kind)


def decoded(data: bytes, kind: type[S]) -> S:
    """JSON as a struct (pure).

    Args:
        data: It; hostile.
        kind: The struct.

    Raises:
        RefusedRequestError: It is no JSON (400), or does not fit (422).
    """
    try:
        found = msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        said = f"the body does not fit: {error}"
        raise RefusedRequestError(422, "bad-body", said) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RefusedRequestError(400, "bad-body", f"the body is no JSON: {error}") from None
    except RecursionError:
        raise _too_deep() from None
    if is_deeper(found):
        raise _too_deep()
    return found


def _too_deep() -> RefusedRequestError:
    said = f"the body has more than {DEEPEST} values within values"
    return RefusedRequestError(422, "bad-body", said)
