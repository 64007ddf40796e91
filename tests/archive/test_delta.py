from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.delta import (
    LONGEST,
    MEDIA,
    TARGET,
    Delta,
    DeltaError,
    PatchError,
    apply_patch,
    delta_block,
    make_patch,
    page_url,
    read_delta,
    rebuild,
)
from nacre.archive.record import CaptureFacts, capture_records
from tests.archive.captures import BEGAN, counting_ids, make_capture, sha1

BASE = b"HTTP/1.1 200 OK\r\nDate: Mon\r\n\r\n<p>What it said before.</p>" * 3
BLOCK = b"HTTP/1.1 200 OK\r\nDate: Tue\r\n\r\n<p>What it says now.</p>" * 3


def make_delta(base: bytes = BASE, block: bytes = BLOCK, **facts: Any) -> Delta:
    values: dict[str, Any] = {
        "base_id": "urn:uuid:00000000-0000-4000-8000-000000000001",
        "base_url": "http://example.test/",
        "base_date": BEGAN - 86_400_000_000,
        "base_digest": sha1(base),
        "base_length": len(base),
        "base_payload": sha1(b"earlier"),
        "digest": sha1(block),
        "length": len(block),
        "payload": sha1(b"later"),
        "body_length": 10,
        "payload_length": 9,
        "patch": make_patch(base, block),
    }
    return Delta(**(values | facts))


@given(st.binary(), st.binary(), st.binary(max_size=30), st.binary(max_size=30))
def test_what_is_written_is_read(base: bytes, block: bytes, etag: bytes, mime: bytes):
    told = etag.decode("latin-1")
    printable = etag if told.isprintable() else b""
    delta = make_delta(
        base, block, etag=printable.strip(), mime="text/html", base_file="A.warc.gz",
        base_offset=77, number=5, framing="chunked", last_modified=b"Mon",
    )  # fmt: skip
    assert read_delta(delta_block(delta), delta.base_id) == delta
    assert rebuild(delta, base) == block


def test_values_from_the_web_stay_on_their_lines():
    delta = make_delta(etag=b'"\r\nlength: 5', mime="a\r\nblockDigest: x")
    read = read_delta(delta_block(delta), delta.base_id)
    assert (read.length, read.digest) == (delta.length, delta.digest)


def test_no_line_is_taken_from_the_patch():
    delta = make_delta(patch=b"\r\nlength: 1\r\n\r\n")
    assert read_delta(delta_block(delta), delta.base_id).length == delta.length


SPOILED: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda block: block.replace(b"\r\n\r\n", b"\r\n"), "blank line"),
    (lambda block: block.replace(b"difference: zstd", b"difference: other"), "'other'"),
    (lambda block: block.replace(b"blockDigest: sha1", b"nothing: sha1"), "is missing|base"),
    (lambda block: block.replace(b"\r\nlength: ", b"\r\nlength: x"), "length is not a number"),
    (lambda block: block.replace(b"\r\nlength: ", b"\r\nlength: 99999999"), "at most"),
    (lambda block: block.replace(b"baseDate: 2", b"baseDate: x2"), "baseDate is not a date"),
    (lambda block: block.replace(b"Z\r\nbaseBlock", b"\r\nbaseBlock"), "is not a date"),
    (lambda block: block.replace(b"status: 200", b"status: -1"), "status is not a number"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "message"), SPOILED)
def test_what_is_no_difference_is_refused(spoil: Callable[[bytes], bytes], message: str):
    block = delta_block(make_delta())
    assert spoil(block) != block
    with pytest.raises(DeltaError, match=message):
        read_delta(spoil(block), "urn:uuid:1")


@given(st.binary())
def test_any_bytes_give_a_difference_or_an_error(block: bytes):
    with pytest.raises(DeltaError):
        read_delta(block, "")


@pytest.mark.parametrize(
    ("facts", "base", "code"),
    [
        ({}, BASE[::-1], "delta-base"),
        ({}, BASE[:-1], "delta-base"),
        ({"digest": sha1(b"else")}, BASE, "delta-digest"),
        ({"patch": b"junk"}, BASE, "delta-invalid"),
        ({"length": 7}, BASE, "delta-invalid"),
        ({"length": LONGEST + 1}, BASE, "delta-invalid"),
    ],
)
def test_a_defect_has_its_name(facts: dict[str, Any], base: bytes, code: str):
    with pytest.raises(DeltaError) as raised:
        rebuild(msgspec.structs.replace(make_delta(), **facts), base)
    assert raised.value.code == code


def test_its_record_is_metadata_under_a_target_of_its_own():
    capture = make_capture(url="http://example.test/a?b=c")
    delta = make_delta()
    first, request, notes = capture_records(capture, CaptureFacts(delta=delta), counting_ids())
    head = first.head.decode()
    assert "WARC-Type: metadata\r\n" in head
    assert f"Content-Type: {MEDIA}\r\n" in head
    assert f"WARC-Target-URI: {TARGET}http://example.test/a?b=c\r\n" in head
    assert f"WARC-Refers-To: <{delta.base_id}>\r\n" in head
    assert "WARC-IP-Address: 127.0.0.1\r\n" in head
    assert f"WARC-Payload-Digest: {sha1(first.prefix)}\r\n" in head
    assert f"WARC-Block-Digest: {sha1(first.prefix)}\r\n" in head
    assert page_url(first.url) == capture.url
    for record in (request, notes):
        assert f"WARC-Concurrent-To: <{first.id}>".encode() in record.head
        assert b"WARC-Target-URI: http://example.test/a?b=c\r\n" in record.head


def test_however_long_the_fields_of_a_reply_are_it_can_be_rebuilt():
    delta = make_delta(etag=b"\x85" * 90_000, last_modified=b"x" * 90_000, mime="y" * 90_000)
    read = read_delta(delta_block(delta), delta.base_id)
    assert (read.etag, read.last_modified, read.mime) == (b"", b"", "")
    assert rebuild(read, BASE) == BLOCK


@given(st.binary(), st.binary())
def test_any_two_blocks_make_the_round_trip(base: bytes, block: bytes):
    assert apply_patch(base, make_patch(base, block), len(block)) == block


@given(st.binary(min_size=1, max_size=300), st.integers(0, 300), st.binary(max_size=20))
def test_an_edit_makes_the_round_trip(base: bytes, at: int, by: bytes):
    block = base[:at] + by + base[at + 7 :]
    assert apply_patch(base, make_patch(base, block), len(block)) == block


def test_an_edit_of_a_long_page_costs_little():
    base = b"".join(b"line %d says %d\n" % (n, n * n * 7919 % 10007) for n in range(40_000))
    block = base[:300_000] + b"something else" + base[300_100:]
    patch = make_patch(base, block)
    assert len(patch) < 200
    assert apply_patch(base, patch, len(block)) == block


@given(st.binary(max_size=200))
def test_what_is_no_difference_is_refused_patch(patch: bytes):
    with pytest.raises(PatchError):
        apply_patch(b"base", patch, 10)


def test_another_base_gives_no_wrong_block():
    base = bytes(range(256)) * 4
    patch = make_patch(base, base + b"more")
    with pytest.raises(PatchError):
        apply_patch(base[::-1], patch, len(base) + 4)


@pytest.mark.parametrize("told", [0, 3, 5, LONGEST + 1, -1])
def test_another_length_is_refused(told: int):
    with pytest.raises(PatchError):
        apply_patch(b"", make_patch(b"", b"four"), told)


def test_a_bomb_is_refused_before_it_is_unpacked():
    bomb = zstandard.ZstdCompressor(write_content_size=True).compress(bytes(1 << 22))
    with pytest.raises(PatchError, match="gives 4194304 bytes, not 100"):
        apply_patch(b"base", bomb, 100)


def test_a_frame_that_hides_its_length_is_refused():
    bomb = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    with pytest.raises(PatchError):
        apply_patch(b"base", bomb, 100)


def test_bytes_behind_the_frame_are_refused():
    patch = make_patch(b"base", b"block")
    with pytest.raises(PatchError):
        apply_patch(b"base", patch + patch, 5)
