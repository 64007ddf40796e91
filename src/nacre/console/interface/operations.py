"""The operations of the API, as its page shows them (pure).

They come from the OpenAPI description that programs receive, so both are always the same.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode

_KEY: Final = "KEY"
"""The placeholder for the key of a program in a curl command."""
_STREAM: Final = "text/event-stream"
Schemas = Mapping[str, Mapping[str, Any]]


class ApiField(NamedTuple):
    """A field of a path, a query, a header, a body or an answer.

    Attributes:
        name: Its name.
        kind: Its type in a few signs, such as `integer 1…500`.
        means: Its description; "" for none.
        default: The default value, as JSON; "" for none.
        required: It must be present.
        choices: All possible values; () if it has no fixed choices.
        least: The minimum; None if it is not a number or has no minimum.
        most: The maximum; None if it is not a number or has no maximum.
    """

    name: str
    kind: str
    means: str
    default: str
    required: bool
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


class ApiType(NamedTuple):
    """A named type of bodies and answers.

    Attributes:
        name: Its name.
        means: Its description.
        kind: Its type, if it has no fields.
        fields: Its fields.
    """

    name: str
    means: str
    kind: str
    fields: tuple[ApiField, ...]


class ApiOperation(NamedTuple):
    """An operation: a verb on a path.

    Attributes:
        id: Its name, such as `get_jobs_job`.
        verb: In capitals.
        path: With parameters in braces.
        role: The title of the role that it needs; `nobody` for none.
        summary: What it does.
        places: Fields of the path.
        query: Fields of the query.
        headers: Header fields that it looks at.
        body: Type of the body; "" for none.
        body_media: Media type of the body; "" for none.
        status: Status code of a good answer.
        answer: Type of the answer; "" for none.
        answer_media: Media type of the answer; "" for none.
        types: The types that body and answer are made of.
        commands: The commands of Nacre that do the same.
        sample: A body with the required fields, as JSON; "" if there is no body or it is not JSON.
    """

    id: str
    verb: str
    path: str
    role: str
    summary: str
    places: tuple[ApiField, ...]
    query: tuple[ApiField, ...]
    headers: tuple[ApiField, ...]
    body: str
    body_media: str
    status: str
    answer: str
    answer_media: str
    types: tuple[ApiType, ...]
    commands: tuple[str, ...]
    sample: str

    @property
    def can_be_tried(self) -> bool:
        """Whether a form can ask it: it changes nothing, and its answer ends."""
        return self.verb == "GET" and self.answer_media != _STREAM


def operations_of(document: Mapping[str, Any]) -> list[ApiOperation]:
    """All operations of a description, in its order.

    Args:
        document: As `openapi.describe` makes it.
    """
    schemas = document["components"]["schemas"]
    return [
        _operation(verb.upper(), path, operation, schemas)
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    ]


def _operation(
    verb: str, path: str, described: Mapping[str, Any], schemas: Schemas
) -> ApiOperation:
    fields: dict[str, list[ApiField]] = {"path": [], "query": [], "header": []}
    for schema in described["parameters"]:
        means = str(schema.get("description", ""))
        field = _field(schema["name"], schema["schema"], required=schema["required"])
        fields[schema["in"]].append(field._replace(means=means or field.means))
    body_media, body = _content(described.get("requestBody", {}))
    status = next(iter(described["responses"]))
    answer_media, answer = _content(described["responses"][status])
    return ApiOperation(
        id=described["operationId"],
        verb=verb,
        path=path,
        role=described["x-role"],
        summary=described["summary"],
        places=tuple(fields["path"]),
        query=tuple(fields["query"]),
        headers=tuple(fields["header"]),
        body=type_text(body) if body_media else "",
        body_media=body_media,
        status=status,
        answer=type_text(answer) if answer_media else "",
        answer_media=answer_media,
        types=tuple(_types((body, answer), schemas)),
        commands=tuple(described["x-commands"]),
        sample=json.dumps(sample_of(body, schemas)) if body_media == "application/json" else "",
    )


def _content(part: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Media type and schema of a body or an answer; "" and {} for none."""
    for media, schema in part.get("content", {}).items():
        return media, schema["schema"]
    return "", {}


def _field(name: str, schema: Mapping[str, Any], *, required: bool) -> ApiField:
    values = (True, False) if schema.get("type") == "boolean" else schema.get("enum", ())
    return ApiField(
        name=name,
        kind=type_text(schema),
        means=str(schema.get("description", "")),
        default=json.dumps(schema["default"]) if "default" in schema else "",
        required=required,
        choices=tuple(value if isinstance(value, str) else json.dumps(value) for value in values),
        least=schema.get("minimum"),
        most=schema.get("maximum"),
    )


def type_text(schema: Mapping[str, Any]) -> str:
    """The type of a schema in a few signs, which are the same in every language."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(type_text(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(option) for option in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        inner = type_text(schema["items"]) if schema.get("items") else "any"
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"{{string: {type_text(schema['additionalProperties'])}}}"
    return f"{kind}{_bounds(schema)}"


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None or most is not None:
        return f" {'' if least is None else least}…{'' if most is None else most}"
    return f" ≤ {schema['maxLength']}" if "maxLength" in schema else ""


def _refs(schema: object) -> Iterator[str]:
    """The names of the types that a schema names, in order."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].rpartition("/")[2]
        for value in schema.values():
            yield from _refs(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from _refs(value)


def _types(roots: tuple[Mapping[str, Any], ...], schemas: Schemas) -> Iterator[ApiType]:
    """The types that some schemas are made of, the outer ones first."""
    pending = [name for root in roots for name in _refs(root)]
    types = set[str]()
    while pending:
        name = pending.pop(0)
        if name in types:
            continue
        types.add(name)
        schema = schemas[name]
        pending += _refs(schema)
        required = frozenset(schema.get("required", ()))
        fields = tuple(
            _field(field, kind, required=field in required)
            for field, kind in schema.get("properties", {}).items()
        )
        means = str(schema.get("description", ""))
        yield ApiType(name, means, "" if fields else type_text(schema), fields)


def sample_of(schema: Mapping[str, Any], schemas: Schemas) -> Any:  # noqa: ANN401 - JSON
    """A value that has what a schema requires, and little else."""
    if "$ref" in schema:
        return sample_of(schemas[type_text(schema)], schemas)
    if "default" in schema:
        return schema["default"]
    if "anyOf" in schema:
        return sample_of(schema["anyOf"][0], schemas)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        samples = schema.get("properties", {})
        sample_type = schema.get("required") or list(samples)[:1]
        return {name: sample_of(samples[name], schemas) for name in sample_type if name in samples}
    return {
        "array": [], "string": "…", "integer": schema.get("minimum", 0),
        "number": schema.get("minimum", 0), "boolean": True,
    }.get(str(kind))  # fmt: skip


def filled_path(operation: ApiOperation, values: Mapping[str, str]) -> str:
    """Return the path of an operation with its parameters replaced by values.

    Args:
        operation: The operation.
        values: The values; a parameter without a value is replaced by its name in capitals.
    """
    path = operation.path
    for field in operation.places:
        value = values.get(field.name) or field.name.upper()
        # A path of a file keeps its slashes; in all others they are part of a name.
        safe = "/" if field.name == "path" else ""
        path = path.replace(f"{{{field.name}}}", quote(value, safe=safe))
    return path


def asked_url(operation: ApiOperation, values: Mapping[str, str], query: Mapping[str, str]) -> str:
    """Path and query of a question; fields that are empty are left out."""
    names = {field.name for field in operation.query}
    fields = {name: value for name, value in query.items() if name in names and value}
    return filled_path(operation, values) + (f"?{urlencode(fields)}" if fields else "")


def curl_line(operation: ApiOperation, origin: str, values: Mapping[str, str]) -> str:
    """The command that asks it from a shell.

    Args:
        operation: The operation.
        origin: Scheme, host and port of the console.
        values: Values of the parameters of its path.
    """
    words = ["curl"]
    if operation.verb != "GET":
        words += ["-X", operation.verb]
    if operation.role != "nobody":
        words += ["-H", f"Authorization: Bearer {_KEY}"]
    if operation.body_media:
        words += ["-H", f"Content-Type: {operation.body_media}"]
        words += ["-d", operation.sample] if operation.sample else ["--data-binary", "@FILE"]
    if operation.answer_media == _STREAM:
        words.append("-N")
    return shlex.join([*words, origin.rstrip("/") + filled_path(operation, values)])
