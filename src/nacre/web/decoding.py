"""Paths, queries and bodies of requests become values; what does not fit is refused."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import LARGEST, PathPart, Secret, ShortText, misfit_of
from nacre.ops.frontier import FRONTIER

JSON_TYPE: Final = "application/json"
_VISIBLE: Final = r"^[\x21-\x7e][\x20-\x7e]*$"
PATH_VALUES: Final[Mapping[str, Any]] = {
    "action": Literal[tuple(FRONTIER)],
    "capture": PathPart,
    "clip": ShortText,
    "job": ShortText,
    "key": ShortText,
    "log": ShortText,
    "number": Annotated[int, Meta(ge=1, le=999_999_999)],
    "operation": ShortText,
    "path": PathPart,
    "place": ShortText,
    "profile": ShortText,
    "queue": PathPart,
    "report": ShortText,
    "schedule": Annotated[int, Meta(ge=1, le=LARGEST)],
    "session": ShortText,
    "sheet": ShortText,
    "task": ShortText,
    "user": ShortText,
    "webhook": Annotated[int, Meta(ge=1, le=LARGEST)],
}
"""The types of path parameters."""
FIELD_VALUES: Final[Mapping[str, tuple[str, Any]]] = {
    "idempotency-key": (
        "A name of this request: one that comes again with it gets the same answer, for a day.",
        Annotated[str, Meta(min_length=1, max_length=200, pattern=_VISIBLE)],
    ),
    "if-match": (
        "The ETag that a change is based on; refused (412) where there is another version now.",
        Annotated[str, Meta(max_length=200, pattern=_VISIBLE)],
    ),
    "if-modified-since": (
        "A time: 304 if nothing changed after it.",
        Annotated[str, Meta(max_length=200, pattern=_VISIBLE)],
    ),
    "if-none-match": (
        "An ETag that is known: 304 where it still holds.",
        Annotated[str, Meta(max_length=200, pattern=_VISIBLE)],
    ),
    "last-event-id": (
        "The `id` of the last event: logs go on there.",
        Annotated[str, Meta(max_length=4000, pattern=_VISIBLE)],
    ),
    "range": ("The bytes that are wanted.", Annotated[str, Meta(max_length=200, pattern=_VISIBLE)]),
}
"""Descriptions and types of the header fields of rows."""
_HALVES: Final = re.compile("[\ud800-\udfff]")
DEEPEST: Final = 64
"""Values within values in a body."""
S = TypeVar("S", bound=msgspec.Struct)


def path_of(request: Request) -> dict[str, object]:
    """The values that the path of a request names.

    Raises:
        RefusedRequestError: One does not fit, so that there is no such thing (404).
    """
    values = {}
    for name, text in request.path_params.items():
        try:
            values[name] = msgspec.convert(text, PATH_VALUES[name], strict=False)
        except msgspec.ValidationError:
            raise not_found(name, repr(str(text)[:100])) from None
    return values


async def sent_form(request: Request) -> FormData:
    """The form that a request sends. It is kept: the next call gives the same.

    Raises:
        RefusedRequestError: It cannot be read (400).
    """
    try:
        await request.body()
        form = await request.form()
    except (HTTPException, MultiPartException, ClientDisconnect) as error:
        text = (
            getattr(error, "detail", "")
            or getattr(error, "message", "")
            or message("console.cut-off", "it was cut off")
        )
        raise RefusedRequestError(
            400,
            "bad-form",
            message("console.form-unreadable", "the form cannot be read: {text}", text=text),
        ) from None
    for name, value in form.multi_items():
        # A form may say that it is in a codec which makes halves of characters.
        if _HALVES.search(name) or _HALVES.search(value if isinstance(value, str) else ""):
            raise RefusedRequestError(
                400,
                "bad-form",
                message("console.form-characters", "the form has characters that are none"),
            )
    return form


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text that have something (pure); browsers end them with CR and LF.

    Args:
        text: It, as it was typed.
    """
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def text_of(form: FormData, name: str) -> str:
    """A field of a form as a text; "" where it is missing or a file."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


_CHOSEN: Final = {"yes": "true", "no": "false"}
"""Values of fields that are a choice, and may also be left open."""


async def form_of(kind: type[S], request: Request) -> S:
    """Decode the form of a request.

    Raises:
        RefusedRequestError: It cannot be read (400), or a field does not fit (422).
    """
    return form_request(await sent_form(request), kind)


def form_request(form: FormData, kind: type[S]) -> S:
    """Decode the fields of a form as a request; empty fields have their defaults.

    Args:
        form: The form.
        kind: Struct of the request.

    Raises:
        RefusedRequestError: A field does not fit (422).
    """
    values: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        name, kinds = field.encode_name, _kinds_of(field.type)
        text = text_of(form, name)
        if Secret in kinds:  # as it was typed
            text = str(form.get(name, ""))
        if tuple in kinds and name in form:
            texts = [value for value in form.getlist(name) if isinstance(value, str)]
            values[name] = tuple(line for value in texts for line in lines_of(value))
        elif text:
            values[name] = _CHOSEN.get(text, text) if bool in kinds else text
    return converted(values, kind, "form")


def _kinds_of(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type
    """Return a type, the types of a union, and those that annotations and lists are made of."""
    kinds = (kind, *(part_kind for part in get_args(kind) for part_kind in _kinds_of(part)))
    return (*kinds, *filter(None, map(get_origin, kinds)))


def query_of(kind: type[S] | None, request: Request) -> S | None:
    """The query of a request.

    Args:
        kind: Its struct; None: there is none.
        request: The request. A list takes each value of its field; of another field that comes
            twice, the last one counts; unknown ones do not.

    Raises:
        RefusedRequestError: It does not fit (422).
    """
    if kind is None:
        return None
    sent = request.query_params
    values: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        if name in sent:
            values[name] = sent.getlist(name) if tuple in _kinds_of(field.type) else sent[name]
    return converted(values, kind, "query")


def converted(values: Mapping[str, Any], kind: type[S], subject: str) -> S:
    """Texts of a query or a form as a struct (pure).

    Args:
        values: The texts by the names of its fields.
        kind: The struct.
        subject: `query` or `form`.

    Raises:
        RefusedRequestError: They do not fit (422).
    """
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        text = message(
            "console.content-mismatch",
            "the {what} does not fit: {misfit_of}",
            what=subject,
            misfit_of=misfit_of(error, kind),
        )
        raise RefusedRequestError(422, f"bad-{subject}", text) from None


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
        raise RefusedRequestError(
            400, "cut-off", message("console.body-truncated", "the body was cut off")
        ) from None
    if not data and media in {"", JSON_TYPE}:  # what has defaults only need not be sent
        data, media = b"{}", JSON_TYPE
    if media != JSON_TYPE:
        raise RefusedRequestError(
            415,
            "not-json",
            message(
                "console.content-type-json",
                "send JSON, with `Content-Type: {json_type}`",
                json_type=JSON_TYPE,
            ),
        )
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
        value = msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        text = message(
            "console.body-mismatch",
            "the body does not fit: {misfit_of}",
            misfit_of=misfit_of(error, kind),
        )
        raise RefusedRequestError(422, "bad-body", text) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RefusedRequestError(
            400,
            "bad-body",
            message("console.body-not-json", "the body is no JSON: {error}", error=error),
        ) from None
    except RecursionError:
        raise _too_deep() from None
    if is_deeper(value):
        raise _too_deep()
    return value


def _too_deep() -> RefusedRequestError:
    text = message(
        "console.body-too-deep",
        "the body has more than {deepest} values within values",
        deepest=DEEPEST,
    )
    return RefusedRequestError(422, "bad-body", text)


def is_deeper(value: object, most: int = DEEPEST) -> bool:
    """Whether a decoded value is nested too deeply.

    Args:
        value: The value, with dictionaries, lists and structs.
        most: Allowed depth.
    """
    level: list[object] = [value]
    for _ in range(most + 1):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return False
    return True


def _within(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, msgspec.Struct):
        return (getattr(value, name) for name in value.__struct_fields__)
    return value if isinstance(value, list | tuple) else ()
