"""The description of the interface for programs (OpenAPI 3.1), made from the table of routes."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from inspect import cleandoc
from typing import Any

import msgspec

from nacre import __version__
from nacre.console.access.roles import Role
from nacre.console.problems import PROBLEM_TYPE, ProblemDetails
from nacre.console.routes import RouteRow

_REF = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")


def describe(routes: Sequence[RouteRow]) -> dict[str, Any]:
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
            schema["description"] = cleandoc(schema["description"])
    named = dict(zip(unique, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        path = _PARAMETER.sub(r"{\1}", row.path)
        paths.setdefault(path, {})[row.verb.lower()] = _operation(row, named, schemas)
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


def _operation(
    row: RouteRow, refs: Mapping[type[msgspec.Struct], Any], schemas: Mapping[str, Any]
) -> dict[str, Any]:
    """A row as an operation."""
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(row.path)
    ]
    if row.query is not None:
        fields = schemas[row.query.__name__]["properties"]
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": field}
            for name, field in fields.items()
        ]
    answer: dict[str, Any] = {"description": HTTPStatus(row.status).phrase}
    if row.answer is not None:
        answer["content"] = {"application/json": {"schema": refs[row.answer]}}
    elif row.media:
        answer["content"] = {row.media: {"schema": {"type": "string"}}}
    problem = {
        "description": "Refused; `code` and `detail` say why.",
        "content": {PROBLEM_TYPE: {"schema": refs[ProblemDetails]}},
    }
    operation: dict[str, Any] = {
        "operationId": _operation_id(row),
        "summary": row.summary,
        "description": f"Role: {row.role.title}.",
        "parameters": parameters,
        "responses": {str(row.status): answer, "default": problem},
    }
    if row.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": refs[row.body]}},
        }
    if row.role is Role.NOBODY:
        operation["security"] = []
    return operation


def _operation_id(row: RouteRow) -> str:
    words = [row.verb.lower(), *re.findall(r"\w+", row.path.removeprefix("/api/v1"))]
    return "_".join(words)
