import json
import shlex
from typing import Any

import pytest

from nacre.console.interface.operations import (
    ApiOperation,
    asked_url,
    curl_line,
    filled_path,
    operations_of,
    type_text,
)
from nacre.console.openapi import describe
from nacre.console.routes import API, ROUTES
from nacre.ops.fields import split_docstring

KNOWN = {one.id: one for one in operations_of(json.loads(json.dumps(describe(ROUTES))))}


def test_each_row_for_programs_is_an_operation():
    rows = {(row.verb, row.path.replace(":path", "")) for row in ROUTES if row.is_api}
    assert {(one.verb, one.path) for one in KNOWN.values()} == rows


def test_an_operation_tells_what_programs_need():
    logs = KNOWN["get_jobs_job_logs_log"]
    assert (logs.role, logs.status, logs.answer) == ("viewer", "200", "LogLineList")
    assert [one.name for one in logs.places] == ["job", "log"]
    query = {one.name: one for one in logs.query}
    assert query["run"].means == 'Its name; "" for the last one.'  # of the struct below it
    assert (query["limit"].kind, query["limit"].default) == ("integer 1…1000", "100")
    assert [one.name for one in logs.types] == ["LogLineList", "LogItem", "CrawlLogFields"]
    assert logs.types[1].fields[0].means == "Byte at which it begins."
    assert logs.can_be_tried
    for name in ("get_stream", "post_jobs"):
        assert not KNOWN[name].can_be_tried


@pytest.mark.parametrize("one", KNOWN.values(), ids=KNOWN)
def test_a_line_for_curl_is_whole(one: ApiOperation):
    words = shlex.split(curl_line(one, "http://localhost:8410", {"job": "crawls~a b/图"}))
    assert words[0] == "curl"
    assert words[-1].startswith("http://localhost:8410/")
    assert words[-1].isascii()
    assert not set(" {}") & set(words[-1])
    assert ("-X" in words) == (one.verb != "GET")
    assert ("Authorization: Bearer KEY" in words) == (one.role != "nobody")
    if one.sample:
        assert isinstance(json.loads(words[words.index("-d") + 1]), dict)


def test_values_fill_a_path_and_a_query():
    file, jobs = KNOWN["get_jobs_job_files_path_path"], KNOWN["get_jobs"]
    values = {"job": "a/b?", "path": "runs/x/logs/job.log"}
    assert filled_path(file, values) == f"{API}/jobs/a%2Fb%3F/files/runs/x/logs/job.log"
    assert asked_url(jobs, {}, {"name": "图&x=1", "tag": "", "other": "1"}) == (
        f"{API}/jobs?name=%E5%9B%BE%26x%3D1"
    )


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "any"),
        ({"$ref": "#/components/schemas/Job"}, "Job"),
        ({"type": "array", "items": {"type": "string", "maxLength": 9}}, "string ≤ 9[]"),
        ({"type": "array", "items": {"anyOf": [{"type": "null"}, {}]}}, "(null | any)[]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "{string: integer}"),
        ({"type": "integer", "minimum": 1}, "integer 1…"),
        ({"enum": ["a", 1]}, '"a" | 1'),
    ],
)
def test_a_type_is_told_in_a_few_signs(schema: dict[str, Any], text: str):
    assert type_text(schema) == text


def test_a_docstring_has_two_parts():
    doc = """A thing.

    Attributes:
        one: The first
            of two lines.
        two: The second.

    Raises:
        Error: Never.
    """
    assert split_docstring(doc) == (
        "A thing.",
        {"one": "The first of two lines.", "two": "The second."},
    )
    assert split_docstring("A thing.") == ("A thing.", {})
