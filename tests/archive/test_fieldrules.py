from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.fieldrules import KNOWN, field_defects, unbracketed
from nacre.archive.reader import WarcEntry
from nacre.archive.source import PlainSource

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
def test_no_field_raises(fields):
    codes(fields)


def test_brackets():
    assert unbracketed("<a>") == "a"
    assert unbracketed("<a") == "<a"
    assert unbracketed("") == ""


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
