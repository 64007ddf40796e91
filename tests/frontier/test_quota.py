import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.frontier.quota import (
    Level,
    QuotaCheck,
    QuotaLimits,
    QuotaSettings,
    Usage,
    checks,
    is_success,
)


def test_no_quota_costs_no_check() -> None:
    assert checks(QuotaSettings()) == ()


def test_checks_come_in_order() -> None:
    settings = QuotaSettings.model_validate(
        {
            "domain": {"responses": 2100, "bytes": "1 GB"},
            "host": {"successes": 0, "novel_urls": -1},
        }
    )
    assert checks(settings) == (
        QuotaCheck(Level.HOST, "successes", 0),
        QuotaCheck(Level.DOMAIN, "responses", 2100),
        QuotaCheck(Level.DOMAIN, "bytes", 10**9),
    )


@pytest.mark.parametrize(
    ("level", "name", "annotation"),
    [
        (Level.SERVER, "successes", "Q:serverMaxFetchSuccesses"),
        (Level.SERVER, "success_bytes", "Q:serverMaxSuccessKb"),
        (Level.HOST, "responses", "Q:hostMaxFetchResponses"),
        (Level.HOST, "bytes", "Q:hostMaxAllKb"),
        (Level.GROUP, "novel_urls", "Q:groupMaxNovelUrls"),
        (Level.GROUP, "novel_bytes", "Q:groupMaxNovelKb"),
        (Level.DOMAIN, "bytes", "Q:domainMaxAllKb"),
    ],
)
def test_annotations_are_those_of_heritrix(level: Level, name: str, annotation: str) -> None:
    assert QuotaCheck(level, name, 1).annotation == annotation


@pytest.mark.parametrize(
    ("status", "default", "heritrix"),
    [(1, True, True), (200, True, True), (304, True, True), (404, False, True), (503, False, True)],
)
def test_what_is_a_success(status: int, default: bool, heritrix: bool) -> None:
    assert is_success(status, "default") is default
    assert is_success(status, "heritrix") is heritrix


@pytest.mark.parametrize(
    ("success", "novel", "usage"),
    [
        (True, True, Usage(1, 10, 1, 10, 1, 10)),
        (True, False, Usage(1, 10, 1, 10, 0, 0)),
        (False, True, Usage(0, 0, 1, 10, 1, 10)),
        (False, False, Usage(0, 0, 1, 10, 0, 0)),
    ],
)
def test_what_counts_as_what(success: bool, novel: bool, usage: Usage) -> None:
    counted = Usage()
    counted.add(10, success=success, novel=novel)
    assert counted == usage


@given(st.lists(st.tuples(st.integers(100, 599), st.integers(0, 99), st.booleans())))
def test_sums_are_those_of_the_parts(replies: list[tuple[int, int, bool]]) -> None:
    usage = Usage()
    for status, size, novel in replies:
        usage.add(size, success=is_success(status, "default"), novel=novel)
    assert usage.responses == len(replies)
    assert usage.bytes == sum(size for _, size, _ in replies)
    assert usage.novel_bytes <= usage.bytes
    assert usage.successes <= usage.responses
    assert QuotaCheck(Level.HOST, "responses", len(replies)).reached(usage)
    assert not QuotaCheck(Level.HOST, "responses", len(replies) + 1).reached(usage)


def test_what_is_no_quota() -> None:
    with pytest.raises(ValidationError):
        QuotaLimits.model_validate({"successes": -2})
    with pytest.raises(ValidationError, match="not a size"):
        QuotaLimits.model_validate({"bytes": "much"})
