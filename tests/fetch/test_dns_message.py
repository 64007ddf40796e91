"""DNS messages as bytes."""

import dns.name
import pytest
from dnslib import DNSRecord  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.dns_message import (
    AAAA,
    MAX_RECORDS,
    A,
    Reply,
    build_query,
    parse_name,
    parse_reply,
    rcode_text,
)
from tests.fetch.nameserver import a, reply

NAME = dns.name.from_text("www.site-a.test")
QUERY = build_query(b"\x12\x34", NAME, A)


def wire_of(*records):
    return bytes(reply(DNSRecord.parse(QUERY), *records).pack())


def test_a_query_is_what_others_read():
    query = DNSRecord.parse(build_query(b"\x12\x34", NAME, AAAA))
    assert (query.header.id, query.header.rd, str(query.q.qname)) == (0x1234, 1, "www.site-a.test.")
    assert query.q.qtype == 28


def test_a_reply_is_read():
    wire = wire_of(a("www.site-a.test", "10.9.1.1", 2**32 - 1))
    answer = parse_reply(wire, QUERY)
    assert answer
    (record,) = answer.records
    assert record.line() == "www.site-a.test.\t0\tIN\tA\t10.9.1.1"


def test_letters_of_the_question_may_differ():
    wire = wire_of().replace(b"site-a", b"SITE-a")
    assert parse_reply(wire, QUERY) == Reply(0)


def test_another_question_is_no_reply():
    wire = wire_of().replace(b"site-a", b"site-b")
    assert parse_reply(wire, QUERY) is None


def test_a_failure_without_question():
    assert parse_reply(QUERY[:2] + b"\x80\x01" + bytes(8), QUERY) == Reply(1)
    assert parse_reply(QUERY[:2] + b"\x80\x00" + bytes(8), QUERY) is None


def test_only_so_many_records_are_read():
    records = [a("www.site-a.test", f"10.9.1.{n}") for n in range(200)]
    answer = parse_reply(wire_of(*records), QUERY)
    assert answer
    assert len(answer.records) == MAX_RECORDS


@given(st.binary(max_size=200), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_reading_never_raises(junk, flags, answers):
    head = QUERY[:2] + (flags | 0x8000).to_bytes(2, "big") + b"\0\1" + answers.to_bytes(2, "big")
    parse_reply(head + QUERY[8:] + junk, QUERY)
    parse_reply(junk, QUERY)


@pytest.mark.parametrize("host", ["", ".", "a..b", "a" * 64, "a\\b", "\xe9.test"])
def test_no_names(host):
    assert parse_name(host) is None


def test_response_codes():
    assert rcode_text(3) == "NXDOMAIN"
    assert rcode_text(11) == "RCODE 11"
