"""One name at servers in turn.

DNS messages as bytes.

Servers as they are written, and one exchange with one.
"""

import asyncio
from pathlib import Path

import dns.name
import pytest
from dnslib import DNSRecord  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from nacre.fetch.dns_client import (
    AAAA,
    MAX_RECORDS,
    A,
    DnsReply,
    DnsServer,
    FoundRecords,
    QueryPolicy,
    build_query,
    find_addresses,
    parse_name,
    parse_reply,
    parse_server,
    query_server,
    rcode_text,
)
from tests.fetch.nameserver import a, cname, name_server, reply
from tests.fetch.server import no_file_handles, run

NAME = dns.name.from_text("x.test")


def test_silence_names_the_servers():
    asking = QueryPolicy(
        (DnsServer("10.9.0.53"), DnsServer("10.9.0.54"), DnsServer("10.9.0.53")), 1, 1
    )
    assert asking.silence() == "no reply from DNS server 10.9.0.53, 10.9.0.54"


def test_the_whole_has_a_limit_however_long_the_chain():
    async def main() -> tuple[FoundRecords, int]:
        async with name_server() as server:
            for number in range(20):
                here = "x.test" if number == 0 else f"n{number}.test"
                answers = [reply, None]

                def slow(query, here=here, number=number, answers=answers):
                    answers.reverse()  # every second question goes unanswered
                    return answers[0] and reply(query, cname(here, f"n{number + 1}.test"))

                server.answers[here] = slow
            asking = QueryPolicy((parse_server(server.address),), 0.05, 3)
            return await find_addresses(NAME, A, asking), len(server.questions)

    found, questions = asyncio.run(main())
    assert found.error.startswith("no reply from DNS server 127.0.0.1")
    assert questions <= 8


def test_a_name_that_does_not_exist_is_not_asked_for_again():
    async def main() -> tuple[FoundRecords, int]:
        async with name_server() as server:
            server.zone(a("y.test", "10.9.1.1"))
            asking = QueryPolicy((parse_server(server.address),), 2, 3)
            return await find_addresses(NAME, A, asking), len(server.questions)

    found, questions = asyncio.run(main())
    assert found.error == "DNS server 127.0.0.1 says NXDOMAIN"
    assert questions == 1


def test_no_file_handle_is_told_as_the_crawler_s_own_trouble():
    async def main() -> FoundRecords:
        with no_file_handles():
            return await find_addresses(NAME, A, QueryPolicy((DnsServer("127.0.0.1"),), 1, 3))

    found = asyncio.run(main())
    assert found.starved
    assert found.error == "Too many open files"


NAME_DNS_MESSAGE = dns.name.from_text("www.site-a.test")
QUERY = build_query(b"\x12\x34", NAME_DNS_MESSAGE, A)


def wire_of(*records):
    return bytes(reply(DNSRecord.parse(QUERY), *records).pack())


def test_a_query_is_what_others_read():
    query = DNSRecord.parse(build_query(b"\x12\x34", NAME_DNS_MESSAGE, AAAA))
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
    assert parse_reply(wire, QUERY) == DnsReply(0)


def test_another_question_is_no_reply():
    wire = wire_of().replace(b"site-a", b"site-b")
    assert parse_reply(wire, QUERY) is None


def test_a_failure_without_question():
    assert parse_reply(QUERY[:2] + b"\x80\x01" + bytes(8), QUERY) == DnsReply(1)
    assert parse_reply(QUERY[:2] + b"\x80\x00" + bytes(8), QUERY) is None


def test_only_so_many_records_are_read():
    records = [a("www.site-a.test", f"10.9.1.{n}") for n in range(200)]
    answer = parse_reply(wire_of(*records), QUERY)
    assert answer
    assert len(answer.records) == MAX_RECORDS


@given(st.binary(max_size=200), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_reading_never_raises(junk, flags, answers):
    head = QUERY[:2] + (flags | 0x8000).to_bytes(2, "big") + b"\0\1" + answers.to_bytes(2, "big")
    for wire in (head + QUERY[8:] + junk, junk):
        reply = parse_reply(wire, QUERY)
        assert reply is None or len(reply.records) <= MAX_RECORDS


@pytest.mark.parametrize("host", ["", ".", "a..b", "a" * 64, "a\\b", "\xe9.test"])
def test_no_names(host):
    assert parse_name(host) is None


def test_response_codes():
    assert rcode_text(3) == "NXDOMAIN"
    assert rcode_text(11) == "RCODE 11"


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("10.9.0.53", DnsServer("10.9.0.53", 53)),
        ("10.9.0.53:5353", DnsServer("10.9.0.53", 5353)),
        ("::1", DnsServer("::1", 53)),
        ("[::1]", DnsServer("::1", 53)),
        ("[fe80::1%eth0]:5353", DnsServer("fe80::1%eth0", 5353)),
    ],
)
def test_servers(text, server):
    assert parse_server(text) == server


@pytest.mark.parametrize(
    "text", ["", "dns.test", "10.9.0.53:x", "10.9.0.53:0", "[::1]:70000", "[x]:53"]
)
def test_no_servers(text):
    with pytest.raises(ValueError, match="is not a DNS server"):
        parse_server(text)


def test_a_reply_comes_through_strangers():
    async def main() -> list[str]:
        async with name_server() as server:

            def answer(query):
                wire = reply(query, a("x.test", "10.6.6.6")).pack()
                peer = server.peer
                server._transport.sendto(b"\0\0" + wire[2:], peer)
                server._transport.sendto(b"junk", peer)
                return reply(query, a("x.test", "10.9.1.1"))

            server.answers["x.test"] = answer
            async with asyncio.timeout(5):
                found = await query_server(parse_server(server.address), NAME, A)
            return [record.text for record in found.records]

    assert asyncio.run(main()) == ["10.9.1.1"]


def test_a_server_that_hangs_up_on_tcp():
    async def main() -> None:
        async with name_server() as server:

            def answer(query):
                if server.by_tcp:
                    return None
                cut = reply(query)
                cut.header.tc = 1
                return cut

            server.answers["x.test"] = answer
            async with asyncio.timeout(5):
                await query_server(parse_server(server.address), NAME, A)

    with pytest.raises(ConnectionResetError, match="closed the connection"):
        asyncio.run(main())


def count_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_query_that_is_cancelled_while_its_socket_is_made_leaves_none_open():
    """uvloop leaves the socket open then, and may wait for it when the loop is closed."""

    async def main() -> tuple[bool, int]:
        loop = asyncio.get_running_loop()
        before = count_open_files()
        query = asyncio.create_task(query_server(DnsServer("127.0.0.1", 9), NAME, A))
        make = loop.create_datagram_endpoint

        def cancel_between(protocol, **settings):
            def factory():
                loop.call_soon(query.cancel)
                return protocol()

            return make(factory, **settings)

        loop.create_datagram_endpoint = cancel_between  # type: ignore[method-assign, assignment]
        await asyncio.wait([query])
        for _ in range(3):
            await asyncio.sleep(0)
        return query.cancelled(), count_open_files() - before

    assert run(main()) == (True, 0)
