import uuid
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.fields import (
    cut_date,
    date_digits,
    date_text,
    digest_of,
    field,
    micros,
    record_uri,
    second_digits,
    uri_field,
)
from nacre.engine.counters import RandomIds


@given(st.text())
def test_no_value_can_leave_its_line(text):
    for value in (field(text), uri_field(text)):
        assert all(byte >= 0x20 and byte != 0x7F for byte in value.encode())
        assert len(value.splitlines()) <= 1
        assert value == value.strip()


@given(st.text(alphabet=st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
def test_plain_values_stay_as_they_are(text):
    assert field(text) == uri_field(text) == text


def test_what_breaks_lines_is_percent_encoded():
    assert field("a\r\nb\x00c\u2028d\ud800") == "a%0D%0Ab%00c%E2%80%A8d%ED%A0%80"
    assert uri_field(" http://e.test/a b ") == "http://e.test/a%20b"
    assert field("\u00e4\u4e2d") == "\u00e4\u4e2d"


@given(st.integers(min_value=0, max_value=253402300799000000))
def test_dates_keep_their_microseconds(micros):
    text = date_text(micros)
    parsed = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert (parsed - datetime(1970, 1, 1, tzinfo=UTC)) // (parsed.resolution) == micros


@pytest.mark.parametrize(
    ("time", "digits", "text"),
    [
        (1_795_168_800_123_400, 6, "2026-11-20T10:00:00.123400Z"),
        (1_795_168_800_123_400, 3, "2026-11-20T10:00:00.1234Z"),
        (1_795_168_800_123_000, 3, "2026-11-20T10:00:00.123Z"),
        (1_795_168_800_100_000, 3, "2026-11-20T10:00:00.100Z"),
        (1_795_168_800_000_000, 1, "2026-11-20T10:00:00.0Z"),
        (1_795_168_800_000_000, 0, "2026-11-20T10:00:00Z"),
        (1_795_168_800_000_001, 0, "2026-11-20T10:00:00.000001Z"),
    ],
)
def test_fewer_digits_are_written_where_they_suffice(time, digits, text):
    assert date_text(time, digits) == text
    assert micros(text) == time


@given(
    st.integers(min_value=0, max_value=253402300799000000), st.integers(min_value=0, max_value=6)
)
def test_a_cut_time_has_no_more_digits_and_stays_in_its_second(time, digits):
    cut = cut_date(time, digits)
    assert len(date_text(cut, digits)) == len("2026-11-20T10:00:00Z") + (digits and digits + 1)
    assert 0 <= time - cut < 10 ** (6 - digits)
    assert second_digits(cut) == second_digits(time)


@given(st.integers(min_value=-1, max_value=10**18))
def test_index_dates_are_dates_without_their_fraction(micros):
    assert second_digits(micros) == date_digits(micros)[:14]


def test_times_of_a_broken_clock_are_still_dates():
    assert date_text(-1) == "1970-01-01T00:00:00.000000Z"
    assert date_text(10**30) == "9999-12-31T23:59:59.000000Z"


@given(st.binary(min_size=16, max_size=16))
def test_record_ids_are_uuids(raw):
    text = record_uri(raw)
    assert uuid.UUID(text).version == 4
    assert uuid.UUID(text).variant == uuid.RFC_4122


def test_digest_of_nothing():
    assert digest_of(b"") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def test_no_id_comes_twice():
    ids = RandomIds()
    given = [ids() for _ in range(1000)]
    assert {len(raw) for raw in given} == {16}
    assert len(set(given)) == 1000
