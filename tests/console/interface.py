"""The interface of the console as lines: its routes, and the fields of all that they carry.

`python -m tests.console.interface` writes the lines to `interface.txt`, which
`test_interface.py` compares: the diff of that file shows what a change does to programs and forms.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from nacre.console.openapi import describe
from nacre.console.routes import ROUTES, AnyRow

PLACE = Path(__file__).with_suffix(".txt")
_TEXTS = ("description", "title")


def interface_lines() -> list[str]:
    """All lines: routes first, then the schemas of the interface for programs."""
    document = json.loads(msgspec.json.encode(describe(ROUTES)))
    schemas = document["components"]["schemas"]
    return [
        *(_route_line(row) for row in sorted(ROUTES, key=lambda row: (row.path, row.verb))),
        *(line for path, verbs in sorted(document["paths"].items())
          for verb, operation in sorted(verbs.items())
          for line in _operation_lines(f"{verb.upper()} {path}", operation)),
        *(line for name, schema in sorted(schemas.items()) for line in _schema_lines(name, schema)),
    ]  # fmt: skip


def _route_line(row: AnyRow) -> str:
    """A row: what decides about a request, and the fields of the query of a page."""
    changes = "" if row.changes else " changes nothing"
    secret = " secret" if row.secret else ""
    versioned = " versioned" if row.version_of else ""
    text = f"route {row.verb} {row.path} {row.role.title} {row.status}{changes}{secret}{versioned}"
    if row.is_api or row.query is None:
        return text
    fields = msgspec.json.schema_components([row.query])[1][row.query.__name__]["properties"]
    return f"{text} query {_plain(fields)}"


def _operation_lines(name: str, operation: Mapping[str, Any]) -> Iterator[str]:
    for one in operation["parameters"]:
        yield f"{name} {one['in']} {one['name']} {_plain(one['schema'])}"
    for media, one in operation.get("requestBody", {}).get("content", {}).items():
        yield f"{name} body {media} {_plain(one['schema'])}"
    for status, one in operation["responses"].items():
        if status == "default":
            continue  # the problem details of all routes
        yield f"{name} {status} {_plain(one.get('content', {}))} {_plain(one.get('links', {}))}"


def _schema_lines(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", ())
    for field, one in schema.get("properties", {}).items():
        yield f"{name}.{field} {_plain(one)}{' required' if field in required else ''}"
    yield f"{name} {_plain({key: v for key, v in schema.items() if key != 'properties'})}"


def _plain(schema: Any) -> str:
    """A schema without its texts, which may change."""
    return json.dumps(_without_texts(schema), sort_keys=True, ensure_ascii=False)


def _without_texts(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _without_texts(one)
            for key, one in value.items()
            if not (key in _TEXTS and isinstance(one, str))
        }
    return [_without_texts(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    PLACE.write_text("\n".join(interface_lines()) + "\n", "utf-8")
