from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.check_rules import KNOWN, field_defects
from nacre.archive.fields import strip_brackets
from nacre.archive.findings import CODES
from nacre.archive.reader import WarcEntry
from nacre.archive.source import PlainSource
from tests.archive.checking import check_file
from tests.archive.warcs import make_record, plain_file

GOOD = [
    ("WARC-Type", "response"),
    ("WARC-Record-ID", "<urn:uuid:00000000-0000-4000-8000-000000000001>"),
    ("WARC-Date", "2026-11-20T10:00:00.123456789Z"),
    ("WARC-Target-URI", "http://e.test/"),
    ("WARC-Protocol", "h2"),
    ("WARC-Protocol", "tls/1.3"),
    ("Content-Type", "application/http; msgtype=response"),
]


def codes(fields: list[tuple[str, str]], version: str = "1.1") -> list[str]:
    entry = WarcEntry(PlainSource(BytesIO()), 0, version)
    entry.length = 1
    entry.take_fields(fields)
    return [code for code, _ in field_defects(entry)]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("1.1", []),
        ("1.0", ["date-precision"]),
        ("0.18", ["version-old", "date-precision"]),
        ("2.0", ["version-unknown", "date-precision"]),
    ],
)
def test_versions(version, found):
    assert codes(GOOD, version) == found


def test_lower_case_names_are_legal():
    assert codes([(name.lower(), value) for name, value in GOOD]) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2026", []),
        ("2026-11-20", []),
        ("2026-11-20T10:00Z", []),
        ("2026-11-20T10:00:00+01:00", ["date-invalid"]),
        ("2026-11-20 10:00:00Z", ["date-invalid"]),
        ("2026-11-31T10:00:00Z", ["date-invalid"]),
        ("2026-11-20T10:00:00.1234567890Z", ["date-invalid"]),
        ("", ["date-invalid"]),
    ],
)
def test_dates(value, found):
    fields = [(name, value if name == "WARC-Date" else text) for name, text in GOOD]
    assert codes(fields) == found


@given(st.lists(st.tuples(st.sampled_from(sorted(KNOWN.values())) | st.text(), st.text())))
def test_all_fields_have_findings_that_are_described(fields):
    assert set(codes(fields)) <= CODES.keys()


def test_brackets():
    assert strip_brackets("<a>") == "a"
    assert strip_brackets("<a") == "<a"
    assert strip_brackets("") == ""


@pytest.mark.parametrize(
    ("version", "profile", "found"),
    [
        ("1.0", "0.18", ["profile-old"]),
        ("1.1", "0.18", ["profile-invalid"]),
        ("1.0", "1.0", []),
        ("1.1", "1.0", ["profile-invalid"]),
    ],
)
def test_profiles_of_drafts_are_old_only(version, profile, found):
    changed = {
        "WARC-Type": "revisit",
        "WARC-Date": "2026-11-20T10:00:00Z",
        "WARC-Profile": f"http://netpreserve.org/warc/{profile}/revisit/server-not-modified",
    }
    fields = [(name, text) for name, text in GOOD if name not in changed]
    assert codes([*changed.items(), *fields], version) == found


HTTP = {"WARC-Type": "response", "Content-Type": "application/http"}


@pytest.mark.parametrize(
    ("changes", "block", "found"),
    [
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", set()),
        ({"WARC-Truncated": "time"}, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nab", set()),
        ({"WARC-Truncated": "time"},
         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", set()),
        ({}, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", {"chunks-broken"}),
        ({"WARC-Type": "request"}, b"GET / HTTP/1.1\r\n\r\n", set()),
        ({"WARC-Block-Digest": None}, b"HTTP/1.1 200 OK\r\n\r\n", set()),
        ({"WARC-Segment-Number": "1", "WARC-Payload-Digest": "sha1:" + "A" * 32},
         b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", set()),
        ({"WARC-Type": "metadata", "Content-Type": "application/warc-fields"},
         b"seed: \r\nnote: a\r\n b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", set()),
    ],
)  # fmt: skip
def test_messages(tmp_path, changes, block, found):
    path = tmp_path / "a.warc"
    plain_file(path, make_record(block, None, **(HTTP | changes)))
    assert {finding.code for finding in check_file(path)[0]} == found
