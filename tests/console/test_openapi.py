import json
from typing import Any

import msgspec
from openapi_spec_validator import OpenAPIV31SpecValidator

from nacre.console.openapi import describe
from nacre.console.routes import API, ROUTES


def test_asvs_4_1_the_description_is_valid_openapi():
    document = json.loads(msgspec.json.encode(describe(ROUTES)))
    found = [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert not found


def test_each_row_for_programs_is_described_once():
    document = describe(ROUTES)
    rows = [row for row in ROUTES if row.is_api]
    described = [(path, verb) for path, verbs in document["paths"].items() for verb in verbs]
    assert len(described) == len(rows)
    operations = [one for verbs in document["paths"].values() for one in verbs.values()]
    assert len({one["operationId"] for one in operations}) == len(operations)
    other = {"/health", "/metrics"}
    assert all(path.startswith(f"{API}/") or path in other for path, _ in described)


def carried() -> list[tuple[str, dict[str, Any]]]:
    """All that requests carry: name and schema of each value of a query, a path or a body."""
    document = describe(ROUTES)
    schemas = document["components"]["schemas"]
    found, seen = list[tuple[str, dict[str, Any]]](), set[str]()
    left = [
        (f"{operation['operationId']} {place}", schema)
        for verbs in document["paths"].values()
        for operation in verbs.values()
        for bodies in [operation.get("requestBody", {}).get("content", {})]
        for place, schema in (
            *((one["name"], one["schema"]) for one in operation["parameters"]),
            *((kind, one["schema"]) for kind, one in bodies.items()),
        )
    ]
    while left:
        name, schema = left.pop()
        ref = schema.get("$ref", "").rpartition("/")[2]
        if not ref:
            found.append((name, schema))
            left += within(name, schema)
        elif ref not in seen:
            seen.add(ref)
            left.append((ref, schemas[ref]))
    return found


def within(name: str, schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The schemas directly within a schema."""
    found = [(f"{name}.{key}", inner) for key, inner in schema.get("properties", {}).items()]
    found += [(name, inner) for inner in schema.get("anyOf", ())]
    rest = [schema.get(key) for key in ("items", "additionalProperties")]
    return found + [(f"{name}[]", inner) for inner in rest if isinstance(inner, dict)]


def test_asvs_2_2_1_each_number_that_a_request_carries_has_bounds():
    numbers = [one for one in carried() if one[1].get("type") in {"integer", "number"}]
    assert len(numbers) > 20
    assert not [name for name, one in numbers if not {"minimum", "maximum"} <= one.keys()]


def test_each_text_that_a_request_carries_has_a_longest_length():
    texts = [one for one in carried() if one[1].get("type") == "string" and "enum" not in one[1]]
    assert len(texts) > 100
    assert not [name for name, one in texts if not {"maxLength", "pattern"} & one.keys()]


def test_links_lead_to_what_was_made():
    paths = describe(ROUTES)["paths"]
    links = paths[f"{API}/schedules"]["post"]["responses"]["201"]["links"]
    one = links["delete_schedules_schedule"]
    assert one["parameters"] == {"schedule": "$response.body#/id"}
    known = {one["operationId"] for verbs in paths.values() for one in verbs.values()}
    assert links.keys() <= known
