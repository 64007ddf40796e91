import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from nacre.archive.check import Checker, References
from nacre.archive.findings import CODES, Severity
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.record import CaptureFacts, capture_records
from nacre.archive.source import PlainSource
from tests.archive.captures import counting_ids, make_capture
from tests.archive.checking import check_file
from tests.archive.files import MemoryFiles, make_writer, write_crawl
from tests.archive.warcs import make_record, plain_file


def codes(path: Path, index: Path | None = None) -> set[str]:
    return {finding.code for finding in check_file(path, index)[0]}


@pytest.mark.parametrize("compress", [True, False])
def test_what_nacre_writes_has_no_findings(tmp_path, compress):
    warc, index = write_crawl(tmp_path, compress=compress)
    findings, summary = check_file(warc, index)
    assert findings == []
    assert summary.records == {
        "warcinfo": 1, "response": 3, "revisit": 2, "resource": 1, "request": 5, "metadata": 5
    }  # fmt: skip
    assert (summary.decoded, summary.wire) == (1, 0)


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_any_byte_that_is_changed_is_found(tmp_path, flip):
    warc, index = write_crawl(tmp_path, only=1)
    good = warc.read_bytes()
    for at in range(len(good)):
        warc.write_bytes(good[:at] + bytes([good[at] ^ flip]) + good[at + 1 :])
        checker = Checker()
        checker.file(warc, index)
        checker.finish()
        assert checker.damaged, at


def test_bits_that_no_checksum_covers_are_looked_at_too(tmp_path):
    warc, _ = write_crawl(tmp_path)
    good = warc.read_bytes()
    with warc.open("rb") as file:
        ends = [entry.offset for entry in WarcReader(file)][1:]
    for end in ends:
        last = good[end - 9]
        unused = [1 << bit for bit in range(last.bit_length(), 8)]
        for mask in unused:
            warc.write_bytes(good[: end - 9] + bytes([last | mask]) + good[end - 8 :])
            assert codes(warc), (end, mask)


def test_any_byte_of_the_index_that_is_changed_is_found(tmp_path):
    warc, index = write_crawl(tmp_path, only=2)
    good = index.read_bytes()
    for at in range(len(good)):
        index.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert codes(warc, index) & {"index-extra", "index-missing"}, at


@pytest.mark.parametrize("keep", range(1, 60, 7))
def test_a_file_cut_short_is_found(tmp_path, keep):
    warc, _ = write_crawl(tmp_path)
    warc.write_bytes(warc.read_bytes()[:-keep])
    assert "gzip-truncated" in codes(warc)


def test_an_index_out_of_order_is_found(tmp_path):
    warc, index = write_crawl(tmp_path)
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(reversed(lines)))
    assert codes(warc, index) == {"index-order"}


def test_an_open_index_is_in_the_order_of_writing(tmp_path):
    warc, index = write_crawl(tmp_path)
    unsorted = index.with_suffix(".cdxj.open")
    unsorted.write_bytes(b"".join(reversed(index.read_bytes().splitlines(keepends=True))))
    assert codes(warc, unsorted) == set()


def test_what_is_not_committed_yet_is_no_damage(tmp_path):
    warc, index = write_crawl(tmp_path)
    good = warc.read_bytes()
    at_work = warc.rename(warc.with_name(warc.name + ".open"))
    lines = index.read_bytes().splitlines(keepends=True)
    behind = index.rename(index.with_name(index.name + ".open"))
    behind.write_bytes(b"".join(lines[:-2]) + lines[-2][:20])

    def found(data: bytes) -> dict[str, list[int]]:
        at_work.write_bytes(data)
        checker = Checker()
        checker.file(at_work, behind, len(good))
        by_code: dict[str, list[int]] = {}
        for finding in checker.finish():
            by_code.setdefault(finding.code, []).append(finding.offset)
        return by_code

    torn = good[: len(good) // 3]
    assert found(good).keys() == {"index-behind"}
    assert found(good + torn[:-5])["uncommitted"][0] >= len(good)
    assert not {"gzip-truncated", "index-missing"} & found(good + torn[:-5]).keys()
    assert "gzip-truncated" in found(good[:-3])
    assert "gzip-damaged" in found(good[:50] + b"xxxx" + good[54:] + torn)


def named_record(name: str) -> bytes:
    about: dict[str, Any] = {"WARC-Record-ID": name}
    return make_record(b"x", **about)


SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

DEFECTS: list[tuple[dict[str, Any], bytes, str]] = [
    ({"WARC-Date": None}, b"x", "date-missing"),
    ({"WARC-Date": "2026-02-30T00:00:00Z"}, b"x", "date-invalid"),
    ({"WARC-Date": "20261120100000"}, b"x", "date-invalid"),
    ({"WARC-Date": "2026-13"}, b"x", "date-invalid"),
    ({"WARC-Date": "2026-02-30T10:00Z"}, b"x", "date-invalid"),
    ({"WARC-Type": None}, b"x", "type-missing"),
    ({"WARC-Type": "Resource"}, b"x", "type-unknown"),
    ({"WARC-Record-ID": None}, b"x", "id-missing"),
    ({"WARC-Record-ID": "urn:uuid:1"}, b"x", "id-invalid"),
    ({"WARC-Record-ID": "<urn:uuid:1>"}, b"x", "id-invalid"),
    ({"WARC-Target-URI": None}, b"x", "uri-missing"),
    ({"WARC-Target-URI": "<http://e.test/>"}, b"x", "uri-brackets"),
    ({"WARC-Target-URI": "http://e.test/a b"}, b"x", "uri-invalid"),
    ({"Content-Type": None}, b"x", "content-type-missing"),
    ({"Content-Type": "text"}, b"x", "content-type-invalid"),
    ({"WARC-IP-Address": "1.2.3"}, b"x", "ip-invalid"),
    ({"WARC-Truncated": "bored"}, b"x", "truncated-unknown"),
    ({"WARC-Filename": "a"}, b"x", "field-forbidden"),
    ({"X-Field": "a"}, b"x", "field-unknown"),
    ({"wARC-IP-Address": "1.2.3.4"}, b"x", "field-case"),
    ({"WARC-Protocol": "HTTP 1"}, b"x", "protocol-unknown"),
    ({"WARC-Block-Digest": "sha1:" + "A" * 32}, b"x", "block-digest"),
    ({"WARC-Block-Digest": "A" * 32}, b"x", "digest-invalid"),
    ({"WARC-Block-Digest": "blake3:00"}, b"x", "digest-algorithm"),
    ({"WARC-Payload-Digest": "sha1:" + "A" * 32}, b"x", "payload-digest"),
    ({"WARC-Payload-Digest": "sha1:" + "A" * 32, "WARC-Truncated": "time"}, b"x",
     "payload-digest-truncated"),
    ({"WARC-Block-Digest": "SHA3_256:" + "A" * 52}, b"x", "block-digest"),
    ({"WARC-Block-Digest": "blake2s:" + "0" * 64}, b"x", "block-digest"),
    ({"WARC-Block-Digest": "sha1:" + "_" * 27}, b"x", "block-digest"),
    ({"WARC-Identified-Payload-Type": "html"}, b"x", "content-type-invalid"),
    ({"WARC-Segment-Number": "2"}, b"x", "segment-invalid"),
    ({"WARC-Segment-Number": "one"}, b"x", "segment-invalid"),
    ({"WARC-Segment-Origin-ID": "<urn:x:9>"}, b"x", "field-forbidden"),
    ({"WARC-Type": "continuation"}, b"x", "segment-missing"),
    ({"WARC-Type": "continuation", "WARC-Segment-Number": "1"}, b"x", "segment-invalid"),
    ({"WARC-Type": "continuation", "WARC-Segment-Total-Length": "x"}, b"x", "segment-invalid"),
    ({"WARC-Type": "continuation", "WARC-Segment-Origin-ID": "x"}, b"x", "reference-invalid"),
    ({"WARC-Type": "metadata", "Content-Type": "application/warc-fields"}, b"a: b\r\nc\r\n",
     "fields-malformed"),
    ({"WARC-Concurrent-To": "<urn:x:9>"}, b"x", "concurrent-unknown"),
    ({"WARC-Concurrent-To": "x"}, b"x", "reference-invalid"),
    ({"WARC-Warcinfo-ID": "<urn:x:9>"}, b"x", "warcinfo-unknown"),
    ({"Content-Length": None}, b"x", "length-missing"),
    ({"Content-Length": "-1"}, b"x", "length-invalid"),
    ({"Content-Length": str(2**63)}, b"x", "length-invalid"),
    ({"Content-Length": "0"}, b"x", "trailer"),
    ({"Content-Length": "200"}, b"x", "length-overrun"),
    ({"Content-Length": "99999"}, b"x", "block-truncated"),
    ({"WARC-Type": "revisit"}, b"", "profile-missing"),
    ({"WARC-Type": "revisit", "WARC-Profile": "http://x/"}, b"", "profile-unknown"),
    ({"WARC-Type": "revisit", "WARC-Profile": "x"}, b"", "profile-invalid"),
    ({"WARC-Type": "revisit", "WARC-Profile": SAME.replace("1.1", "1.0")}, b"", "profile-invalid"),
    ({"WARC-Type": "revisit", "WARC-Profile": SAME[:-1]}, b"",
     "profile-invalid"),
    ({"WARC-Type": "revisit", "WARC-Profile": SAME.replace("netpreserve", "netpreserwe")}, b"",
     "profile-invalid"),
    ({"WARC-Type": "revisit", "WARC-Profile": SAME}, b"", "digest-missing"),
    ({"WARC-Type": "revisit", "WARC-Refers-To": "<urn:x:9>"}, b"", "revisit-unresolved"),
    ({"WARC-Type": "revisit", "WARC-Refers-To-Target-URI": "http://e.test/",
      "WARC-Refers-To-Date": "2026"}, b"", "revisit-unresolved"),
    ({"WARC-Type": "request", "Content-Type": "application/http"}, b"nonsense", "http-malformed"),
    ({"WARC-Type": "response", "Content-Type": "application/http;msgtype=request"},
     b"HTTP/1.1 200 OK\r\n\r\n", "content-type-invalid"),
    ({"WARC-Type": "response", "Content-Type": "application/http"}, b"", "http-empty"),
    ({"WARC-Type": "response", "Content-Type": "application/http"}, b"ICY", "http-malformed"),
    ({"WARC-Type": "response", "Content-Type": "application/http"},
     b"HTTP/1.1 200 OK\r\nX: y\r\n", "http-malformed"),
    ({"WARC-Type": "response", "Content-Type": "application/http"},
     b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "http-length"),
    ({"WARC-Type": "response", "Content-Type": "application/http"},
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz", "chunks-broken"),
    ({"WARC-Type": "response", "Content-Type": "application/http"},
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nxyz", "chunks-broken"),
]  # fmt: skip


@pytest.mark.parametrize("style", [str.lower, str.upper, str.title])
def test_names_of_fields_in_one_case_are_sound(tmp_path, style):
    path = tmp_path / "a.warc"
    record = make_record(b"x")
    head, _, block = record.partition(b"\r\n\r\n")
    version, *lines = head.decode().split("\r\n")
    named = [style(name) + ":" + value for name, _, value in (x.partition(":") for x in lines)]
    plain_file(path, "\r\n".join([version, *named]).encode() + b"\r\n\r\n" + block)
    assert codes(path) == set()


@pytest.mark.parametrize(("changes", "block", "code"), DEFECTS, ids=lambda v: str(v)[:50])
def test_a_defect_is_found_by_name_and_offset(tmp_path, changes, block, code):
    path = tmp_path / "a.warc"
    start = plain_file(path, make_record(block, **changes))
    findings, _ = check_file(path)
    assert (code, start) in {(finding.code, finding.offset) for finding in findings}
    # The record behind the defect is read again.
    if code != "block-truncated":
        assert not any(f.offset > start + 400 for f in findings)


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (b"", b"junk\r\n", "no-record"),
        (b"\r\n", b"", "trailer"),
    ],
)
def test_stray_bytes_are_found(tmp_path, before, after, code):
    path = tmp_path / "a.warc"
    plain_file(path, make_record(b"x") + before + after)
    assert code in codes(path)


def test_a_compressed_file_of_one_member_is_found(tmp_path):
    path = tmp_path / "a.warc"
    plain_file(path, make_record(b"x"))
    packed = tmp_path / "a.warc.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    assert codes(packed) == {"member-shared"}


@pytest.mark.parametrize(
    ("extra", "code"),
    [(b"junk", "gzip-junk"), (gzip.compress(b"", mtime=0), "member-empty"), (b"\x1f", "gzip-junk")],
)
def test_what_follows_the_last_member_is_found_at_its_place(tmp_path, extra, code):
    warc, _ = write_crawl(tmp_path)
    size = warc.stat().st_size
    warc.write_bytes(warc.read_bytes() + extra)
    findings, _ = check_file(warc)
    assert (code, size) in {(finding.code, finding.offset) for finding in findings}


def test_names_that_do_not_fit_are_found(tmp_path):
    warc, _ = write_crawl(tmp_path)
    plain = warc.rename(tmp_path / "a.warc")
    assert codes(plain) == {"name-suffix"}


def test_nothing_and_no_file_at_all(tmp_path):
    empty = tmp_path / "a.warc"
    empty.write_bytes(b"")
    assert codes(empty) == {"empty"}
    assert codes(tmp_path / "absent.warc") == {"unreadable"}


def test_a_revisit_finds_its_original_in_another_file(tmp_path):
    one, two = tmp_path / "1.warc", tmp_path / "2.warc"
    plain_file(one, named_record("<urn:x:1>"), start=10)
    profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    about: dict[str, Any] = {
        "WARC-Type": "revisit",
        "WARC-Profile": profile,
        "WARC-Refers-To": "<urn:x:1>",
    }
    wrong = {
        "WARC-Refers-To-Date": "2020-01-01T00:00:00Z",
        "WARC-Refers-To-Target-URI": "http://x/",
    }
    right: dict[str, Any] = {
        "WARC-Refers-To-Date": "2026-11-20T10:00:00Z",
        "WARC-Refers-To-Target-URI": "http://e.test/",
    }
    longer = right | {"WARC-Refers-To-Date": "2026-11-20T10:00:00.000Z"}
    later = right | {"WARC-Refers-To-Date": "2026-11-20T10:00:00.001Z"}
    for facts, expected in (
        (right, set()),
        (longer, set()),
        (later, {"revisit-date"}),
        (wrong, {"revisit-date", "revisit-uri"}),
    ):
        plain_file(two, make_record(b"", **about, **facts), start=20)
        checker = Checker()
        checker.file(one)
        checker.file(two)
        assert {finding.code for finding in checker.finish()} == expected


def test_repeated_ids_and_dates_that_differ_within_a_capture(tmp_path):
    path = tmp_path / "a.warc"
    one = named_record("<urn:x:1>")
    about: dict[str, Any] = {
        "WARC-Concurrent-To": "<urn:x:1>",
        "WARC-Date": "2026-11-20T10:00:01Z",
    }
    two = make_record(b"y", **about)
    plain_file(path, one + one + two)
    assert codes(path) == {"id-repeated", "concurrent-date"}


def test_both_readings_of_a_chunked_payload_are_told(tmp_path):
    body = b"5\r\nhello\r\n0\r\n\r\n"
    block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body
    path = tmp_path / "a.warc"
    for payload, found, counts in (
        (b"hello", set(), (1, 0)),
        (body, {"payload-digest-wire"}, (0, 1)),
    ):
        about: dict[str, Any] = {"WARC-Type": "response", "Content-Type": "application/http"}
        record = make_record(block, payload, **about)
        plain_file(path, record)
        findings, summary = check_file(path)
        assert {finding.code for finding in findings} == found
        assert (summary.decoded, summary.wire) == counts


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"", b"<p>HTTP/0.9\n\nhas no head"),
        (b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", b"abc"),
        (b"\r\nHTTP/1.1 204 No Content\r\n\r\n", b""),
    ],
)
def test_odd_replies_are_odd_but_no_damage(tmp_path, head, body):
    files = MemoryFiles()
    writer = make_writer(files)
    writer.write(capture_records(make_capture(head, body), CaptureFacts(), counting_ids()))
    (warc,) = files.save(tmp_path)
    assert codes(warc) == {"http-malformed"}


def test_the_summary_counts_and_findings_name(tmp_path):
    warc, index = write_crawl(tmp_path)
    index.write_bytes(b"")
    checker = Checker()
    checker.file(warc, index)
    checker.finish()
    assert checker.summary.files == 1
    assert checker.summary.records == {
        "metadata": 5, "request": 5, "resource": 1, "response": 3, "revisit": 2, "warcinfo": 1,
    }  # fmt: skip
    assert sum("error index-missing" in str(finding) for finding in checker.findings) == 6


def test_every_code_has_a_severity():
    assert {severity for severity, _ in CODES.values()} == set(Severity)


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
