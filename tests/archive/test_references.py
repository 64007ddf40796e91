from io import BytesIO

import pytest

from nacre.archive.reader import WarcEntry
from nacre.archive.references import References
from nacre.archive.source import PlainSource


def entry(**fields: str) -> WarcEntry:
    made = WarcEntry(PlainSource(BytesIO()), 7, "1.1")
    made.take_fields([("WARC-" + name.replace("_", "-"), text) for name, text in fields.items()])
    return made


def test_a_request_before_its_response_is_no_defect():
    references = References()
    request = entry(Type="request", Record_ID="<a:1>", Concurrent_To="<a:2>")
    assert list(references.record("f", request)) == []
    assert list(references.record("f", entry(Type="response", Record_ID="<a:2>"))) == []
    assert list(references.unresolved()) == []


def test_what_refers_to_nothing_is_told_in_the_end():
    references = References()
    request = entry(Type="request", Record_ID="<a:1>", Concurrent_To="<a:2>")
    revisit = entry(Type="revisit", Record_ID="<a:3>", Refers_To="<a:9>")
    assert list(references.record("f", request)) + list(references.record("g", revisit)) == []
    assert list(references.unresolved()) == [
        ("f", 7, "concurrent-unknown", "<a:2>"),
        ("g", 7, "revisit-unresolved", "<a:9>"),
    ]


def test_a_warcinfo_must_have_been_seen():
    references = References()
    info = entry(Type="warcinfo", Record_ID="<a:1>")
    assert list(references.record("f", info)) == []
    for name, found in (("<a:1>", []), ("<a:2>", [("warcinfo-unknown", "<a:2>")])):
        assert list(references.record("f", entry(Type="response", Warcinfo_ID=name))) == found


SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
TOLD = {"Refers_To_Target_URI": "http://e/", "Refers_To_Date": "2026"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"Refers_To": "<a:1>", "Payload_Digest": "sha1:AB"}, []),
        ({"Refers_To": "<a:1>", "Payload_Digest": "SHA-1:ab="}, []),
        ({"Refers_To": "<a:1>", "Payload_Digest": "sha1:AC"}, ["revisit-digest"]),
        ({"Refers_To": "<a:1>", "Payload_Digest": "md5:AC"}, []),
        ({"Refers_To": "<a:1>", "Payload_Digest": "sha1:AC", "Profile": "http://x/"}, []),
        ({"Refers_To": "<a:1>", **TOLD, "Refers_To_Date": "2025"}, ["revisit-date"]),
        ({**TOLD, "Payload_Digest": "sha1:AB"}, []),
        ({**TOLD, "Payload_Digest": "sha1:AC"}, ["revisit-digest"]),
        ({**TOLD, "Refers_To_Date": "2025"}, ["revisit-unresolved"]),
        ({"Refers_To_Date": "2025"}, []),
    ],
)
def test_a_revisit_is_compared_with_its_original(said, found):
    references = References()
    facts = {"Target_URI": "http://e/", "Date": "2026", "Payload_Digest": "sha1:AB"}
    original = entry(Type="response", Record_ID="<a:1>", **facts)
    revisit = entry(**({"Type": "revisit", "Record_ID": "<a:2>", "Profile": SAME} | said))
    assert list(references.record("f", original)) + list(references.record("f", revisit)) == []
    assert [code for _, _, code, _ in references.unresolved()] == found
