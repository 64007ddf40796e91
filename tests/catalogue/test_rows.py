"""Rows of a catalogue: nothing of a capture is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.rows import (
    OFFSET_BITS,
    media_family,
    media_name,
    pack_capture,
    place_of_row,
    row_id,
    seconds_of,
    timestamp_of,
    unpack_capture,
)

DIGESTS = st.one_of(
    st.just(""),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=32, max_size=32).map("sha1:{}".format),
    st.binary(min_size=32, max_size=32).map(lambda raw: f"sha256:{raw.hex()}"),
    st.text(min_size=1, max_size=70),
)
TIMES = st.datetimes().map(lambda moment: f"{moment.year:04d}{moment:%m%d%H%M%S}")


@given(
    timestamp=TIMES,
    status=st.integers(0, 999),
    digest=DIGESTS,
    offset=st.integers(0, (1 << OFFSET_BITS) - 1),
    length=st.integers(0, 1 << 40),
    request=st.tuples(st.sampled_from(["", "POST", "PUT"]), st.text(max_size=20)),
)
def test_a_row_gives_its_capture_back(timestamp, status, digest, offset, length, request):
    method, query = request
    capture = IndexedCapture(
        "k", timestamp, "http://h.test/", "text/html", status, digest, "a.warc.gz", offset, length,
        method, query if method else "", 3,
    )  # fmt: skip
    row = pack_capture(capture, 7, 1)
    assert row is not None
    assert place_of_row(row[0]) == (7, offset)
    assert unpack_capture(row, "a.warc.gz", "text/html", 3, "k") == capture


@pytest.mark.parametrize(
    "timestamp",
    ["20261301000000", "20260230000000", "20261120250000", "20261120106000", "00000101000000"],
)
def test_a_time_that_is_no_date_has_no_row(timestamp):
    capture = IndexedCapture("k", timestamp, "http://h.test/", "", 200, "", "a", 0, 0)
    assert seconds_of(timestamp) is None
    assert pack_capture(capture, 1, 1) is None


def test_an_offset_that_is_too_large_has_no_row():
    assert row_id(1, 1 << OFFSET_BITS) == -1


@given(TIMES)
def test_times_keep_their_order(timestamp):
    seconds = seconds_of(timestamp)
    assert seconds is not None
    assert timestamp_of(seconds) == timestamp


@pytest.mark.parametrize(
    ("mime", "family"),
    [
        ("text/html", "page"), ("TEXT/HTML; charset=gbk", "page"), ("image/svg+xml", "image"),
        ("application/pdf", "document"), ("text/plain", "text"), ("application/json", "data"),
        ("application/octet-stream", "data"), ("", "none"), ("warc/revisit", "revisit"),
        ("text/css", "style"), ("application/javascript", "script"), ("font/woff2", "font"),
        ("application/vnd.ms-fontobject", "font"), ("application/vnd.ms-excel", "document"),
    ],
)  # fmt: skip
def test_families_of_media_types(mime, family):
    assert media_family(mime) == family


def test_a_hostile_media_type_is_bounded_and_printable():
    assert media_name("a\x1b[31m" + "b" * 500).isprintable()
    assert len(media_name("b" * 500)) == 100
