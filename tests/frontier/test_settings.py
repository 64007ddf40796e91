"""Settings of the frontier: policies by name, their parameters, and what is refused."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from nacre.frontier.settings import (
    FrontierSettings,
    PolitenessSettings,
    QueueAssignment,
    QueuePrecedence,
    TrapSettings,
    UriPrecedence,
)


def frontier(**fields: Any) -> FrontierSettings:
    return FrontierSettings.model_validate(fields)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("surt-authority", "surt-authority"),
        ("HostnameQueueAssignmentPolicyWithLimits", "hostname"),
        ("TopmostAssignedSurtQueueAssignmentPolicy", "assignment-level-surt"),
        ("IPQueueAssignmentPolicy", "ip"),
        ({"policy": "BucketQueueAssignmentPolicy", "buckets": 5}, "bucket"),
    ],
)
def test_a_policy_is_a_name_or_a_mapping_with_parameters(name: object, policy: str) -> None:
    assert frontier(queue_assignment=name).queue_assignment.policy == policy


@pytest.mark.parametrize(
    ("name", "policy"),
    [("HopsUriPrecedencePolicy", "hops"), ({"policy": "base", "base": 5}, "base")],
)
def test_heritrix_names_of_the_precedence_of_uris(name: object, policy: str) -> None:
    assert frontier(uri_precedence=name).uri_precedence.policy == policy


@pytest.mark.parametrize(
    ("value", "policy", "base"),
    [
        (7, "base", 7),
        ("HighestUriQueuePrecedencePolicy", "highest-uri", 3),
        ({"policy": "success-counts", "increments": "5,10"}, "success-counts", 3),
    ],
)
def test_a_number_is_the_precedence_of_all_queues(value: object, policy: str, base: int) -> None:
    found = frontier(queue_precedence=value).queue_precedence
    assert (found.policy, found.base) == (policy, base)


def test_increments_may_be_a_text_as_in_heritrix() -> None:
    choice = QueuePrecedence.model_validate({"policy": "success-counts", "increments": "5, 10"})
    assert choice.increments == (5, 10)


@pytest.mark.parametrize(
    ("kind", "fields", "idle"),
    [
        (QueueAssignment, {"policy": "ip", "labels": 2}, "labels: means nothing to the policy ip"),
        (QueueAssignment, {"buckets": 5, "labels": 2}, "buckets: means nothing to .* surt-auth"),
        (UriPrecedence, {"base": 5}, "base: means nothing to the policy cost"),
        (UriPrecedence, {"policy": "base", "file": "x", "navlinks_only": False},
         "file, navlinks_only: means nothing to the policy base"),
        (QueuePrecedence, {"increments": (5,)}, "increments: means nothing to the policy base"),
    ],
)  # fmt: skip
def test_parameters_of_another_policy_are_refused(
    kind: type[QueueAssignment], fields: dict[str, Any], idle: str
) -> None:
    with pytest.raises(ValidationError, match=idle):
        kind.model_validate(fields)


def test_a_default_written_out_is_no_mistake() -> None:
    assert QueueAssignment(policy="ip", labels=0, buckets=1021).policy == "ip"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"queue_assignment": {"force": "a b"}}, "no spaces"),
        ({"queue_assignment": {"force": "a\tb"}}, "printable characters only"),
        ({"queue_assignment": "nobody"}, "policy"),
        ({"queue_assignment": {"policy": "bucket", "buckets": 0}}, "buckets"),
        ({"queue_precedence": {"policy": "success-counts", "increments": []}}, "increments"),
        ({"queue_precedence": {"policy": "success-counts", "increments": [3, 0]}},
         "one success at least"),
        ({"queue_precedence": 256}, "base"),
        ({"precedence_floor": -1}, "precedence_floor"),
        ({"max_queues_in_memory": 15}, "max_queues_in_memory"),
        ({"cost": "dear"}, "cost"),
        ({"retry_delay": -1}, "retry_delay"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        frontier(**fields)


def test_a_name_alone_is_in_the_schema() -> None:
    schema = TypeAdapter(FrontierSettings).json_schema()
    text = str(schema.get("$defs", schema))
    for name in ("HostnameQueueAssignmentPolicy", "HopsUriPrecedencePolicy", "success-counts"):
        assert name in text


def test_a_site_is_asked_at_the_pace_of_heritrix_unless_told_otherwise() -> None:
    polite = PolitenessSettings()
    assert (polite.delay, polite.delay_factor, polite.min_delay, polite.max_delay) == (
        None, 5.0, 3.0, 30.0,
    )  # fmt: skip
    assert polite.in_flight == 1
    with pytest.raises(ValidationError, match="in_flight"):
        PolitenessSettings(in_flight=0)
    with pytest.raises(ValidationError, match="budget"):
        TrapSettings(budget=-2)
