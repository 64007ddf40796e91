"""Timestamps of a service that `openssl ts` plays, judged by `openssl ts -verify` too."""

from contextlib import suppress
from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.packing import timestamp as module
from nacre.packing.timestamp import (
    Timestamp,
    TimestampError,
    request_timestamp,
    verify_timestamp,
)
from tests.packing.time_authority import TimeAuthority, dripping, serving

DATA = b"the list of the files"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> TimeAuthority:
    return TimeAuthority(tmp_path_factory.mktemp("time") / "authority")


@pytest.fixture(scope="module")
def stamped(authority: TimeAuthority) -> Timestamp:
    with serving(authority.answer) as url:
        return request_timestamp(url, DATA)


def test_a_timestamp_is_requested_and_verified(authority, stamped, tmp_path: Path):
    facts = verify_timestamp(stamped, DATA, authority.roots)
    assert (facts.is_trusted, facts.reason) == (True, "")
    assert facts.service == "CN=Time service"
    assert facts.policy == "1.2.3.4.1"
    assert facts.time.endswith("Z")
    data, reply = tmp_path / "data", tmp_path / "reply"
    data.write_bytes(DATA)
    reply.write_bytes(stamped.reply)
    assert authority.judge(data, reply)
    data.write_bytes(DATA + b"!")
    assert not authority.judge(data, reply)
    assert DATA not in stamped.query  # only its digest is sent


def test_other_bytes_and_another_request_are_refused(authority, stamped):
    with pytest.raises(TimestampError, match="other bytes"):
        verify_timestamp(stamped, DATA + b"!", authority.roots)
    with serving(authority.answer) as url:
        other = request_timestamp(url, DATA)
    with pytest.raises(TimestampError, match="another request"):
        verify_timestamp(stamped._replace(query=other.query), DATA, authority.roots)
    assert verify_timestamp(stamped._replace(query=b""), DATA, authority.roots).is_trusted


def test_an_unknown_root_is_reported(authority, stamped, tmp_path: Path):
    facts = verify_timestamp(stamped, DATA)
    assert not facts.is_trusted
    assert "issuer" in facts.reason
    other = TimeAuthority(tmp_path / "other")
    assert not verify_timestamp(stamped, DATA, other.roots).is_trusted
    with serving(other.answer) as url:
        assert not verify_timestamp(request_timestamp(url, DATA), DATA, authority.roots).is_trusted


def test_each_damaged_byte_is_noticed_as_openssl_does(authority, stamped, tmp_path: Path):
    time = verify_timestamp(stamped, DATA, authority.roots).time
    data, path = tmp_path / "data", tmp_path / "reply"
    data.write_bytes(DATA)
    for at in range(0, len(stamped.reply), 7):
        reply = bytearray(stamped.reply)
        reply[at] ^= 0x01
        path.write_bytes(reply)
        with suppress(TimestampError):
            facts = verify_timestamp(Timestamp(b"", bytes(reply)), DATA, authority.roots)
            # Some bytes are not signed, such as parameters of algorithms: nothing else changes.
            assert not facts.is_trusted or (facts.time == time and authority.judge(data, path)), at


def test_roots_that_cannot_be_read(authority, stamped, tmp_path: Path):
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificates")
    for path in (empty, tmp_path / "absent", tmp_path):
        with pytest.raises(JobError, match="PEM"):
            verify_timestamp(stamped, DATA, path)


@pytest.mark.parametrize(
    ("answer", "status", "media"),
    [
        (b"no", 503, "application/timestamp-reply"),
        (b"<html>", 200, "text/html"),
        (b"", 302, "application/timestamp-reply"),
        (b"x" * ((1 << 20) + 1), 200, "application/timestamp-reply"),
    ],
)
def test_answers_that_are_no_timestamp(answer, status, media):
    with (
        serving(lambda _: answer, status, media) as url,
        pytest.raises(TimestampError, match="gave no timestamp") as caught,
    ):
        request_timestamp(url, DATA)
    assert "/tsa" not in str(caught.value)


@pytest.mark.parametrize("reply", [b"", b"no", b"\x30\x03\x02\x01\x00", b"\x30\x80" * 5_000])
def test_replies_that_are_no_timestamp(reply, authority):
    with pytest.raises(TimestampError):
        verify_timestamp(Timestamp(b"", reply), DATA, authority.roots)


def test_a_refusal_has_its_status(authority):
    refused = bytes.fromhex("3005 3003 020102")  # TimeStampResp, PKIStatusInfo, rejection
    with pytest.raises(TimestampError, match="refused with status 2"):
        verify_timestamp(Timestamp(b"", refused), DATA, authority.roots)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://a.test/",
        "file:///etc/passwd",
        "http://",
        "tsa",
        "http://[",
        "http:///tsa",
        "time.test",
    ],
)
def test_addresses_that_are_none(url):
    with pytest.raises(TimestampError, match=r"is no address of .* begins with http"):
        request_timestamp(url, DATA)


def test_a_service_that_is_not_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PATIENCE", 1.0)
    with pytest.raises(TimestampError, match="gave no timestamp"):
        request_timestamp("http://127.0.0.1:1/", DATA)


def test_a_service_that_answers_by_drops_is_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    with dripping() as url, pytest.raises(TimestampError, match="no whole answer within"):
        request_timestamp(url, DATA)
