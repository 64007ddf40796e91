import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nacre.archive.record import (
    CaptureFacts,
    WarcRecord,
    capture_records,
    metadata_block,
    outlink_lines,
    warcinfo_record,
)
from nacre.core.capture import BytesBody, TlsFacts
from nacre.core.crawluri import Hop, Outlink
from tests.archive.captures import (
    CHUNKED_BODY,
    CHUNKED_HEAD,
    HEAD,
    REQUEST,
    counting_ids,
    make_capture,
    make_chunked,
    revisit_of,
    sha1,
)

LINK = Outlink("http://example.test/a", Hop.LINK, "a/@href")


def whole(record: WarcRecord) -> bytes:
    rest = record.body.read(0, record.body.length) if record.body else b""
    return record.head + record.prefix + rest + b"\r\n\r\n"


RESPONSE = b"""WARC/1.1
WARC-Type: response
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-Date: 2026-11-20T10:00:00.123456Z
WARC-Target-URI: http://example.test/
WARC-IP-Address: 127.0.0.1
WARC-Protocol: http/1.1
WARC-Payload-Digest: sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN
WARC-Block-Digest: %b
Content-Type: application/http;msgtype=response
Content-Length: 90

HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8
Content-Length: 11

hello world

"""

REQUEST_RECORD = b"""WARC/1.1
WARC-Type: request
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000002>
WARC-Date: 2026-11-20T10:00:00.123456Z
WARC-Target-URI: http://example.test/
WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-IP-Address: 127.0.0.1
WARC-Protocol: http/1.1
WARC-Block-Digest: %b
Content-Type: application/http;msgtype=request
Content-Length: 38

GET / HTTP/1.1
Host: example.test



"""

METADATA = b"""WARC/1.1
WARC-Type: metadata
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000003>
WARC-Date: 2026-11-20T10:00:00.123456Z
WARC-Target-URI: http://example.test/
WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-Block-Digest: %b
Content-Type: application/warc-fields
Content-Length: 140

via: http://example.test/via
hopsFromSeed: LE
fetchTimeMs: 12
charsetForLinkExtraction: utf-8
outlink: http://example.test/a L a/@href


"""


def crlf(text: bytes) -> bytes:
    return text.replace(b"\n", b"\r\n")


def test_response_request_and_metadata_as_bytes():
    facts = CaptureFacts(via="http://example.test/via", path="LE", charset="utf-8", outlinks=[LINK])
    main, request, metadata = capture_records(make_capture(), facts, counting_ids())
    assert whole(main) == crlf(RESPONSE) % sha1(HEAD + b"hello world").encode()
    assert whole(request) == crlf(REQUEST_RECORD) % sha1(REQUEST).encode()
    assert whole(metadata) == crlf(METADATA) % sha1(metadata.prefix).encode()
    assert (main.status, main.mime, main.digest) == ("200", "text/html", sha1(b"hello world"))


IDENTICAL = b"""WARC/1.1
WARC-Type: revisit
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-Date: 2026-11-20T10:00:00.123456Z
WARC-Target-URI: http://example.test/
WARC-IP-Address: 127.0.0.1
WARC-Protocol: http/1.1
WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest
WARC-Refers-To: <urn:uuid:0>
WARC-Refers-To-Target-URI: http://example.test/
WARC-Refers-To-Date: 2026-11-20T10:00:00.123455Z
WARC-Truncated: length
WARC-Payload-Digest: sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN
WARC-Block-Digest: %b
Content-Type: application/http;msgtype=response
Content-Length: 79

HTTP/1.1 200 OK
Content-Type: text/html; charset=utf-8
Content-Length: 11



"""


def test_identical_payload_keeps_the_head_alone():
    main = capture_records(make_capture(), revisit_of("identical-payload-digest"), counting_ids())[
        0
    ]
    assert whole(main) == crlf(IDENTICAL) % sha1(HEAD).encode()
    assert (main.status, main.mime) == ("200", "warc/revisit")


NOT_MODIFIED = b"""WARC/1.1
WARC-Type: revisit
WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>
WARC-Date: 2026-11-20T10:00:00.123456Z
WARC-Target-URI: http://example.test/
WARC-IP-Address: 127.0.0.1
WARC-Protocol: http/1.1
WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified
WARC-Refers-To: <urn:uuid:0>
WARC-Refers-To-Target-URI: http://example.test/
WARC-Refers-To-Date: 2026-11-20T10:00:00.123455Z
WARC-Payload-Digest: sha1:FKXGYNOJJ7H3IFO35FPUBC445EPOQRXN
WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ
Content-Length: 0



"""


def test_not_modified_is_empty_and_its_reply_lies_in_the_metadata():
    reply = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'
    capture = make_capture(reply, b"", status=304, interim=b"HTTP/1.1 103 Early Hints\r\n\r\n")
    main, _, metadata = capture_records(
        capture, revisit_of("server-not-modified", path="L"), counting_ids()
    )
    assert whole(main) == crlf(NOT_MODIFIED)
    assert main.status is None
    fields, _, verbatim = metadata.prefix.partition(b"\r\n\r\n")
    assert verbatim == capture.interim + reply
    assert b"\r\ninterimReplies: 28\r\nnotModifiedReply: 40" in fields


def test_interim_replies_are_kept_apart_from_the_response():
    capture = make_capture(interim=b"HTTP/1.1 100 Continue\r\n\r\n")
    main, _, metadata = capture_records(capture, CaptureFacts(), counting_ids())
    assert main.prefix.startswith(b"HTTP/1.1 200")
    assert metadata.prefix.endswith(b"\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")


def test_chunked_body_is_kept_with_its_framing_and_the_digest_of_its_payload():
    main = capture_records(make_chunked(), CaptureFacts(), counting_ids())[0]
    assert whole(main).endswith(CHUNKED_HEAD + CHUNKED_BODY + b"\r\n\r\n")
    assert b"WARC-Payload-Digest: " + sha1(b"hello world").encode() in main.head


@pytest.mark.parametrize(
    ("facts", "present", "absent"),
    [
        ({"truncated": "time"}, [b"WARC-Truncated: time\r\n"], []),
        ({"proxied": True}, [], [b"WARC-IP-Address"]),
        ({"address": "2001:db8::1"}, [b"WARC-IP-Address: 2001:db8::1\r\n"], []),
        (
            {"tls": TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256")},
            [
                b"WARC-Protocol: http/1.1\r\nWARC-Protocol: tls/1.3\r\n"
                b"WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\r\n"
            ],
            [],
        ),
        ({"tls": TlsFacts("TLSv1", "")}, [b"WARC-Protocol: tls/1.0\r\n"], [b"Cipher"]),
        ({"tls": TlsFacts("SSLv3", "")}, [b"WARC-Protocol: ssl/3\r\n"], []),
        (
            {"url": "http://e.test/\r\nWARC-Type: x"},
            [b": http://e.test/%0D%0AWARC-Type:%20x\r"],
            [],
        ),
        ({"body": b""}, [], [b"WARC-Payload-Digest"]),
        ({"block_digest": ""}, [b"WARC-Block-Digest: " + sha1(HEAD + b"hello world").encode()], []),
    ],
)
def test_facts_of_the_wire(facts, present, absent):
    main = capture_records(make_capture(**facts), CaptureFacts(), counting_ids())[0]
    for line in present:
        assert line in main.head
    for name in absent:
        assert name not in main.head


def test_all_records_of_a_capture_share_its_date_and_have_ids_of_their_own():
    records = capture_records(make_capture(), CaptureFacts(), counting_ids())
    assert len({r.id for r in records}) == 3
    assert all(b"WARC-Date: 2026-11-20T10:00:00.123456Z\r\n" in r.head for r in records)


def test_dns_is_a_resource():
    answer = b"20261120100000\nexample.test.\t600\tIN\tA\t127.0.0.1\n"
    capture = make_capture(
        b"",
        answer,
        url="dns:example.test",
        request=b"",
        protocol="dns",
        status=1,
        address="9.9.9.9",
    )
    (record,) = capture_records(capture, CaptureFacts(), counting_ids())
    assert whole(record) == (
        b"WARC/1.1\r\nWARC-Type: resource\r\n"
        b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
        b"WARC-Date: 2026-11-20T10:00:00.123456Z\r\nWARC-Target-URI: dns:example.test\r\n"
        b"WARC-IP-Address: 9.9.9.9\r\n"
        b"WARC-Payload-Digest: %b\r\nWARC-Block-Digest: %b\r\n"
        b"Content-Type: text/dns\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
        % (sha1(answer).encode(), sha1(answer).encode(), len(answer), answer)
    )


def test_warcinfo_names_its_file_and_leaves_out_what_is_empty():
    record = warcinfo_record(
        bytes(16), 0, "A-1.warc.gz", [("software", "Nacre"), ("operator", ""), ("robots", "a\r\nb")]
    )
    assert record.prefix == b"software: Nacre\r\nrobots: a%0D%0Ab\r\n"
    assert (
        b"WARC-Date: 1970-01-01T00:00:00.000000Z\r\nWARC-Filename: A-1.warc.gz\r\n" in record.head
    )
    assert b"WARC-Target-URI" not in record.head


def test_a_body_that_is_not_in_memory_is_never_read_for_its_records():
    class Unread(BytesBody):
        def read(self, offset: int, size: int) -> bytes:
            raise AssertionError("read")

    capture = make_capture()
    capture.body = Unread(b"hello world")
    assert capture_records(capture, CaptureFacts(), counting_ids())[0].length == 90


def test_nothing_is_known_by_default():
    facts = CaptureFacts()
    assert facts.revisit is None
    assert (facts.via, facts.path, facts.outlinks) == ("", "", ())


def test_a_seed_has_no_via_and_an_empty_path():
    block = metadata_block(make_capture(), CaptureFacts(is_seed=True, source="s"), b"")
    assert block == b"seed: \r\nhopsFromSeed: \r\nsourceTag: s\r\nfetchTimeMs: 12\r\n"


def test_every_fact_has_its_line():
    facts = CaptureFacts(
        via="http://e.test/",
        path="LL",
        force_fetch=True,
        charset="gbk",
        verdict="changed",
        annotations=["dol:3", "a\nb"],
    )
    capture = make_capture(tls=TlsFacts("TLSv1.3", "X", verified="self-signed", sni="e.test"))
    assert metadata_block(capture, facts, b"") == (
        b"via: http://e.test/\r\nhopsFromSeed: LL\r\nforce-fetch: \r\nfetchTimeMs: 12\r\n"
        b"charsetForLinkExtraction: gbk\r\nverdict: changed\r\nannotations: dol:3,a%0Ab\r\n"
        b"tlsVerified: self-signed\r\ntlsServerName: e.test\r\n"
    )
    with_chain = metadata_block(capture, structs.replace(facts, chain="urn:x:1"), b"")
    assert with_chain.endswith(b"tlsServerName: e.test\r\ntlsCertificates: urn:x:1\r\n")
    plain = metadata_block(make_capture(), structs.replace(facts, chain="urn:x:1"), b"")
    assert b"tls" not in plain


links = st.builds(Outlink, st.text(max_size=20), st.sampled_from(Hop), st.text(max_size=10))


@given(st.lists(links, min_size=1, max_size=5))
def test_one_line_an_outlink_whatever_is_in_it(outlinks):
    lines = outlink_lines(outlinks).split("\r\n")
    assert len(lines) == len(outlinks)
    assert all(line.startswith("outlink: ") and "\n" not in line for line in lines)
