import pytest
from msgspec import structs

from nacre.core.history import (
    LONGEST_VALIDATOR,
    Base,
    FetchRow,
    HistoryRecord,
    Noted,
    kept_validator,
    without_capture,
)

STORED = HistoryRecord(
    "http://a.test/", status=200, date=1, digest="sha1:A", record_id="r", etag=b'"x"', length=5,
    visits=3,
)  # fmt: skip
BASE = Base("r", 1, "sha1:A")
NOTED = Noted("r", "sha1:B")


def test_a_304_refers_to_a_capture_that_was_stored_in_full_and_served_last():
    assert STORED.revisitable
    assert not HistoryRecord("http://a.test/").revisitable
    base, noted = structs.replace(STORED, base=BASE), structs.replace(STORED, noted=NOTED)
    assert not base.revisitable
    assert not noted.revisitable
    assert (STORED.served, noted.served) == ("sha1:A", "sha1:B")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, b""),
        (b'"x"', b'"x"'),
        (b"x" * LONGEST_VALIDATOR, b"x" * LONGEST_VALIDATOR),
        (b"x" * (LONGEST_VALIDATOR + 1), b""),
    ],
)
def test_a_validator_that_is_too_long_is_not_kept(value: bytes | None, kept: bytes):
    assert kept_validator(value) == kept


def test_without_its_capture_a_row_knows_the_visits_alone():
    bare = without_capture(STORED)
    assert (bare.url, bare.status, bare.visits) == (STORED.url, 200, 3)
    assert (bare.date, bare.digest, bare.record_id, bare.etag, bare.length) == (0, "", "", b"", 0)
    assert not bare.revisitable


@pytest.mark.parametrize(
    ("answer", "kind", "verdict"),
    [
        ("there", "major", "major"),
        ("there", "", "none"),
        ("", "minor", "minor"),
        ("gone", "", "gone"),
        ("soft-404", "major", "soft-404"),
    ],
)
def test_a_fetch_says_what_it_found(answer: str, kind: str, verdict: str):
    assert FetchRow("http://a.test/", 1.0, 1, 200, answer, kind).verdict == verdict


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"answer": "silent", "reason": "pair"}, "pair"),
        ({"answer": "silent"}, "silent"),
        ({"answer": "silent", "reason": "blocked"}, "silent"),
        ({"answer": "there", "kind": "minor"}, "minor"),
        ({"answer": "there"}, "none"),
        ({"kind": "new"}, "new"),
        ({"answer": "gone"}, "gone"),
    ],
)
def test_the_verdict_of_a_visit(fields: dict[str, str], verdict: str):
    assert FetchRow("http://a.test/", 1.0, 2, 200, **fields).verdict == verdict  # type: ignore[arg-type]  # any text
