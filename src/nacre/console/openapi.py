"""The description of the interface for programs (OpenAPI 3.1), made from the table of routes."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from nacre import __version__
from nacre.console.commands import commands_of
from nacre.console.routes import AnyRow
from nacre.ops.fields import Text, field_meanings, split_docstring
from nacre.ops.operation import Role
from nacre.web.decoding import FIELD_VALUES, PATH_VALUES
from nacre.web.gate import SAFE
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails
from nacre.web.repeats import FIELD
from nacre.web.versions import IF_MATCH

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


def describe(routes: Sequence[AnyRow]) -> dict[str, Any]:
    """The document.

    Args:
        routes: The table; rows of pages are left out.
    """
    rows = [row for row in routes if row.is_api]
    structs = [
        struct for row in rows for struct in (row.query, row.body, row.answer) if struct is not None
    ]
    unique: list[type[msgspec.Struct]] = list(dict.fromkeys([*structs, ProblemDetails]))
    refs, schemas = msgspec.json.schema_components(unique, ref_template=_REF)
    for schema in schemas.values():
        if "description" in schema:
            schema["description"], means = split_docstring(schema["description"])
            _describe_fields(schema, means)
    for struct in unique:
        _describe_fields(schemas[struct.__name__], field_meanings(struct))
    named = dict(zip(unique, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        path = _PARAMETER.sub(r"{\1}", row.path)
        paths.setdefault(path, {})[row.verb.lower()] = _operation(
            row, named, schemas, _links(row, rows)
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Nacre console",
            "version": __version__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"key": []}],
    }


def _describe_fields(schema: dict[str, Any], means: Mapping[str, str]) -> None:
    for name, field in schema.get("properties", {}).items():
        if name in means:
            field.setdefault("description", means[name])


def _operation(
    row: AnyRow,
    refs: Mapping[type[msgspec.Struct], Any],
    schemas: Mapping[str, Any],
    links: Mapping[str, Any],
) -> dict[str, Any]:
    """A row as an operation."""
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _schema_of(PATH_VALUES[name])}
        for name in parameters_of(row)
    ]
    if row.query is not None:
        fields = schemas[row.query.__name__]["properties"]
        parameters += [
            {
                "name": name, "in": "query", "required": False, "schema": field,
                "description": field.get("description", ""),
            }
            for name, field in fields.items()
        ]  # fmt: skip
    parameters += [_field(name) for name in fields_of(row)]
    answer: dict[str, Any] = {"description": HTTPStatus(row.status).phrase}
    if row.answer is not None:
        answer["content"] = {"application/json": {"schema": refs[row.answer]}}
    elif row.media:
        # A reader decodes YAML and JSON into values, whose form these types do not say.
        answer["content"] = {
            media: {
                "schema": {} if media in {"text/yaml", "application/json"} else {"type": "string"}
            }
            for media in row.media.split(", ")
        }
    if links:
        answer["links"] = links
    problem = {
        "description": "Refused; `code` and `detail` say why.",
        "content": {PROBLEM_TYPE: {"schema": refs[ProblemDetails]}},
    }
    operation: dict[str, Any] = {
        "operationId": _operation_id(row),
        "summary": row.summary,
        "description": _description(row),
        "x-role": row.role.title,
        "x-commands": list(commands_of(row.verb, row.path)),
        "parameters": parameters,
        "responses": {str(row.status): answer, "default": problem},
    }
    if row.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": refs[row.body]}},
        }
    if row.text:
        operation["requestBody"] = {
            "required": True,
            "content": {row.text: {"schema": _schema_of(Text)}},
        }
    if row.role is Role.NOBODY:
        operation["security"] = []
    return operation


def _description(row: AnyRow) -> str:
    """The role that a row needs, and the commands that do the same."""
    commands = "; ".join(f"`{line}`" for line in commands_of(row.verb, row.path))
    text = f" As command: {commands}." if commands else ""
    return f"Role: {row.role.title}.{text}"


def parameters_of(row: AnyRow) -> list[str]:
    """The names of the parameters of a path."""
    return _PARAMETER.findall(row.path)


def fields_of(row: AnyRow) -> list[str]:
    """The header fields that a row looks at."""
    fields = list(row.fields)
    if row.verb == "POST" and not row.secret:
        fields.append(FIELD)
    if row.version_of is not None and row.verb not in SAFE:
        fields.append(IF_MATCH)
    return fields


def _field(name: str) -> dict[str, Any]:
    means, kind = FIELD_VALUES[name]
    title = "-".join(word.capitalize() for word in name.split("-"))
    return {
        "name": title, "in": "header", "required": False, "description": means,
        "schema": _schema_of(kind),
    }  # fmt: skip


def _schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    return msgspec.json.schema(kind)


def _links(row: AnyRow, rows: Sequence[AnyRow]) -> dict[str, Any]:
    """Return the OpenAPI links from a row that makes a resource to the rows of that resource."""
    parameter, name = row.makes
    about = [source for source in rows if parameters_of(source) == [parameter]]
    return {
        _operation_id(source): {
            "operationId": _operation_id(source),
            "parameters": {parameter: f"$response.body#/{name}"},
        }
        for source in about
    }


def _operation_id(row: AnyRow) -> str:
    words = [row.verb.lower(), *re.findall(r"\w+", row.path.removeprefix("/api/v1"))]
    return "_".join(words)
