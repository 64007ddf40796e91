import json
import re
import typing
from pathlib import Path
from typing import Any

import msgspec
from openapi_spec_validator import OpenAPIV31SpecValidator

from nacre.console.openapi import describe
from nacre.console.routes import API, ROUTES, AnyRow
from nacre.ops.operation import Role
from tests.console.given import GivenConsole, play
from tests.console.waiting import add_waiting_job


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


LIST_FIELDS = {"items", "next", "as_of"}
NO_LISTS = {
    "/jobs/{job}/captures/{capture}/headers": "the head of a capture is whole",
    "/jobs/{job}": "one job, with its parts",
    "/jobs/{job}/wanted-kinds": "one text of several lines, which is set as a whole",
    "/jobs/{job}/sheets/at": "one URL, with its sheets and what holds there",
    "/jobs/{job}/explain": "one URL, with its visits",
}
"""Answers about one thing that have a list among their fields."""


def struct_of(row: AnyRow) -> dict[str, Any]:
    """The fields of an answer, with their types."""
    return {} if row.answer is None else typing.get_type_hints(row.answer, include_extras=True)


def test_each_list_has_items_next_and_as_of():
    lists, others = set[str](), set[str]()
    for row in ROUTES:
        path = row.path.removeprefix(API)
        if row.verb != "GET" or not row.is_api or path.endswith("}") or path == "/tasks/{task}":
            continue
        fields = struct_of(row)
        if fields.keys() >= LIST_FIELDS:
            assert typing.get_origin(fields["items"]) is tuple, row.path
            assert fields["next"] in (str | None, int | None, type(None)), row.path
            assert fields["as_of"] is str, row.path
            lists.add(path)
        elif any(typing.get_origin(kind) is tuple for kind in fields.values()):
            others.add(path)
        else:
            assert not LIST_FIELDS & fields.keys() - {"as_of"}, row.path
    assert others <= NO_LISTS.keys()
    assert {"/schedules", "/jobs/{job}/reports", "/jobs/{job}/files", "/jobs/{job}/toes"} <= lists
    assert len(lists) >= 28


def test_lists_without_an_own_page_answer_as_lists(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        for row in ROUTES:
            if row.verb != "GET" or not struct_of(row).keys() >= LIST_FIELDS:
                continue
            path = row.path.replace("{job}", "crawls~demo").replace("{log}", "job")
            answer = await console.client.get(path, headers=console.as_key(Role.ADMIN))
            if path.endswith(("/toes", "/versions", "/deliveries")):
                assert answer.status_code in {404, 409}, path  # no such thing is there
                continue
            assert answer.status_code == 200, (path, answer.text)
            found = answer.json()
            assert found.keys() >= LIST_FIELDS, path
            assert isinstance(found["items"], list), path
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", found["as_of"]), path

    play(tmp_path, scene)


def test_the_reports_are_listed_beside_their_groups(tmp_path: Path):
    add_waiting_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        answer = await console.client.get(
            f"{API}/jobs/crawls~demo/reports", headers=console.as_key()
        )
        found = answer.json()
        grouped = [one["name"] for group in found["groups"] for one in group["reports"]]
        assert [one["name"] for one in found["items"]] == grouped
        assert {one["audience"] for one in found["items"]} == {
            group["audience"] for group in found["groups"] if group["reports"]
        }

    play(tmp_path, scene)
