import json

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
